/** SPARQL Update at the endpoint, as clients use it. */
import { expect } from 'chai';
import { Parser } from 'n3';
import type { Sender, StorageUnderTest } from './conformance.js';
import type { Answer } from './http.js';
import { endpointOf } from './sparql.js';

export const updateType = 'application/sparql-update';
/** Settings of a server that accepts updates. */
export const updates: Readonly<Record<string, string>> = { 'sparql.endpoint.update': 'true' };

type Fields = Readonly<Record<string, string>>;

/** Sends an update as the body of POST. */
export const postUpdate = (
  s: StorageUnderTest,
  update: string,
  sender?: Sender,
  headers: Fields = {},
): Promise<Answer> => s.send('POST', endpointOf(s), { 'Content-Type': updateType, ...headers }, update, sender);

export interface Updated {
  readonly id: string;
  readonly status: string;
  readonly etag?: string;
}

/** Returns the changed resources reported by an update. */
export function updatedBy(answer: Answer): readonly Updated[] {
  expect(answer.status, answer.text).to.equal(200);
  return (JSON.parse(answer.text) as { resources: Updated[] }).resources;
}

/** Returns the last path segment and the status of each changed resource. */
export const changesIn = (answer: Answer): string[] =>
  updatedBy(answer).map(({ id, status }) => `${id.slice(id.lastIndexOf('/') + 1)} ${status}`);

/** Sends an update. @returns the changed resources, as `changesIn` formats them */
export const update = async (s: StorageUnderTest, text: string, sender?: Sender): Promise<string[]> =>
  changesIn(await postUpdate(s, text, sender));

/** Returns the object values of a graph in order, or `undefined` if the resource does not exist. */
export async function valuesOf(s: StorageUnderTest, iri: string): Promise<string[] | undefined> {
  const answer = await s.get(iri, { Accept: 'application/n-triples' });
  if (answer.status === 404) return undefined;
  expect(answer.status, answer.text).to.equal(200);
  return new Parser()
    .parse(answer.text)
    .map(({ object }) => object.value)
    .sort();
}

/** Creates a resource with one triple for each value. */
export async function storedValues(s: StorageUnderTest, iri: string, ...values: readonly string[]): Promise<string> {
  await s.stored('text/turtle', values.map((value) => `<urn:s> <urn:p> "${value}" .`).join('\n'), iri);
  return iri;
}

/** Returns an `INSERT DATA` of values into a graph. */
export const inserting = (iri: string, ...values: readonly string[]): string =>
  `INSERT DATA { GRAPH <${iri}> { ${values.map((value) => `<urn:s> <urn:p> "${value}" .`).join(' ')} } }`;
