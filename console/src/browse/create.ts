/** Making and removing members, as the server has it. */
import { type Refusal, refusalOf, request } from '../storage/api.js';
import { isContainer } from '../storage/names.js';

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
 * @throws Error for a name that is taken, Refusal for one that is reserved
 */
export async function createMember(container: string, kind: Kind, name: string): Promise<string> {
  const iri = container + encodeURIComponent(name.normalize('NFC')) + (kind === 'container' ? '/' : '');
  const [mediaType, body = null] = kind === 'container' ? [] : contents[kind];
  const type: Record<string, string> = mediaType ? { 'Content-Type': mediaType } : { Link: containerType };
  const response = await request('PUT', iri, { headers: { ...type, 'If-None-Match': '*' }, body });
  if (response.status === 412) throw new Error(`There is “${name}” already. Choose another name.`);
  if (!response.ok) throw await refusalOf(response);
  return iri;
}

/**
 * A name that a new member may have: one without an ending gets the usual one.
 * @throws Error for what is no name
 */
export function suggestedName(kind: Kind, name: string): string {
  if (name.includes('/')) throw new Error('A name has no slash. Make a container first, then what is to lie in it.');
  if (/^\.\.?$/.test(name)) throw new Error(`“${name}” is no name: in an address it leads elsewhere.`);
  return kind === 'container' || /\.[^.]+$/.test(name) ? name : name + contents[kind][2];
}

/**
 * Deletes a member with its metadata; a container with all that is in it.
 * @returns the refusal, if it was refused
 */
export async function deleteMember(iri: string): Promise<Refusal | undefined> {
  const head = await request('HEAD', iri);
  const etag = head.headers.get('ETag');
  const response = await request('DELETE', iri, {
    headers: { ...(etag ? { 'If-Match': etag } : {}), ...(isContainer(iri) ? { Depth: 'infinity' } : {}) },
  });
  return response.ok ? undefined : refusalOf(response);
}
