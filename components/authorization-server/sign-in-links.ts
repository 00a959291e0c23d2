/** Which browser each sign-in link was opened in. */
import { asTyped } from '../../lib/component/basics.js';
import { OAuthError } from './oauth-error.js';

/** Links that are remembered; of owners and of others apart, since everybody may sign links of their own. */
const most = 1_000;

export class SignInLinks {
  /** By the names of links: the thumbprint of the browser's key, and until when the link is valid (ms). */
  private readonly bound = { owners: new Map<string, [string, number]>(), others: new Map<string, [string, number]>() };

  /**
   * A link belongs to the first key that proves itself beside it.
   * @throws OAuthError for a proof of another key, or none; where too many links are in use
   */
  bind(link: { readonly name: string; readonly isOwners: boolean; readonly expires: number }, key = ''): void {
    if (key === '') throw new OAuthError('invalid_dpop_proof', 'A sign-in link needs a DPoP proof.');
    const links = this.bound[link.isOwners ? 'owners' : 'others'];
    const [first] = links.get(link.name) ?? [];
    if (first !== undefined && first !== key)
      throw new OAuthError(
        'invalid_request',
        'This sign-in link was used in another browser already, and is good for one. ' +
          `To make a new one where the server runs: ${asTyped()} owner --key FILE, with the owner's key file.`,
      );
    if (first !== undefined) return;
    const now = Date.now();
    for (const [name, [, until]] of links) if (until <= now) links.delete(name);
    if (links.size >= most)
      throw new OAuthError('temporarily_unavailable', 'Too many sign-in links are in use.', undefined, {}, 503);
    links.set(link.name, [key, link.expires]);
  }
}
