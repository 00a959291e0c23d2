/**
 * Access tokens of Solid-OIDC, under `lws.profile=solid` (rule 20.11): bound by DPoP, and issued by a provider that the WebID
 * document of the subject names as `solid:oidcIssuer`.
 */
import { identifierResolver } from '../../lib/authentication/controlled-identifier.js';
import {
  assertTypes,
  boundKey,
  isAccepted,
  readJwt,
  type UnverifiedJwt,
  verifyJwt,
} from '../../lib/authentication/jwt.js';
import { refusedCredential, type Suite } from '../../lib/authentication/suite.js';
import type { Platform } from '../../lib/component/contract.js';
import { isSecureUrl } from '../../lib/tools/outbound/address-policy.js';
import { assertPlausible, type ProviderKeys, verifiedBy } from './provider-tokens.js';

type Claims = UnverifiedJwt['payload'];

/** Audience of tokens that are valid for every Solid storage. */
const anyStorage = 'solid';

export function solidTokenSuite({ fetch, documents, rootIri, baseUri }: Platform, keyOf: ProviderKeys): Suite {
  const webIds = identifierResolver({ fetch, documents, areWebIds: true });
  const audience = { accepted: new Set([anyStorage, rootIri, baseUri]), required: true };
  return {
    name: 'Solid-OIDC',
    schemes: ['dpop'],
    isAthOptional: true,
    recognises(credential) {
      const payload = readJwt(credential)?.payload;
      return payload !== undefined && typeof payload['iss'] === 'string' && typeof webIdOf(payload) === 'string';
    },
    async verify(credential, address) {
      const jwt = readJwt(credential)!;
      assertPlausible(jwt.payload, audience);
      assertSolid(jwt);
      const webId = webIdOf(jwt.payload) as string;
      const issuer = jwt.payload['iss'] as string;
      const { oidcIssuers } = await webIds(webId, address);
      if (!oidcIssuers.includes(issuer))
        throw refusedCredential(
          'The WebID document does not name this identity provider.',
          `iss is ${issuer.slice(0, 300)}, ${webId.slice(0, 300)} names ${oidcIssuers.join(' ').slice(0, 500) || 'none'}`,
        );
      const claims = await verifyJwt(credential, await keyOf(jwt, address, 'access'), {
        required: ['exp', 'iat', 'iss', 'cnf'],
      });
      return verifiedBy(claims, webId, claims['client_id'] ?? claims['azp']);
    },
  };
}

const webIdOf = ({ webid, sub }: Claims): unknown => webid ?? sub;

/** Checks the claims of a Solid token that can be checked without a fetch. */
function assertSolid({ header, payload }: UnverifiedJwt): void {
  assertTypes(payload);
  if (!isSecureUrl(webIdOf(payload) as string))
    throw refusedCredential('The WebID must be an https URL.', `it is ${String(webIdOf(payload)).slice(0, 300)}`);
  if (!isAccepted(header['alg']))
    throw refusedCredential(
      'The algorithm of the token is not accepted.',
      `alg is ${String(header['alg']).slice(0, 20)}`,
    );
  if (boundKey(payload).boundTo === undefined) throw refusedCredential('The token is not bound to a key.', 'no cnf');
}
