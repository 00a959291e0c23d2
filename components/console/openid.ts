/**
 * Sign-in at the operator's identity provider (`lws.oidc.*`): redirects the browser, and redeems its authorization code for an ID
 * token, which the page exchanges like any client. Makes no identity decisions.
 */
import { decodeJwt } from 'jose';
import { LwsError, type Platform } from '../../lib/plugin/component.js';
import {
  type GuardedFetch,
  isSecureUrl,
  jsonReply,
  OutboundError,
  type Reply,
  type Route,
  type RouteRequest,
  readJsonObject,
  route,
  type Throttle,
} from '../../lib/plugin/requests.js';

export interface OpenIdSettings {
  readonly discoveryUri: string | null;
  /** Client ID at the provider: a URI, like the client of every token. Default: the URI of the storage. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
}

interface Provider {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
}

interface Client {
  readonly platform: Platform;
  readonly fetch: GuardedFetch;
  readonly discoveryUri: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly attempts: Throttle;
}

const outbound = { maxBytes: 1 << 20, timeoutMs: 10_000, maxRedirects: 0, accept: 'application/json' } as const;
/** Maximum count of attempts per client address and minute: each attempt causes two requests to the provider. */
const maxAttempts = 30;
const keptMs = 600_000;

export function openIdRoutes(
  platform: Platform,
  { discoveryUri, clientId, clientSecret }: OpenIdSettings,
): readonly Route[] {
  const asked = 'GET HEAD /app/provider';
  if (discoveryUri === null) return [route('public', asked, () => jsonReply(200, null))];
  const client: Client = {
    platform,
    // The operator configured this host, so it is allowed. URLs in the metadata of the provider are checked like any other URL.
    fetch: platform.fetchUnder({ blockPrivateAddresses: true, allowedHosts: [new URL(discoveryUri).host] }),
    discoveryUri,
    clientId: clientId ?? platform.rootIri,
    clientSecret,
    attempts: platform.throttle('openid', maxAttempts),
  };
  const provider = remembered(client);
  return [
    route('public', asked, async () => {
      const { issuer, authorizationEndpoint } = await provider();
      return jsonReply(200, { name: new URL(issuer).host, authorizationEndpoint, clientId: client.clientId });
    }),
    route('public', 'POST /callback', (request) => redeem(client, provider, request)),
  ];
}

/** Returns a function that fetches the provider's metadata, at most every ten minutes, or ten seconds after a failure. */
function remembered(client: Client): () => Promise<Provider> {
  let known: { readonly provider: Promise<Provider>; until: number } | undefined;
  return () => {
    const now = client.platform.clock();
    if (known && known.until > now) return known.provider;
    const provider = discover(client);
    const asked = { provider, until: now + keptMs };
    known = asked;
    provider.catch(() => {
      asked.until = client.platform.clock() + 10_000;
    });
    return provider;
  };
}

async function discover({ fetch, discoveryUri }: Client): Promise<Provider> {
  const { status, body } = await answered(() => fetch(discoveryUri, outbound));
  const { issuer, authorization_endpoint, token_endpoint } = jsonObject(body) as Readonly<Record<string, string>>;
  const urls = [issuer, authorization_endpoint, token_endpoint];
  if (status !== 200 || !urls.every((url) => typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url)))
    throw unusable(`its document (lws.oidc.discovery-uri) contains no endpoints`);
  if (!isSecureUrl(issuer!)) throw unusable(`its issuer ${issuer} must be an https URL or on this machine`);
  return { issuer: issuer!, authorizationEndpoint: authorization_endpoint!, tokenEndpoint: token_endpoint! };
}

async function redeem(client: Client, provider: () => Promise<Provider>, request: RouteRequest): Promise<Reply> {
  await client.attempts.begin(request.address);
  const { code, verifier, nonce, issuer: said } = await readJsonObject(request);
  if (typeof code !== 'string' || typeof verifier !== 'string' || typeof nonce !== 'string')
    throw new LwsError('bad-request', 'The members code, verifier and nonce are required.');
  const { issuer, tokenEndpoint } = await provider();
  // RFC 9207 2.4: a code of another provider must not be sent to this one.
  if (typeof said === 'string' && said !== issuer)
    throw new LwsError(
      'bad-request',
      `The response came from ${said.slice(0, 200)} instead of ${issuer}. Start again.`,
    );
  const token = await idTokenFor(client, tokenEndpoint, { code, code_verifier: verifier });
  assertUsable(token, nonce, client.clientId);
  return jsonReply(200, { id_token: token });
}

async function idTokenFor(
  { fetch, platform, clientId, clientSecret }: Client,
  tokenEndpoint: string,
  proof: { readonly code: string; readonly code_verifier: string },
): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    redirect_uri: `${platform.baseUri}/callback`,
    ...proof,
    ...(clientSecret === null ? { client_id: clientId } : {}),
  });
  // RFC 6749 2.3.1: client ID and secret are form-encoded before they are joined.
  const encoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
  const basic = (secret: string): string => Buffer.from(`${encoded(clientId)}:${encoded(secret)}`).toString('base64');
  const { status, body } = await answered(() =>
    fetch(tokenEndpoint, {
      ...outbound,
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...(clientSecret === null ? {} : { Authorization: `Basic ${basic(clientSecret)}` }),
      },
      body: Buffer.from(form.toString()),
    }),
  );
  const { id_token, error, error_description } = jsonObject(body);
  if (status === 200 && typeof id_token === 'string') return id_token;
  const why = typeof error_description === 'string' ? error_description : typeof error === 'string' ? error : undefined;
  throw unusable(why === undefined ? `it answered ${status}` : `it rejected the code: ${why.slice(0, 300)}`);
}

/** Checks claims that the token exchange ignores or reports less clearly. The exchange verifies the signature. */
function assertUsable(token: string, nonce: string, clientId: string): void {
  const claims = claimsOf(token);
  if (claims['nonce'] !== nonce)
    throw new LwsError('bad-request', 'The ID token belongs to another sign-in. Start again.');
  if (typeof claims['azp'] !== 'string')
    throw unusable('its ID tokens do not name the client (azp), which this storage requires: choose another provider');
  if (claims['azp'] !== clientId) throw unusable('its ID token is for another client (azp)');
}

function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    return decodeJwt(token);
  } catch (cause) {
    throw unusable('its ID token cannot be parsed', cause);
  }
}

async function answered(ask: () => ReturnType<GuardedFetch>): ReturnType<GuardedFetch> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OutboundError) throw unusable(`the request failed (${error.code})`, error);
    throw error;
  }
}

const unusable = (why: string, cause?: unknown): LwsError =>
  new LwsError('service-failed', `The identity provider cannot be used: ${why}.`, cause ? { cause } : {});

function jsonObject(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Invalid JSON has no members. Callers report the missing members.
    return {};
  }
}
