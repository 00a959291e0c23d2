/** SPARQL query endpoint as clients use it (rule 14.1 and SPARQL 1.1 Protocol). */
import { expect } from 'chai';
import type { Sender, StorageUnderTest } from './conformance.js';
import type { Answer } from './http.js';
import { mediaType } from './rdf.js';

export const sparqlQuery = 'application/sparql-query';
export const formType = 'application/x-www-form-urlencoded';
export const resultsJson = 'application/sparql-results+json';
export const endpointOf = (s: StorageUnderTest): string => `${s.root}.lws/sparql`;

export interface ResultTerm {
  readonly type: string;
  readonly value: string;
  readonly datatype?: string;
  readonly 'xml:lang'?: string;
}
export interface Results {
  readonly head: { readonly vars?: readonly string[] };
  readonly boolean?: boolean;
  readonly results?: { readonly bindings: readonly Readonly<Record<string, ResultTerm>>[] };
}

type Fields = Readonly<Record<string, string>>;

/**
 * Sends a query as the body of QUERY, by default to the endpoint. Sends it again if the index is still under construction: on a busy
 * machine the thread that builds it may start late.
 */
export async function ask(
  s: StorageUnderTest,
  query: string,
  headers: Fields = {},
  sender?: Sender,
  target = endpointOf(s),
): Promise<Answer> {
  for (;;) {
    const answer = await s.send('QUERY', target, { 'Content-Type': sparqlQuery, ...headers }, query, sender);
    if (answer.status !== 503 || !answer.text.includes('under construction')) return answer;
  }
}

/** Sends parameters with GET. */
export const askByGet = (
  s: StorageUnderTest,
  parameters: readonly (readonly [string, string])[],
  headers: Fields = {},
  sender?: Sender,
): Promise<Answer> => s.send('GET', `${endpointOf(s)}?${encoded(parameters)}`, headers, undefined, sender);

export const encoded = (parameters: readonly (readonly [string, string])[]): string =>
  parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');

/** Returns a JSON result. */
export function resultsOf(answer: Answer): Results {
  expect(answer.status, answer.text).to.equal(200);
  expect(mediaType(answer)).to.equal(resultsJson);
  return JSON.parse(answer.text) as Results;
}

/** Returns the rows, sorted. Each has its values in projection order, with `-` for unbound variables. */
export function rowsOf(answer: Answer): string[] {
  const { head, results } = resultsOf(answer);
  return results!.bindings.map((row) => head.vars!.map((name) => row[name]?.value ?? '-').join(' ')).sort();
}

/** Returns the rows of a SELECT. */
export const rows = async (s: StorageUnderTest, query: string, sender?: Sender, target?: string): Promise<string[]> =>
  rowsOf(await ask(s, query, {}, sender, target));

/** Returns the rows of a SELECT and asserts that a query thread returns the same: a query with a timeout never runs on the HTTP thread. */
export async function rowsBothWays(s: StorageUnderTest, query: string, sender?: Sender): Promise<string[]> {
  const plain = await rows(s, query, sender);
  expect(await rows(s, query, sender, `${endpointOf(s)}?timeout=20`), `with a timeout: ${query}`).to.deep.equal(plain);
  return plain;
}

/** Returns the result of an ASK. */
export async function holds(s: StorageUnderTest, query: string, sender?: Sender, target?: string): Promise<boolean> {
  const { boolean } = resultsOf(await ask(s, query, {}, sender, target));
  expect(boolean).to.be.a('boolean');
  return boolean!;
}

/** Returns the named graphs that a caller can query. */
export const graphsSeen = (s: StorageUnderTest, sender?: Sender, below = s.scratch): Promise<string[]> =>
  rows(s, `SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "${below}")) }`, sender);
