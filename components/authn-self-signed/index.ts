/**
 * The authentication suite of self-signed credentials of did:key subjects: a JWT that the key in the subject's own name
 * verifies (service.md, "Suites"). Nothing is looked up anywhere.
 */
import { decodeJwt, decodeProtectedHeader, errors, importJWK, type JWTPayload, jwtVerify } from 'jose';
import { assertAudience, assertLifetime, clockSkew } from '../../lib/authentication/audience.js';
import { algorithmOf, expandDidKey, type PublicJwk } from '../../lib/authentication/did-key.js';
import { refusedCredential, type Suite, type VerifiedCredential } from '../../lib/authentication/suite.js';
import { defineComponent, type House } from '../../lib/component.js';
import { integer, setting } from '../../lib/settings.js';

const settings = {
  maxLifetime: setting(
    'lws.token.max-lifetime-seconds',
    integer(1),
    3600,
    'The longest validity of a self-signed credential, in seconds.',
  ),
};

export default defineComponent({
  name: 'authn-self-signed',
  settings,
  isEnabled: () => true,
  install: (house, { maxLifetime }) => ({
    capabilities: [{ type: 'https://w3c.github.io/lws-protocol/lws10-authn-ssi-cid/' }],
    suites: [didKeySuite(house, maxLifetime)],
  }),
});

function didKeySuite(house: House, maxLifetime: number): Suite {
  return {
    name: 'self-signed did:key',
    recognises: isOwnJwt,
    async verify(credential) {
      const { key, method } = subjectKey(credential);
      const payload = await verifySignature(credential, key);
      const { kid } = decodeProtectedHeader(credential);
      if (kid !== method && kid !== method.slice(method.indexOf('#')) && kid !== method.slice(method.indexOf('#') + 1))
        throw refusedCredential(
          'The kid names no key of the subject.',
          `kid is ${String(kid).slice(0, 200)}, expected ${method}`,
        );
      return verifiedBy(payload, house, maxLifetime);
    },
  };
}

/** A JWT whose issuer and subject are the same did:key. */
function isOwnJwt(credential: string): boolean {
  if (credential.length > 16_384 || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential)) return false;
  try {
    const { iss, sub } = decodeJwt(credential);
    return (
      iss === sub &&
      typeof sub === 'string' &&
      sub.startsWith('did:key:') &&
      decodeProtectedHeader(credential).kid !== undefined
    );
  } catch {
    // Not a JWT: another suite's, or nobody's.
    return false;
  }
}

function subjectKey(credential: string): { key: PublicJwk; method: string } {
  const { sub } = decodeJwt(credential);
  const expanded = expandDidKey(String(sub));
  if (!expanded)
    throw refusedCredential('The subject is no did:key of a supported kind.', `sub is ${String(sub).slice(0, 200)}`);
  return expanded;
}

async function verifySignature(credential: string, key: PublicJwk): Promise<JWTPayload> {
  const algorithm = algorithmOf(key);
  // RFC 9864 calls Ed25519 by its name; both names are one algorithm here.
  const algorithms = algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [algorithm];
  try {
    const { payload } = await jwtVerify(credential, await importJWK({ ...key }, algorithm), {
      algorithms,
      clockTolerance: clockSkew,
      requiredClaims: ['exp', 'iat', 'sub', 'iss', 'client_id'],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError)
      throw refusedCredential(describe(error), `${error.code}: ${error.message}`, error);
    throw error;
  }
}

function describe(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'The credential has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) return `The claim ${error.claim} is missing or wrong.`;
  return 'The signature of the credential does not hold.';
}

function verifiedBy(payload: JWTPayload, house: House, maxLifetime: number): VerifiedCredential {
  const { sub, iss, client_id: client, iat, exp, aud } = payload;
  if (sub !== iss || sub !== client)
    throw refusedCredential(
      'The claims sub, iss and client_id must be the same.',
      `client_id is ${String(client).slice(0, 200)}`,
    );
  assertAudience(aud, house.audience);
  assertLifetime(iat!, exp!, maxLifetime);
  return { principal: { subject: sub!, issuer: sub!, client: sub! }, expires: (exp! + clockSkew) * 1000 };
}
