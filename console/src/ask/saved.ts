/** Queries as resources of the storage, which others open and run. */

import { confirmed } from '../frame/confirm.js';
import { essenceOf, Refusal, request, succeed } from '../storage/api.js';

export const sparqlQuery = 'application/sparql-query';

/** A query as it was read or written. */
export interface Saved {
  readonly iri: string;
  readonly tag: string;
  readonly query: string;
}

const tagOf = (response: Response): string => response.headers.get('ETag') ?? '';

/** The parameters of a link to a query: its address while it is as it was saved, so that who opens the link sees what it is then. */
export const linkOf = ({ query, saved }: Pick<Saved, 'query'> & { readonly saved?: Saved }): Record<string, string> =>
  saved?.query === query ? { from: saved.iri } : { query };

/** @throws Refusal in the server's words; Error for what is no query */
export async function readSaved(iri: string): Promise<Saved> {
  const response = await succeed('GET', iri, { headers: { Accept: sparqlQuery } });
  if (essenceOf(response) !== sparqlQuery) throw new Error('What the link names is no query.');
  return { iri, tag: tagOf(response), query: await response.text() };
}

/**
 * Writes a query; what somebody else wrote there is replaced only after a question.
 * @param known what was there when it was last looked at
 * @returns `undefined` when it was decided not to
 */
export async function save(iri: string, query: string, known: Saved | undefined): Promise<Saved | undefined> {
  const put = async (condition: Readonly<Record<string, string>>): Promise<Saved> => {
    const headers = { 'Content-Type': sparqlQuery, ...condition };
    return { iri, query, tag: tagOf(await succeed('PUT', iri, { headers, body: query })) };
  };
  try {
    return await put(known?.iri === iri ? { 'If-Match': known.tag } : { 'If-None-Match': '*' });
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 412) throw error;
  }
  const there = await request('HEAD', iri);
  if (there.status === 404) return put({ 'If-None-Match': '*' });
  const what = essenceOf(there) === sparqlQuery ? 'another query' : 'something else than a query';
  const text = `At ${iri} there is ${what}. It cannot be brought back.`;
  return (await confirmed({ title: 'Replace it?', text, proceed: 'Replace' }))
    ? put({ 'If-Match': tagOf(there) })
    : undefined;
}
