/**
 * Files of the index for queries: the server is killed while it builds, merges or publishes them, and starts with the states of
 * the directory that a power cut can leave. Each time, queries return what the resources contain.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { request } from '../support/http.js';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { isSharedRun } from '../support/shared-storage.js';
import { below } from './contents.js';

const rounds = Number(process.env['QUADPOD_CRASH_ROUNDS'] ?? 1);
/** Maximum rounds until a kill hits a build. */
const maxRounds = Math.max(10, rounds);
/** An index of more than 50 000 quads is in files. More than 2000 changed graphs are merged. */
const [graphs, quadsOfGraph, changedGraphs] = [2600, 20, 2100];
/** Graphs that an update changes. */
const inUpdate = 210;
const environment = { LWS_LOG_LEVEL: 'info', LWS_SPARQL_ENDPOINT_UPDATE: 'true' };
const v = 'https://e.example/v#';

const quadOf = (root: string, graph: number, at: number): string =>
  `<${root}g${graph}#${at}> <${v}p${at}> "${graph} ${at}" <${root}g${graph}> .`;

describe('kill -9 while the files of the index are written', function () {
  this.timeout(600_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-index-'));
  let server: ServerProcess;
  /** Number of changes of the storage, and the graphs of the last one. */
  let [version, from] = [0, 0];
  before(async function () {
    if (isSharedRun) this.skip();
    server = await startProcess({ environment });
    await server.stop();
    const source = join(folder, 'data.nq');
    const lines = Array.from({ length: graphs }, (_, graph) =>
      Array.from({ length: quadsOfGraph }, (__, at) => quadOf(server.root, graph, at)).join('\n'),
    );
    writeFileSync(source, `${lines.join('\n')}\n`);
    expect((await runProcess(['import', source], server)).code).to.equal(0);
  });
  after(async () => {
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
    if (server) rmSync(server.dataDir, { recursive: true, force: true });
  });

  // A failed test must not keep the data directory locked.
  afterEach(() => server.kill());

  const start = async (): Promise<void> => {
    server = await startProcess({ ...server, environment });
  };
  const index = (): string => join(server.dataDir, 'index');
  const ask = (query: string) =>
    request(`${server.root}.lws/sparql?query=${encodeURIComponent(query)}`, { headers: { Accept: 'text/csv' } });

  /** Changes more graphs than are left to queries, which the next start has to merge. */
  async function change(): Promise<void> {
    [version, from] = [version + 1, below(graphs - changedGraphs)];
    for (let first = from; first < from + changedGraphs; first += inUpdate) {
      const inserted = Array.from({ length: inUpdate }, (_, at) => {
        const graph = `<${server.root}g${first + at}>`;
        return `GRAPH ${graph} { ${graph} <${v}version> ${version} }`;
      });
      const answer = await request(`${server.root}.lws/sparql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/sparql-update' },
        body: `INSERT DATA { ${inserted.join(' ')} }`,
      });
      expect(answer.status, answer.text).to.equal(200);
    }
    for (let at = 0; at < changedGraphs; at++) expected.set(from + at, [...(expected.get(from + at) ?? []), version]);
  }
  /** Versions in each graph. */
  const expected = new Map<number, number[]>();

  async function rowsOf(query: string): Promise<string[]> {
    for (;;) {
      const { status, text } = await ask(query);
      // A build that takes longer than the query may wait.
      if (status === 503) continue;
      expect(status, text).to.equal(200);
      return text.trimEnd().split('\r\n').slice(1).sort();
    }
  }

  /** Compares all quads by graph, all changes, and lookups with the contents. */
  async function expectRight(): Promise<void> {
    const counts = await rowsOf(
      'SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } FILTER(!STRENDS(STR(?g), ".meta")) } GROUP BY ?g',
    );
    const wanted = Array.from(
      { length: graphs },
      (_, graph) => `${server.root}g${graph},${quadsOfGraph + (expected.get(graph)?.length ?? 0)}`,
    );
    expect(counts).to.deep.equal(wanted.sort());
    const versions = await rowsOf(`SELECT ?g ?v { GRAPH ?g { ?g <${v}version> ?v } }`);
    const all = [...expected].flatMap(([graph, own]) => own.map((each) => `${server.root}g${graph},${each}`));
    expect(versions).to.deep.equal(all.sort());
    for (let i = 0; i < 5; i++) {
      const graph = below(graphs);
      const at = below(quadsOfGraph);
      const rows = await rowsOf(`SELECT ?s ?g { GRAPH ?g { ?s <${v}p${at}> "${graph} ${at}" } }`);
      expect(rows).to.deep.equal([`${server.root}g${graph}#${at},${server.root}g${graph}`]);
    }
  }

  /** Starts, and kills the server at a random time of the build that the first query begins. @returns true if it hit the build */
  async function killBuild(maxMs: number): Promise<boolean> {
    await start();
    const [before] = manifests();
    const asked = ask('SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }').catch(() => undefined);
    await sleep(below(maxMs));
    await server.kill();
    await asked;
    return manifests()[0] === before;
  }

  const manifests = (): string[] => {
    try {
      return [readFileSync(join(index(), 'MANIFEST.json'), 'utf8')];
    } catch {
      return [''];
    }
  };

  /** Asserts right results after a start. @returns the duration of its build, in milliseconds */
  async function buildMs(): Promise<number> {
    await start();
    await expectRight();
    await server.stop();
    const [, ms] = /"ms":(\d+),"msg":"The index is ready/.exec(server.output.stdout)!;
    return Number(ms);
  }

  it('during a build from all quads', async () => {
    let hits = 0;
    const ms = await buildMs();
    for (let round = 0; round < (hits > 0 ? rounds : maxRounds); round++) {
      rmSync(index(), { recursive: true });
      if (await killBuild(ms)) hits += 1;
      await buildMs();
    }
    expect(hits, 'kills before the index was published').to.be.above(0);
  });

  it('during a merge with the changed graphs', async () => {
    let hits = 0;
    let ms = 1000;
    for (let round = 0; round < (hits > 0 ? rounds : maxRounds); round++) {
      await start();
      await change();
      await server.kill();
      if (await killBuild(ms)) hits += 1;
      ms = Math.max(ms, await buildMs());
    }
    expect(hits, 'kills before the index was published').to.be.above(0);
    await start();
    await expectRight();
    await server.stop();
    // Nothing is left of the interrupted builds.
    expect(readdirSync(index()).filter((name) => name.endsWith('.seg'))).to.have.length(1);
  });

  /** Possible states after a power cut: files without their last bytes, or of a length without content, or names without files. */
  const cuts: Readonly<Record<string, (segment: string, manifest: string) => void>> = {
    'an empty manifest': (_segment, manifest) => truncateSync(manifest, 0),
    'half a manifest': (_segment, manifest) => truncateSync(manifest, Math.floor(statSync(manifest).size / 2)),
    'a manifest without its segment': (segment) => rmSync(segment),
    'an empty segment': (segment) => truncateSync(segment, 0),
    'half a segment': (segment) => truncateSync(segment, Math.floor(statSync(segment).size / 2)),
    'a segment with zeros at its end': (segment) => {
      const { size } = statSync(segment);
      truncateSync(segment, size - 8192);
      truncateSync(segment, size);
    },
    'a segment with zeros in a page': (segment) => {
      const bytes = readFileSync(segment);
      bytes.fill(0, 8192, 12_288);
      writeFileSync(segment, bytes);
    },
    'a segment that no manifest names': (segment) => cpSync(segment, `${segment.slice(0, -4)}0.seg`),
  };
  for (const [name, damage] of Object.entries(cuts))
    it(`after a power cut with ${name}`, async () => {
      const [segment] = readdirSync(index()).filter((each) => each.endsWith('.seg'));
      damage(join(index(), segment!), join(index(), 'MANIFEST.json'));
      await start();
      await expectRight();
      await server.stop();
    });
});
