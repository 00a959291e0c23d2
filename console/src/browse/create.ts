/** Creates and deletes members on the server. */
import { confirmed } from '../frame/confirm.js';
import { Refusal, refusalFrom, request } from '../storage/api.js';
import { readContainer } from '../storage/container.js';
import { isContainer, shortName } from '../storage/names.js';
import { isTooMuch, moveToTrash } from '../storage/trash.js';

const containerType = '<https://www.w3.org/ns/lws#Container>; rel="type"';

export type Kind = 'container' | 'turtle' | 'json' | 'text';

const contents: Readonly<
  Record<Exclude<Kind, 'container'>, readonly [mediaType: string, body: string, ending: string]>
> = {
  turtle: ['text/turtle', '', '.ttl'],
  json: ['application/json', '{}', '.json'],
  text: ['text/plain', '', '.txt'],
};

export const memberIri = (container: string, name: string): string =>
  container + encodeURIComponent(name.normalize('NFC'));

/** Creates an empty member of a container. @returns its IRI @throws Error if the name is taken, Refusal if it is reserved */
export async function createMember(container: string, kind: Kind, name: string): Promise<string> {
  const iri = memberIri(container, name) + (kind === 'container' ? '/' : '');
  const [mediaType, body = null] = kind === 'container' ? [] : contents[kind];
  const type: Record<string, string> = mediaType ? { 'Content-Type': mediaType } : { Link: containerType };
  const response = await request('PUT', iri, { headers: { ...type, 'If-None-Match': '*' }, body });
  if (response.status === 412) throw new Error(`“${name}” already exists. Choose another name.`);
  if (!response.ok) throw await refusalFrom(response);
  return iri;
}

/** Returns a valid name for a new member, with the default extension if it has none. @throws Error for an invalid name */
export function suggestedName(kind: Kind, name: string): string {
  if (name.includes('/')) throw new Error('Names cannot contain a slash. Create a folder first, then the item in it.');
  if (/^\.\.?$/.test(name)) throw new Error(`“${name}” is not a valid name: in a URL it means another path.`);
  return kind === 'container' || /\.[^.]+$/.test(name) ? name : name + contents[kind][2];
}

export interface Deletion {
  /** Called with the id of each item that was moved to the trash. */
  readonly trashed?: (id: string) => void;
  /** Stops the deletion between two requests. */
  readonly signal: AbortSignal;
  /** Called with the number of successful requests since the last call. */
  readonly told: (deleted: number) => void;
}

/** Maximum count of members for a single request. A larger container is emptied step by step, to show progress. */
const maxInOne = 500;
const atOnce = 6;

/**
 * Deletes a member with its metadata; a container with its contents.
 * @returns the first error, if any
 * @throws DOMException `AbortError` after cancellation; deleted resources stay deleted
 */
export async function deleteMember(iri: string, work: Deletion, etag?: string): Promise<Refusal | undefined> {
  if (isContainer(iri) && (await countOf(iri, work.signal)) > maxInOne) {
    const refusal = await empty(iri, work);
    if (refusal) return refusal;
  }
  work.signal.throwIfAborted();
  const tag = etag ?? (await request('HEAD', iri)).headers.get('ETag');
  const response = await request('DELETE', iri, {
    headers: { ...(tag ? { 'If-Match': tag } : {}), ...(isContainer(iri) ? { Depth: 'infinity' } : {}) },
  });
  if (!response.ok) return refusalFrom(response);
  work.told(1);
  return undefined;
}

/** Moves a member to the trash. If that is impossible, asks if it may be deleted permanently. @returns the first error, if any */
export async function trashMember(iri: string, work: Deletion): Promise<Refusal | undefined> {
  work.signal.throwIfAborted();
  try {
    work.trashed?.(await moveToTrash(iri, (await request('HEAD', iri)).headers.get('ETag') ?? '*'));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (!isTooMuch(error)) return error;
    const text = `“${shortName(iri)}” cannot move to the trash: ${error.message} Delete it permanently?`;
    const isWanted = await confirmed({ title: 'Delete permanently', text, proceed: 'Delete permanently' });
    return isWanted ? deleteMember(iri, work) : error;
  }
  work.told(1);
  return undefined;
}

/** Counts members at any depth, up to the maximum. */
async function countOf(container: string, signal: AbortSignal, known = 0): Promise<number> {
  let count = known;
  let rest = 1;
  for (let page = 1; rest > 0 && count <= maxInOne; page++) {
    const { members, total = 0 } = await readContainer(`${container}?page=${page}`, signal);
    if (page === 1) rest = total;
    rest -= members.length;
    count += members.length;
    for (const { iri } of members) if (isContainer(iri) && count <= maxInOne) count = await countOf(iri, signal, count);
    if (members.length === 0) break;
  }
  return count;
}

/** Deletes the visible contents of a container. */
async function empty(container: string, work: Deletion): Promise<Refusal | undefined> {
  for (;;) {
    const { members } = await readContainer(`${container}?page=1`, work.signal);
    if (members.length === 0) return undefined;
    for (let start = 0; start < members.length; start += atOnce) {
      const some = members.slice(start, start + atOnce);
      const refusals = await Promise.all(some.map(({ iri }) => deleteMember(iri, work, '*')));
      const refusal = refusals.find(Boolean);
      // Another user may have deleted a member meanwhile. If all deletions are rejected, there is no progress.
      const isGone = refusal?.status === 404 || refusal?.status === 412;
      if (refusal && (!isGone || refusals.every(Boolean))) return refusal;
    }
  }
}
