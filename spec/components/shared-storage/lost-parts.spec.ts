/**
 * A power cut loses parts of a server's replica of a storage in PostgreSQL, which is not synced: the server detects it, and
 * rebuilds the replica.
 */
import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeCheckpoint } from '../../../components/shared-storage/checkpoint.js';
import { Connection } from '../../../components/shared-storage/connection.js';
import { copyIn, Replica } from '../../../lib/storage/graphs/replica.js';
import { metaKey } from '../../../lib/storage/keys/records.js';
import { openLevel } from '../../../lib/storage/level/durable-level.js';
import { request } from '../../support/http.js';
import { type Postgres, postgresFor } from '../../support/postgres.js';
import { runProcess, type ServerProcess, startProcess } from '../../support/process.js';

const count = 40;
const pageSize = 4096;

describe('A damaged replica of a storage in PostgreSQL', function () {
  this.timeout(120_000);
  let postgres: Postgres;
  let settings: Readonly<Record<string, string>>;
  let environment: Readonly<Record<string, string>>;
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-lost-'));
  let server: ServerProcess | undefined;
  before(async function () {
    postgres = await postgresFor(this);
  });
  after(async () => {
    await postgres?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async function () {
    const name = `lost${this.currentTest!.title.length}`;
    settings = postgres.settings(name);
    environment = {
      LWS_STORE: settings['store']!,
      LWS_STORE_PASSWORD: settings['store.password']!,
      LWS_STORE_SCHEMA: name,
      LWS_LOG_LEVEL: 'info',
    };
    server = await startProcess({ dataDir: join(folder, name), environment });
    for (let at = 0; at < count; at++) expect((await put(at)).status).to.equal(201);
  });
  afterEach(() => server?.kill());

  const put = (at: number) =>
    request(`${server!.root}r${at}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'text/turtle', 'If-None-Match': '*' },
      body: `<> <urn:number> ${at} ; <urn:filler> "${'x'.repeat(300)}" .`,
    });
  const again = async (): Promise<void> => {
    server = await startProcess({ ...server!, environment });
  };
  const level = (): string => join(server!.dataDir, 'level');

  async function expectAll(): Promise<void> {
    for (let at = 0; at < count; at++) {
      expect((await request(`${server!.root}r${at}`)).status, `GET r${at}`).to.equal(200);
      expect((await put(at)).status, `PUT r${at}`).to.equal(412);
    }
    expect(await server!.stop()).to.equal(0);
    expect(server!.output.stdout).to.match(/has lost, or may have lost, a part of its copy.*rebuilt/);
    const check = await runProcess(['check'], { ...server!, environment });
    expect(check.stdout + check.stderr).to.match(/all in order/);
  }

  async function onLevel(work: (level: Awaited<ReturnType<typeof openLevel>>) => Promise<unknown>): Promise<void> {
    const opened = await openLevel(level());
    await work(opened);
    await opened.close();
  }

  it('is rebuilt after a page in the middle of the unsynced data was lost, and reports it (rule 19.9)', async () => {
    await server!.kill();
    const [log] = readdirSync(level()).filter((name) => name.endsWith('.log'));
    const file = openSync(join(level(), log!), 'r+');
    const middle = Math.floor(fstatSync(file).size / 2 / pageSize) * pageSize;
    expect(middle).to.be.above(2 * pageSize);
    writeSync(file, Buffer.alloc(pageSize), 0, pageSize, middle);
    closeSync(file);
    await again();
    await expectAll();
  });

  it('is rebuilt after a machine crash, also from a checkpoint, and is complete after a process crash (rule 19.9)', async () => {
    await server!.kill();
    await again();
    expect(await server!.stop()).to.equal(0);
    expect(server!.output.stdout).not.to.match(/rebuilt/);
    await again();
    await server!.kill();
    const { store: url = '', 'store.password': password = '', 'store.schema': schema = '' } = settings;
    const connection = new Connection({ url, password, schema });
    await onLevel(async (opened) => {
      expect(await copyIn(opened)).to.equal('whole');
      await writeCheckpoint(new Replica(opened), connection, 0);
      expect(await opened.get(metaKey('opened'))).to.equal(
        readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      );
      await opened.put(metaKey('opened'), 'another start of the machine');
      expect(await copyIn(opened)).to.equal('unfinished');
    });
    await connection.close();
    await again();
    await expectAll();
  });

  it('refuses a database that was set back, also after a machine crash, if only the replica has the acknowledged writes (rule 19.9)', async () => {
    await server!.kill();
    const { store: url = '', 'store.password': password = '', 'store.schema': schema = '' } = settings;
    const connection = new Connection({ url, password, schema });
    await connection.query('DELETE FROM journal WHERE seq > (SELECT seq FROM head) - 5');
    await connection.query('UPDATE head SET seq = seq - 5');
    await connection.close();
    await onLevel((opened) => opened.put(metaKey('opened'), 'another start of the machine'));
    const started = await runProcess(['serve'], { ...server!, environment, seconds: 60 });
    expect(started.code).not.to.equal(0);
    expect(started.stdout + started.stderr).to.match(/reset to an earlier state/);
    await onLevel(async (opened) =>
      expect(await opened.get(metaKey('opened'))).to.equal('another start of the machine'),
    );
  });

  it('refuses a backup of it while the database is unavailable (rule 19.9)', async () => {
    await server!.kill();
    await onLevel((opened) => opened.put(metaKey('opened'), 'another start of the machine'));
    const away = { ...environment, LWS_STORE: 'postgres://quadpod@127.0.0.1:1/postgres' };
    const backup = await runProcess(['backup', join(folder, 'backup')], { ...server!, environment: away, seconds: 60 });
    expect(backup.code).not.to.equal(0);
    expect(backup.stdout + backup.stderr).to.match(/incomplete copy/);
  });
});
