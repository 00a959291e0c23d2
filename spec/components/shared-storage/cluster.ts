/** Several servers of one storage in this process, each with its own address. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { standardComponents } from '../../../components/index.js';
import { createServer, type Server } from '../../../lib/server/server.js';
import { coreSettings } from '../../../lib/server/settings/core-settings.js';
import { loadSettings } from '../../../lib/settings/settings.js';
import { createLog } from '../../../lib/tools/log.js';
import { freePort } from '../../support/free-port.js';
import { type Answer, request } from '../../support/http.js';

type Settings = Readonly<Record<string, string>>;

export interface ClusterServer {
  readonly server: Server;
  readonly dataDir: string;
  readonly port: number;
  readonly log: Record<string, unknown>[];
  ask(method: string, path: string, headers?: Settings, body?: string | Uint8Array): Promise<Answer>;
  stop(): Promise<void>;
}

export class Cluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'quadpod-cluster-'));
  readonly servers: ClusterServer[] = [];
  private constructor(
    readonly root: string,
    private readonly settings: Settings,
  ) {
    mkdirSync(join(this.folder, 'blobs'));
  }

  static async start(count: number, settings: Settings): Promise<Cluster> {
    const cluster = new Cluster(`http://localhost:${await freePort()}/`, { 'dev.open': 'true', ...settings });
    for (let at = 0; at < count; at++) await cluster.add();
    return cluster;
  }

  /** Starts another server. @param name of its directory, reused by a restarted server */
  async add(name = `server-${this.servers.length}`, settings: Settings = {}): Promise<ClusterServer> {
    const dataDir = join(this.folder, name);
    mkdirSync(dataDir, { recursive: true });
    try {
      symlinkSync(join(this.folder, 'blobs'), join(dataDir, 'blobs'));
    } catch {
      // The resource exists.
    }
    const log: Record<string, unknown>[] = [];
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        for (const line of chunk.toString().split('\n')) if (line) log.push(JSON.parse(line));
        done();
      },
    });
    const port = await freePort();
    const flags = {
      'base-uri': this.root.slice(0, -1),
      'data-dir': dataDir,
      'listen-host': '127.0.0.1',
      'listen-port': String(port),
      ...this.settings,
      ...settings,
    };
    const tables = [coreSettings, ...standardComponents.map((component) => component.settings)];
    const server = await createServer(loadSettings(tables, { flags }), {
      components: standardComponents,
      log: createLog('info', stream),
    });
    await server.listen();
    const { host } = new URL(this.root);
    const started: ClusterServer = {
      ...{ server, dataDir, port, log },
      ask: (method, path, headers = {}, body = undefined) =>
        request(`http://127.0.0.1:${port}/${path}`, { method, headers: { Host: host, ...headers }, body }),
      stop: async () => {
        const at = this.servers.indexOf(started);
        if (at >= 0) this.servers.splice(at, 1);
        await server.close();
      },
    };
    this.servers.push(started);
    return started;
  }

  async end(): Promise<void> {
    for (const server of [...this.servers]) await server.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
