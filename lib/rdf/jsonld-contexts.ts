/**
 * Context resolver that replaces the one of `jsonld`. Adds scoped contexts of `@nest` terms (JSON-LD 1.1, 4.1.8), and rejects a
 * context inside another context. Nested objects of such a term are first expanded as nodes of a temporary property, which
 * applies the scoped context, and then merged.
 */
import { randomUUID } from 'node:crypto';
import { lruCache } from '../tools/caches.js';
import { isObject } from '../tools/json/exact-json.js';
import type { contextLoader } from './contexts.js';
import { malformed } from './n3-documents.js';
import { resolveIri } from './resolve-iri.js';

type Json = Record<string, unknown>;

/** A context, with a cache of the processed contexts by active context (interface that `jsonld` requires). */
interface ResolvedContext {
  readonly document: Json | null;
  getProcessed(activeCtx: object): unknown;
  setProcessed(activeCtx: object, processed: unknown): void;
}

interface Resolving {
  readonly context: unknown;
  readonly activeCtx: { readonly previousContext?: unknown };
  readonly base: string;
}

/** Temporary property of nested objects. Its name is random, so that documents cannot contain it. */
const nested = `urn:uuid:${randomUUID()}`;
/** Term that marks the contexts of nested objects. */
const mark = `${nested}#`;

/** Cached contexts of recent documents, by text. Few, because each context retains all terms that are active with it. */
const recent = lruCache<ResolvedContext>(100);
const longestKept = 16 << 10;
const mostNamed = 10;

/** Returns a context resolver for one document. @param load returns shipped and given contexts, throws for other contexts */
export function contextResolver(load: ReturnType<typeof contextLoader>) {
  // Count of contexts being processed. While it is not 0, `jsonld` also resolves the scoped contexts of their terms.
  let open = 0;
  const watched = (found: ResolvedContext): ResolvedContext => ({
    document: found.document,
    getProcessed(activeCtx) {
      const processed = found.getProcessed(activeCtx);
      if (!processed) open++;
      return processed;
    },
    setProcessed(activeCtx, processed) {
      open--;
      found.setProcessed(activeCtx, processed);
    },
  });
  const known = new Map<string, Promise<ResolvedContext[]>>();
  const own = new Map<string, ResolvedContext>();
  const named = async (iri: string, within: readonly string[]): Promise<ResolvedContext[]> => {
    const { document, documentUrl } = await load(iri);
    if (!isObject(document)) throw malformed(`invalid remote context: ${iri} is not a JSON object`);
    const { '@context': context = {} } = document;
    return resolved(withBase(context, documentUrl), documentUrl, [...within, iri]);
  };
  const resolved = async (context: unknown, base: string, within: readonly string[]): Promise<ResolvedContext[]> => {
    const found: ResolvedContext[] = [];
    for (const each of [context].flat()) {
      assertNoContextWithin(each);
      if (typeof each === 'string') {
        const iri = resolveIri(each, base);
        // A loaded context may name this context again, so the promise is set before the context is loaded.
        if (within.includes(iri) || within.length === mostNamed)
          throw malformed(`context overflow: the contexts of ${iri} name each other, or more than ${mostNamed}`);
        if (!known.has(iri)) known.set(iri, named(iri, within));
        found.push(...(await known.get(iri)!));
      } else if (each === null || isObject(each)) found.push(watched(contextOf(each, own)));
      else throw malformed('invalid local context: a "@context" must be an object, an IRI or null');
    }
    return found;
  };
  return {
    resolve({ context, activeCtx, base }: Resolving): Promise<ResolvedContext[]> {
      // A node of the temporary property would lose the type-scoped context (JSON-LD 1.1, 4.1.5).
      if (open === 0 && activeCtx.previousContext && [context].flat().some((each) => isObject(each) && mark in each))
        throw malformed('a "@nest" term with a "@context" cannot be used inside a type-scoped context');
      return resolved(context, base, []);
    },
  };
}

/** Returns the cached or new context. @param own contexts of the document, by text */
function contextOf(context: Json | null, own: Map<string, ResolvedContext>): ResolvedContext {
  const text = JSON.stringify(context);
  let found = own.get(text) ?? recent.get(text);
  if (!found) {
    const processed = new WeakMap<object, unknown>();
    found = {
      document: context && withProperties(context),
      getProcessed: (activeCtx) => processed.get(activeCtx),
      setProcessed: (activeCtx, made) => void processed.set(activeCtx, made),
    };
    if (text.length <= longestKept) recent.set(text, found);
  }
  own.set(text, found);
  return found;
}

/** Returns a remote context with its relative references resolved against the context's IRI. */
function withBase(context: unknown, base: string): unknown {
  if (typeof context === 'string') return resolveIri(context, base);
  if (Array.isArray(context)) return context.map((each) => withBase(each, base));
  if (!isObject(context)) return context;
  const terms = Object.entries(context).map(([term, definition]) =>
    isObject(definition) && '@context' in definition
      ? [term, { ...definition, '@context': withBase(definition['@context'], base) }]
      : [term, definition],
  );
  return Object.fromEntries(terms);
}

/** Asserts that a context contains no `@context`. @throws LwsError `malformed-body` */
export function assertNoContextWithin(context: unknown): void {
  if (isObject(context) && '@context' in context)
    throw malformed('keyword redefinition: a "@context" cannot contain another "@context"');
}

/** Replaces `@nest` terms that have a context by terms of the temporary property. Returns the same context if there is none. */
function withProperties(context: Json): Json {
  const terms = Object.entries(context).flatMap(([term, definition]) => {
    if (!isObject(definition) || definition['@id'] !== '@nest' || !('@context' in definition)) return [];
    return [
      [term, { ...definition, '@id': nested, '@context': [definition['@context'], { [mark]: null }].flat() }] as const,
    ];
  });
  return terms.length === 0 ? context : { ...context, ...Object.fromEntries(terms) };
}

/** Merges the nested objects of an expanded node into the node. @throws LwsError `malformed-body` if they are not objects */
export function mergeNested(node: Json): void {
  const objects = node[nested] as Json[] | undefined;
  if (!objects) return;
  delete node[nested];
  for (const object of objects) {
    if ('@value' in object || '@list' in object)
      throw malformed('invalid @nest value: it must be an object of properties');
    mergeNested(object);
    for (const [name, value] of Object.entries(object)) {
      const before = node[name];
      if (before === undefined) node[name] = value;
      else if (Array.isArray(value)) node[name] = [before, value].flat();
      else if (isObject(before) && isObject(value))
        for (const [reverse, nodes] of Object.entries(value)) before[reverse] = [before[reverse] ?? [], nodes].flat();
      else throw malformed(`colliding keywords: ${name} occurs twice`);
    }
  }
}
