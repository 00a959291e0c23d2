/** Deployments: many storages behind one port, addressed by path or by host. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { standardComponents } from '../../components/index.js';
import type { StorageChange } from '../../lib/component/deployment.js';
import { createServer } from '../../lib/server/server.js';
import { StorageRegistry } from '../../lib/server/storages/storage-registry.js';
import { loadSettings, type Settings } from '../../lib/settings/settings.js';
import { createLog } from '../../lib/tools/log.js';
import { tables } from './deployment.js';
import { freePort } from './free-port.js';
import { type Answer, request } from './http.js';
import { credential, ed25519Identity, type Identity } from './identity.js';

type Fields = Readonly<Record<string, string>>;

/** A storage as seen by its clients. */
export class Pod {
  readonly owner: Identity = ed25519Identity();

  constructor(
    /** Root IRI. */
    readonly root: string,
    private readonly port: number,
  ) {}

  get base(): string {
    return this.root.slice(0, -1);
  }

  /** Returns a credential. Defaults: the owner, for this storage. */
  token(who = this.owner, aud = this.base): string {
    return credential(who, { aud });
  }

  /** Sends a request to an IRI of the storage, or to a path below its root. Anonymous if the token is null. */
  ask(
    method: string,
    to: string,
    headers: Fields = {},
    body?: string,
    token: string | null = this.token(),
  ): Promise<Answer> {
    const { host, pathname, search, protocol } = new URL(to, this.root);
    const origin = protocol === 'https:' ? `https://${host}` : `http://127.0.0.1:${this.port}`;
    const credentials = token === null ? {} : { Authorization: `Bearer ${token}` };
    return request(`${origin}${pathname}${search}`, {
      method,
      headers: { Host: host, ...credentials, ...headers },
      body,
    });
  }

  put(to: string, turtle: string): Promise<Answer> {
    return this.ask('PUT', to, { 'Content-Type': 'text/turtle' }, turtle);
  }
}

export interface SpecDeployment {
  readonly home: Pod;
  readonly port: number;
  readonly dataDir: string;
  readonly settings: Settings;
  readonly log: Record<string, unknown>[];
  /** Changes a configuration record, as a command does while the server is running. */
  change(name: string, wanted: StorageChange): Promise<unknown>;
  /** Creates a storage with an owner. */
  add(name: string, settings?: Readonly<Record<string, unknown>>): Promise<Pod>;
  /** Restarts the server on the same data directory. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDeployment(by: 'path' | 'host', given: Fields = {}): Promise<SpecDeployment> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quadpod-deployment-'));
  const port = await freePort();
  const origin = `localhost:${port}`;
  const scheme = given['tls.certificate'] === undefined ? 'http' : 'https';
  const address = `${scheme}://${by === 'path' ? `${origin}/{name}/` : `{name}.${origin}/`}`;
  const log: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n')) if (line) log.push(JSON.parse(line));
      done();
    },
  });
  const home = new Pod(`${scheme}://${origin}/${by === 'path' ? 'home/' : ''}`, port);
  const flags = {
    'base-uri': home.base,
    'data-dir': dataDir,
    'storages.address': address,
    owners: home.owner.did,
    ...given,
  };
  const settings = loadSettings(tables, { flags });
  const begin = async (): ReturnType<typeof createServer> => {
    const server = await createServer(settings, { components: standardComponents, log: createLog('info', stream) });
    await server.listen();
    return server;
  };
  let server = await begin();
  const change = (name: string, wanted: StorageChange): Promise<unknown> =>
    StorageRegistry.of(settings, standardComponents)!.change(name, wanted);
  return {
    ...{ home, port, dataDir, settings, log, change },
    async add(name, own = {}) {
      const pod = new Pod(address.replace('{name}', name), port);
      const body = JSON.stringify({ name, owners: [pod.owner.did], settings: own });
      const answer = await home.ask('POST', '.lws/storages', { 'Content-Type': 'application/json' }, body);
      if (answer.status !== 201) throw new Error(answer.text);
      return pod;
    },
    async restart() {
      await server.close();
      server = await begin();
    },
    async stop() {
      await server.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
