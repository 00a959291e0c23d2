/** Moves and renames members (MOVE). */
import { succeed } from '../storage/api.js';
import { isContainer } from '../storage/names.js';

/** Type of dragged members in a DataTransfer: their IRIs, one per line. */
export const dragType = 'application/x-quadpod-members';

/**
 * Moves members. IRIs of moved resources are rewritten in them.
 * @param place a container to move into, or the new IRI of the only member
 * @param moved called after each move
 * @throws Error for a member that cannot be moved, Refusal; earlier members stay moved
 */
export async function moveMembers(
  iris: readonly string[],
  place: string,
  moved?: (from: string, to: string) => void,
): Promise<void> {
  for (const iri of iris) {
    const name = /[^/]+\/?$/.exec(iri)![0];
    const to = isContainer(place) ? place + name : place + (isContainer(iri) ? '/' : '');
    if (to === iri || (isContainer(iri) && to.startsWith(iri))) throw new Error('An item cannot be moved into itself.');
    await succeed('MOVE', iri, { headers: { Destination: to, Overwrite: 'F', Prefer: 'rewrite-links' } });
    moved?.(iri, to);
  }
}

/** Returns the IRI of a path that a user typed, relative to the storage. @throws Error for an invalid path */
export function iriOfPath(storage: string, path: string): string {
  const segments = path.replace(/^\//, '').split('/');
  const isValid = segments.every(
    (segment, at) => (segment !== '' || at === segments.length - 1) && !/^\.\.?$/.test(segment),
  );
  if (!isValid) throw new Error(`“${path}” is not a valid path.`);
  return storage + segments.map((segment) => encodeURIComponent(segment.normalize('NFC'))).join('/');
}
