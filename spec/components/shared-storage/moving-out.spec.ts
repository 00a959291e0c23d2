/** `quadpod backup` of a server that was stopped before others: their writes are included, or the operator gets a warning. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Postgres, postgresFor } from '../../support/postgres.js';
import { Cluster, type ClusterServer } from './cluster.js';

const main = fileURLToPath(new URL('../../../components/main.js', import.meta.url));
const turtle = { 'Content-Type': 'text/turtle' };

describe('A backup of one of several servers', function () {
  this.timeout(120_000);
  let postgres: Postgres;
  let cluster: Cluster;
  let own: Readonly<Record<string, string>>;
  let early: ClusterServer;
  before(async function () {
    postgres = await postgresFor(this);
    own = postgres.settings('moving');
    cluster = await Cluster.start(2, own);
    const [first, second] = cluster.servers as [ClusterServer, ClusterServer];
    early = first;
    await first.ask('PUT', 'early', turtle, '<> <urn:p> 1 .');
    await first.stop();
    expect((await second.ask('PUT', 'late', turtle, '<> <urn:p> 1 .')).status).to.equal(201);
    await second.stop();
  });
  after(async () => {
    await cluster?.end();
    await postgres?.dispose();
  });

  const backUp = async (name: string): Promise<{ code: number | null; told: string; state: string }> => {
    const folder = join(cluster.folder, name);
    const flags = { 'base-uri': cluster.root.slice(0, -1), 'data-dir': early.dataDir, store: own['store']! };
    const child = spawn(
      process.execPath,
      [
        ...[main, 'backup', folder, '--dev.open=true', `--store.schema=${own['store.schema']}`],
        ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
      ],
      { env: { ...process.env, LWS_STORE_PASSWORD: own['store.password'] } },
    );
    let told = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (told += String(chunk)));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    const file = readdirSync(folder).find((each) => each.startsWith('state-'));
    return { code, told, state: file ? gunzipSync(readFileSync(join(folder, file))).toString() : '' };
  };

  it('reports missing writes if the database is unavailable', async () => {
    await postgres.stop();
    const { code, told, state } = await backUp('without');
    await postgres.start();
    expect(code, told).to.equal(0);
    expect(told).to.match(/cannot be reached.*lacks later writes of other servers/s);
    expect(state).to.include('early').and.not.include('late');
  });

  it('includes writes of the other servers after it was stopped', async () => {
    const { code, told, state } = await backUp('with');
    expect(code, told).to.equal(0);
    expect(state).to.include('early').and.include('late');
  });
});
