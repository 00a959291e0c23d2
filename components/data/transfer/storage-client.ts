/** Sends requests to a storage on any server, which is not trusted. */
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { detailOf, reasonOf, shown } from '../../../lib/component/commands.js';
import { TransferError } from '../../../lib/exchange/member.js';

/** Maximum size of a token file in bytes. */
const longestToken = 64 << 10;
/** Maximum number of tries while the server is busy, and maximum pause between tries in seconds. */
const [maxTries, longestWait] = [6, 30];

/** Content of a request. */
export interface Sending {
  readonly method: 'HEAD' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of the request. A stream can be sent only once. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
}

export interface ServerAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The explanation in the response, if any. */
  readonly detail: string;
}

/** Returns true if a path is below the container after URL parsing, as done by the HTTP client and the server. */
export const isBelow = (container: string, path: string): boolean =>
  !/(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)|[?#\\]/i.test(path) && new URL(container + path).href.startsWith(container);

/** Returns true if the request succeeded. */
export const isMade = ({ status }: ServerAnswer): boolean => status >= 200 && status < 300;
/** Returns the reason for a failed request, as a sentence. */
export const refusal = ({ status, detail }: ServerAnswer): string =>
  `The server rejected it (${status}). ${detail}`.trim();

export class StorageClient {
  private readonly origin: string;
  private token: string | undefined;

  /**
   * @param tokenFile the file with a bearer token @throws TransferError for a file without a token, and for a target without
   * TLS, where the token would be sent unencrypted
   */
  constructor(
    target: string,
    private readonly tokenFile: string | undefined,
  ) {
    const { origin, protocol, hostname } = new URL(target);
    this.origin = origin;
    this.token = tokenFile === undefined ? undefined : readToken(tokenFile);
    const isNear = /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
    if (this.token !== undefined && protocol === 'http:' && !isNear)
      throw new TransferError(`The token is not sent over unencrypted http to ${hostname}. Use https.`);
  }

  /**
   * Sends a request. If the server is busy, waits and retries, unless the body is a stream. If the token is rejected, reads the
   * file again, because the token may have been renewed.
   * @throws TransferError if the server does not respond, requires another credential, or redirects
   */
  async send(iri: string, sending: Sending): Promise<ServerAnswer> {
    const isOnce = sending.body !== undefined && !(sending.body instanceof Uint8Array);
    for (let tries = 1; ; tries++) {
      const answer = await this.once(iri, sending);
      const { status, headers, detail } = answer;
      if (status >= 300 && status < 400)
        throw new TransferError(`${iri} has moved: the server redirects to ${shown(headers.get('location') ?? '?')}.`);
      const isRetried = !isOnce && tries < maxTries;
      if (status === 401 && !(isRetried && this.isRenewed())) throw this.unauthorized(detail);
      if (status === 429 || status === 503) {
        if (!isRetried) throw new TransferError(`${this.origin} is too busy (${status}). ${goesOn}`);
        await sleep(waitOf(headers.get('retry-after'), tries) * 1000);
      } else if (status >= 500) throw new TransferError(`${iri}: the server failed (${status}). ${detail} ${goesOn}`);
      else if (status !== 401) return answer;
    }
  }

  private async once(iri: string, { method, headers, body }: Sending): Promise<ServerAnswer> {
    const authorization = this.token === undefined ? {} : { Authorization: `Bearer ${this.token}` };
    const sent = body === undefined ? {} : { body: body as never, duplex: 'half' };
    const init = { method, headers: { ...headers, ...authorization }, redirect: 'manual', ...sent } as RequestInit;
    try {
      const answer = await fetch(iri, init);
      return { status: answer.status, headers: answer.headers, detail: await detailOf(answer) };
    } catch (cause) {
      const inner = (cause as Error).cause as Error | undefined;
      // Rethrow an error of the source, which failed while its content was sent.
      for (const error of [cause, inner]) if (error instanceof TransferError) throw error;
      throw new TransferError(`${this.origin} does not respond: ${reasonOf(cause)}. ${goesOn}`, { cause });
    }
  }

  private isRenewed(): boolean {
    const old = this.token;
    if (this.tokenFile !== undefined) this.token = readToken(this.tokenFile);
    return this.token !== old;
  }

  private unauthorized(detail: string): TransferError {
    const what =
      this.token === undefined
        ? 'requires authentication: use --token FILE with a file containing a bearer token'
        : 'rejects the token';
    return new TransferError(`${this.origin} ${what}. ${detail} ${this.token === undefined ? '' : goesOn}`.trim());
  }
}

const goesOn = 'Resources sent before are stored. Use --on-conflict skip to continue.';

function readToken(file: string): string {
  try {
    if (statSync(file).size <= longestToken) {
      const token = readFileSync(file, 'utf8').trim();
      if (/^[\w.~+/-]+=*$/.test(token)) return token;
    }
  } catch (cause) {
    throw new TransferError(`${file} is not readable (${(cause as NodeJS.ErrnoException).code}).`, { cause });
  }
  throw new TransferError(`${file} contains no bearer token. It must contain only the token, on one line.`);
}

/** Returns the seconds to wait before the next try. */
function waitOf(field: string | null, tries: number): number {
  const asked = field !== null && /^\d{1,6}$/.test(field) ? Number(field) : tries;
  return Math.min(asked, longestWait);
}
