/** OpenID Connect with PKCE: redirect to the provider and return through `/callback`. */

import { base64url } from '../session/browser-identity.js';
import { homeUri, SignInError, signIn, storageUri } from '../session/session.js';
import { jsonBody, refusalFrom } from '../storage/api.js';
import { once } from '../storage/once.js';

interface Provider {
  readonly name: string;
  readonly authorizationEndpoint: string;
  readonly clientId: string;
}

// Requests without a token, since both endpoints are public: an expired session must not prevent a new one.
const ask = once(async (): Promise<Provider | undefined> => {
  const response = await fetch(`${storageUri}app/provider`, { cache: 'no-store' });
  if (!response.ok) throw await refusalFrom(response);
  return ((await response.json()) as Provider | null) ?? undefined;
});

/** Returns the name of the identity provider of this storage, or `undefined`. */
export const openIdProvider = async (): Promise<string | undefined> => (await ask())?.name;

const kept = ['quadpod state', 'quadpod verifier', 'quadpod nonce', 'quadpod next'] as const;
const redirectUri = `${storageUri}callback`;

const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Redirects to the identity provider. @param next route to return to */
export async function beginOpenId(next: string): Promise<void> {
  const found = await ask();
  // Only the operators' storage has a redirect URI at the provider, so other storages start the sign-in there.
  if (homeUri && homeUri !== storageUri)
    return location.assign(`${homeUri}app#/storages?${new URLSearchParams({ open: storageUri })}`);
  if (!found) throw new SignInError('This storage has no identity provider (lws.oidc.discovery-uri).');
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
 * Handles the redirect from the provider: the server exchanges the code for an ID token, which signs the user in.
 * @returns the route given to `beginOpenId`
 */
export async function endOpenId(answer: URLSearchParams): Promise<string | null> {
  const [state, verifier, nonce, next = null] = kept.map((key) => sessionStorage.getItem(key));
  for (const key of kept) sessionStorage.removeItem(key);
  if (!state || answer.get('state') !== state)
    throw new SignInError('This does not belong to a sign-in started in this tab. Sign in again.');
  const error = answer.get('error');
  if (error)
    throw new SignInError(answer.get('error_description') ?? `The identity provider returned an error: ${error}.`);
  const sent = { code: answer.get('code'), verifier, nonce, issuer: answer.get('iss') };
  const response = await fetch(redirectUri, { method: 'POST', ...jsonBody(sent) });
  if (!response.ok) throw await refusalFrom(response);
  await signIn(((await response.json()) as { id_token: string }).id_token);
  return next;
}
