/** Queries stored as resources that other users can open and run. */

import { confirmed } from '../frame/confirm.js';
import { essenceOf, Refusal, request, succeed } from '../storage/api.js';

export const sparqlQuery = 'application/sparql-query';
/** Declared type of saved queries, by which they are found. */
export const queryType = 'http://www.w3.org/ns/shacl#SPARQLExecutable';

/** A stored query. */
export interface Saved {
  readonly iri: string;
  readonly tag: string;
  readonly query: string;
}

/** Header fields for a new query. A replaced query keeps its metadata. */
const fresh = { 'If-None-Match': '*', Prefer: 'set-linkset', Link: `<${queryType}>; rel="type"` };

const tagOf = (response: Response): string => response.headers.get('ETag') ?? '';

/** Returns the parameters of a link to a query: the IRI of an unchanged query, so that readers see the current version. */
export const linkOf = ({ query, saved }: Pick<Saved, 'query'> & { readonly saved?: Saved }): Record<string, string> =>
  saved?.query === query ? { from: saved.iri } : { query };

/** Reads a saved query. @throws Refusal with the server's message, or Error if the resource is not a query */
export async function readSaved(iri: string): Promise<Saved> {
  const response = await succeed('GET', iri, { headers: { Accept: sparqlQuery } });
  if (essenceOf(response) !== sparqlQuery) throw new Error('The link does not lead to a query.');
  return { iri, tag: tagOf(response), query: await response.text() };
}

/**
 * Saves a query. Asks before it replaces another user's version.
 * @param known version that was last read
 * @returns `undefined` if the user declined
 */
export async function save(iri: string, query: string, known: Saved | undefined): Promise<Saved | undefined> {
  const put = async (condition: Readonly<Record<string, string>>): Promise<Saved> => {
    const headers = { 'Content-Type': sparqlQuery, ...condition };
    return { iri, query, tag: tagOf(await succeed('PUT', iri, { headers, body: query })) };
  };
  try {
    return await put(known?.iri === iri ? { 'If-Match': known.tag } : fresh);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 412) throw error;
  }
  const there = await request('HEAD', iri);
  if (there.status === 404) return put(fresh);
  const what = essenceOf(there) === sparqlQuery ? 'another query' : 'something other than a query';
  const text = `${iri} contains ${what}, which cannot be restored after it is replaced.`;
  return (await confirmed({ title: 'Replace it?', text, proceed: 'Replace' }))
    ? put({ 'If-Match': tagOf(there) })
    : undefined;
}
