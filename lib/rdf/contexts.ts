/**
 * JSON-LD contexts that ship with the package, and a document loader for these and for given contexts. The loader fetches
 * nothing: a document could name any address in the server's network.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LwsError } from '../tools/errors.js';
import { parseJson } from '../tools/json/json.js';
import { packageRoot } from '../tools/threads/package-root.js';

export const lwsContext = 'https://www.w3.org/ns/lws/v1';
export const cidContext = 'https://www.w3.org/ns/cid/v1';

const files: Readonly<Record<string, string>> = { [lwsContext]: 'lws-v1.jsonld', [cidContext]: 'cid-v1.jsonld' };
const loaded = new Map<string, unknown>();

/** Returns the shipped context of an IRI, parsed, or `undefined`. */
export function shippedContext(iri: string): unknown {
  const file = Object.hasOwn(files, iri) ? files[iri] : undefined;
  if (!file) return undefined;
  if (!loaded.has(iri))
    loaded.set(iri, JSON.parse(readFileSync(join(packageRoot, 'lib', 'rdf', 'contexts', file), 'utf8')));
  return loaded.get(iri);
}

/** Error for a context that is neither shipped nor given (rule 1.11). */
export class UnknownContext extends LwsError {
  constructor(readonly iri: string) {
    super(
      'malformed-body',
      `The JSON-LD context ${iri.slice(0, 500)} does not ship with this server, and its host is not listed in ` +
        'lws.jsonld.allowed-context-hosts. Write the context into the document.',
    );
  }
}

interface LoadedContext {
  readonly contextUrl: undefined;
  readonly document: object;
  readonly documentUrl: string;
}

/**
 * Creates a document loader for `jsonld` that fetches nothing.
 * @param given texts of other contexts, by IRI
 * @param onRefusal called with the error that the loader throws: `UnknownContext`
 */
export const contextLoader =
  (given: Readonly<Record<string, string>>, onRefusal: (error: unknown) => void = () => {}) =>
  async (iri: string): Promise<LoadedContext> => {
    const document = shippedContext(iri) ?? (Object.hasOwn(given, iri) ? parseJson(given[iri]!) : undefined);
    if (typeof document === 'object' && document !== null) return { contextUrl: undefined, document, documentUrl: iri };
    const refusal = new UnknownContext(iri);
    onRefusal(refusal);
    throw refusal;
  };
