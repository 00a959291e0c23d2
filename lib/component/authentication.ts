/** Credentials: what suites verify them with. */
export { type AudiencePolicy, assertAudience, assertLifetime, clockSkew } from '../authentication/audience.js';
export type { AuthenticationMethod } from '../authentication/cid-document.js';
export type { DpopProof } from '../authentication/dpop.js';
export { fits, type IssuerKeys, importPublicKey, issuerKeys, wellKnownOf } from '../authentication/issuer-keys.js';
export {
  boundKey,
  readJwt,
  signatureAlgorithms,
  signInType,
  type UnverifiedJwt,
  verifyJwt,
} from '../authentication/jwt.js';
export { refusedCredential, type Suite, type VerifiedCredential } from '../authentication/suite.js';
export { inAllStorages, type Tally } from '../authentication/tally.js';
export type { Throttle } from '../authentication/throttle.js';
