/**
 * Imports that are killed repeatedly and resumed: the store is finally the same as after an uninterrupted import.
 * `QUADPOD_KILLS=50` kills more often, `QUADPOD_SEED=<number>` at other moments. The spec must not know the block size.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { credential, ed25519Identity } from '../support/identity.js';
import { killStart, runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';
import { isSharedRun } from '../support/shared-storage.js';
import { until } from '../support/until.js';

const kills = Number(process.env['QUADPOD_KILLS'] ?? 2);

/** Numbers between 0 and 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
const random = randomNumbers(Number(process.env['QUADPOD_SEED'] ?? 20261122));

/** Small graphs with shared nodes, a large one, and some that reoccur after it. */
function dumpOf(root: string): string {
  const lines: string[] = [];
  const graphOf = (index: number): string => `<${root}data/c${index % 7}/g${index}>`;
  for (let i = 0; i < 4000; i++) {
    lines.push(`<urn:s> <urn:p> "v${i}" ${graphOf(i)} .`);
    if (i % 2 === 0) lines.push(`_:b${i % 50} <urn:q> <urn:o${i}> ${graphOf(i)} .`);
  }
  for (let i = 0; i < 25_000; i++) lines.push(`<urn:s${i}> <urn:p> "${i}" <${root}data/large> .`);
  for (let i = 0; i < 300; i++) lines.push(`<urn:again${i}> <urn:p> _:b1 ${graphOf(i)} .`);
  return `${lines.join('\n')}\n`;
}

interface Place {
  readonly dataDir: string;
  readonly root: string;
}

const filesBelow = (folder: string): number =>
  readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, String(name))).isFile()).length;

describe('An import that is killed', function () {
  this.timeout(120_000 + kills * 20_000);
  let folder: string;
  let root: string;
  let dump: string;
  let tree: string;
  let count = 0;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-import-'));
    root = `http://localhost:${await freePort()}/`;
    dump = join(folder, 'dump.nq');
    writeFileSync(dump, dumpOf(root));
    tree = join(folder, 'tree');
    for (const part of ['a', 'b']) {
      mkdirSync(join(tree, part), { recursive: true });
      for (let i = 0; i < 350; i++) writeFileSync(join(tree, part, `${i}.bin`), `${part}${i}`.repeat(1 + (i % 90)));
      for (let i = 0; i < 500; i++) writeFileSync(join(tree, part, `${i}.ttl`), `<> <urn:p> ${i} .`);
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const newPlace = (): Place => ({ dataDir: mkdtempSync(join(folder, `data${count++}-`)), root });

  async function exported(place: Place): Promise<string> {
    const { code, stdout, stderr } = await runProcess(['export', '--format', 'nquads'], place);
    expect(code, stderr).to.equal(0);
    return createHash('sha256').update(stdout).digest('hex');
  }

  async function expectInOrder(place: Place): Promise<string> {
    const { code, stdout, stderr } = await runProcess(['check', '--content'], place);
    expect(stdout, stderr).to.match(/: all in order\.\n$/);
    expect(code, stderr).to.equal(0);
    const blobs = Number(/(\d+) blobs/.exec(stdout)![1]);
    // In a shared storage, leftovers of a server are deleted once no server can be writing them.
    if (!isSharedRun) expect(filesBelow(join(place.dataDir, 'blobs')), 'files of blobs').to.equal(blobs);
    return stdout;
  }

  /** Bytes of LevelDB on the disk. */
  function stored({ dataDir }: Place): number {
    const level = join(dataDir, 'level');
    if (!existsSync(level)) return 0;
    const sizes = readdirSync(level).map((name) => statSync(join(level, name), { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  const known = new Map<string, Promise<{ size: number; bytes: string; state: string }>>();
  function undisturbed(source: string) {
    const found = known.get(source) ?? measured(source);
    known.set(source, found);
    return found;
  }

  async function measured(source: string) {
    const place = newPlace();
    const { code, stderr } = await runProcess(['import', source], place);
    expect(code, stderr).to.equal(0);
    return { size: stored(place), bytes: await exported(place), state: await expectInOrder(place) };
  }

  /** Imports, and kills the import after the given amount was stored. @returns true if it can be resumed */
  async function kill(place: Place, words: readonly string[], size: number) {
    const from = stored(place);
    const wanted = from + (size - from) * random();
    return killStart(place, () => stored(place) > wanted, words);
  }

  /** Kills repeatedly. @returns the number of kills after a partial import */
  async function killedAgainAndAgain(source: string, times: number): Promise<number> {
    const wanted = await undisturbed(source);
    let hits = 0;
    for (let left = times; left > 0; ) {
      const place = newPlace();
      let words = ['import', source];
      for (let isDone = false; !isDone; ) {
        const { code, stderr } = left-- > 0 ? await kill(place, words, wanted.size) : await runProcess(words, place);
        isDone = code === 0;
        // Before the first stored block there is nothing to resume.
        const hadNothing = code !== null && !isDone;
        if (hadNothing) expect(stderr).to.include('was interrupted');
        else if (words.includes('--resume')) hits++;
        words = ['import', source, ...(code === null ? ['--resume'] : [])];
      }
      expect(await expectInOrder(place)).to.equal(wanted.state);
      expect(await exported(place), 'the export').to.equal(wanted.bytes);
      rmSync(place.dataDir, { recursive: true });
    }
    return hits;
  }

  it('ends with the same store: a dump', async () => {
    expect(await killedAgainAndAgain(dump, kills), 'kills amid the import').to.be.above(0);
  });

  it('ends with the same store: a folder with binary files', async () => {
    expect(await killedAgainAndAgain(tree, Math.ceil(kills / 2)), 'kills amid the import').to.be.above(0);
  });

  it('resumes a dump truncated within a line, when it is complete', async () => {
    const place = newPlace();
    const source = join(folder, 'torn.nq');
    const lines = Array.from({ length: 3000 }, (_, i) => `<urn:s> <urn:p> "${i}" <${root}torn/${i % 1500}> .`);
    writeFileSync(source, `${lines.slice(0, 2000).join('\n')}\n<urn:s> <urn:p> "20`);
    const torn = await runProcess(['import', source], place);
    expect(torn.code, torn.stderr).to.equal(1);
    expect(torn.stderr).to.match(/torn\.nq:2001: /);
    expect(torn.stderr).to.include('Use --resume to continue');
    expect((await runProcess(['check'], place)).stdout).to.match(/^1502 resources, 2000 triples/);
    const broken = [...lines];
    broken[2500] = '<urn:s> <urn:p> what is this';
    writeFileSync(source, broken.join('\n'));
    const again = await runProcess(['import', source, '--resume'], place);
    expect(again.code, again.stderr).to.equal(1);
    expect(again.stderr).to.match(/torn\.nq:2501: /);
    writeFileSync(source, lines.with(7, `<urn:s> <urn:p> "7!" <${root}torn/7> .`).join('\n'));
    const other = await runProcess(['import', source, '--resume'], place);
    expect(other.code, other.stderr).to.equal(1);
    expect(other.stderr).to.match(/torn\.nq has changed before the position where the import stopped/);
    writeFileSync(source, lines.join('\n'));
    const whole = await runProcess(['import', source, '--resume'], place);
    expect(whole.code, whole.stderr).to.equal(0);
    expect(await expectInOrder(place)).to.match(/^1502 resources, 3000 triples/);
  });

  it('resumes after a kill of the server', async () => {
    const wanted = await undisturbed(dump);
    const place = newPlace();
    const owner = ed25519Identity();
    const environment = { LWS_DEV_OPEN: 'false', LWS_OWNERS: owner.did };
    const Authorization = `Bearer ${credential(owner, { aud: root.slice(0, -1) })}`;
    const ask = (iri: string, init: RequestInit = {}): Promise<Response> =>
      fetch(iri, { ...init, headers: { Authorization, ...(init.headers as Record<string, string>) } });
    const stateOf = async (job: string) => (await (await ask(job)).json()) as { status: string; quads: number };

    let server: ServerProcess = await startProcess({ ...place, environment });
    const headers = { 'Content-Type': 'application/n-quads' };
    const begun = await ask(`${root}.lws/import`, { method: 'POST', headers, body: readFileSync(dump) });
    expect(begun.status, await begun.text()).to.equal(202);
    const job = begun.headers.get('location')!;
    let hits = 0;
    for (let left = Math.ceil(kills / 2); left > 0; left--) {
      const { quads } = await stateOf(job);
      const enough = quads + Math.ceil((30_000 - quads) * random());
      await until(async () => {
        const state = await stateOf(job);
        return state.status !== 'running' || state.quads >= enough;
      }, 'enough is imported');
      await server.kill();
      server = await startProcess({ ...place, environment });
      if ((await stateOf(job)).status !== 'interrupted') break;
      hits++;
      expect((await ask(job, { method: 'POST' })).status).to.equal(202);
    }
    const lines = await (await ask(job, { headers: { Accept: 'application/x-ndjson' } })).text();
    expect(JSON.parse(lines.trim().split('\n').at(-1)!)).to.include({ status: 'done', quads: 31_300 });
    expect(hits, 'kills amid the import').to.be.above(0);
    expect(await server.stop()).to.equal(0);
    expect(readdirSync(join(place.dataDir, 'import'))).to.deep.equal([]);
    await expectInOrder(place);
    expect(await exported(place), 'the export').to.equal(wanted.bytes);
  });
});
