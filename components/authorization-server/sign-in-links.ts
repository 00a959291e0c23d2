/** Binds each sign-in link to the browser that opened it first. */

import type { Platform } from '../../lib/component/contract.js';
import { entryKey, entryRange } from '../../lib/storage/keys/records.js';
import { asTyped } from '../../lib/tools/threads/package-root.js';
import { OAuthError } from './oauth-error.js';

/** Maximum count of bound links of owners, and of other identities. Separate, because every identity can create links. */
const most = 1_000;
const space = 'sign-in-links';
/** Thumbprint of the browser's key, and expiry of the link in milliseconds since the epoch. */
type Bound = readonly [key: string, until: number];

export interface SignInLink {
  readonly name: string;
  readonly isOwners: boolean;
  readonly expires: number;
}

/** Bound links, in memory. Links of owners are also stored, for restarts and for other servers. */
export class SignInLinks {
  private readonly bound = { owners: new Map<string, Bound>(), others: new Map<string, Bound>() };

  constructor(private readonly platform: Pick<Platform, 'store' | 'log'>) {}

  /**
   * Binds a link to the first key for which a proof is sent with the link.
   * @throws OAuthError if the proof is missing or for another key, or if too many links are in use
   */
  async bind(link: SignInLink, key = ''): Promise<void> {
    if (key === '') throw new OAuthError('invalid_dpop_proof', 'A sign-in link requires a DPoP proof.');
    const links = this.bound[link.isOwners ? 'owners' : 'others'];
    const bound = links.get(link.name);
    if (bound) return assertSame(bound, key);
    const now = Date.now();
    for (const [name, [, until]] of links) if (until <= now) links.delete(name);
    if (links.size >= most)
      throw new OAuthError('temporarily_unavailable', 'Too many sign-in links are in use.', undefined, {}, 503);
    links.set(link.name, [key, link.expires]);
    if (link.isOwners) await this.keep(link, key, now);
  }

  private async keep({ name, expires }: SignInLink, key: string, now: number): Promise<void> {
    const entry = entryKey(space, name);
    try {
      await this.platform.store.transact(async (tx) => {
        const bound = tx.entry(entry);
        if (bound !== undefined) return assertSame(read(bound), key);
        for (const [old, value] of await tx.entriesIn(entryRange(space)))
          if (read(value)[1] <= now) tx.deleteEntry(old);
        tx.putEntry(entry, JSON.stringify([key, expires] satisfies Bound));
      });
    } catch (error) {
      if (error instanceof OAuthError) {
        this.bound.owners.delete(name);
        throw error;
      }
      // Sign-in must work even if the disk is full, so that the owner can free space.
      this.platform.log.warn({ err: error }, 'a sign-in link is bound until the next start only');
    }
  }
}

const read = (value: string): Bound => JSON.parse(value) as Bound;

/** Asserts that the key is the first key with which a link was used. @throws OAuthError */
function assertSame([first]: Bound, key: string): void {
  if (first !== key)
    throw new OAuthError(
      'invalid_request',
      'This sign-in link was already used in another browser, and works in one only. ' +
        `To create a new one on the server: ${asTyped()} owner --key FILE, with the owner's key file.`,
    );
}
