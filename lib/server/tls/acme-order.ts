/** One certificate of an ACME authority (RFC 8555), by http-01. */
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { Challenges } from './challenges.js';
import { type KeyPair, keyPair } from './key-pair.js';

export interface Authority {
  /** The URL of its directory. */
  readonly directory: string;
  /** Where it may write to. */
  readonly email: string | null;
  /** Files with certificates (PEM) to trust it by, beside the well-known ones. */
  readonly authorities: readonly string[];
}

/** Milliseconds that the authority may take for one answer. */
const answerMs = 20_000;
/** Bytes of an answer. */
const answerBytes = 1 << 20;

/** Loaded when a certificate is asked for: it is large, and seldom needed. */
async function acmeClient({ authorities }: Authority): Promise<typeof import('acme-client')> {
  const acme = await import('acme-client');
  const { defaults } = acme.axios;
  // Failures are tried again by who orders, with longer pauses.
  Object.assign((defaults as { acmeSettings?: object }).acmeSettings ?? {}, { retryMaxAttempts: 0 });
  Object.assign(defaults, { timeout: answerMs, maxContentLength: answerBytes });
  const ca = authorities.map((file) => readFileSync(file, 'utf8'));
  if (ca.length > 0) defaults.httpsAgent = new Agent({ ca: [...rootCertificates, ...ca] });
  return acme;
}

/** A new key of an account, PEM. */
export async function newAccountKey(authority: Authority): Promise<string> {
  const { crypto } = await acmeClient(authority);
  return (await crypto.createPrivateEcdsaKey()).toString();
}

/**
 * Orders a certificate and answers the challenges.
 * @param accountKey PEM; an account that the authority does not know yet is made
 * @throws Error when the authority cannot be reached, refuses, or gives something else
 */
export async function orderCertificate(
  authority: Authority,
  accountKey: string,
  { domains, challenges }: { readonly domains: readonly string[]; readonly challenges: Challenges },
): Promise<KeyPair> {
  const { Client, crypto } = await acmeClient(authority);
  const client = new Client({ directoryUrl: authority.directory, accountKey, backoffMin: 1_000, backoffMax: 15_000 });
  // With contacts, though empty: of an account that is there already the client makes an update, which may not be empty.
  const contact = authority.email === null ? [] : [`mailto:${authority.email}`];
  await client.createAccount({ termsOfServiceAgreed: true, contact });
  const [key, csr] = await crypto.createCsr({ altNames: [...domains] }, await crypto.createPrivateEcdsaKey());
  const certificate = await client.auto({
    csr,
    challengePriority: ['http-01'],
    // Our own name need not lead back here from within.
    skipChallengeVerification: true,
    challengeCreateFn: async (_authorization, { type, token }, keyAuthorization) => {
      if (type !== 'http-01') throw new Error(`the authority offers ${type} and not http-01`);
      challenges.set(token, keyAuthorization);
    },
    challengeRemoveFn: async (_authorization, { token }) => challenges.delete(token),
  });
  const pair = keyPair(certificate, key.toString());
  const missing = domains.filter((domain) => !pair.isFor(domain));
  if (missing.length > 0) throw new Error(`the certificate is not for ${missing.join(', ')}`);
  return pair;
}
