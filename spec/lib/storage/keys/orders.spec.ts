/** Which orders a quad is put into and removed from, by what the store says of itself. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { IndexSet, quadstoreIndexes } from '../../../../lib/storage/keys/index-set.js';
import { compareKeys } from '../../../../lib/storage/keys/key-order.js';
import { encodeGraph, otherKeys } from '../../../../lib/storage/keys/quad-keys.js';

const f = new DataFactory<Quad>();
// By UTF-16 units, the second name comes before the first; by UTF-8 bytes, after it.
const names = [
  'http://o.example/a',
  'http://o.example/\uff5e',
  'http://o.example/\u{10000}',
  'http://o.example/\u{10ffff}',
];
const keys = names.map(
  (name) => encodeGraph(name, [f.quad(f.namedNode(name), f.namedNode('urn:p'), f.literal('x'))])[0]!,
);

/** The keys that are put, and those that are removed. */
function written(orders: IndexSet, key: string): readonly string[] {
  const [put, removed]: [string[], string[]] = [[], []];
  orders.put({ put: (each) => put.push(each) }, key);
  orders.delete({ del: (each) => removed.push(each) }, key);
  expect(removed).to.deep.equal(put);
  return put;
}

describe('storage/orders', () => {
  it('puts a quad in GSPO alone, or in all orders', () => {
    for (const key of keys) {
      expect(written(IndexSet.one, key)).to.deep.equal([key]);
      expect(written(IndexSet.all, key)).to.deep.equal([key, ...otherKeys(key)]);
    }
    expect([IndexSet.one.width, IndexSet.all.width]).to.deep.equal([1, 4]);
  });

  it('puts quads up to a key in all orders, by the order of LevelDB, and those behind it in GSPO alone', () => {
    expect([...keys].sort(compareKeys)).to.deep.equal(keys);
    for (const [at, last] of keys.entries())
      for (const [index, key] of keys.entries())
        expect(written(IndexSet.upTo(last), key)).to.deep.equal(index <= at ? [key, ...otherKeys(key)] : [key]);
  });

  it('is read as it was written, and is all where nothing is said', () => {
    for (const orders of [IndexSet.one, IndexSet.all]) expect(IndexSet.read(orders.text)).to.equal(orders);
    for (const key of keys) expect(IndexSet.read(IndexSet.upTo(key).text)).to.deep.equal(IndexSet.upTo(key));
    expect(IndexSet.read(undefined)).to.equal(IndexSet.all);
  });

  it('says as quadstore does which indexes can be opened', () => {
    const gspo = ['graph', 'subject', 'predicate', 'object'];
    expect(quadstoreIndexes(IndexSet.one)).to.deep.equal([gspo]);
    expect(quadstoreIndexes(IndexSet.upTo(keys[0]!))).to.deep.equal([gspo]);
    expect(quadstoreIndexes(IndexSet.all)).to.have.length(4).and.to.deep.include(gspo);
  });
});
