/** Resources by what a caller may read. */
import type { Access } from '../../lib/component/access.js';
import type { Platform } from '../../lib/component/basics.js';

/** Those of the resources that the caller may read. */
export async function readableOf(
  { authorizer, store }: Platform,
  access: Access,
  iris: readonly string[],
): Promise<readonly string[]> {
  const readable: string[] = [];
  for (const iri of iris) {
    const answer = authorizer.allows({ view: store, access, mode: 'read', iri });
    // Most decisions are made at once, and a promise for each would cost more than they do.
    if (typeof answer === 'boolean' ? answer : await answer) readable.push(iri);
  }
  return readable;
}
