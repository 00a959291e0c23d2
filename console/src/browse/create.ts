/** Making and removing members, as the server has it. */
import { type Refusal, refusalOf, request, succeed } from '../api.js';
import { isContainer } from '../names.js';

const containerType = '<https://www.w3.org/ns/lws#Container>; rel="type"';

export type Kind = 'container' | 'turtle' | 'json' | 'text';

const contents: Readonly<
  Record<Exclude<Kind, 'container'>, readonly [mediaType: string, body: string, ending: string]>
> = {
  turtle: ['text/turtle', '', '.ttl'],
  json: ['application/json', '{}', '.json'],
  text: ['text/plain', '', '.txt'],
};

/**
 * Makes an empty member of a container.
 * @returns its IRI
 * @throws Refusal for a name that is taken or reserved
 */
export async function createMember(container: string, kind: Kind, name: string): Promise<string> {
  const written = encodeURIComponent(name.normalize('NFC'));
  if (kind === 'container') {
    const iri = `${container}${written}/`;
    await succeed('PUT', iri, { headers: { Link: containerType, 'If-None-Match': '*' } });
    return iri;
  }
  const [mediaType, body] = contents[kind];
  const iri = container + written;
  await succeed('PUT', iri, { headers: { 'Content-Type': mediaType, 'If-None-Match': '*' }, body });
  return iri;
}

/** A name that a new member may have: one without an ending gets the usual one. */
export const suggestedName = (kind: Kind, name: string): string =>
  kind === 'container' || /\.[^.]+$/.test(name) ? name : name + contents[kind][2];

/**
 * Deletes a member with its metadata; a container with all that is in it.
 * @returns the refusal, if it was refused
 */
export async function deleteMember(iri: string): Promise<Refusal | undefined> {
  const head = await request('HEAD', iri);
  const etag = head.headers.get('ETag');
  const response = await request('DELETE', iri, {
    headers: {
      ...(etag ? { 'If-Match': etag } : {}),
      ...(isContainer(iri) ? { Depth: 'infinity' } : {}),
    },
  });
  return response.ok ? undefined : refusalOf(response);
}
