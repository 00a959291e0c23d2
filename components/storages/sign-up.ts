/**
 * Self-service creation of storages: with an operator's invitation for one storage, or with an ID token of an issuer in
 * `lws.storages.sign-up`. The caller becomes the owner, and can only choose the name.
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
import type { RouteRequest } from '../../lib/http/route.js';
import { LwsError } from '../../lib/tools/errors.js';

const type = 'invitation+jwt';

export interface SignUpSettings {
  /** Allowed OpenID issuers. */
  readonly signUp: readonly string[];
  readonly maxPerSubject: number;
}

export class SignUp {
  /** URL of the endpoint, and audience of invitations. */
  readonly url: string;
  /** Last sign-up. Sign-ups run one after the other, so that an invitation is used only once, and limits hold. */
  private last: Promise<unknown> = Promise.resolve();
  /** Limits attempts per client address and minute, because anyone can create identities. */
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

  /** Creates an invitation. @throws LwsError `malformed-body` unless `days` is a valid number */
  async invite({ template, settings = {} }: StorageChange, days: unknown): Promise<object> {
    if (typeof days !== 'number' || !(days > 0 && days <= invitationDays))
      throw new LwsError('malformed-body', `The member days must be a number up to ${invitationDays}.`);
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

  /** Creates a storage for a caller without operator rights. @throws LwsError */
  async make(request: RouteRequest, body: Readonly<Record<string, unknown>>): Promise<StorageRecord> {
    await this.attempts.begin(request.address);
    const { name, invitation, id_token: idToken, ...others } = body;
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw new LwsError('forbidden', `Only operators can set ${JSON.stringify(other)} of a storage.`);
    const subject = request.access.principal!.subject;
    const given = await this.givenBy(request, { invitation, idToken });
    const work = async (): Promise<StorageRecord> => {
      this.assertFree(subject, given);
      return this.storages.change(storageNameIn(name), { ...given, owners: [subject], revision: null });
    };
    const made = this.last.then(work);
    this.last = made.catch(() => {});
    return made;
  }

  /** Verifies the invitation or ID token and returns the settings it grants. @throws LwsError `forbidden` if there is none */
  private async givenBy(
    { access, address }: RouteRequest,
    { invitation, idToken }: Readonly<Record<'invitation' | 'idToken', unknown>>,
  ): Promise<StorageChange> {
    if (typeof invitation === 'string') return this.read(invitation);
    if (this.issuers.length > 0 && typeof idToken === 'string') {
      // Sign-up requires the ID token: an access token does not name the issuer that authenticated the subject.
      const suite = this.platform.offered('suites').find(({ recognises }) => recognises(idToken));
      const { principal } = (await suite?.verify(idToken, address)) ?? {};
      const isTheirs = principal?.subject === access.principal!.subject;
      if (principal?.issuer && this.issuers.includes(principal.issuer) && isTheirs) return {};
    }
    const from = this.issuers.map((issuer) => new URL(issuer).host).join(' or ');
    throw new LwsError(
      'forbidden',
      `You need an invitation${from && `, or a sign-in at ${from}`} to create a storage.`,
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
        error instanceof errors.JWTExpired
          ? 'The invitation has expired.'
          : 'The invitation was not issued by this server.';
      throw new LwsError('forbidden', `${why} Ask for a new one.`, { reason: error.message });
    }
  }

  /** Asserts that the invitation is unused, or that the subject may have another storage. @throws LwsError `forbidden` */
  private assertFree(subject: string, { invitation }: StorageChange): void {
    const all = this.storages.all();
    if (invitation !== undefined) {
      if (all.some((record) => record.invitation === invitation))
        throw new LwsError(
          'forbidden',
          'The invitation was already used; it is valid for one storage. Ask for a new one.',
        );
      return;
    }
    const own = all.filter(({ owners, state }) => state !== 'deleted' && owners.includes(subject));
    if (own.length >= this.settings.maxPerSubject)
      throw new LwsError(
        'forbidden',
        `You already have ${own.map(({ name }) => name).join(', ')}. More than ${this.settings.maxPerSubject} require an invitation.`,
      );
  }
}

/** Reads the member `name`. @throws LwsError `malformed-body` */
export function storageNameIn(name: unknown): string {
  if (typeof name === 'string') return name;
  throw new LwsError('malformed-body', 'The member name must be the name of the storage.');
}
