/** Sequential requests on one connection, and a request with a delayed body. */
import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { startRequest } from './http.js';

type Fields = Readonly<Record<string, string>>;

export class PersistentConnection {
  private readonly agents = {
    http: new Agent({ keepAlive: true, maxSockets: 1 }),
    https: new TlsAgent({ keepAlive: true, maxSockets: 1 }),
  };
  /** Local ports. One if the connection was reused. */
  readonly ports = new Set<number | undefined>();

  status(method: string, iri: string, headers: Fields = {}): Promise<number> {
    return new Promise((resolve, reject) => {
      const agent = iri.startsWith('https:') ? this.agents.https : this.agents.http;
      const req = startRequest(iri, { method, headers, agent });
      req.on('socket', (socket) => {
        if (socket.connecting) socket.once('connect', () => this.ports.add(socket.localPort));
        else this.ports.add(socket.localPort);
      });
      req.on('response', (res) => {
        res.resume();
        res.on('end', () => resolve(res.statusCode ?? 0));
      });
      req.on('error', reject);
      req.end();
    });
  }

  close(): void {
    for (const agent of Object.values(this.agents)) agent.destroy();
  }
}

export interface LateBody {
  /** Sends the rest of the body. @returns the status */
  finish(rest: string): Promise<number>;
}

/** Sends the header section and the first part of a body, then waits 150 ms so that the server reads them. */
export async function beginRequest(method: string, iri: string, headers: Fields, first: string): Promise<LateBody> {
  const req: ClientRequest = startRequest(iri, { method, headers, agent: false });
  const answered = new Promise<number>((resolve, reject) => {
    req.on('response', (res: IncomingMessage) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    });
    req.on('error', reject);
  });
  answered.catch(() => {});
  req.write(first);
  await new Promise((resolve) => setTimeout(resolve, 150));
  return {
    finish(rest) {
      req.end(rest);
      return answered;
    },
  };
}
