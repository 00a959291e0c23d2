/**
 * Inboxes on loopback. They record deliveries, verify them with another implementation of RFC 9421, and respond as configured.
 * Independent of the code under test.
 */
import { createHash, createPublicKey, type JsonWebKey } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createVerifier, httpbis } from 'http-message-signatures';
import { patience } from './patience.js';

export interface Activity {
  readonly id: string;
  readonly type: readonly string[];
  readonly object: { readonly id: string; readonly type: readonly string[] };
  readonly target?: string;
  readonly origin?: string;
  readonly actor?: unknown;
  readonly published: string;
}
export interface Delivery {
  /** Inbox URL. */
  readonly to: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Time of receipt, on the clock of `performance`. */
  readonly at: number;
}
/** Reaction of an inbox to a delivery, given the number of earlier deliveries. */
export type Behaviour = (res: ServerResponse, before: number) => void;

const signed = ['@method', '@scheme', '@authority', '@path', 'content-type', 'content-digest'];

export const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = ''): Behaviour =>
  (res) =>
    void res.writeHead(status, headers).end(body);
export const accepting = answering(202);
/** Fails for the given number of deliveries, then accepts. */
export const failing =
  (times: number, how: Behaviour = answering(503)): Behaviour =>
  (res, before) =>
    (before < times ? how : accepting)(res, before);
export const after =
  (milliseconds: number, then: Behaviour = accepting): Behaviour =>
  (res, before) =>
    void setTimeout(() => then(res, before), milliseconds);
export const dropping: Behaviour = (res) => void res.socket?.resetAndDestroy();
export const silent: Behaviour = () => {};
export const garbage: Behaviour = (res) => void res.socket?.end('\0\u0001this is no HTTP\r\n\r\n');

export class InboxHost {
  readonly origin: string;
  readonly authority: string;
  readonly deliveries: Delivery[] = [];
  /** Deliveries waiting for a response, and their maximum. */
  open = 0;
  maxOpen = 0;
  private readonly byInbox = new Map<string, Delivery[]>();
  private readonly behaviours = new Map<string, Behaviour>();
  private readonly waiting = new Set<() => void>();
  private unused = 0;

  constructor(private readonly server: Server) {
    this.authority = `localhost:${(server.address() as AddressInfo).port}`;
    this.origin = `http://${this.authority}`;
  }

  /** Creates an inbox with an unused URL. */
  inbox(behaviour: Behaviour = accepting): string {
    this.unused += 1;
    const inbox = `${this.origin}/inbox/${this.unused}`;
    this.behave(inbox, behaviour);
    return inbox;
  }

  behave(inbox: string, behaviour: Behaviour): void {
    this.behaviours.set(inbox, behaviour);
  }

  at = (inbox: string): readonly Delivery[] => this.byInbox.get(inbox) ?? [];
  activities = (inbox: string): Activity[] => this.at(inbox).map(activityOf);

  /** Waits until an inbox has the number of deliveries. @throws Error after the given time */
  async received(inbox: string, count = 1, milliseconds = 10_000): Promise<readonly Delivery[]> {
    await this.until(() => this.at(inbox).length >= count, `${inbox} to have ${count}`, milliseconds);
    return this.at(inbox);
  }

  /** Waits for a delivery about an object. @returns the activities so far */
  async receivedAbout(inbox: string, object: string, milliseconds = 10_000): Promise<Activity[]> {
    const there = (): boolean => this.activities(inbox).some((activity) => activity.object.id === object);
    await this.until(there, `${inbox} to receive ${object}`, milliseconds);
    return this.activities(inbox);
  }

  private async until(condition: () => boolean, what: string, milliseconds: number): Promise<void> {
    const limit = performance.now() + milliseconds * patience;
    while (!condition()) {
      const left = limit - performance.now();
      if (left <= 0)
        throw new Error(`timed out waiting for ${what}. Received: ${JSON.stringify(this.deliveries.map(summary))}`);
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          this.waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, left);
        this.waiting.add(wake);
      });
    }
  }

  readonly answer: RequestListener = (req, res) => {
    const chunks: Buffer[] = [];
    this.open += 1;
    this.maxOpen = Math.max(this.maxOpen, this.open);
    res.once('close', () => {
      this.open -= 1;
    });
    req.on('error', () => {});
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const to = this.origin + req.url;
      const before = this.at(to).length;
      const { method = '', headers } = req;
      const delivery = { to, method, headers, bytes: Buffer.concat(chunks), at: performance.now() };
      this.deliveries.push(delivery);
      this.byInbox.set(to, this.byInbox.get(to) ?? []);
      this.byInbox.get(to)!.push(delivery);
      (this.behaviours.get(to) ?? answering(404))(res, before);
      for (const wake of [...this.waiting]) wake();
    });
  };

  /** Closes all connections, including those of unanswered deliveries. */
  closeConnections(): void {
    this.server.closeAllConnections();
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

const summary = (delivery: Delivery): string => {
  const { type, object } = activityOf(delivery);
  return `${type.join()} ${object.id} at ${delivery.to}`;
};

export const notificationOf = ({ bytes }: Delivery): Record<string, unknown> & { readonly activity: Activity } =>
  JSON.parse(bytes.toString());
export const activityOf = (delivery: Delivery): Activity => notificationOf(delivery).activity;
/** Returns type and object of an activity. */
export const told = ({ type, object }: Activity): string => `${type.join()} ${object.id}`;

/** Starts a host of inboxes at `http://localhost:PORT`. */
export async function startInboxHost(): Promise<InboxHost> {
  const server = createServer((req, res) => host.answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host: InboxHost = new InboxHost(server);
  return host;
}

export interface Description {
  readonly id: string;
  readonly verificationMethod: readonly { id: string; controller: string; publicKeyJwk: JsonWebKey }[];
  readonly authentication: readonly string[];
}

/** Asserts that a delivery is signed according to rule 16.7, with a key of the storage description. */
export async function expectSigned({ method, to, headers, bytes }: Delivery, description: Description): Promise<void> {
  const input = headers['signature-input'] as string;
  const fields = signed.map((name) => `"${name}"`).join(' ');
  expect(input).to.match(new RegExp(`^sig1=\\(${fields}\\);created=\\d+;keyid="[^"]+"$`));
  expect(headers['signature']).to.match(/^sig1=:[A-Za-z0-9+/]+={0,2}:$/);
  const digest = createHash('sha256').update(bytes).digest('base64');
  expect(headers['content-digest']).to.equal(`sha-256=:${digest}:`);
  const verified = await httpbis.verifyMessage(
    {
      keyLookup: async ({ keyid }) => {
        expect(description.authentication).to.include(keyid);
        const found = description.verificationMethod.find(({ id }) => id === keyid);
        expect(found?.controller).to.equal(description.id);
        const key = createPublicKey({ key: found!.publicKeyJwk, format: 'jwk' });
        return { id: keyid!, algs: ['ed25519'], verify: createVerifier(key, 'ed25519') };
      },
      requiredFields: signed,
      requiredParams: ['created', 'keyid'],
      maxAge: 60,
      tolerance: 5,
    },
    { method, url: to, headers: headers as Record<string, string | string[]> },
  );
  expect(verified, 'the signature').to.equal(true);
}
