/** Classes and predicates of the storage for completion, most frequent first. Cached per signed-in user. */

import { serviceEndpoint, succeed } from '../storage/api.js';
import { selectBriefly } from '../storage/brief-select.js';
import { once } from '../storage/once.js';
import { readFacets } from './search.js';

/** Maximum count of names offered. */
const maxNames = 500;
const keepMs = 300_000;

const voidOf = (name: string): string => `http://rdfs.org/ns/void#${name}`;

/** Reads names from the server's statistics, shared by callers with the same access. Empty while the server counts. */
const readCounted = once(async () => {
  const endpoint = await serviceEndpoint('SparqlQueryService');
  if (endpoint === undefined) return { classes: [], predicates: [] };
  const response = await succeed('GET', endpoint, { headers: { Accept: 'text/turtle' } });
  const { parseRdf: parseDocument } = await import('../rdf/document.js');
  const { quads } = parseDocument(await response.text(), endpoint);
  const named = (kind: string, counted: string): readonly string[] => {
    const counts = new Map(
      quads.flatMap(({ subject, predicate, object }) =>
        predicate.value === voidOf(counted) ? [[subject.value, Number(object.value)]] : [],
      ),
    );
    return quads
      .filter(({ predicate }) => predicate.value === voidOf(kind))
      .sort((a, b) => (counts.get(b.subject.value) ?? 0) - (counts.get(a.subject.value) ?? 0))
      .map(({ object }) => object.value)
      .slice(0, maxNames);
  };
  return { classes: named('class', 'entities'), predicates: named('property', 'triples') };
}, keepMs);

/** Returns the distinct terms of a pattern. @throws Refusal at the time limit */
async function readDistinct(pattern: string): Promise<readonly string[]> {
  const rows = (await selectBriefly(`SELECT DISTINCT ?name { ${pattern} } LIMIT ${maxNames}`)) ?? [];
  return rows.flatMap(({ name }) => (typeof name?.value === 'string' && name.type === 'uri' ? [name.value] : []));
}

/**
 * Returns the counted names, then names that are newer than the statistics. If the storage is too large for the time limit,
 * returns the counted names only.
 */
async function withNew(counted: readonly string[], pattern: string): Promise<readonly string[]> {
  const found = readDistinct(pattern);
  return [...new Set([...counted, ...(await (counted.length > 0 ? found.catch(() => []) : found))])];
}

/** Returns the classes of the data, then declared types. */
async function readClasses(): Promise<readonly string[]> {
  const [{ classes }, facets] = await Promise.all([readCounted(), readFacets(maxNames)]);
  return [...new Set([...(await withNew(classes, '?thing a ?name')), ...(facets?.types ?? [])])];
}

const readPredicates = async (): Promise<readonly string[]> => withNew((await readCounted()).predicates, '?s ?name ?o');

/** Value of `completions` of the editor. */
export const vocabulary = { classes: once(readClasses, keepMs), predicates: once(readPredicates, keepMs) };
