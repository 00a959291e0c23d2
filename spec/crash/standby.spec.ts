/**
 * The primary of a storage in PostgreSQL is killed under load, with and without its synchronous standby, and finally the standby
 * is promoted: it has every acknowledged write, and the server continues with it.
 */

import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { request } from '../support/http.js';
import { patience } from '../support/patience.js';
import { ask, type Postgres, postgresFor, type Standby, standbyOf } from '../support/postgres.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';

/** Address that is forwarded to one of two databases. */
class Switch {
  private readonly open = new Set<Socket>();
  private constructor(
    readonly port: number,
    private readonly server: Server,
    public target: number,
  ) {}

  static async start(target: number): Promise<Switch> {
    const [port, server] = [await freePort(), createServer()];
    const made = new Switch(port, server, target);
    server.on('connection', (socket) => {
      const database = connect(made.target, '127.0.0.1');
      for (const [one, other] of [
        [socket, database],
        [database, socket],
      ] as const) {
        made.open.add(one);
        one.on('error', () => one.destroy());
        one.on('close', () => {
          made.open.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return made;
  }

  close(): void {
    this.server.close();
    for (const socket of this.open) socket.destroy();
  }
}

describe('A storage in PostgreSQL after its primary is killed', function () {
  this.timeout(240_000 * patience);
  let postgres: Postgres;
  let standby: Standby;
  let server: ServerProcess | undefined;
  let address: Switch | undefined;
  const acknowledged = new Set<string>();
  let isOver = false;

  before(async function () {
    postgres = await postgresFor(this);
    standby = await standbyOf(postgres);
    await standby.start();
    address = await Switch.start(postgres.port);
    const settings = postgres.settings('promoted');
    server = await startProcess({
      environment: {
        LWS_STORE: settings['store']!.replace(String(postgres.port), String(address.port)),
        LWS_STORE_PASSWORD: settings['store.password']!,
        LWS_STORE_SCHEMA: 'promoted',
      },
    });
  });
  after(async () => {
    await server?.kill();
    address?.close();
    await standby?.stop();
    await postgres?.dispose();
    if (server) rmSync(server.dataDir, { recursive: true, force: true });
  });

  const put = async (name: string): Promise<number> => {
    const headers = { 'Content-Type': 'text/plain', 'If-None-Match': '*' };
    const { status } = await request(`${server!.root}${name}`, { method: 'PUT', headers, body: name });
    if (status === 201) acknowledged.add(name);
    return status;
  };
  async function client(prefix: string): Promise<void> {
    for (let count = 0; !isOver; count++) {
      const status = await put(`${prefix}-${count}`);
      expect(status).to.be.oneOf([201, 503]);
      if (status === 503) await sleep(20);
    }
  }
  /** Waits for further acknowledged writes. The timeout of the spec ends it. */
  async function more(): Promise<void> {
    const before = acknowledged.size;
    await until(() => acknowledged.size >= before + 20);
  }
  const commitsWait = async (): Promise<boolean> =>
    (await ask(postgres.port, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"))
      .length > 0;
  /** Kills the primary while a commit waits for the standby, and starts it. */
  async function killInDoubt(): Promise<void> {
    await standby.stop();
    await until(commitsWait);
    await postgres.kill();
    await postgres.start();
    // Time for a server that trusts the restarted primary to acknowledge its content.
    await sleep(2_000);
  }

  it('keeps every acknowledged write, also when the standby is promoted (rule 19.10)', async () => {
    const clients = ['a', 'b', 'c', 'd'].map(client);
    await more();
    await postgres.kill();
    await postgres.start();
    await more();
    await killInDoubt();
    await standby.start();
    await more();
    await killInDoubt();
    await postgres.kill();
    address!.target = standby.port;
    await standby.start();
    await standby.promote();
    await more();
    isOver = true;
    await Promise.all(clients);
    const lost: string[] = [];
    for (const name of acknowledged) if ((await request(`${server!.root}${name}`)).status !== 200) lost.push(name);
    expect(lost).to.deep.equal([]);
    expect(acknowledged.size).to.be.above(80);
  });
});
