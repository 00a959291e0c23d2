/** Overlaid changes on keys read like written ones: in order, from any key on, and with leaps. */
import { expect } from 'chai';
import fc from 'fast-check';
import '../../support/random-seed.js';
import { changedKeys } from '../../../lib/query/access/changed-keys.js';
import type { KeyIterators, Seekable } from '../../../lib/query/access/key-iterators.js';
import { compareKeys, sortKeys } from '../../../lib/storage/keys/key-order.js';
import { rangeOf } from '../../../lib/storage/keys/records.js';

const prefix = 'GSPO\u0000';

/** Keys in blocks of two, as LevelDB returns them. */
function store(keys: ReadonlySet<string>): KeyIterators {
  const list = sortKeys([...keys]);
  const firstAt = (target: string): number => {
    const at = list.findIndex((key) => compareKeys(key, target) >= 0);
    return at < 0 ? list.length : at;
  };
  const seekable = (): Seekable => {
    let at = 0;
    return {
      seek(target) {
        at = firstAt(target);
      },
      async nextv(size) {
        const some = list.slice(at, at + Math.min(2, size));
        at += some.length;
        return some;
      },
      close: async () => {},
    };
  };
  async function* from(start: string, target: () => string | undefined): AsyncGenerator<readonly string[]> {
    const iterator = seekable();
    iterator.seek(start);
    for (;;) {
      const some = await iterator.nextv(2);
      if (some.length === 0) return;
      yield some;
      const next = target();
      if (next !== undefined && compareKeys(next, rangeOf(prefix).lt) >= 0) return;
      if (next !== undefined) iterator.seek(next);
    }
  }
  return {
    blocks: (start) => from(start, () => undefined),
    leaps: from,
    steps: (_prefix, start, target) => from(start, target),
    lend: (_index, work) => work(seekable()),
    hasKey: (key) => keys.has(key),
    sizeOf: async () => keys.size,
    sizeBetween: async () => keys.size,
    close: async () => {},
  };
}

/** Letters before, in and after the surrogates. */
const key = fc
  .array(fc.constantFrom('a', 'b', 'c', '\uFB01', '\u{1F600}'), { minLength: 1, maxLength: 3 })
  .map((letters) => prefix + letters.join(''));
const keys = fc.uniqueArray(key, { maxLength: 40 });

const world = fc.tuple(keys, keys, keys).map(([all, other, gone]) => {
  const before = new Set(all);
  const added = new Set(other.filter((each) => !before.has(each)));
  const removed = new Set(gone.filter((each) => before.has(each)));
  const after = sortKeys([...[...before].filter((each) => !removed.has(each)), ...added]);
  return { after, changed: changedKeys(store(before), { added, removed }, () => {}) };
});

const property = <T>(
  of: fc.Arbitrary<T>,
  holds: (made: typeof world extends fc.Arbitrary<infer W> ? W : never, given: T) => Promise<void>,
) => fc.assert(fc.asyncProperty(world, of, holds), { numRuns: 300 });

describe('Changes overlaid on keys', () => {
  it('yields keys in order', () =>
    property(fc.constant(undefined), async ({ after, changed }) => {
      const found: string[] = [];
      for await (const block of changed.blocks(prefix)) found.push(...block);
      expect(found).to.deep.equal(after);
      for (const each of after) expect(changed.hasKey(each)).to.equal(true);
      expect(changed.hasKey(`${prefix}none`)).to.equal(false);
    }));

  it('starts at any key', () =>
    property(fc.array(key, { minLength: 1, maxLength: 5 }), async ({ after, changed }, starts) => {
      await changed.lend('GSPO', async (iterator) => {
        for (const start of starts) {
          iterator.seek(start);
          const found: string[] = [];
          for (let block = await iterator.nextv(3); block.length > 0; block = await iterator.nextv(3))
            found.push(...block);
          expect(found).to.deep.equal(after.filter((each) => compareKeys(each, start) >= 0));
        }
      });
    }));

  for (const [what, read] of [
    ['leapt over', (of: KeyIterators, _start: string, target: () => string | undefined) => of.leaps(prefix, target)],
    [
      'stepped through',
      (of: KeyIterators, start: string, target: () => string | undefined) => of.steps(prefix, start, target),
    ],
  ] as const)
    it(`are ${what}`, () =>
      property(
        fc.tuple(key, fc.array(fc.option(key, { nil: undefined }), { maxLength: 12 })),
        async ({ after, changed }, [start, wishes]) => {
          const from = what === 'leapt over' ? prefix : start;
          const leapt: [from: string, to: string][] = [];
          const found: string[] = [];
          const targets = [...wishes];
          const target = (): string | undefined => {
            const [wish, last] = [targets.shift(), found.at(-1)];
            if (wish === undefined || last === undefined || compareKeys(wish, last) <= 0) return undefined;
            leapt.push([last, wish]);
            return wish;
          };
          for await (const block of read(changed, from, target)) {
            expect(block).not.to.deep.equal([]);
            found.push(...block);
          }
          const isLeapt = (each: string): boolean =>
            leapt.some(([low, high]) => compareKeys(each, low) > 0 && compareKeys(each, high) < 0);
          const wanted = after.filter((each) => compareKeys(each, from) >= 0 && !isLeapt(each));
          expect(found).to.deep.equal(wanted);
        },
      ));
});
