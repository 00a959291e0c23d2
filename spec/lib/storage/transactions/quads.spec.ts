/** All quads of a store with terms of RDF 1.2 as an RDF/JS Source: every pattern, no open iterators, all errors reported. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { featuresKey, newTerms } from '../../../../lib/storage/keys/features.js';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { type Level, openLevel, writeBatch } from '../../../../lib/storage/level/durable-level.js';
import { quadsOf } from '../../../../lib/storage/transactions/quads.js';

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
  f.literal('x', { language: 'en', direction: 'rtl' }),
  f.quad(n('s1'), n('p0'), f.blankNode('b1')),
  f.quad(n('s1'), n('p0'), f.literal('b1')),
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
      (term as { direction?: string }).direction,
      ...(term.termType === 'Quad' ? [show(term as Quad)] : []),
      (term as { datatype?: Term }).datatype?.value,
    ]),
  );

describe('storage/quads of RDF 1.2', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-reader-'));
  let level: Level;
  let open = 0;
  before(async () => {
    level = await openLevel(folder);
    const { keys: read } = level;
    // Counts open iterators.
    level.keys = function counted(this: Level, options: never) {
      const made = read.call(this, options) as ReturnType<Level['keys']>;
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
      () => [featuresKey, newTerms],
    );
  });
  after(async () => {
    await level.close();
    rmSync(folder, { recursive: true });
  });

  const found = async (...pattern: (Term | undefined)[]): Promise<string[]> => {
    const all: string[] = [];
    for await (const quad of quadsOf(level).match(...(pattern as never[])) as unknown as AsyncIterable<Quad>)
      all.push(show(quad));
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
    const stream = quadsOf(level).match() as unknown as Readable;
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy();
    await once(stream, 'close');
    expect(open).to.equal(0);
  });

  it('RDF/JS Source: a read error is an error of the stream, not its end', async () => {
    const broken = new Proxy(level, {
      get(target, name) {
        if (name === 'keys')
          return (options: object) =>
            Object.assign(level.keys(options), { nextv: () => Promise.reject(new Error('Corruption: block')) });
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const stream = quadsOf(broken).match();
    const failure = await new Promise<Error>((resolve, reject) => {
      stream.on('data', () => {});
      stream.once('error', resolve);
      stream.once('end', () => reject(new Error('it ended')));
    });
    expect(failure.message).to.equal('Corruption: block');
    expect(open).to.equal(0);
  });
});
