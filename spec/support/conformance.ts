/**
 * Server under test of the conformance suite: started by the specs, at `/` and under a path, or the server at LWS_TARGET (root
 * IRI) with LWS_TOKEN (bearer credential of an owner).
 */
import { expect } from 'chai';
import { type Answer, request } from './http.js';
import { isOverHttp2 } from './http2.js';
import { credential, ed25519Identity, type Identity } from './identity.js';
import { everyPlace, isAtRoot } from './places.js';
import { type SpecServer, startSpecServer } from './server.js';
import { isThorough } from './speed.js';

export interface StorageOptions {
  /** Settings as flags. A block with settings is skipped against LWS_TARGET. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Sender of requests if `settings.owners` is set. */
  readonly owner?: Identity;
  /** Runs under a path only, not at `/`: for slow blocks that hardly depend on the path. */
  readonly isOncePlaced?: boolean;
  /** Also runs over HTTP/2. */
  readonly isOverHttp2?: boolean;
}

/** Base path and protocol of a storage. */
interface Place {
  readonly path: string;
  readonly isSecure?: boolean;
}

type Fields = Readonly<Record<string, string>>;
type Body = string | Uint8Array | readonly (string | Uint8Array)[] | undefined;

/** Sender of a request: a credential, or anonymous. */
export type Sender = { readonly token: string } | 'anonymous';

export const ldp = 'http://www.w3.org/ns/ldp#';
export const lws = 'https://www.w3.org/ns/lws#';
export const asContainer = { Link: `<${lws}Container>; rel="type"` };

/** One server for each place, shared by blocks without settings: starting eighty servers takes a minute. */
const shared = new Map<string, Promise<SpecServer>>();

function sharedServer(place: Place): Promise<SpecServer> {
  const key = JSON.stringify(place);
  const server = shared.get(key) ?? startSpecServer(place);
  shared.set(key, server);
  return server;
}

// Root hook: runs after the last block of all files.
after(async () => {
  for (const server of shared.values()) await (await server).stop();
});

export class StorageUnderTest {
  root = '';
  /** Container of a block, created before its tests and deleted after them. */
  scratch = '';
  token: string | undefined;
  /** Valid credential of an identity without grants. */
  stranger: { readonly token: string } = { token: '' };
  server: SpecServer | undefined;
  private ownsServer = false;
  private count = 0;

  /** Returns an unused IRI in the scratch container. */
  fresh(suffix = ''): string {
    this.count += 1;
    return `${this.scratch}n${this.count}${suffix}`;
  }

  /** Sends a request. The default sender is an owner. */
  send(method: string, iri: string, headers: Fields = {}, body?: Body, sender?: Sender): Promise<Answer> {
    const token = sender === undefined ? this.token : sender === 'anonymous' ? undefined : sender.token;
    const credentials = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    return request(iri, { method, headers: { ...credentials, ...headers }, body });
  }

  get = (iri: string, headers: Fields = {}): Promise<Answer> => this.send('GET', iri, headers);
  head = (iri: string, headers: Fields = {}): Promise<Answer> => this.send('HEAD', iri, headers);
  options = (iri: string): Promise<Answer> => this.send('OPTIONS', iri);
  delete = (iri: string, headers: Fields = {}): Promise<Answer> => this.send('DELETE', iri, headers);

  put(iri: string, type: string, body: Body, headers: Fields = {}): Promise<Answer> {
    return this.send('PUT', iri, { 'Content-Type': type, ...headers }, body);
  }

  post(container: string, type: string, body: Body, headers: Fields = {}): Promise<Answer> {
    return this.send('POST', container, { 'Content-Type': type, ...headers }, body);
  }

  patch(iri: string, type: string, body: Body, headers: Fields = {}): Promise<Answer> {
    return this.send('PATCH', iri, { 'Content-Type': type, ...headers }, body);
  }

  /** Creates a data resource. @returns its IRI and entity tag */
  async stored(type: string, body: Body, iri = this.fresh()): Promise<{ iri: string; etag: string }> {
    const answer = await this.put(iri, type, body);
    expect(answer.status, answer.text).to.equal(201);
    return { iri, etag: answer.headers['etag'] ?? '' };
  }

  /** Creates a container. @returns its IRI */
  async container(iri = this.fresh('/')): Promise<string> {
    const answer = await this.send('PUT', iri);
    expect(answer.status, answer.text).to.equal(201);
    return iri;
  }

  /** Returns the IRIs of the members of a container. */
  async members(container: string): Promise<string[]> {
    const answer = await this.get(container, { Accept: 'application/lws+json' });
    expect(answer.status, answer.text).to.equal(200);
    return (JSON.parse(answer.text) as { items: { id: string }[] }).items.map(({ id }) => id);
  }

  async tag(iri: string, headers: Fields = {}): Promise<string> {
    return (await this.get(iri, headers)).headers['etag'] ?? '';
  }

  /** Asserts that the resource does not exist. */
  async expectAbsent(iri: string): Promise<void> {
    expect((await this.get(iri)).status, `GET ${iri}`).to.equal(404);
  }

  async open({ settings, owner }: StorageOptions, place: Place = { path: '' }): Promise<void> {
    const { LWS_TARGET: target, LWS_TOKEN } = process.env;
    if (target) {
      this.root = target.endsWith('/') ? target : `${target}/`;
      this.token = LWS_TOKEN;
    } else {
      this.server = settings ? await startSpecServer({ settings, ...place }) : await sharedServer(place);
      this.ownsServer = settings !== undefined;
      this.root = this.server.root;
      this.token = this.server.ownerToken;
    }
    const aud = this.root.slice(0, -1);
    if (owner) this.token = credential(owner, { aud });
    this.stranger = { token: credential(ed25519Identity(), { aud }) };
    const made = await this.send('POST', this.root, { Slug: 'conformance', ...asContainer });
    expect(made.status, made.text).to.equal(201);
    this.scratch = new URL(made.headers['location'] ?? '', this.root).href;
  }

  async close(): Promise<void> {
    if (this.ownsServer) await this.server?.stop();
    else if (this.scratch) await this.delete(this.scratch, { Depth: 'infinity' });
  }

  /** Restarts the block's own server with other settings on the same data directory. */
  async restart({ settings = {}, owner }: StorageOptions): Promise<void> {
    const before = this.server!;
    await before.stop(true);
    this.server = await startSpecServer({ settings, again: before });
    this.token = owner ? credential(owner, { aud: this.root.slice(0, -1) }) : this.server.ownerToken;
  }
}

function placesOf(title: string, options: StorageOptions): { readonly root: boolean; readonly path: boolean } {
  if (options.isOncePlaced) return { root: false, path: true };
  if (!isThorough) return { root: true, path: false };
  return { root: everyPlace || isAtRoot(title), path: everyPlace || !isAtRoot(title) };
}

/**
 * Registers a block of tests for a storage. A quick run has it at `/`. A full run has it at `/` or under a path, chosen by its
 * title. `QUADPOD_PLACES=all` runs it at both, `QUADPOD_SPECS_OVER=h2` runs all blocks over HTTP/2.
 */
export function describeStorage(
  title: string,
  body: (storage: StorageUnderTest) => void,
  options: StorageOptions = {},
): void {
  const placed = placesOf(title, options);
  const places: [string, Place][] = [
    ...(placed.root ? [['at /', { path: '' }] as [string, Place]] : []),
    ...(placed.path ? [['under a path', { path: '/some/path' }] as [string, Place]] : []),
    ...(options.isOverHttp2 && !isOverHttp2 ? [['over HTTP/2', { path: '', isSecure: true }] as [string, Place]] : []),
  ];
  const target: [string, Place][] = [['target', { path: '' }]];
  for (const [name, place] of process.env['LWS_TARGET'] ? target : places)
    describe(`${title} [${name}]`, () => {
      const storage = new StorageUnderTest();
      before(async function () {
        if (name === 'target' && options.settings) this.skip();
        await storage.open(options, place);
      });
      after(() => storage.close());
      body(storage);
    });
}
