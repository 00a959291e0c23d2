/** Patterns over the indexes: every combination of bound positions, terms of the same text, counts; on a real LevelDB. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { type Level, openLevel, writeBatch } from '../../../lib/storage/durable-level.js';
import { encodeGraph, otherKeys } from '../../../lib/storage/quad-keys.js';
import { countQuads, matchQuads, type QuadPattern } from '../../../lib/storage/quad-source.js';

const f = new DataFactory<Quad>();
const same = 'http://v/same';
const terms = [
  f.namedNode(same),
  f.literal(same),
  f.literal('a'),
  f.literal('a', 'en'),
  f.namedNode('http://v/\u{1d11e}'),
  f.blankNode('a'),
];
const graphs = ['http://v/g', 'http://v/g2', same].map((iri) => f.namedNode(iri));
const quads = graphs.flatMap((graph) =>
  [f.namedNode(same), f.blankNode('a')].flatMap((subject) =>
    [f.namedNode('http://v/p'), f.namedNode(same)].flatMap((predicate) =>
      terms.map((object) => f.quad(subject, predicate, object, graph)),
    ),
  ),
);

describe('storage/quad-source', () => {
  let folder: string;
  let level: Level;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-source-'));
    level = await openLevel(folder);
    await writeBatch(
      level,
      (batch) => {
        for (const graph of graphs)
          for (const key of encodeGraph(
            graph.value,
            quads.filter((quad) => quad.graph.equals(graph)),
          ))
            for (const each of [key, ...otherKeys(key)]) batch.put(each, '');
      },
      () => ['M\u0000', ''],
    );
  });
  after(async () => {
    await level.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('answers all 16 combinations of bound positions as a filter would (quadstore throws on some)', async () => {
    for (const chosen of quads)
      for (let bits = 0; bits < 16; bits++) {
        const pattern: QuadPattern = {
          subject: bits & 1 ? chosen.subject : undefined,
          predicate: bits & 2 ? chosen.predicate : undefined,
          object: bits & 4 ? chosen.object : undefined,
          graph: bits & 8 ? chosen.graph : undefined,
        };
        const expected = quads.filter((quad) =>
          (['subject', 'predicate', 'object', 'graph'] as const).every(
            (at) => !pattern[at] || quad[at].equals(pattern[at]),
          ),
        );
        const found: Quad[] = [];
        for await (const quad of matchQuads(level, pattern)) found.push(quad);
        expect(found.length).to.equal(expected.length);
        expect(found.every((quad) => expected.some((other) => quad.equals(other)))).to.equal(true);
      }
  }).timeout(30_000);

  it('tells an IRI and a literal of the same text apart (quadstore returns both)', async () => {
    expect(await countQuads(level, { object: f.namedNode(same) })).to.equal(12);
    expect(await countQuads(level, { object: f.literal(same) })).to.equal(12);
  });

  it('counts exactly, also what is only in memory (quadstore gives bytes, or zero)', async () => {
    expect(await countQuads(level, {})).to.equal(quads.length);
    expect(await countQuads(level, { graph: f.namedNode('http://v/none') })).to.equal(0);
    expect(await countQuads(level, {}, 10)).to.equal(10);
  });
});
