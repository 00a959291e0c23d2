/** Session at a storage: obtains and renews access tokens for an identity, and sends requests with them. */
import { createHash, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { exportJWK, type JWK, SignJWT } from 'jose';
import { clockSkew } from '../../lib/authentication/audience.js';
import { wellKnownOf } from '../../lib/authentication/issuer-keys.js';
import { detailOf, reasonOf, shown } from '../../lib/component/commands.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { type Identity, signCredential } from '../../lib/server/storage/owner-credential.js';
import { CommandError } from '../../lib/tools/errors.js';
import { parseLinks } from '../../lib/tools/fields/link.js';
import { isObject } from '../../lib/tools/json/exact-json.js';
import { isSecureUrl } from '../../lib/tools/outbound/address-policy.js';
import { discard, Endpoint, type EndpointAnswer, type EndpointRequest } from '../../lib/tools/outbound/endpoint.js';
import { newPrivateKey } from '../../lib/tools/private-keys.js';

const tokenType = 'urn:ietf:params:oauth:token-type:';
/** Lifetime of a credential in seconds, equal to the default lifetime of an access token. */
const credentialSeconds = 300;
/** Maximum age of a token in milliseconds. Nonces, which are renewed with the token, are valid for 300 s. */
const maxAgeMs = 200_000;
const answerMs = 30_000;
/** Maximum connections. By default, a server allows each address an eighth of its open files limit. */
const connections = 64;

interface Token {
  readonly value: string;
  readonly hash: string;
  /** Time of renewal, and expiry, in milliseconds since the epoch. */
  readonly renewed: number;
  readonly expires: number;
}

interface Place {
  /** Storage URI, with a trailing slash. */
  readonly storage: string;
  readonly tokenEndpoint: string;
  /** URL of the SPARQL endpoint, if there is one. */
  readonly sparql: string | undefined;
  /** URL of the endpoint for agents, if there is one. */
  readonly agents: string | undefined;
}

export class Session {
  private readonly endpoint: Endpoint;
  private readonly origin: string;
  private token: Token | undefined;
  private renewing: Promise<Token> | undefined;
  private nonce: string | undefined;

  private constructor(
    readonly place: Place,
    private readonly identity: Identity,
    private readonly proofKey: { readonly key: KeyObject; readonly jwk: JWK },
  ) {
    this.origin = new URL(place.storage).origin;
    this.endpoint = new Endpoint(this.origin, { connections, connectTimeoutMs: answerMs, idleMs: 0 });
  }

  /** Discovers the storage of a URL, and obtains the first token. @throws CommandError */
  static async open(url: string, identity: Identity): Promise<Session> {
    const key = newPrivateKey('P-256');
    const session = new Session(await placeOf(url), identity, { key, jwk: await exportJWK(createPublicKey(key)) });
    await session.current();
    return session;
  }

  /**
   * Sends a request with a token. If the storage rejects the token, renews it and sends the request again,
   * unless the body is a stream.
   * @throws CommandError, OutboundError if there is no response, or the storage rejects the credential
   */
  async send(request: EndpointRequest): Promise<EndpointAnswer> {
    const token = await this.current();
    const answer = await this.sendWith(token, request);
    if (answer.status !== 401) return answer;
    const isOfNonce = answer.headers['dpop-nonce'] !== undefined;
    discard(answer);
    const next = isOfNonce ? token : await this.current(token);
    if (request.body instanceof Readable)
      throw new CommandError('The storage rejected the access token, which is now renewed. Send the request again.');
    const second = await this.sendWith(next, request);
    if (second.status !== 401) return second;
    throw new CommandError(
      `The storage rejects the access token: ${await detailOf(second)}${skewOf(second.headers['date'])}`,
    );
  }

  close(): void {
    this.endpoint.close();
  }

  private async sendWith(token: Token, { path, headers, ...request }: EndpointRequest): Promise<EndpointAnswer> {
    const proof = await this.proof(request.method, this.origin + path.split('?', 1)[0], token.hash);
    const fields = { ...headers, authorization: `DPoP ${token.value}`, dpop: proof };
    const answer = await this.endpoint.send({ ...request, path, headers: fields });
    this.nonce = answer.headers['dpop-nonce']?.toString() ?? this.nonce;
    return answer;
  }

  /** Returns the token, renewed if necessary. Concurrent requests share a renewal. @param rejected token that is invalid now */
  private async current(rejected?: Token): Promise<Token> {
    const { token } = this;
    if (token && token !== rejected && Date.now() < token.renewed) return token;
    this.renewing ??= this.renew().finally(() => {
      this.renewing = undefined;
    });
    try {
      return await this.renewing;
    } catch (error) {
      if (token && token !== rejected && Date.now() < token.expires) return token;
      throw error;
    }
  }

  /** Obtains a token. @throws CommandError if the authorization server does not respond, or rejects the credential */
  private async renew(): Promise<Token> {
    const { storage, tokenEndpoint } = this.place;
    for (let tries = 1; ; tries++) {
      const began = Date.now();
      const body = new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        resource: storage,
        subject_token_type: `${tokenType}jwt`,
        subject_token: await signCredential(this.identity, storage.slice(0, -1), credentialSeconds),
      });
      const headers = { DPoP: await this.proof('POST', tokenEndpoint) };
      const answer = await ask(tokenEndpoint, { method: 'POST', headers, body });
      const nonce = answer.headers.get('dpop-nonce');
      this.nonce = nonce ?? this.nonce;
      if (answer.ok) {
        const { access_token: value, expires_in: seconds } = await jsonOf(answer);
        if (typeof value !== 'string' || !(Number(seconds) > 0))
          throw new CommandError(`${storage} issues no token: the response of ${tokenEndpoint} has none.`);
        const [ms, hash] = [Number(seconds) * 1000, createHash('sha256').update(value).digest('base64url')];
        const renewed = began + Math.min(ms * 0.7, maxAgeMs);
        this.token = { value, hash, renewed, expires: began + ms };
        return this.token;
      }
      const detail = await detailOf(answer);
      if (nonce === null || tries > 1)
        throw new CommandError(`${storage} issues no token: ${detail}${skewOf(answer.headers.get('date'))}`);
    }
  }

  private proof(htm: string, htu: string, ath?: string): Promise<string> {
    const { key, jwk } = this.proofKey;
    const optional = {
      ...(ath === undefined ? {} : { ath }),
      ...(this.nonce === undefined ? {} : { nonce: this.nonce }),
    };
    return new SignJWT({ htm, htu, jti: randomUUID(), ...optional })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt()
      .sign(key);
  }
}

async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerMs), ...init });
  } catch (error) {
    throw new CommandError(`No server responds at ${new URL(url).origin}: ${reasonOf(error)}.`);
  }
}

/** Discovers the storage of a URL and its endpoints. @throws CommandError */
async function placeOf(url: string): Promise<Place> {
  if (!/^https?:\/\//i.test(url))
    throw new CommandError(`${shown(url)} is not the URL of a storage. Use one such as https://storage.example/.`);
  if (!isSecureUrl(url))
    throw new CommandError(`${url} is not an https URL. Tokens are sent over http on this machine only.`);
  const { status, headers } = await ask(url, { method: 'HEAD' });
  const found = parseLinks(headers.get('link') ?? '')?.find(({ relations }) => relations.includes(lws.storage));
  if (!found) throw new CommandError(`${url} is not in a Linked Web Storage (status ${status}).`);
  const storage = found.target;
  if (!new URL(url).href.startsWith(storage) && `${url}/` !== storage)
    throw new CommandError(`${url} belongs to the storage ${shown(storage)}. Use that URL.`);
  const metadata = await ask(wellKnownOf(storage, 'lws-configuration'));
  const { issuer, token_endpoint: tokenEndpoint } = await jsonOf(metadata);
  // Send the credential only to a token endpoint below the storage: another server could use the credential at this storage.
  if (`${issuer}/` !== storage || !String(tokenEndpoint).startsWith(storage))
    throw new CommandError(`${shown(storage)} has no authorization server of its own.`);
  const { service = [] } = await jsonOf(await ask(storage, { headers: { Accept: 'application/lws+cid' } }));
  const services = service as { type?: unknown; serviceEndpoint?: unknown }[];
  const endpointOf = (wanted: string): string | undefined => {
    const url = services.find(({ type }) => type === wanted)?.serviceEndpoint;
    return typeof url === 'string' && url.startsWith(storage) ? url : undefined;
  };
  const sparql = endpointOf('SparqlQueryService');
  return {
    storage,
    tokenEndpoint: String(tokenEndpoint),
    sparql,
    agents: endpointOf(`${lws.namespace}ModelContextProtocolService`),
  };
}

/** Returns the JSON object in a successful response; otherwise an empty object. */
async function jsonOf(answer: Response): Promise<Record<string, unknown>> {
  const value: unknown = answer.ok ? await answer.json().catch(() => undefined) : undefined;
  return isObject(value) ? value : {};
}

/** Returns a hint for the error message, if the clocks differ by more than a server accepts. */
function skewOf(date: string | string[] | null | undefined): string {
  const ahead = Math.round((Date.now() - Date.parse(String(date))) / 1000);
  if (!(Math.abs(ahead) > clockSkew)) return '';
  return ` The clock of this computer is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the server.`;
}
