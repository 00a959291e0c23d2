/** OAuth protected resource metadata of the storage (RFC 9728): accepted issuers and presentation of tokens. */
import type { ChallengePolicy } from '../../authentication/challenge.js';
import { wellKnownOf } from '../../authentication/issuer-keys.js';
import { signatureAlgorithms } from '../../authentication/jwt.js';
import type { Route } from '../../http/route.js';

const name = 'oauth-protected-resource';

/** Returns the metadata URL of a storage: the well-known path inserted before its path (section 3.1). */
export const resourceMetadataOf = (storage: string): string => wellKnownOf(storage, name);

/** Returns the routes. @param issuers accepted issuers; if there are none, there is no document */
export function resourceMetadataRoutes(
  { realm, dpopOnly }: ChallengePolicy,
  issuers: readonly string[],
): readonly Route[] {
  if (issuers.length === 0) return [];
  const body = Buffer.from(
    JSON.stringify({
      resource: realm,
      authorization_servers: issuers,
      bearer_methods_supported: dpopOnly ? [] : ['header'],
      dpop_signing_alg_values_supported: signatureAlgorithms,
      dpop_bound_access_tokens_required: dpopOnly,
    }),
  );
  const fields = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' };
  const route = { methods: ['GET', 'HEAD'], access: 'public', handle: () => ({ status: 200, fields, body }) } as const;
  const below = `/.well-known/${name}`;
  const inserted = new URL(resourceMetadataOf(realm)).pathname;
  // Some clients omit the trailing slash of the storage URI.
  const elsewhere = inserted === below ? [] : [inserted, `${inserted}/`];
  return [{ ...route, path: below }, ...elsewhere.map((path) => ({ ...route, place: 'origin', path }) as const)];
}
