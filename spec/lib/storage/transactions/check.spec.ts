/** Problems that the check finds in keys written by earlier builds. */

import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { newRevision, type ResourceRecord } from '../../../../lib/storage/keys/records.js';
import { checkStore } from '../../../../lib/storage/transactions/check.js';
import { memoryStore, root } from '../../../support/memory-store.js';

const f = new DataFactory<Quad>();
const iri = `${root}large`;
const quad = f.quad(f.namedNode('s:'), f.namedNode('p:'), f.literal('x', f.namedNode('http://data.example/type')));

/** Incorrect key of a literal whose datatype is a list: with the length of the list. */
function keyOfList(list: readonly string[]): string {
  const text = String(list);
  const [key] = encodeGraph(iri, [f.quad(quad.subject, quad.predicate, f.literal('x', f.namedNode(text)))]);
  const digits = (length: number): string => length.toString(36).padStart(4, '0');
  return key!.replace(new RegExp(`${digits(text.length)}(.{5})$`), `${digits(list.length)}$1`);
}

describe('storage/check', () => {
  for (const [what, keys, faults] of [
    ['keys as they are written', encodeGraph(iri, [quad]), 0],
    ['a datatype with the length of a list', [keyOfList(['http://data.example/a', 'http://data.example/b'])], 1],
    ['a datatype that is not an IRI', [encodeGraph(iri, [quad])[0]!.replace('http://data', 'http:// ata')], 1],
  ] as const)
    it(`reports ${what} ${faults === 0 ? 'as valid' : 'with the name of the graph'}`, async () => {
      const { store, dispose } = await memoryStore();
      const stage = (after: readonly string[]) =>
        store.transact(async (tx) => {
          const before = tx.record(iri);
          const record: ResourceRecord = {
            ...{ iri, kind: 'rdf', mediaType: 'text/turtle', revision: newRevision(), size: 1, triples: 1 },
            ...{ created: 1, modified: 1 },
          };
          tx.putGraph(iri, before ? await tx.before.graph(before) : [], after);
          tx.putRecord(record);
          if (!before) tx.putRecord({ ...tx.record(root)!, members: 1 });
        });
      await stage(keys);
      const found = (await checkStore(store)).faults;
      expect(found).to.have.length(faults);
      for (const fault of found) expect(fault).to.include(iri).and.include('other terms');
      // Replacing the resource removes the incorrect keys in every index.
      await stage(encodeGraph(iri, [quad]));
      expect((await checkStore(store)).faults).to.deep.equal([]);
      await dispose();
    });
});
