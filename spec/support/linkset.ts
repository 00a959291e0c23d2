/** Linksets as seen by a client (rules 11.1, 11.5). */
import { expect } from 'chai';
import { lws, type StorageUnderTest } from './conformance.js';
import type { Answer } from './http.js';
import { mediaType } from './rdf.js';

export const linksetType = 'application/linkset+json';
export const mergePatch = 'application/merge-patch+json';
export const jsonPatch = 'application/json-patch+json';

export interface Target {
  readonly href: string;
  readonly [attribute: string]: unknown;
}
/** Linkset object: the anchor, and targets or literals by relation. */
export interface Links {
  readonly [relation: string]: unknown;
  readonly anchor: string;
  readonly type: readonly Target[];
}

/** Members managed by the server, in the order of rule 11.1. */
export const managed = ['anchor', 'type', 'up', 'linkset', `${lws}storage`];

/** Returns the only linkset object of a response. */
export function linksIn(answer: Answer): Links {
  expect(answer.status, answer.text).to.equal(200);
  expect(mediaType(answer)).to.equal(linksetType);
  const { linkset } = JSON.parse(answer.text) as { linkset: Links[] };
  expect(linkset).to.have.length(1);
  return linkset[0]!;
}

export const metaOf = (iri: string): string => `${iri}.meta`;

export const linksOfResource = async (s: StorageUnderTest, iri: string): Promise<Links> =>
  linksIn(await s.get(metaOf(iri)));

/** Returns the client-managed part: the relations, and the declared types as `types`. */
export async function clientPart(s: StorageUnderTest, iri: string): Promise<Record<string, unknown>> {
  const links = await linksOfResource(s, iri);
  const relations = Object.entries(links).filter(([relation]) => !managed.includes(relation));
  const types = links.type.map(({ href }) => href).filter((type) => type.startsWith('https://e.example/'));
  return { ...Object.fromEntries(relations), types };
}

/** Returns a document with one linkset object. */
export const linksetOf = (links: unknown): string => JSON.stringify({ linkset: [links] });

/** Replaces the client-managed part. The default `If-Match` is `*`. */
export const putLinks = (
  s: StorageUnderTest,
  iri: string,
  links: unknown,
  headers: Readonly<Record<string, string>> = { 'If-Match': '*' },
): Promise<Answer> => s.put(metaOf(iri), linksetType, linksetOf(links), headers);

/** Creates a text resource with these client-managed links. @returns its IRI */
export async function described(s: StorageUnderTest, links: unknown): Promise<string> {
  const { iri } = await s.stored('text/plain', 'x');
  const answer = await putLinks(s, iri, links);
  expect(answer.status, answer.text).to.equal(204);
  return iri;
}
