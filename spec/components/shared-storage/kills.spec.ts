/**
 * Servers of one storage, and its database, are killed under load: acknowledged writes are complete on every server, and the
 * other servers continue. `QUADPOD_KILLS=200` kills more often.
 */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '../../support/free-port.js';
import { request } from '../../support/http.js';
import { type Postgres, postgresFor } from '../../support/postgres.js';
import { runProcess, type ServerProcess, startProcess } from '../../support/process.js';
import { until } from '../../support/until.js';

const kills = Number(process.env['QUADPOD_KILLS'] ?? 2);
const count = 3;

/** A resource changed by one client after another. Its two triples contain the same number. */
interface Counter {
  readonly path: string;
  acknowledged: number;
  /** Writes without a response so far. */
  doubtful: number;
}

describe('A storage in PostgreSQL and kill -9', function () {
  this.timeout(120_000 + kills * 15_000);
  let postgres: Postgres;
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-kills-'));
  const processes: (ServerProcess | undefined)[] = [];
  const ports: number[] = [];
  let root = '';
  let environment: Readonly<Record<string, string>>;
  let acknowledged = 0;
  let isOver = false;
  const faults: string[] = [];

  before(async function () {
    postgres = await postgresFor(this);
    const {
      store,
      'store.password': password,
      'store.schema': schema,
    } = postgres.settings('kills') as Record<string, string>;
    environment = {
      LWS_STORE: store!,
      LWS_STORE_PASSWORD: password!,
      LWS_STORE_SCHEMA: schema!,
      LWS_LISTEN_HOST: '127.0.0.1',
    };
    root = `http://localhost:${await freePort()}/`;
    mkdirSync(join(folder, 'blobs'));
    for (let at = 0; at < count; at++) {
      mkdirSync(join(folder, String(at)));
      symlinkSync(join(folder, 'blobs'), join(folder, String(at), 'blobs'));
      ports.push(await freePort());
      processes.push(await start(at));
    }
  });
  after(async () => {
    for (const server of processes) await server?.kill();
    await postgres?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (at: number): Promise<ServerProcess> =>
    startProcess({
      root,
      dataDir: join(folder, String(at)),
      environment: { ...environment, LWS_LISTEN_PORT: String(ports[at]) },
    });

  const ask = (at: number, method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    request(`http://127.0.0.1:${ports[at]}/${path}`, {
      method,
      headers: { Host: new URL(root).host, ...headers },
      body,
    });

  async function change(counter: Counter, at: number): Promise<void> {
    const next = counter.doubtful + 1;
    counter.doubtful = next;
    const { status } = await ask(
      at,
      'PATCH',
      counter.path,
      { 'Content-Type': 'application/sparql-update' },
      `DELETE WHERE { <> <urn:a> ?a } ; DELETE WHERE { <> <urn:b> ?b } ; INSERT DATA { <> <urn:a> ${next} ; <urn:b> ${next} }`,
    );
    if (status === 503) return;
    expect(status).to.equal(204);
    counter.acknowledged = next;
    acknowledged++;
  }

  async function look(counter: Counter, at: number): Promise<void> {
    const { status, text } = await ask(at, 'GET', counter.path, { Accept: 'application/n-triples' });
    if (status === 503) return;
    const numbers = [...text.matchAll(/"(\d+)"/g)].map(([, number]) => Number(number));
    const [a, b] = numbers;
    if (numbers.length !== 2 || a !== b) faults.push(`${counter.path} is torn: ${text}`);
    else if (a! < counter.acknowledged)
      faults.push(`${counter.path} has ${a}, and ${counter.acknowledged} was acknowledged`);
    else if (a! > counter.doubtful) faults.push(`${counter.path} has ${a}, which was never written`);
  }

  async function create(number: number): Promise<Counter> {
    const path = `counter${number}`;
    const made = await ask(0, 'PUT', path, { 'Content-Type': 'text/turtle' }, '<> <urn:a> 0 ; <urn:b> 0 .');
    expect(made.status).to.equal(201);
    return { path, acknowledged: 0, doubtful: 0 };
  }

  async function client(counter: Counter, number: number): Promise<void> {
    for (let turn = number; !isOver; turn++) {
      const at = turn % count;
      try {
        await change(counter, at);
        if (counter.acknowledged > 0) await look(counter, (at + 1) % count);
      } catch (error) {
        if (error instanceof Error && error.name === 'AssertionError') faults.push(error.message);
        // A stopped server.
        await sleep(5);
      }
    }
    await Promise.all(processes.map((_, at) => look(counter, at)));
  }

  it('loses and tears no write, and the other servers continue', async () => {
    const counters = await Promise.all(Array.from({ length: 8 }, (_, number) => create(number)));
    const clients = counters.map(client);
    let longest = 0;
    for (let kill = 0; kill < kills; kill++) {
      await sleep(200 + Math.random() * 300);
      if (kill % 10 === 1) {
        await postgres.kill();
        await postgres.start();
      } else {
        const at = kill % count;
        await processes[at]!.kill();
        const before = acknowledged;
        const began = performance.now();
        await until(() => acknowledged >= before + 20, 'the other servers continue');
        longest = Math.max(longest, performance.now() - began);
        processes[at] = await start(at);
      }
    }
    await sleep(500);
    isOver = true;
    await Promise.all(clients);
    if (process.env['QUADPOD_KILLS'])
      console.log(
        `    ${acknowledged} acknowledged, ${kills} kills, the others continued after ${Math.round(longest)} ms at most`,
      );
    expect(faults).to.deep.equal([]);
    expect(acknowledged).to.be.above(kills * 20);
    // The database rolls back the transactions of a killed server at once. The rest is the load of the machine.
    expect(longest).to.be.below(60_000);
    for (const [at, server] of processes.entries()) {
      expect(await server!.stop()).to.equal(0);
      const dataDir = join(folder, String(at));
      const check = await runProcess(['check'], { root, dataDir, environment });
      expect(check.stdout + check.stderr).to.match(/all in order/);
    }
  });
});
