/**
 * Storages that people make for themselves: with an invitation of an operator, which is good for one, or with an ID token of an issuer of
 * `lws.storages.sign-up`. They own what they make, and say nothing of it but its name.
 */
import { createPublicKey, randomUUID } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Throttle } from '../../lib/authentication/throttle.js';
import type { Platform } from '../../lib/component/contract.js';
import {
  invitationDays,
  type StorageChange,
  type StorageRecord,
  type Storages,
} from '../../lib/component/deployment.js';
import { LwsError } from '../../lib/errors.js';
import type { RouteRequest } from '../../lib/http/route.js';

const type = 'invitation+jwt';

export interface SignUpSettings {
  /** OpenID issuers. */
  readonly signUp: readonly string[];
  readonly maxPerSubject: number;
}

export class SignUp {
  /** Of the endpoint, which invitations are for. */
  readonly url: string;
  /** One after the other, so that an invitation is used once, and nobody gets more than they may have. */
  private last: Promise<unknown> = Promise.resolve();
  /** Of one address in a minute: identities cost nothing. */
  private readonly attempts: Throttle;

  constructor(
    private readonly platform: Platform,
    private readonly storages: Storages,
    private readonly settings: SignUpSettings,
  ) {
    this.attempts = platform.throttle('sign-up', 30);
    this.url = `${platform.baseUri}${platform.systemPrefix}/storages`;
  }

  get issuers(): readonly string[] {
    return this.settings.signUp;
  }

  /** @throws LwsError `malformed-body` for other than a number of days */
  async invite({ template, settings = {} }: StorageChange, days: unknown): Promise<object> {
    if (typeof days !== 'number' || !(days > 0 && days <= invitationDays))
      throw new LwsError('malformed-body', `The member days is a number up to ${invitationDays}.`);
    const expires = Math.floor(Date.now() / 1000 + days * 86_400);
    const invitation = await new SignJWT({ settings, ...(template === undefined ? {} : { template }) })
      .setProtectedHeader({ alg: 'EdDSA', typ: type })
      .setAudience(this.url)
      .setExpirationTime(expires)
      .setJti(randomUUID())
      .sign(this.platform.signingKey.key);
    const url = `${this.platform.rootIri}app#/storages?${new URLSearchParams({ invitation })}`;
    return { invitation, url, expires: new Date(expires * 1000).toISOString() };
  }

  /** Makes the storage that somebody who is no operator asks for. @throws LwsError */
  async make(request: RouteRequest, body: Readonly<Record<string, unknown>>): Promise<StorageRecord> {
    await this.attempts.begin(request.address);
    const { name, invitation, id_token: idToken, ...others } = body;
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw new LwsError('forbidden', `Only operators say ${JSON.stringify(other)} of a storage.`);
    const subject = request.access.principal!.subject;
    const given = await this.givenBy(request, { invitation, idToken });
    const work = async (): Promise<StorageRecord> => {
      this.assertFree(subject, given);
      return this.storages.change(nameOf(name), { ...given, owners: [subject], revision: null });
    };
    const made = this.last.then(work);
    this.last = made.catch(() => {});
    return made;
  }

  /** What says that they may, and what the storage has by it. @throws LwsError `forbidden` for nothing that does */
  private async givenBy(
    { access, address }: RouteRequest,
    { invitation, idToken }: Readonly<Record<'invitation' | 'idToken', unknown>>,
  ): Promise<StorageChange> {
    if (typeof invitation === 'string') return this.read(invitation);
    if (this.issuers.length > 0 && typeof idToken === 'string') {
      // An access token does not say who vouched for its subject, so that who signs up shows what did.
      const suite = this.platform.suites().find(({ recognises }) => recognises(idToken));
      const { principal } = (await suite?.verify(idToken, address)) ?? {};
      const isTheirs = principal?.subject === access.principal!.subject;
      if (principal?.issuer && this.issuers.includes(principal.issuer) && isTheirs) return {};
    }
    const from = this.issuers.map((issuer) => new URL(issuer).host).join(' or ');
    throw new LwsError(
      'forbidden',
      `A storage is made by an operator, or by somebody with an invitation${from && `, or signed in at ${from}`}.`,
    );
  }

  private async read(invitation: string): Promise<StorageChange> {
    try {
      const { payload } = await jwtVerify(invitation, createPublicKey(this.platform.signingKey.key), {
        ...{ typ: type, audience: this.url, algorithms: ['EdDSA'], requiredClaims: ['exp', 'jti'] },
      });
      const { settings, template, jti } = payload as Pick<StorageChange, 'settings' | 'template'> & { jti: string };
      return { settings: settings!, invitation: jti, ...(template === undefined ? {} : { template }) };
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      const why =
        error instanceof errors.JWTExpired ? 'The invitation has expired.' : 'This is no invitation of this server.';
      throw new LwsError('forbidden', `${why} Ask for a new one.`, { reason: error.message });
    }
  }

  /** @throws LwsError `forbidden` */
  private assertFree(subject: string, { invitation }: StorageChange): void {
    const all = this.storages.all();
    if (invitation !== undefined) {
      if (all.some((record) => record.invitation === invitation))
        throw new LwsError(
          'forbidden',
          'The invitation was used already, and is good for one storage. Ask for a new one.',
        );
      return;
    }
    const own = all.filter(({ owners, state }) => state !== 'deleted' && owners.includes(subject));
    if (own.length >= this.settings.maxPerSubject)
      throw new LwsError(
        'forbidden',
        `You have ${own.map(({ name }) => name).join(', ')} already; more than ${this.settings.maxPerSubject} need an invitation.`,
      );
  }
}

/** @throws LwsError `malformed-body` */
export function nameOf(name: unknown): string {
  if (typeof name === 'string') return name;
  throw new LwsError('malformed-body', 'The member name is the name of the storage.');
}
