/** Answers ACME challenges (RFC 8555 8.3) of this server and of an external client. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';

const place = '/.well-known/acme-challenge/';
/** Maximum length of a key authorization: a token and a thumbprint. */
const longest = 1024;

export class Challenges {
  private readonly answers = new Map<string, string>();

  /** @param webroot directory in which an external client stores its answers */
  constructor(private readonly webroot: string | null) {}

  set(token: string, keyAuthorization: string): void {
    this.answers.set(token, keyAuthorization);
  }

  delete(token: string): void {
    this.answers.delete(token);
  }

  /** Answers challenges and passes everything else to another listener. */
  before(next: RequestListener): RequestListener {
    return (req, res) => {
      const token = tokenOf(req);
      return token === undefined ? next(req, res) : void this.answer(token, req, res);
    };
  }

  private async answer(token: string, req: IncomingMessage, res: ServerResponse): Promise<void> {
    req.resume();
    const found = this.answers.get(token) ?? (await this.fromWebroot(token));
    const fields = { 'Content-Type': 'text/plain', 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' };
    const content = found ?? 'No such challenge.\n';
    res.writeHead(found === undefined ? 404 : 200, { ...fields, 'Content-Length': Buffer.byteLength(content) });
    res.end(req.method === 'HEAD' ? undefined : content);
  }

  private async fromWebroot(token: string): Promise<string | undefined> {
    if (this.webroot === null) return undefined;
    try {
      // The flags reject symbolic links, and do not wait for the writer of a pipe.
      const file = await open(
        join(this.webroot, place, token),
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
      try {
        const { size } = await file.stat().then((stat) => (stat.isFile() ? stat : { size: longest + 1 }));
        return size > longest ? undefined : await file.readFile('utf8');
      } finally {
        await file.close();
      }
    } catch {
      return undefined;
    }
  }
}

/** Returns the token that a request asks for, or undefined. */
function tokenOf({ method, url = '' }: IncomingMessage): string | undefined {
  if ((method !== 'GET' && method !== 'HEAD') || !url.startsWith(place)) return undefined;
  const token = url.slice(place.length);
  return /^[A-Za-z0-9_-]{1,128}$/.test(token) ? token : undefined;
}
