/** Plug-in API: authentication suites. */
export { type AudiencePolicy, assertAudience, clockSkew } from '../authentication/audience.js';
export { refusedCredential, type Suite, type VerifiedCredential } from '../authentication/suite.js';
