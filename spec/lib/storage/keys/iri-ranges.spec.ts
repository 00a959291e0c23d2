/** Ranges of IRIs: a container and exactly its descendants, and their unions. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  below,
  type IriRange,
  isWholeStorage,
  only,
  RangeStream,
  subtree,
  unionOfRanges,
} from '../../../../lib/storage/keys/iri-ranges.js';
import { runs } from '../../../support/speed.js';

const root = 'http://spec.example/';
const isIn = ({ from, to }: IriRange, iri: string): boolean => from <= iri && iri < to;
const isInAny = (ranges: readonly IriRange[], iri: string): boolean => ranges.some((range) => isIn(range, iri));

/** Every character that is allowed in a path, and escapes. */
const characters = [..."ABCXYZabcxyz019-._~!$&'()*+,;=:@"];
const segment = fc
  .array(fc.constantFrom(...characters, '%2F', '%00', '%FF'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(''))
  .filter((text) => text !== '.' && text !== '..');
const iris = fc
  .tuple(fc.array(segment, { maxLength: 3 }), fc.boolean())
  .map(([parts, isContainer]) => root + parts.join('/') + (isContainer && parts.length > 0 ? '/' : ''));
const containers = fc.array(segment, { maxLength: 3 }).map((parts) => root + parts.map((part) => `${part}/`).join(''));

/** Expected content of the three ranges. */
const inSubtree = (container: string, iri: string): boolean => iri.startsWith(container);

describe('Ranges of IRIs', () => {
  it('a subtree is exactly the container and its descendants', () => {
    const near = ['', '-', '.', '!', '0', '~', '/', '/x', '/-', '/!', '/~', '/x/', '/x/y', '%2F', 'a', '/%00', "'"];
    for (const name of ['a', 'a-b', 'a0', 'a!', '~', 'z~'])
      for (const end of near) {
        const [container, iri] = [`${root}${name}/`, `${root}${name}${end}`];
        expect(isIn(subtree(container), iri), `${iri} in ${container}`).to.equal(inSubtree(container, iri));
        expect(isIn(below(container), iri), `${iri} below ${container}`).to.equal(
          inSubtree(container, iri) && iri !== container,
        );
      }
  });

  it('a subtree is the same for any IRIs', () => {
    fc.assert(
      fc.property(containers, iris, (container, iri) => {
        expect(isIn(subtree(container), iri)).to.equal(inSubtree(container, iri));
        expect(isIn(below(container), iri)).to.equal(inSubtree(container, iri) && iri !== container);
        expect(isIn(only(container), iri)).to.equal(iri === container);
        expect(isIn(only(iri), iri)).to.equal(true);
        expect(isIn(only(iri), `${iri}-`)).to.equal(false);
      }),
      { numRuns: runs(500) },
    );
  });

  const ranges = fc.array(
    fc.oneof(
      iris.map(only),
      containers.map(below),
      containers.map(subtree),
      fc.constant({ from: `${root}b`, to: `${root}b` }),
      fc.constant({ from: `${root}c`, to: `${root}a` }),
    ),
    { maxLength: 8 },
  );

  it('a union contains the IRIs of all its ranges, as disjoint ranges in order', () => {
    fc.assert(
      fc.property(ranges, fc.array(iris, { maxLength: 20 }), (some, probes) => {
        const union = unionOfRanges(some);
        for (const iri of [...probes, ...some.flatMap(({ from, to }) => [from, to, `${from}x`])])
          expect(isInAny(union, iri), iri).to.equal(isInAny(some, iri));
        union.forEach(({ from, to }, i) => {
          expect(from < to, `${from} before ${to}`).to.equal(true);
          if (i > 0) expect(union[i - 1]!.to < from, 'disjoint and not touching').to.equal(true);
        });
      }),
      { numRuns: runs(500) },
    );
  });

  it('a union of no ranges is empty', () => {
    expect(unionOfRanges([])).to.deep.equal([]);
    expect(isWholeStorage([], root)).to.equal(false);
    expect(new RangeStream([]).seek('')).to.equal(undefined);
  });

  it('the whole storage is exactly its root and descendants', () => {
    expect(isWholeStorage([subtree(root)], root)).to.equal(true);
    expect(isWholeStorage(unionOfRanges([only(root), below(root)]), root)).to.equal(true);
    expect(isWholeStorage([below(root)], root)).to.equal(false);
    expect(isWholeStorage([only(root)], root)).to.equal(false);
    expect(isWholeStorage([subtree(`${root}a/`)], root)).to.equal(false);
    const hole = unionOfRanges([
      only(root),
      { from: `${root}\u0000`, to: `${root}a` },
      { from: `${root}b`, to: subtree(root).to },
    ]);
    expect(isWholeStorage(hole, root)).to.equal(false);
  });

  it('a storage under a path does not contain its siblings', () => {
    const storage = 'http://spec.example/pod/';
    for (const iri of [
      'http://spec.example/',
      'http://spec.example/pod',
      'http://spec.example/pod-b/x',
      'http://spec.example/pod0',
    ])
      expect(isIn(subtree(storage), iri), iri).to.equal(false);
    expect(isWholeStorage([subtree(storage)], root)).to.equal(false);
  });

  it('a stream seeks the first text in a range at or after a target', () => {
    fc.assert(
      fc.property(ranges, fc.array(iris, { minLength: 1, maxLength: 12 }), (some, probes) => {
        const union = unionOfRanges(some);
        const stream = new RangeStream(union);
        for (const iri of [...probes].sort()) {
          const found = stream.seek(iri);
          if (isInAny(union, iri)) expect(found).to.equal(iri);
          else expect(found).to.equal(union.find(({ from }) => from > iri)?.from);
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
