/** Import of an N-Quads or TriG file: in a directory and alone, by the command and over HTTP, and by PUT (rule 17.10). */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../../../support/conformance.js';
import { expectProblem } from '../../../support/expectations.js';
import { imported, nquads } from '../../../support/imports.js';
import { runProcess } from '../../../support/process.js';
import { freePort } from '../../../support/server.js';
import { zipOf } from '../../../support/zip.js';

const line = (graph: string, value: string): string =>
  `<http://e.example/s> <http://e.example/p> "${value}"${graph && ` <${graph}>`} .\n`;
const [one, two] = ['http://elsewhere.example/one', 'http://elsewhere.example/two'];

/** Files with their expected resources: the names, and the original graph names. */
const files: Readonly<
  Record<string, readonly [text: string, resources: Readonly<Record<string, string | undefined>>]>
> = {
  'default.nq': [line('', '1') + line('', '2'), { 'default.nq': undefined }],
  'named.nq': [line(one, '1'), { 'named.nq': one }],
  'several.nq': [
    line(one, '1') + line(two, '2') + line('', '3'),
    { 'several.nq/': undefined, 'several.nq/one': one, 'several.nq/two': two, 'several.nq/default': undefined },
  ],
  'default.trig': ['{ <http://e.example/s> <http://e.example/p> "1" }', { 'default.trig': undefined }],
  'several.trig': [
    `<${one}> { <x:s> <x:p> 1 } <${two}> { <x:s> <x:p> 2 }`,
    { 'several.trig/': undefined, 'several.trig/one': one, 'several.trig/two': two },
  ],
};
const typeOf = (name: string): string => (name.endsWith('.nq') ? nquads : 'application/trig');

describeStorage('Dataset files', (s: StorageUnderTest) => {
  const expectFound = async (into: string, resources: Readonly<Record<string, string | undefined>>): Promise<void> => {
    for (const [name, via] of Object.entries(resources)) {
      const { status, headers } = await s.get(into + name);
      expect(status, name).to.equal(200);
      const links = String(headers['link']);
      if (!name.endsWith('/'))
        expect((await s.get(`${into}${name}.meta`)).text.includes(String(via)), `${name} ${links}`).to.equal(
          via !== undefined,
        );
    }
  };
  for (const [name, [text, resources]] of Object.entries(files)) {
    it(`imports ${name} alone as in a directory, with nothing left out (rule 17.10)`, async () => {
      for (const [content, query] of [
        [text, { name }],
        [text, { name, format: 'file' }],
        [zipOf([{ name, content: text }]), { name: 'folder.zip' }],
      ] as const) {
        const into = await s.container();
        const outcome = await imported(s, content, { query: { into, ...query }, type: 'application/octet-stream' });
        expect(outcome.report, JSON.stringify(outcome)).to.deep.equal([]);
        expect(outcome.leftOut).to.equal(0);
        await expectFound(into, resources);
      }
    });

    it(`accepts ${name} by PUT only if its triples are in the default graph (rules 1.8, 17.10)`, async () => {
      const iri = s.fresh();
      const answer = await s.put(iri, typeOf(name), text);
      if (name.startsWith('default')) expect(answer.status, answer.text).to.equal(201);
      else {
        expectProblem(answer, 400, s);
        expect(answer.text).to.include('named graph');
      }
    });
  }

  it('imports a dump as one resource for each graph, if a graph is below the container or a rewrite is given (rule 17.10)', async () => {
    const into = await s.container();
    const query = { into, name: 'dump.nq' };
    const mixed = await imported(s, line(one, '1') + line(`${into}a`, '2'), { query });
    expect([mixed.created, mixed.leftOut]).to.deep.equal([1, 1]);
    expect((await s.get(`${into}a`)).status).to.equal(200);
    const rewritten = await imported(s, line(one, '1'), {
      query: { ...query, rewrite: `http://elsewhere.example/=${into}` },
    });
    expect([rewritten.created, rewritten.leftOut]).to.deep.equal([1, 0]);
    const missed = await imported(s, line(one, '1'), { query: { ...query, rewrite: 'http://other.example/=x:' } });
    expect(missed.report[0]?.why).to.include('--rewrite');
    const named = await imported(s, line(one, '1'), { query: { ...query, format: 'nquads' } });
    expect(named.leftOut).to.equal(1);
  });
});

describe('Command import of a dataset file', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('imports it alone as in a directory, and exits with 0 (rule 17.10)', async () => {
    const root = `http://localhost:${await freePort()}/`;
    mkdirSync(join(folder, 'in'));
    const path = join(folder, 'in', 'several.nq');
    writeFileSync(path, files['several.nq']![0]);
    for (const [at, source] of [path, join(folder, 'in')].entries()) {
      const { code, stdout, stderr } = await runProcess(['import', source], {
        dataDir: join(folder, `data${at}`),
        root,
      });
      expect(code, stderr).to.equal(0);
      expect(stdout)
        .to.match(/: 4 resources created, .* 0 left out; 3 quads\.\n$/)
        .and.not.include('--rewrite');
    }
  });
});
