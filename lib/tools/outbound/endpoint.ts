/**
 * Requests to one service that the operator configured, over persistent connections. These requests bypass the address policy,
 * so URLs from callers must never reach this module.
 */
import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { errorCode, OutboundError } from './outbound-error.js';

export interface EndpointOptions {
  /** Maximum number of concurrent connections. More requests wait. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** Maximum pause while a response is read, in milliseconds. */
  readonly idleMs: number;
}

export interface EndpointRequest {
  readonly method: Dispatcher.HttpMethod;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[] | Readable | undefined;
  /** Maximum time until the response header, in milliseconds, including the wait for a connection and sending the body. Absent: no limit. */
  readonly answerMs?: number;
  /** Aborts the request, and the response while it is read. */
  readonly signal?: AbortSignal;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Response body. Must be read to its end or discarded. */
  readonly body: Readable;
}

export class Endpoint {
  private readonly pool: Pool;

  /** @param origin for example `https://s3.example`, without a path */
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

  /** Sends one request without retries. @throws OutboundError `connect`, `timeout`, `protocol` */
  async send({ method, path, headers, body, answerMs, signal }: EndpointRequest): Promise<EndpointAnswer> {
    const late = new OutboundError('timeout', `${this.origin} did not respond within ${answerMs} ms.`);
    const ending = new AbortController();
    const timer = answerMs === undefined ? undefined : setTimeout(() => ending.abort(late), answerMs);
    try {
      const answer = await this.pool.request({
        ...{ method, path, signal: signal ? AbortSignal.any([ending.signal, signal]) : ending.signal },
        headers: { 'user-agent': 'Quadpod', ...headers },
        body: body ? sent(body) : null,
      });
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      throw this.refusal(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Converts the error of a request or of an incomplete body to an `OutboundError`. */
  refusal(error: unknown): unknown {
    if (error instanceof OutboundError) return error;
    const code = errorCode(error);
    if (code === 'UND_ERR_INVALID_ARG') return error;
    return /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/.test(code)
      ? new OutboundError('connect', `Cannot connect to ${this.origin} (${code}).`)
      : new OutboundError('protocol', `${this.origin} closed the connection (${code}).`);
  }

  /** Closes all connections and aborts their requests. */
  close(): void {
    this.pool.destroy().catch(() => undefined);
  }
}

/** Drops an unread response and closes its connection. */
export const discard = ({ body }: EndpointAnswer): void => void body.on('error', () => {}).destroy();

/** Returns the request body for undici, without copying its chunks. */
const sent = (body: readonly Uint8Array[] | Readable): Uint8Array | Readable | null =>
  body instanceof Readable ? body : body.length < 2 ? (body[0] ?? null) : Readable.from(body);
