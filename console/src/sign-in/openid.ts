/** OpenID Connect with PKCE: away to the provider, and back through `/callback`. */

import { base64url } from '../session/browser-identity.js';
import { homeUri, SignInError, signIn, storageUri } from '../session/session.js';
import { jsonBody, refusalOf } from '../storage/api.js';
import { once } from '../storage/once.js';

interface Provider {
  readonly name: string;
  readonly authorizationEndpoint: string;
  readonly clientId: string;
}

// Both endpoints are for everybody: a session that is over must not keep anybody from the next one.
const ask = once(async (): Promise<Provider | undefined> => {
  const response = await fetch(`${storageUri}app/provider`, { cache: 'no-store' });
  if (!response.ok) throw await refusalOf(response);
  return ((await response.json()) as Provider | null) ?? undefined;
});

/** What to call the identity provider that this storage names; `undefined` for none. */
export const openIdProvider = async (): Promise<string | undefined> => (await ask())?.name;

const kept = ['quadpod state', 'quadpod verifier', 'quadpod nonce', 'quadpod next'] as const;
const redirectUri = `${storageUri}callback`;

const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Leaves for the provider. @param next the place in the console to come back to */
export async function beginOpenId(next: string): Promise<void> {
  const found = await ask();
  // The provider sends people back to the one address that it knows.
  if (homeUri && homeUri !== storageUri)
    return location.assign(`${homeUri}app#/storages?${new URLSearchParams({ open: storageUri })}`);
  if (!found) throw new SignInError('This storage names no identity provider (lws.oidc.discovery-uri).');
  const [state, verifier, nonce] = [random(), random(), random()];
  for (const [index, value] of [state, verifier, nonce, next].entries()) sessionStorage.setItem(kept[index]!, value);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)));
  const challenge = base64url(digest);
  const url = new URL(found.authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: found.clientId,
    redirect_uri: redirectUri,
    scope: 'openid webid profile',
    state,
    nonce,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  location.assign(url);
}

/**
 * Takes what the provider sent back, and signs in with the ID token that the server had for it.
 * @returns the place that `beginOpenId` was told
 */
export async function endOpenId(answer: URLSearchParams): Promise<string | null> {
  const [state, verifier, nonce, next = null] = kept.map((key) => sessionStorage.getItem(key));
  for (const key of kept) sessionStorage.removeItem(key);
  if (!state || answer.get('state') !== state)
    throw new SignInError('This is no answer to a sign-in that was begun in this tab. Begin again.');
  const error = answer.get('error');
  if (error) throw new SignInError(answer.get('error_description') ?? `The identity provider refused: ${error}.`);
  const sent = { code: answer.get('code'), verifier, nonce, issuer: answer.get('iss') };
  const response = await fetch(redirectUri, { method: 'POST', ...jsonBody(sent) });
  if (!response.ok) throw await refusalOf(response);
  await signIn(((await response.json()) as { id_token: string }).id_token);
  return next;
}
