/**
 * From an `Authorization` field to a principal. It routes a credential to the suite that recognises its shape; it must
 * not know any suite, nor resources.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import { parseAuthorization } from '../fields/authorization.js';
import { refusedCredential, type Suite, type VerifiedCredential } from './suite.js';

export interface Authenticator {
  /**
   * @param field the `Authorization` field of the request
   * @throws LwsError `invalid-token` for a refused credential, also where none is needed; `invalid-request` for an
   *   unknown or malformed scheme (open-points 1.4)
   */
  authenticate(field: string | undefined): Access | Promise<Access>;
}

const anonymous: Access = {};

export function createAuthenticator(suites: readonly Suite[]): Authenticator {
  // Verified credentials by hash until they expire, so that a signature is checked once and not per request.
  const verified = new LRUCache<string, VerifiedCredential & { access: Access }>({ max: 10_000 });

  const verify = async (credential: string): Promise<Access> => {
    const hash = createHash('sha256').update(credential).digest('base64');
    const known = verified.get(hash);
    if (known && known.expires > Date.now()) return known.access;
    const suite = suites.find((candidate) => candidate.recognises(credential));
    if (!suite)
      throw refusedCredential('The credential is of no kind that this server accepts.', 'no suite recognises it');
    const result = await suite.verify(credential);
    const access = { principal: result.principal };
    verified.set(hash, { ...result, access });
    return access;
  };

  return {
    authenticate(field) {
      if (field === undefined) return anonymous;
      const credentials = parseAuthorization(field);
      if (credentials?.scheme !== 'bearer')
        throw new LwsError('invalid-request', 'The Authorization field must be "Bearer" and one credential.', {
          reason: credentials ? `unknown scheme ${credentials.scheme}` : 'malformed Authorization field',
        });
      return verify(credentials.token);
    },
  };
}
