/**
 * Certificates that an ACME authority issues. They are stored in a directory, and renewed before they expire. The old
 * certificate is used until a new one is issued.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import {
  type CertificateEquipment,
  type CertificateSource,
  type ChallengeAnswers,
  type KeyPair,
  keyPair,
  writeWhole,
} from '../../lib/plugin/certificates.js';

/** ACME authority (RFC 8555), from which certificates are ordered with the http-01 challenge. */
export interface Authority extends Pick<CertificateEquipment, 'authorities'> {
  /** URL of the ACME directory. */
  readonly directory: string;
  /** E-mail address of the account, for messages of the authority. */
  readonly email: string | null;
}

/** Timeout of a response, in milliseconds. */
const answerMs = 20_000;
/** Maximum size of a response, in bytes. */
const answerBytes = 1 << 20;

/** Returns the ACME client module. Loaded on first use, because it is large and seldom needed. */
async function acmeClient({ authorities }: Authority): Promise<typeof import('acme-client')> {
  const acme = await import('acme-client');
  const { defaults } = acme.axios;
  // Disable retries of the module: the caller retries, with longer pauses.
  Object.assign((defaults as { acmeSettings?: object }).acmeSettings ?? {}, { retryMaxAttempts: 0 });
  Object.assign(defaults, { timeout: answerMs, maxContentLength: answerBytes });
  const ca = authorities.map((file) => readFileSync(file, 'utf8'));
  if (ca.length > 0) defaults.httpsAgent = new Agent({ ca: [...rootCertificates, ...ca] });
  return acme;
}

/** Returns a new account key in PEM format. */
async function newAccountKey(authority: Authority): Promise<string> {
  const { crypto } = await acmeClient(authority);
  return (await crypto.createPrivateEcdsaKey()).toString();
}

/**
 * Orders a certificate, and answers the challenges.
 * @param accountKey key in PEM format. If the authority does not know the key, an account is created
 * @throws Error if the authority is unreachable, rejects the order, or returns an unusable certificate
 */
async function orderCertificate(
  authority: Authority,
  accountKey: string,
  { domains, challenges }: { readonly domains: readonly string[]; readonly challenges: ChallengeAnswers },
): Promise<KeyPair> {
  const { Client, crypto } = await acmeClient(authority);
  const client = new Client({ directoryUrl: authority.directory, accountKey, backoffMin: 1_000, backoffMax: 15_000 });
  // Always send `contact`, even if empty: for an existing account, the request is an update, which must have a member.
  const contact = authority.email === null ? [] : [`mailto:${authority.email}`];
  await client.createAccount({ termsOfServiceAgreed: true, contact });
  const [key, csr] = await crypto.createCsr({ altNames: [...domains] }, await crypto.createPrivateEcdsaKey());
  const certificate = await client.auto({
    csr,
    challengePriority: ['http-01'],
    // Skip the check by the module: in the server's own network, the domain name may not resolve to the server.
    skipChallengeVerification: true,
    challengeCreateFn: async (_authorization, { type, token }, keyAuthorization) => {
      if (type !== 'http-01') throw new Error(`the authority offers ${type} instead of http-01`);
      challenges.set(token, keyAuthorization);
    },
    challengeRemoveFn: async (_authorization, { token }) => challenges.delete(token),
  });
  const pair = keyPair(certificate, key.toString());
  const missing = domains.filter((domain) => !pair.isFor(domain));
  if (missing.length > 0) throw new Error(`the certificate is not for ${missing.join(', ')}`);
  return pair;
}

export interface AcmeOptions extends Authority, Omit<CertificateEquipment, 'dataDir'> {
  readonly domains: readonly string[];
  readonly renewBeforeDays: number;
  /** Directory for account keys and certificates, in files with mode 0600. */
  readonly folder: string;
}

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
/** First delay (doubled by each failure), and maximum delay. Authorities allow five failed validations per hour. */
const [firstPause, longestPause] = [2 * minute, 12 * hour];
/** Maximum delay of one timer. A longer wait uses several timers, because timers are limited and clocks are adjusted. */
const longestSleep = 12 * hour;

/** Returns the delay after consecutive failures in milliseconds, with jitter, because many servers may fail at once. */
export const pauseAfter = (failures: number, random: number): number =>
  Math.min(longestPause, firstPause * 2 ** Math.min(failures - 1, 20)) * (1 + random / 4);

/** Returns the renewal time: `days` before expiry, but not before two thirds of the lifetime, minus jitter. */
export function renewalOf(
  { notBefore, notAfter }: Pick<KeyPair, 'notBefore' | 'notAfter'>,
  days: number,
  random: number,
): number {
  const life = notAfter - notBefore;
  return notAfter - Math.min(days * day, life / 3) - random * Math.min(6 * hour, life / 50);
}

/** Creates a certificate source that orders and renews certificates from an ACME authority (RFC 8555). */
export function acmeCertificates(options: AcmeOptions): CertificateSource {
  return new AcmeCertificates(options);
}

class AcmeCertificates implements CertificateSource {
  private pair: KeyPair | undefined;
  private due = 0;
  private failures = 0;
  private timer: NodeJS.Timeout | undefined;
  private isOrdering = false;
  private isStopped = false;
  private use: (pair: KeyPair) => void = () => {};
  /** Directory of this authority: a certificate of a staging authority must not be used for another authority. */
  private readonly folder: string;

  constructor(private readonly options: AcmeOptions) {
    const { directory, folder } = options;
    const id = createHash('sha256').update(directory).digest('hex').slice(0, 12);
    this.folder = join(folder, `${new URL(directory).hostname}-${id}`);
    this.pair = this.keptPair();
    this.plan();
  }

  current(): KeyPair | undefined {
    return this.pair;
  }

  start(use: (pair: KeyPair) => void): void {
    this.use = use;
    const { log, domains, directory } = this.options;
    if (!this.pair)
      log.warn({ domains, directory }, 'no TLS certificate yet: clients cannot connect until the authority issues one');
    this.wake();
  }

  /** Orders a certificate that is due, without waiting for the delay after a failure. */
  reload(): void {
    const { log } = this.options;
    if (Date.now() < this.due) log.info({ renewal: new Date(this.due) }, 'the TLS certificate is not due for renewal');
    this.wake();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private wake(): void {
    clearTimeout(this.timer);
    const wait = this.due - Date.now();
    if (wait <= 0) void this.renew();
    else this.sleep(wait);
  }

  private sleep(ms: number): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => this.wake(), Math.min(ms, longestSleep)).unref();
  }

  private async renew(): Promise<void> {
    if (this.isOrdering || this.isStopped) return;
    this.isOrdering = true;
    const { log, domains } = this.options;
    try {
      const pair = await orderCertificate(this.options, await this.accountKey(), this.options);
      this.pair = pair;
      this.failures = 0;
      this.plan();
      if (!this.isStopped) this.use(pair);
      this.keep(pair);
      log.info(
        { domains, until: new Date(pair.notAfter), renewal: new Date(this.due) },
        'a TLS certificate was issued',
      );
      this.sleep(this.due - Date.now());
    } catch (error) {
      this.onFailure(error as Error);
    } finally {
      this.isOrdering = false;
    }
  }

  private onFailure(error: Error): void {
    const { log, domains, directory } = this.options;
    const wait = pauseAfter(++this.failures, Math.random());
    const next = new Date(Date.now() + wait);
    const until = this.pair && new Date(this.pair.notAfter);
    const still = until ? 'the previous one is still used' : 'there is none, so clients cannot connect';
    if (!this.isStopped)
      log.error({ domains, directory, next, until, err: error }, `no TLS certificate was issued: ${still}`);
    this.sleep(wait);
  }

  private plan(): void {
    const { domains, renewBeforeDays } = this.options;
    const { pair } = this;
    this.due = pair && domains.every(pair.isFor) ? renewalOf(pair, renewBeforeDays, Math.random()) : 0;
  }

  private keptPair(): KeyPair | undefined {
    const file = join(this.folder, 'certificate.pem');
    if (!existsSync(file)) return undefined;
    try {
      const text = readFileSync(file, 'utf8');
      return keyPair(text.slice(text.indexOf('-----BEGIN CERTIFICATE')), text);
    } catch (error) {
      this.options.log.error({ file, err: error }, 'the stored TLS certificate cannot be used, ordering another one');
      return undefined;
    }
  }

  /** Stores a certificate. If the certificate cannot be stored, it is used until the next start. */
  private keep({ key, certificate }: KeyPair): void {
    try {
      writeWhole(join(this.folder, 'certificate.pem'), `${key.trimEnd()}\n${certificate}`);
    } catch (error) {
      this.options.log.error({ folder: this.folder, err: error }, 'the new TLS certificate cannot be stored');
    }
  }

  private async accountKey(): Promise<string> {
    const file = join(this.folder, 'account.key');
    if (existsSync(file)) return readFileSync(file, 'utf8');
    const key = await newAccountKey(this.options);
    writeWhole(file, key);
    return key;
  }
}
