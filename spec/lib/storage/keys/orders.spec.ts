/** Indexes that a quad is added to and removed from, by the state in the store. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { IndexSet, quadstoreIndexes } from '../../../../lib/storage/keys/index-set.js';
import { compareKeys } from '../../../../lib/storage/keys/key-order.js';
import { encodeGraph, otherKeys } from '../../../../lib/storage/keys/quad-keys.js';

const f = new DataFactory<Quad>();
// In UTF-16 order the second name precedes the first, in UTF-8 order it follows.
const names = [
  'http://o.example/a',
  'http://o.example/\uff5e',
  'http://o.example/\u{10000}',
  'http://o.example/\u{10ffff}',
];
const keys = names.map(
  (name) => encodeGraph(name, [f.quad(f.namedNode(name), f.namedNode('urn:p'), f.literal('x'))])[0]!,
);

/** Added and removed keys. */
function written(orders: IndexSet, key: string): readonly string[] {
  const [put, removed]: [string[], string[]] = [[], []];
  orders.put({ put: (each) => put.push(each) }, key);
  orders.delete({ del: (each) => removed.push(each) }, key);
  expect(removed).to.deep.equal(put);
  return put;
}

describe('storage/orders', () => {
  it('adds a quad to GSPO only, or to all indexes', () => {
    for (const key of keys) {
      expect(written(IndexSet.one, key)).to.deep.equal([key]);
      expect(written(IndexSet.all, key)).to.deep.equal([key, ...otherKeys(key)]);
    }
    expect([IndexSet.one.width, IndexSet.all.width]).to.deep.equal([1, 4]);
  });

  it('adds quads up to a key to all indexes, in LevelDB order, and later ones to GSPO only', () => {
    expect([...keys].sort(compareKeys)).to.deep.equal(keys);
    for (const [at, last] of keys.entries())
      for (const [index, key] of keys.entries())
        expect(written(IndexSet.upTo(last), key)).to.deep.equal(index <= at ? [key, ...otherKeys(key)] : [key]);
  });

  it('is read as written, and means all indexes if absent', () => {
    for (const orders of [IndexSet.one, IndexSet.all]) expect(IndexSet.read(orders.text)).to.equal(orders);
    for (const key of keys) expect(IndexSet.read(IndexSet.upTo(key).text)).to.deep.equal(IndexSet.upTo(key));
    expect(IndexSet.read(undefined)).to.equal(IndexSet.all);
  });

  it('lists the available indexes in the format of quadstore', () => {
    const gspo = ['graph', 'subject', 'predicate', 'object'];
    expect(quadstoreIndexes(IndexSet.one)).to.deep.equal([gspo]);
    expect(quadstoreIndexes(IndexSet.upTo(keys[0]!))).to.deep.equal([gspo]);
    expect(quadstoreIndexes(IndexSet.all)).to.have.length(4).and.to.deep.include(gspo);
  });
});
