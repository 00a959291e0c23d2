/** Record keys of a range of resources, each once. */
import { expect } from 'chai';
import fc from 'fast-check';
import { below, type IriRange, only, subtree } from '../../../../lib/storage/keys/iri-ranges.js';
import { iriOfRecordKey, recordKey, recordsIn } from '../../../../lib/storage/keys/records.js';
import { runs } from '../../../support/speed.js';

const root = 'http://spec.example/';
const segment = fc.constantFrom('a', 'b', 'a0', 'a-', 'a.', '0', '-');
const iris = fc
  .tuple(fc.array(segment, { maxLength: 4 }), fc.boolean())
  .map(([parts, isContainer]) => root + parts.join('/') + (isContainer && parts.length > 0 ? '/' : ''));
const containers = fc.array(segment, { maxLength: 3 }).map((parts) => root + parts.map((part) => `${part}/`).join(''));
const isIn = ({ from, to }: IriRange, iri: string): boolean => from <= iri && iri < to;

/** Resources whose records are in the ranges, with duplicates. */
const found = (all: readonly string[], range: IriRange): string[] =>
  recordsIn(range).flatMap(({ gte, lt }) =>
    all
      .map(recordKey)
      .filter((key) => key >= gte && key < lt)
      .map(iriOfRecordKey),
  );

describe('Records of a range of resources', () => {
  it('are in exactly one range of keys each, without others if a container or a resource is the range', () =>
    fc.assert(
      fc.property(fc.uniqueArray(iris, { maxLength: 40 }), containers, iris, (all, container, iri) => {
        for (const range of [subtree(container), below(container), only(iri)])
          expect(found(all, range).sort()).to.deep.equal(all.filter((each) => isIn(range, each)).sort());
      }),
      { numRuns: runs(1000) },
    ));

  it('are all found in any range, each once', () =>
    fc.assert(
      fc.property(fc.uniqueArray(iris, { maxLength: 40 }), iris, iris, fc.boolean(), (all, a, b, isWithout) => {
        const range = { from: a < b ? a : b, to: a < b ? b : a };
        if (isWithout) range.from += '\u0000';
        const keys = found(all, range);
        expect(new Set(keys).size).to.equal(keys.length);
        for (const each of all.filter((iri) => isIn(range, iri))) expect(keys).to.include(each);
      }),
      { numRuns: runs(1000) },
    ));
});
