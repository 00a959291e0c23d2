/** Tests of an RDF/JS Source over the quads of a store: every pattern, no open iterators, all errors reported. */

import type { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad, Quad_Object, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { type Level, openLevel, writeBatch } from '../../../../lib/storage/level/durable-level.js';
import { until } from '../../../support/until.js';

export const f = new DataFactory<Quad>();
const base = 'http://spec.example/';
const xsd = 'http://www.w3.org/2001/XMLSchema#';
export const n = (name: string) => f.namedNode(base + name);
const typed = (value: string, type: string) => f.literal(value, f.namedNode(xsd + type));
const usual = [
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
const quadsOf = (objects: readonly Quad_Object[]): Quad[] =>
  ['g1', 'g2'].flatMap((graph) =>
    objects.flatMap((object, at) =>
      [n(`s${at % 3}`), f.blankNode('b1')].map((subject) => f.quad(subject, n(`p${at % 2}`), object, n(graph))),
    ),
  );
export const show = ({ subject, predicate, object, graph }: Quad): string =>
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

export interface TestedSource {
  /** More objects of quads. */
  readonly objects?: readonly Quad_Object[];
  /** Method of LevelDB that opens the iterators. */
  readonly method: 'iterator' | 'keys';
  /** An entry beside the quads. */
  readonly entry: readonly [key: string, value: string];
  readonly sourceOf: (level: Level) => { match(...pattern: never[]): unknown };
}

interface Opened {
  close(): Promise<void>;
}

type Matches = AsyncIterable<Quad> & EventEmitter & { destroy(): void };

/** Adds the tests of RDF/JS Source. @returns the quads in LevelDB, and functions for further tests */
export function testSource({ objects: more = [], method, entry, sourceOf }: TestedSource) {
  const objects = [...usual, ...more];
  const quads = quadsOf(objects);
  const match = (of: Level, ...pattern: (Term | undefined)[]): Matches =>
    sourceOf(of).match(...(pattern as never[])) as Matches;
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-reader-'));
  let level: Level;
  let open = 0;
  before(async () => {
    level = await openLevel(folder);
    const opens = level[method] as (this: Level, options: never) => Opened;
    // Counts open iterators.
    level[method] = function counted(this: Level, options: never) {
      const made = opens.call(this, options);
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
      () => entry,
    );
  });
  after(async () => {
    await level.close();
    rmSync(folder, { recursive: true });
  });

  const found = async (...pattern: (Term | undefined)[]): Promise<string[]> => {
    const all: string[] = [];
    for await (const quad of match(level, ...pattern)) all.push(show(quad));
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
    const stream = match(level);
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy();
    await until(() => open === 0);
    expect(open).to.equal(0);
  });

  it('RDF/JS Source: a read error is an error of the stream, not its end', async () => {
    const broken = new Proxy(level, {
      get(target, name) {
        if (name === method)
          return (options: object) =>
            Object.assign((level as Record<typeof method, (options: object) => Opened>)[method](options), {
              nextv: () => Promise.reject(new Error('Corruption: block')),
            });
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const stream = match(broken);
    const failure = await new Promise<Error>((resolve, reject) => {
      stream.on('data', () => {});
      stream.once('error', resolve);
      stream.once('end', () => reject(new Error('it ended')));
    });
    expect(failure.message).to.equal('Corruption: block');
    expect(open).to.equal(0);
  });
  return { quads, found, level: () => level };
}
