/** All quads of the store through quadstore's class: every pattern, no open iterators, all errors reported, also in the unmodified package. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { DataFactory } from 'rdf-data-factory';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { type Level, openLevel, writeBatch } from '../../../../lib/storage/level/durable-level.js';
import { QuadReader } from '../../../../lib/storage/transactions/quad-reader.js';
import { addFormerIndexes, formerState, quadstoreOf } from '../../../support/former-indexes.js';
import { runProcess, startProcess } from '../../../support/process.js';

const f = new DataFactory<Quad>();
const base = 'http://spec.example/';
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const n = (name: string) => f.namedNode(base + name);
const typed = (value: string, type: string) => f.literal(value, f.namedNode(xsd + type));
const objects = [
  n('s1'),
  f.literal(`${base}s1`),
  f.blankNode('b1'),
  f.literal('b1'),
  f.literal('x', 'en'),
  f.literal('x'),
  typed('3', 'float'),
  typed('3', 'integer'),
  typed('2026-01-01T00:00:00', 'dateTime'),
  typed('NaN', 'double'),
];
const quads: readonly Quad[] = ['g1', 'g2'].flatMap((graph) =>
  objects.flatMap((object, at) =>
    [n(`s${at % 3}`), f.blankNode('b1')].map((subject) => f.quad(subject, n(`p${at % 2}`), object, n(graph))),
  ),
);
const show = ({ subject, predicate, object, graph }: Quad): string =>
  JSON.stringify(
    [subject, predicate, object, graph].map((term) => [
      term.termType,
      term.value,
      (term as { language?: string }).language,
      (term as { datatype?: Term }).datatype?.value,
    ]),
  );

describe('storage/quad-reader', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-reader-'));
  let level: Level;
  let open = 0;
  before(async () => {
    level = await openLevel(folder);
    const { iterator } = level;
    // Counts open iterators.
    level.iterator = function counted(this: Level, options: never) {
      const made = iterator.call(this, options) as ReturnType<Level['iterator']>;
      const { close } = made;
      open++;
      let isClosed = false;
      made.close = async () => {
        if (!isClosed) open--;
        isClosed = true;
        return close.call(made);
      };
      return made;
    } as never;
    const keys = ['g1', 'g2'].flatMap((graph) =>
      encodeGraph(
        base + graph,
        quads.filter((quad) => quad.graph.value === base + graph),
      ),
    );
    await writeBatch(
      level,
      (batch) => {
        for (const key of keys) batch.put(key, '');
      },
      () => ['M\u0000spec', ''],
    );
  });
  after(async () => {
    await level.close();
    rmSync(folder, { recursive: true });
  });

  const found = async (...pattern: (Term | undefined)[]): Promise<string[]> => {
    const all: string[] = [];
    for await (const quad of new QuadReader(level).match(...(pattern as never[]))) all.push(show(quad as Quad));
    return all.sort();
  };

  it('RDF/JS Source: match finds the quads of every pattern, distinguishes kinds of terms, and leaves nothing open', async () => {
    let some = 0;
    for (const subject of [undefined, n('s1'), f.blankNode('b1'), f.variable('s')])
      for (const predicate of [undefined, n('p0')])
        for (const object of [undefined, ...objects])
          for (const graph of [undefined, n('g2'), n('absent')]) {
            const pattern = [subject, predicate, object, graph];
            const expected = quads.filter((quad) =>
              [quad.subject, quad.predicate, quad.object, quad.graph].every((term, at) => {
                const wanted = pattern[at];
                return !wanted || wanted.termType === 'Variable' || wanted.equals(term);
              }),
            );
            some += expected.length;
            expect(await found(...pattern), JSON.stringify(pattern)).to.deep.equal(expected.map(show).sort());
          }
    expect(some).to.be.above(300);
    expect(open).to.equal(0);
  });

  it('RDF/JS Source: a destroyed stream closes its iterators', async () => {
    const stream = new QuadReader(level).match();
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy();
    for (let turn = 0; turn < 100 && open > 0; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(open).to.equal(0);
  });

  it('RDF/JS Source: a read error is an error of the stream, not its end', async () => {
    const broken = new Proxy(level, {
      get(target, name) {
        if (name === 'iterator')
          return (options: object) =>
            Object.assign(level.iterator(options), { nextv: () => Promise.reject(new Error('Corruption: block')) });
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const stream = new QuadReader(broken).match();
    const failure = await new Promise<Error>((resolve, reject) => {
      stream.on('data', () => {});
      stream.once('error', resolve);
      stream.once('end', () => reject(new Error('it ended')));
    });
    expect(failure.message).to.equal('Corruption: block');
    expect(open).to.equal(0);
  });

  it('counts quads, not bytes', async () => {
    expect(await new QuadReader(level).countQuads(undefined, undefined, undefined, n('g1') as never)).to.equal(20);
  });

  it('writes nothing', async () => {
    const reader = new QuadReader(level);
    const quad = quads[0] as never;
    for (const write of [() => reader.clear(), () => reader.put(quad), () => reader.multiDel([quad])]) {
      const error = await write().then(
        () => undefined,
        (refusal: Error) => refusal,
      );
      expect(error?.message).to.include('transactions');
    }
    expect(await found()).to.have.length(quads.length);
  });

  it('after a stop: the unmodified package opens the directory as in quadstore.json, and finds the same quads, also if it had four indexes', async () => {
    const server = await startProcess();
    const body =
      '<> a <#T> ; <#n> 1, 2.5, "x"@en, "2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .';
    const answer = await fetch(`${server.root}r`, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body });
    expect(answer.status).to.equal(201);
    expect(await server.stop()).to.equal(0);
    const written = new Parser({ baseIRI: `${server.root}r` }).parse(body);
    const plain = (quad: Quad): string => show(f.quad(quad.subject, quad.predicate, quad.object, f.defaultGraph()));
    for (const hasFormer of [false, true]) {
      if (hasFormer) await addFormerIndexes(server.dataDir);
      expect((await runProcess(['check'], server)).stdout).to.include('all in order');
      expect(await formerState(server.dataDir)).to.deep.equal({ keys: 0, record: 'one' });
      const { indexes } = JSON.parse(readFileSync(join(server.dataDir, 'quadstore.json'), 'utf8')) as { indexes: [] };
      const store = await quadstoreOf(server.dataDir, indexes);
      const { items } = await store.get({ graph: f.namedNode(`${server.root}r`) as never });
      await store.close();
      expect((items as never as Quad[]).map(plain).sort()).to.deep.equal(
        (written as never as Quad[]).map(plain).sort(),
      );
    }
    rmSync(server.dataDir, { recursive: true });
  }).timeout(30_000);
});
