/** The SPARQL Query Service as its clients use it (rule 14.1; SPARQL 1.1 Protocol). */
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

/** A query as the body of QUERY to the endpoint, or to another target. */
export const ask = (
  s: StorageUnderTest,
  query: string,
  headers: Fields = {},
  sender?: Sender,
  target = endpointOf(s),
): Promise<Answer> => s.send('QUERY', target, { 'Content-Type': sparqlQuery, ...headers }, query, sender);

/** Parameters as GET takes them. */
export const askByGet = (
  s: StorageUnderTest,
  parameters: readonly (readonly [string, string])[],
  headers: Fields = {},
  sender?: Sender,
): Promise<Answer> => s.send('GET', `${endpointOf(s)}?${encoded(parameters)}`, headers, undefined, sender);

export const encoded = (parameters: readonly (readonly [string, string])[]): string =>
  parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');

/** A JSON result, whole. */
export function resultsOf(answer: Answer): Results {
  expect(answer.status, answer.text).to.equal(200);
  expect(mediaType(answer)).to.equal(resultsJson);
  return JSON.parse(answer.text) as Results;
}

/** Rows as the values of their variables in the order of projection, `-` for an unbound one, sorted. */
export function rowsOf(answer: Answer): string[] {
  const { head, results } = resultsOf(answer);
  return results!.bindings.map((row) => head.vars!.map((name) => row[name]?.value ?? '-').join(' ')).sort();
}

/** The rows of a SELECT. */
export const rows = async (s: StorageUnderTest, query: string, sender?: Sender, target?: string): Promise<string[]> =>
  rowsOf(await ask(s, query, {}, sender, target));

/** The rows of a SELECT, of a query that the HTTP thread may run and of one that a thread of queries runs, since it has a timeout. */
export async function rowsBothWays(s: StorageUnderTest, query: string, sender?: Sender): Promise<string[]> {
  const plain = await rows(s, query, sender);
  expect(await rows(s, query, sender, `${endpointOf(s)}?timeout=20`), `with a timeout: ${query}`).to.deep.equal(plain);
  return plain;
}

/** The value of an ASK. */
export async function holds(s: StorageUnderTest, query: string, sender?: Sender, target?: string): Promise<boolean> {
  const { boolean } = resultsOf(await ask(s, query, {}, sender, target));
  expect(boolean).to.be.a('boolean');
  return boolean!;
}

/** The named graphs that somebody sees. */
export const graphsSeen = (s: StorageUnderTest, sender?: Sender, below = s.scratch): Promise<string[]> =>
  rows(s, `SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "${below}")) }`, sender);
