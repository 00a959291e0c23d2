/** Sends signed requests to an S3 store, and retries them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Endpoint, type EndpointAnswer } from '../../lib/plugin/blobs.js';
import { type LwsError, tooBusy } from '../../lib/plugin/component.js';
import { OutboundError } from '../../lib/plugin/requests.js';

/** Address and credentials of an S3 store. Plain data that can be sent to threads. Never printed or logged. */
export interface S3Address {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Prefix of all keys: empty, or with a trailing slash. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Key without the prefix. Absent: the request is for the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  /** SHA-256 of the body in hexadecimal. */
  readonly sha256?: string;
  readonly maxTries?: number;
}

/** Thrown if the store rejects a request permanently. `code` is the S3 code, such as `AccessDenied`, or empty. */
export class S3Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'S3Refusal';
  }
}

const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const [connections, connectTimeoutMs, idleMs] = [64, 5_000, 20_000];
/** Timeout of a request, in milliseconds, and bytes of the body for which a millisecond is added, for slow connections. */
const answerMs = 15_000;
const minBytesPerMs = 64;
/** Maximum attempts, first delay (doubled for each attempt), and time after which no attempt starts, in milliseconds. */
const [maxTries, firstDelayMs, lastTryMs] = [4, 100, 10_000];
const maxTextBytes = 8 << 20;
/** Maximum count of cached signing keys. Each day has another key. */
const maxSigningKeys = 8;

export class S3Client {
  private readonly endpoint: Endpoint;
  private readonly signingKeys = new Map<string, ArrayBuffer>();

  constructor(private readonly address: S3Address) {
    this.endpoint = new Endpoint(address.endpoint, { connections, connectTimeoutMs, idleMs });
  }

  /**
   * Sends a request with retries.
   * @returns the 2xx response, whose body must be read or discarded
   * @throws S3Refusal, or LwsError `too-busy` if the store is unavailable or overloaded
   */
  async send(request: S3Request): Promise<EndpointAnswer> {
    const begun = Date.now();
    for (let tries = 1; ; tries++) {
      const failure = await this.attempt(request).catch((error: unknown) => {
        if (error instanceof OutboundError) return error;
        throw error;
      });
      if (!(failure instanceof Error)) return failure;
      const isPassing = failure instanceof OutboundError || isTemporary(failure);
      if (!isPassing) throw failure;
      if (tries >= (request.maxTries ?? maxTries) || Date.now() - begun > lastTryMs) throw away(failure);
      await sleep(firstDelayMs * 2 ** (tries - 1) * (0.5 + Math.random()));
    }
  }

  /** Like `send`, but reads the complete response, which must be short. @returns its text */
  async ask(request: S3Request): Promise<{ readonly text: string; readonly headers: EndpointAnswer['headers'] }> {
    for (let tries = 1; ; tries++) {
      const answer = await this.send(request);
      try {
        return { text: await this.textOf(answer), headers: answer.headers };
      } catch (error) {
        if (tries >= (request.maxTries ?? maxTries)) throw error;
      }
    }
  }

  /** Like `send`, but returns `undefined` if the object does not exist. */
  async find(request: S3Request): Promise<Awaited<ReturnType<S3Client['ask']>> | undefined> {
    try {
      return await this.ask(request);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Deletes an object. Ignores the error that some stores report if the object does not exist. */
  async delete(key: string, { query, maxTries }: Pick<S3Request, 'query' | 'maxTries'> = {}): Promise<void> {
    await this.find({ method: 'DELETE', key, ...(query ? { query } : {}), ...(maxTries ? { maxTries } : {}) });
  }

  private async attempt(request: S3Request): Promise<EndpointAnswer | S3Refusal> {
    const answer = await this.endpoint.send(await this.signed(request));
    if (answer.status >= 200 && answer.status < 300) return answer;
    const text = await this.textOf(answer);
    const code = firstValue(text, 'Code') ?? '';
    const place = `${request.method} ${request.key ?? 'of the bucket'}`;
    const why = [answer.status, code, firstValue(text, 'Message')?.slice(0, 500)].filter(Boolean).join(' ');
    return new S3Refusal(answer.status, code, `The S3 store rejects ${place}: ${why}.`);
  }

  private async signed(request: S3Request): Promise<Parameters<Endpoint['send']>[0]> {
    const { method, key, query = {}, headers, body, sha256 } = request;
    const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey } = this.address;
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const path = `/${bucket}${key === undefined ? '' : `/${prefix}${key}`}`;
    const url = `${endpoint}${path}${search.length > 0 ? `?${search.join('&')}` : ''}`;
    if (this.signingKeys.size > maxSigningKeys) this.signingKeys.clear();
    const length = (body ?? []).reduce((sum, chunk) => sum + chunk.length, 0);
    const signer = new AwsV4Signer({
      ...{ method, url, region, accessKeyId, secretAccessKey, service: 's3', cache: this.signingKeys },
      headers: { ...headers, 'x-amz-content-sha256': sha256 ?? (length === 0 ? emptySha256 : 'UNSIGNED-PAYLOAD') },
    });
    const { headers: all } = await signer.sign();
    return {
      ...{ method, path: url.slice(endpoint.length), body },
      headers: {
        ...Object.fromEntries(all),
        ...(method === 'PUT' || method === 'POST' ? { 'content-length': String(length) } : {}),
      },
      answerMs: answerMs + Math.ceil(length / minBytesPerMs),
    };
  }

  /** Reads the text of a response. @throws LwsError `too-busy` if the connection breaks */
  private async textOf({ body }: EndpointAnswer): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > maxTextBytes) throw new OutboundError('too-large', 'The response of the S3 store does not end.');
        chunks.push(chunk);
      }
    } catch (error) {
      throw away(this.endpoint.refusal(error));
    }
    return Buffer.concat(chunks).toString();
  }

  close(): void {
    this.endpoint.close();
  }
}

const isTemporary = ({ status, code }: S3Refusal): boolean =>
  status === 429 || status >= 500 ? status !== 501 : code === 'RequestTimeout' || code === 'OperationAborted';

/** Returns the error for clients if the store is unavailable. The reason is only logged. */
export const away = (error: unknown): LwsError =>
  tooBusy('The blob store is unavailable. Retry in a few seconds.', 5, {
    reason: (error as Error).message,
  });

/** True if the object does not exist. False if the bucket does not exist. */
export const isMissing = (error: unknown): boolean =>
  error instanceof S3Refusal && error.status === 404 && error.code !== 'NoSuchBucket';

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#34': '"' };

const unescaped = (value: string): string =>
  value.replace(/&(\w+|#34);/g, (all, name: string) => entities[name] ?? all);

/** Returns the content of the first element with a name, or `undefined` if there is none. */
export function firstValue(xml: string, name: string): string | undefined {
  const begin = xml.indexOf(`<${name}>`);
  const end = begin < 0 ? -1 : xml.indexOf(`</${name}>`, begin);
  return end < 0 ? undefined : unescaped(xml.slice(begin + name.length + 2, end));
}

/** Returns the inner text of all elements with a name, in order. */
export function* elementsOf(xml: string, name: string): Generator<string> {
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end < 0) return;
    yield xml.slice(at + open.length, end);
    at = end + close.length;
  }
}
