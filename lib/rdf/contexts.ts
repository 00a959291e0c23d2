/**
 * The JSON-LD contexts that ship with the package, and the document loader that knows no others. Nothing is ever
 * fetched: a context that a client names could be any address of the server's network.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LwsError } from '../errors.js';
import { packageRoot } from '../package-root.js';

export const lwsContext = 'https://www.w3.org/ns/lws/v1';
export const cidContext = 'https://www.w3.org/ns/cid/v1';

const files: Readonly<Record<string, string>> = { [lwsContext]: 'lws-v1.jsonld', [cidContext]: 'cid-v1.jsonld' };
const loaded = new Map<string, unknown>();

/** The shipped context of that IRI, parsed; `undefined` for any other IRI. */
export function shippedContext(iri: string): unknown {
  const file = Object.hasOwn(files, iri) ? files[iri] : undefined;
  if (!file) return undefined;
  if (!loaded.has(iri))
    loaded.set(iri, JSON.parse(readFileSync(join(packageRoot, 'lib', 'rdf', 'contexts', file), 'utf8')));
  return loaded.get(iri);
}

/** @throws LwsError `malformed-body` for a context that does not ship (open-points 2.1) */
export function requireShippedContext(iri: string): object {
  const document = shippedContext(iri);
  if (document) return document as object;
  throw new LwsError(
    'malformed-body',
    `The JSON-LD context ${iri.slice(0, 500)} is not one that this server ships, and contexts are never fetched. ` +
      'Write the context into the document.',
  );
}

/** A document loader for `jsonld`. @throws LwsError as `requireShippedContext` */
export async function loadShippedContext(
  iri: string,
): Promise<{ contextUrl: undefined; document: object; documentUrl: string }> {
  return { contextUrl: undefined, document: requireShippedContext(iri), documentUrl: iri };
}
