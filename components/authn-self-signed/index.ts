/**
 * Authentication suites for self-signed credentials: a JWT, verified with a key of its subject. The subject is an HTTPS URL, a
 * did:web or a did:key (rule 15.11).
 */
import type { CryptoKey, JWK, JWTPayload } from 'jose';
import { assertAudience, assertLifetime } from '../../lib/authentication/audience.js';
import type { AuthenticationMethod } from '../../lib/authentication/cid-document.js';
import { fits, importPublicKey } from '../../lib/authentication/issuer-keys.js';
import { boundKey, readJwt, signInType, type UnverifiedJwt, verifyJwt } from '../../lib/authentication/jwt.js';
import { refusedCredential, type Suite, type VerifiedCredential } from '../../lib/authentication/suite.js';
import { defineComponent } from '../../lib/component/component.js';
import type { Platform } from '../../lib/component/contract.js';
import { integer, setting } from '../../lib/settings/settings.js';

const settings = {
  maxLifetime: setting(
    'lws.token.max-lifetime-seconds',
    integer(1),
    3600,
    'Maximum validity of a self-signed credential, in seconds.',
    'storage',
  ),
};

const tokenTypes = ['urn:ietf:params:oauth:token-type:jwt'];

export default defineComponent({
  name: 'authn-self-signed',
  settings,
  isEnabled: () => true,
  install: (platform, { maxLifetime }) => ({
    capabilities: [{ type: 'https://w3c.github.io/lws-protocol/lws10-authn-ssi-cid/' }],
    suites: [
      {
        name: 'self-signed',
        tokenTypes,
        recognises: (credential) => isSelfIssued(readJwt(credential), true),
        verify: (credential, address) => verify(platform, credential, { maxLifetime, address }),
      },
      // Deprecated, and not advertised: a did:key subject without kid. A did:key has only one key.
      {
        name: 'did:key without kid',
        tokenTypes,
        recognises: (credential) => isSelfIssued(readJwt(credential), false),
        verify: (credential, address) => verify(platform, credential, { maxLifetime, address }),
      },
    ] satisfies Suite[],
  }),
});

/** True for a JWT with its subject as issuer, unless it is an access token. */
function isSelfIssued(jwt: UnverifiedJwt | undefined, withKid: boolean): boolean {
  if (!jwt || /at\+jwt$/i.test(String(jwt.header['typ'] ?? ''))) return false;
  const { iss, sub } = jwt.payload;
  if (typeof sub !== 'string' || iss !== sub) return false;
  return withKid === (jwt.header['kid'] !== undefined) && (withKid || sub.startsWith('did:key:'));
}

/** Verifies a credential. Checks that need no fetch come first, so that the document is fetched only if they succeed. */
async function verify(
  platform: Platform,
  credential: string,
  { maxLifetime, address }: { readonly maxLifetime: number; readonly address: string },
): Promise<VerifiedCredential> {
  const { header, payload } = readJwt(credential)!;
  const { sub, client_id: client } = payload as JWTPayload & { client_id?: unknown };
  if (sub !== client)
    throw refusedCredential(
      'The claims sub, iss and client_id must be the same.',
      `client_id is ${String(client).slice(0, 200)}, sub ${String(sub).slice(0, 200)}`,
    );
  assertAudience(payload['aud'], platform.authentication.audience);
  const { exp, iat } = payload as { exp?: unknown; iat?: unknown };
  if (typeof exp !== 'number' || typeof iat !== 'number')
    throw refusedCredential('The claims exp and iat are required numbers.', `exp ${String(exp)}, iat ${String(iat)}`);
  assertLifetime(iat, exp, maxLifetime);
  const { authentication } = await platform.authentication.identifiers(sub!, address);
  const method = methodFor(authentication, header, sub!);
  const key = await keyOf(method, String(header['alg']));
  const claims = await verifyJwt(credential, key, { required: ['exp', 'iat', 'sub', 'iss', 'client_id'] });
  return {
    principal: { subject: sub!, issuer: sub!, client: sub! },
    expires: exp * 1000,
    // Time of the next verification: the document may change, and the key may expire before the credential.
    ...(sub!.startsWith('did:key:')
      ? {}
      : {
          verifyAgain: Math.min(
            Date.now() + 300_000,
            method.expires ?? Number.POSITIVE_INFINITY,
            method.revoked ?? Number.POSITIVE_INFINITY,
          ),
        }),
    ...(header['typ'] === signInType ? { boundTo: '', link: linkName(sub!, payload['jti']) } : boundKey(claims)),
  };
}

/** Returns the name of a sign-in link. @throws LwsError `invalid-token` */
function linkName(subject: string, jti: unknown): string {
  if (typeof jti !== 'string' || jti.length > 200)
    throw refusedCredential('The claim jti is missing or too long.', `jti is ${String(jti).slice(0, 200)}`);
  return `${subject} ${jti}`;
}

/** Returns the key for `kid`: its full id, its fragment, or the kid in the JWK (rule 15.11). */
function methodFor(
  methods: readonly AuthenticationMethod[],
  { kid }: UnverifiedJwt['header'],
  subject: string,
): AuthenticationMethod {
  const named = (method: AuthenticationMethod): boolean => {
    const fragment = method.id.includes('#') ? method.id.slice(method.id.indexOf('#') + 1) : undefined;
    const own = (method.jwk as JWK | undefined)?.kid;
    return (
      kid === method.id ||
      (fragment !== undefined && (kid === fragment || kid === `#${fragment}`)) ||
      (own !== undefined && kid === own)
    );
  };
  const method = kid === undefined ? methods[0] : methods.find(named);
  if (!method)
    throw refusedCredential(
      'The kid does not name an authentication key of the subject.',
      `kid is ${String(kid).slice(0, 200)}, ${subject} has ${
        methods
          .map(({ id }) => id)
          .join(' ')
          .slice(0, 500) || 'none'
      }`,
    );
  assertUsable(method, subject);
  return method;
}

function assertUsable({ id, controller, revoked, expires }: AuthenticationMethod, subject: string): void {
  if (controller !== subject)
    throw refusedCredential(
      'The key is not controlled by the subject.',
      `${id} is controlled by ${String(controller).slice(0, 200)}`,
    );
  // An invalid date is NaN, and therefore rejected.
  if (revoked !== undefined && !(revoked > Date.now()))
    throw refusedCredential('The key was revoked.', `${id} was revoked at ${revoked}`);
  if (expires !== undefined && !(expires > Date.now()))
    throw refusedCredential('The key has expired.', `${id} expired at ${expires}`);
}

async function keyOf({ id, jwk }: AuthenticationMethod, algorithm: string): Promise<CryptoKey> {
  if (!jwk)
    throw refusedCredential('The type of the key is not supported.', `${id} is not a usable JsonWebKey or Multikey`);
  if (!fits(jwk as JWK, algorithm))
    throw refusedCredential('The algorithm does not match the key.', `alg is ${algorithm.slice(0, 20)}, the key ${id}`);
  return importPublicKey(jwk as JWK, algorithm);
}
