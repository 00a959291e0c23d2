/** Type index and type search as seen by a client (rules 13.3, 13.4). */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Sender, StorageUnderTest } from './conformance.js';
import { linked } from './expectations.js';
import type { Answer } from './http.js';
import { mediaType } from './rdf.js';

export const lwsJson = 'application/lws+json';
export const lwsQuery = 'application/lws-query+json';
export const lwsContext = 'https://www.w3.org/ns/lws/v1';

export interface FoundItem {
  readonly id: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly size?: number;
  readonly modified?: string;
}
export interface FoundPage {
  readonly '@context': unknown;
  readonly type: string;
  readonly totalItems: number;
  readonly items: readonly FoundItem[];
}

/** Key and value of GET parameters: commas are OR, repetition is AND. */
export type Filter = readonly (readonly [key: string, value: string])[];

export const indexOf = (s: StorageUnderTest): string => `${s.root}.lws/type-index`;
export const searchOf = (s: StorageUnderTest): string => `${s.root}.lws/type-search`;

/** Returns an IRI that occurs nowhere else in the storage. */
export const uniqueIri = (name = 'T'): string => `https://vocabulary.example/${randomUUID()}/${name}`;

/** Returns the GET URL of a search. */
export const searchFor = (s: StorageUnderTest, filter: Filter): string => {
  const encoded = (value: string): string => value.split(',').map(encodeURIComponent).join(',');
  const query = filter.map(([key, value]) => `${encodeURIComponent(key)}=${encoded(value)}`).join('&');
  return query ? `${searchOf(s)}?${query}` : searchOf(s);
};

export function pageOf(answer: Answer): FoundPage {
  expect(answer.status, answer.text).to.equal(200);
  expect(mediaType(answer)).to.equal(lwsJson);
  return JSON.parse(answer.text) as FoundPage;
}

export const idsOf = (answer: Answer): string[] => pageOf(answer).items.map(({ id }) => id);

const readAs = (s: StorageUnderTest, iri: string, as: Sender | undefined): Promise<Answer> =>
  s.send('GET', iri, {}, undefined, as);

/** Returns the items of a response and of all following pages. */
export async function allItems(
  s: StorageUnderTest,
  first: Answer,
  at: string,
  as: Sender | undefined = undefined,
): Promise<FoundItem[]> {
  const items = [...pageOf(first).items];
  let [answer, base] = [first, at];
  for (let pages = 1; linked(answer, 'next').length > 0; pages++) {
    expect(pages, 'pages').to.be.below(1000);
    base = new URL(linked(answer, 'next')[0]!, base).href;
    answer = await readAs(s, base, as);
    items.push(...pageOf(answer).items);
  }
  expect(items.length, 'items on all pages').to.equal(pageOf(first).totalItems);
  return items;
}

/** Returns the IRIs that match a filter, from all pages. */
export async function found(s: StorageUnderTest, filter: Filter, as?: Sender): Promise<string[]> {
  const iri = searchFor(s, filter);
  return (await allItems(s, await readAs(s, iri, as), iri, as)).map(({ id }) => id);
}

/** Returns the types of the index, from all pages. */
export async function indexed(s: StorageUnderTest, as?: Sender): Promise<string[]> {
  return (await allItems(s, await readAs(s, indexOf(s), as), indexOf(s), as)).map(({ id }) => id);
}

/** Returns a filter as the body of POST and QUERY: arrays are AND, nested arrays OR. */
export const filterBody = (filter: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ '@context': lwsContext, ...filter });

export const postFilter = (s: StorageUnderTest, body: string, type = lwsJson): Promise<Answer> =>
  s.send('POST', searchOf(s), { 'Content-Type': type }, body);

export const queryFilter = (s: StorageUnderTest, body: string, type = lwsQuery): Promise<Answer> =>
  s.send('QUERY', searchOf(s), { 'Content-Type': type }, body);
