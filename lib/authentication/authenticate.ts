/** Authenticates a request: passes the credential in the `Authorization` field to the suite that recognizes its form. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Access } from '../authorization/principal.js';
import { lruCache } from '../tools/caches.js';
import { LwsError } from '../tools/errors.js';
import { type Credentials, parseAuthorization } from '../tools/fields/authorization.js';
import { clockSkew } from './audience.js';
import type { DpopVerifier } from './dpop.js';
import { isBusy, refusedCredential, type Suite, type VerifiedCredential } from './suite.js';
import type { Throttle } from './throttle.js';

/** Properties of a request that authentication reads. */
export interface PresentedRequest {
  /** Value of the `Authorization` field. */
  readonly authorization: string | undefined;
  /** Value of the `DPoP` field, or a comma-separated list if the field is repeated. */
  readonly proof: string | undefined;
  readonly method: string;
  /** IRI of the target, based on `lws.base-uri`. */
  readonly url: string;
  /** Client address. */
  readonly address: string;
}

export interface Authenticator {
  /**
   * Returns the caller of a request.
   * @throws LwsError `invalid-token` for a rejected credential, even if none is required, `invalid-request` for an unknown or
   * malformed scheme (rule 4.6), `use-dpop-nonce`, `too-many-requests`
   */
  authenticate(request: PresentedRequest): Access | Promise<Access>;
}

export interface AuthenticatorOptions {
  readonly suites: readonly Suite[];
  readonly dpop: DpopVerifier;
  /** True to accept only tokens with a DPoP proof (`lws.dpop.require`). */
  readonly dpopOnly: boolean;
  /** Rate limit of failed attempts. */
  readonly failures: Throttle;
}

const anonymous: Access = {};

/** Maximum total length of cached credentials, in characters. */
const maxVerifiedLength = 16 << 20;
/** Approximate memory overhead per cached credential, counted as characters. */
const ownLength = 500;

interface Known extends VerifiedCredential {
  readonly access: Access;
  readonly suite: Suite;
}

/** Authenticator that caches verified and rejected credentials. */
export class RememberingAuthenticator implements Authenticator {
  /** Verified credentials, until they expire, so that a signature is not verified for every request. */
  private readonly verified = new LRUCache<string, Known>({
    maxSize: maxVerifiedLength,
    // The size includes the access, since it contains parts of the credential, which have no maximum length.
    sizeCalculation: ({ access }, token) => token.length + JSON.stringify(access).length + ownLength,
  });
  private readonly verifying = new Map<string, Promise<Known>>();
  private readonly refused = lruCache<LwsError>(10_000, 30_000);

  constructor(private readonly options: AuthenticatorOptions) {}

  authenticate(request: PresentedRequest): Access | Promise<Access> {
    const { authorization } = request;
    if (authorization === undefined) return anonymous;
    // Fast path without a promise: most requests have a bearer token that was verified before.
    const known = authorization.startsWith('Bearer ')
      ? this.verified.get(`bearer ${authorization.slice(7)}`)
      : undefined;
    return known && !this.options.dpopOnly && known.boundTo === undefined && isCurrent(known)
      ? known.access
      : this.check(request);
  }

  /** Authenticates requests that are not on the fast path. */
  private async check(request: PresentedRequest): Promise<Access> {
    const { scheme, token } = requireScheme(request.authorization!);
    if (scheme === 'dpop') return this.checkBound(request, token);
    if (this.options.dpopOnly)
      throw refusedCredential('This server accepts tokens only with a DPoP proof.', `${scheme} with lws.dpop.require`);
    const known = await this.verifyOnce(token, scheme, request.address);
    if (known.boundTo !== undefined)
      throw refusedCredential('The token is bound to a key and requires a DPoP proof.', 'a DPoP-bound token as Bearer');
    return known.access;
  }

  private async checkBound(request: PresentedRequest, token: string): Promise<Access> {
    const { dpop, failures } = this.options;
    const { method, url, address } = request;
    try {
      const before = this.current(token);
      if (!before) await failures.assertOpen(address);
      const { isAthOptional } = before?.suite ?? this.suiteFor(token, 'dpop') ?? {};
      const proof = await dpop.verify(request.proof, { method, url, token, isAthOptional });
      const known = await this.verifyOnce(token, 'dpop', address);
      if (known.boundTo !== proof.thumbprint)
        throw refusedCredential(
          'The token is not bound to the key of the proof.',
          `cnf.jkt is ${known.boundTo}, the proof's key ${proof.thumbprint}`,
        ).with({ scheme: 'DPoP' });
      // Rule 15.14: mark the proof as used only after the token was verified and matches the key of the proof.
      await proof.consume();
      return known.access;
    } catch (error) {
      if (!(error instanceof LwsError) || error.code !== 'invalid-token') throw error;
      // The token is valid, so the error concerns the proof.
      if (error.scheme) await failures.count(address);
      throw error.with({ scheme: 'DPoP' });
    }
  }

  /** Returns a cached token. A cached token is accepted even if its address has reached the rate limit. */
  private current(token: string): Known | undefined {
    const known = this.verified.get(keyFor('dpop', token));
    return known && isCurrent(known) ? known : undefined;
  }

  private suiteFor(token: string, scheme: string): Suite | undefined {
    return this.options.suites.find(
      ({ schemes = ['bearer'], recognises }) => schemes.includes(scheme) && recognises(token),
    );
  }

  /** Verifies a credential, or returns the cached result. If an address has too many failures, verifies nothing. */
  private async verifyOnce(token: string, scheme: string, address: string): Promise<Known> {
    const { failures } = this.options;
    const hash = keyFor(scheme, token);
    const known = this.verified.get(hash);
    if (known && isCurrent(known)) return known;
    const refusal = this.refused.get(hash);
    if (refusal) {
      await failures.assertOpen(address);
      throw refusal;
    }
    // Concurrent requests with the same new credential share one verification.
    const verifying = this.verifying.get(hash) ?? this.attempt(token, scheme, address);
    this.verifying.set(hash, verifying);
    return verifying.finally(() => this.verifying.delete(hash));
  }

  private async attempt(token: string, scheme: string, address: string): Promise<Known> {
    const takeBack = await this.options.failures.begin(address);
    const hash = keyFor(scheme, token);
    try {
      const known = await this.verify(token, scheme, { hash, address });
      await takeBack();
      return known;
    } catch (error) {
      // Failures of this server do not count against the address.
      if (!(error instanceof LwsError) || isBusy(error)) await takeBack();
      else this.refused.set(hash, error);
      throw error;
    }
  }

  private async verify(
    token: string,
    scheme: string,
    { hash, address }: { readonly hash: string; readonly address: string },
  ): Promise<Known> {
    const suite = this.suiteFor(token, scheme);
    if (!suite)
      throw refusedCredential(
        'Unrecognized credential. Send a self-signed JWT, an OpenID Connect ID token, a SAML assertion or an access token of this server.',
        `no suite recognizes it as ${scheme}`,
      );
    const result = await suite.verify(token, address);
    const known = {
      ...result,
      suite,
      access: { principal: result.principal, expires: result.expires + clockSkew * 1000 },
    };
    this.verified.set(hash, known);
    return known;
  }
}

/** Maximum length of a credential that is its own cache key, in characters. Longer credentials are hashed, to save memory. */
const shortToken = 2_048;

const keyFor = (scheme: string, token: string): string =>
  token.length <= shortToken
    ? `${scheme} ${token}`
    : createHash('sha256').update(`${scheme} ${token}`).digest('base64');

const isCurrent = ({ expires, verifyAgain = Number.POSITIVE_INFINITY }: VerifiedCredential): boolean =>
  Math.min(expires + clockSkew * 1000, verifyAgain) > Date.now();

const schemes = new Set(['bearer', 'dpop', 'saml2']);

function requireScheme(field: string): Credentials {
  // A SAML assertion may be raw XML, which is not a valid token68 (rule 15.12).
  const assertion = /^saml2 +(?=<)/i.exec(field);
  if (assertion) return { scheme: 'saml2', token: field.slice(assertion[0].length) };
  const credentials = parseAuthorization(field);
  if (credentials && schemes.has(credentials.scheme)) return credentials;
  throw new LwsError(
    'invalid-request',
    'The Authorization field must be "Bearer" or "DPoP" followed by one credential.',
    {
      reason: credentials ? `unknown scheme ${credentials.scheme}` : 'malformed Authorization field',
    },
  );
}
