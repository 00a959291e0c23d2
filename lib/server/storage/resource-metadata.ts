/** The storage as a protected resource of OAuth (RFC 9728): who issues the tokens that it takes, and how they are presented. */
import type { ChallengePolicy } from '../../authentication/challenge.js';
import { wellKnownOf } from '../../authentication/issuer-keys.js';
import { signatureAlgorithms } from '../../authentication/jwt.js';
import type { Route } from '../../http/route.js';

const name = 'oauth-protected-resource';

/** Where the metadata of a storage are: the well-known path, inserted before that of the storage (section 3.1). */
export const resourceMetadataOf = (storage: string): string => wellKnownOf(storage, name);

/** @param issuers whose tokens are taken; nothing is told where there are none */
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
  // Clients keep the slash at the end of the storage's URI, or leave it out.
  const elsewhere = inserted === below ? [] : [inserted, `${inserted}/`];
  return [{ ...route, path: below }, ...elsewhere.map((path) => ({ ...route, place: 'origin', path }) as const)];
}
