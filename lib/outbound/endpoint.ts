/**
 * Requests to one service that the operator has named in a setting, over connections that stay open. Unlike what others name it is not
 * judged by the address policy, so nobody else's URL may come here.
 */
import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { errorCode, OutboundError } from './outbound-error.js';

export interface EndpointOptions {
  /** Connections at once; further requests wait. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** Milliseconds that an answer may pause, while it is read. */
  readonly idleMs: number;
}

export interface EndpointRequest {
  readonly method: Dispatcher.HttpMethod;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[] | undefined;
  /** Milliseconds until the fields of the answer have to be there; waiting for a connection and sending the body included. */
  readonly answerMs: number;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** To be read to its end, or discarded. */
  readonly body: Readable;
}

export class Endpoint {
  private readonly pool: Pool;

  /** @param origin such as `https://s3.example`, without a path */
  constructor(
    private readonly origin: string,
    { connections, connectTimeoutMs, idleMs }: EndpointOptions,
  ) {
    this.pool = new Pool(origin, {
      connections,
      connect: { timeout: connectTimeoutMs },
      headersTimeout: 0,
      bodyTimeout: idleMs,
    });
  }

  /** Sends one request, once. @throws OutboundError `connect`, `timeout`, `protocol` */
  async send({ method, path, headers, body, answerMs }: EndpointRequest): Promise<EndpointAnswer> {
    const late = new OutboundError('timeout', `${this.origin} did not answer within ${answerMs} ms.`);
    const ending = new AbortController();
    const timer = setTimeout(() => ending.abort(late), answerMs);
    try {
      const answer = await this.pool.request({
        ...{ method, path, signal: ending.signal },
        headers: { 'user-agent': 'Quadpod', ...headers },
        body: body && body.length > 0 ? sent(body) : null,
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      throw this.refusal(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The error of a request, or of a body that broke off, as one of ours. */
  refusal(error: unknown): unknown {
    if (error instanceof OutboundError) return error;
    const code = errorCode(error);
    if (code === 'UND_ERR_INVALID_ARG') return error;
    return /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(code)
      ? new OutboundError('connect', `${this.origin} cannot be connected to (${code}).`)
      : new OutboundError('protocol', `${this.origin} breaks off (${code}).`);
  }

  /** Ends all connections, and what is under way on them. */
  close(): void {
    this.pool.destroy().catch(() => undefined);
  }
}

/** Lets go of an answer that nobody reads, and of its connection. */
export const discard = ({ body }: EndpointAnswer): void => void body.on('error', () => {}).destroy();

/** Chunks as they are, without a copy. */
const sent = (chunks: readonly Uint8Array[]): Uint8Array | Readable =>
  chunks.length === 1 ? chunks[0]! : Readable.from(chunks);
