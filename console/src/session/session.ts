/**
 * Session: a credential, a DPoP key that cannot be exported, and tokens that are renewed while the credential is valid. Stored
 * in IndexedDB and deleted on sign-out. The identity of the browser is stored separately and not deleted.
 */
import * as DPoP from 'dpop';
import { type BrowserSource, makeBrowserIdentity, signedBy } from './browser-identity.js';
import { forget, forgetSession, readStored, remember, storedKey } from './vault.js';

/** Storage URI with a trailing slash. The URL of the console is `app`, relative to this URI. */
export const storageUri = new URL('./', location.href.replace(/[?#].*$/, '')).href;

/** Source of a new credential when a credential has expired. */
type Source = { readonly kind: 'given'; readonly credential: string; readonly type: string } | BrowserSource;

interface Token {
  readonly value: string;
  /** Expiry of the token, in milliseconds since the epoch. */
  readonly expires: number;
}

export type Who =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'subject'; readonly subject: string; readonly isBrowser: boolean };

export class SignInError extends Error {}

const idToken = 'urn:ietf:params:oauth:token-type:id_token';
const selfSigned = 'urn:ietf:params:oauth:token-type:jwt';
const renewBeforeMs = 60_000;

let source: Source | undefined;
let proofKey: CryptoKeyPair | undefined;
let token: Token | undefined;
let renewal: Promise<Token> | undefined;
let endpoint: string | undefined;
const listeners = new Set<() => void>();

/** Registers a listener, which is called when another identity signs in. */
export const onSession = (listener: () => void): void => void listeners.add(listener);
const changed = (): void => {
  for (const listener of listeners) listener();
};

/** Returns the claims of a JWT without verification: the server verifies tokens. */
export function claimsOf(jwt: string): Readonly<Record<string, unknown>> {
  const part = jwt.split('.')[1];
  if (part === undefined) throw new SignInError('This is not a credential: a JWT has three parts separated by dots.');
  try {
    const bytes = Uint8Array.from(atob(part.replace(/-/g, '+').replace(/_/g, '/')), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    throw new SignInError('This is not a credential: its second part cannot be read.');
  }
}

export function who(): Who {
  if (!source) return { kind: 'anonymous' };
  if (source.kind === 'browser') return { kind: 'subject', subject: source.did, isBrowser: true };
  return { kind: 'subject', subject: String(claimsOf(source.credential)['sub']), isBrowser: false };
}

/** Returns the URI of the signed-in user. Empty for anonymous users. */
export function subjectNow(): string {
  const session = who();
  return session.kind === 'subject' ? session.subject : '';
}

/** Restores the session of an earlier visit. */
export async function resume(): Promise<void> {
  [source, proofKey] = await Promise.all([readStored<Source>('source'), readStored<CryptoKeyPair>('proof')]);
  if (source?.kind !== 'given' || Number(claimsOf(source.credential)['exp']) * 1000 >= Date.now()) return;
  // The identity of this browser is not deleted: its key could not be restored.
  source = undefined;
  await forget('source');
}

/** Signs in with a credential: self-signed, or an ID token. @throws SignInError with the server's message */
export async function signIn(credential: string): Promise<void> {
  const { iss, sub } = claimsOf(credential);
  await become({ kind: 'given', credential, type: iss === sub ? selfSigned : idToken });
}

/** Signs in with the identity of this browser: a did:key with a private key that cannot be exported. */
export const signInAsBrowser = async (): Promise<void> => become(await ownSource());

/** URI of the operators' storage in a deployment. Empty for a single storage. */
export const homeUri = document.documentElement.dataset['home'] ?? '';

/** Returns the ID token of the session, or `undefined` for other credentials. */
export const idTokenInUse = (): string | undefined =>
  source?.kind === 'given' && source.type === idToken ? source.credential : undefined;

/**
 * Returns the URL that signs in the current user in the console of another storage, or only opens it if there is no credential.
 * @param storage root of the storage
 * @param given called for a credential if the current credential is for this storage only
 */
export async function consoleOf(storage: string, given?: () => Promise<string | undefined>): Promise<string> {
  const isBrowser = source?.kind === 'browser';
  const token = isBrowser
    ? await signedBy(source as BrowserSource, storage.slice(0, -1))
    : (idTokenInUse() ?? (await given?.()));
  const fragment = new URLSearchParams({
    ...(token === undefined ? {} : { token }),
    ...(isBrowser ? { join: 'yes' } : {}),
  });
  return `${storage}app${token === undefined ? '' : `#${fragment}`}`;
}

/** Returns the identity of this browser, and generates it if there is none. */
export const identityOfBrowser = async (): Promise<string> => (await ownSource()).did;

async function ownSource(): Promise<BrowserSource> {
  const known = await readStored<BrowserSource>('browser');
  if (known) return known;
  const made = await makeBrowserIdentity();
  await remember('browser', made);
  return made;
}

/** Returns the identity of this browser, or `undefined` if there is none. */
export async function browserIdentity(): Promise<string | undefined> {
  return (await readStored<BrowserSource>('browser'))?.did;
}

/** Ends the session in all tabs. The identity of this browser remains. */
export async function signOut(): Promise<void> {
  leave();
  tabs.postMessage('signed out');
  await forgetSession();
  changed();
}

/** Deletes the identity of this browser and its key. Ends the session in all tabs. */
export async function forgetBrowser(): Promise<void> {
  await forget('browser');
  await signOut();
}

function leave(): void {
  source = undefined;
  token = undefined;
  proofKey = undefined;
  renewal = undefined;
}

/** Channel to other tabs of this storage's console. */
const tabs = new BroadcastChannel(storedKey('session'));
tabs.onmessage = () => {
  leave();
  changed();
};

async function become(next: Source): Promise<void> {
  const before = [source, token] as const;
  source = next;
  token = undefined;
  renewal = undefined;
  try {
    await currentToken();
  } catch (error) {
    [source, token] = before;
    throw error;
  }
  await remember('source', next);
  changed();
}

const credentialOf = async (from: Source): Promise<{ credential: string; type: string }> =>
  from.kind === 'given'
    ? { credential: from.credential, type: from.type }
    : { credential: await signedBy(from, storageUri.slice(0, -1)), type: selfSigned };

async function tokenEndpoint(): Promise<string> {
  if (endpoint) return endpoint;
  const response = await fetch(`${storageUri}.well-known/lws-configuration`);
  if (!response.ok) throw new SignInError('This storage does not exchange credentials (lws.oauth.enabled is off).');
  const { token_endpoint } = (await response.json()) as { token_endpoint: string };
  // The content security policy allows connections to this origin only.
  endpoint = new URL(new URL(token_endpoint).pathname, storageUri).href;
  return endpoint;
}

async function proofKeyPair(): Promise<CryptoKeyPair> {
  if (!proofKey) {
    proofKey = (await DPoP.generateKeyPair('ES256')) as CryptoKeyPair;
    await remember('proof', proofKey);
  }
  return proofKey;
}

async function exchange(from: Source): Promise<Token> {
  const [url, key, { credential, type }] = await Promise.all([tokenEndpoint(), proofKeyPair(), credentialOf(from)]);
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    resource: storageUri,
    subject_token: credential,
    subject_token_type: type,
  });
  const ask = async (nonce?: string): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        DPoP: await DPoP.generateProof(key, url, 'POST', nonce),
        'Content-Type': 'application/x-www-form-urlencoded',
      },
      body: form.toString(),
    });
  let response = await ask();
  const nonce = response.headers.get('DPoP-Nonce');
  if (!response.ok && nonce) response = await ask(nonce);
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (!response.ok)
    throw new SignInError(
      String(answer['error_description'] ?? answer['detail'] ?? `The server returned ${response.status}.`),
    );
  return { value: String(answer['access_token']), expires: Date.now() + Number(answer['expires_in']) * 1000 };
}

async function currentToken(): Promise<Token | undefined> {
  if (!source) return undefined;
  if (token && token.expires - renewBeforeMs > Date.now()) return token;
  const asked = source;
  renewal ??= exchange(asked).finally(() => {
    renewal = undefined;
  });
  try {
    const fresh = await renewal;
    if (source === asked) token = fresh;
    return fresh;
  } catch (error) {
    // If the credential has expired, the token is used until its own expiry.
    if (token && token.expires > Date.now()) return token;
    throw error;
  }
}

let resourceNonce: string | undefined;

/** Returns the header fields that authorize a request. @param url URL of the request, without fragment */
export async function authorizationFor(method: string, url: string): Promise<Record<string, string>> {
  const current = await currentToken();
  if (!current) return {};
  const { origin, pathname } = new URL(url);
  const proof = await DPoP.generateProof(await proofKeyPair(), origin + pathname, method, resourceNonce, current.value);
  return { Authorization: `DPoP ${current.value}`, DPoP: proof };
}

/** Stores the DPoP nonce of a response. @returns true if the request should be retried */
export function takeNonce(status: number, nonce: string | null): boolean {
  if (!nonce) return false;
  const isNew = nonce !== resourceNonce;
  resourceNonce = nonce;
  return status === 401 && isNew;
}
