/**
 * Merge of postings against sets: lists in memory, database cursors, and delayed streams, from a few texts to thousands.
 * Independent of the meaning of texts.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryLevel } from 'memory-level';
import { intersection, union } from '../../components/search/postings/merge.js';
import { StoreSnapshot } from '../../lib/storage/graphs/snapshot.js';
import { entryKey } from '../../lib/storage/keys/records.js';
import type { Level } from '../../lib/storage/level/durable-level.js';
import { ListStream, type SortedStream } from '../../lib/storage/level/entry-cursor.js';
import { runs } from '../support/speed.js';

/** Random or consecutive texts of a range of numbers. */
interface Draft {
  readonly size: number;
  readonly from: number;
  /** Maximum distance between two numbers. */
  readonly gap: number;
  readonly seed: number;
  readonly kind: 'list' | 'cursor' | 'late';
}
const sizes = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 1, 3, 31, 32, 33, 64, 100) },
  { weight: 1, arbitrary: fc.constantFrom(999, 1000, 1001, 5000) },
);
const draft: fc.Arbitrary<Draft> = fc.record({
  size: sizes,
  from: fc.oneof(fc.constant(0), fc.nat(5000)),
  gap: fc.constantFrom(1, 1, 2, 10, 500),
  seed: fc.nat(),
  kind: fc.constantFrom('list', 'cursor', 'late'),
});

/** Returns a text. Texts have different lengths, and some are prefixes of others. */
const textOf = (number: number): string =>
  `http://e.example/${String(number >> 2).padStart(6, '0')}${'x'.repeat(number & 3)}`;

function textsOf({ size, from, gap, seed }: Draft): string[] {
  let [state, number] = [seed, from];
  return Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    number += 1 + ((state >>> 8) % gap);
    return textOf(number);
  });
}

/** Stream that answers every third request asynchronously. */
class LateStream implements SortedStream {
  private readonly list: ListStream;
  private turn = 0;

  constructor(texts: readonly string[]) {
    this.list = new ListStream(texts);
  }

  seek(target: string): string | undefined | Promise<string | undefined> {
    const answer = this.list.seek(target);
    return this.turn++ % 3 === 0 ? new Promise((resolve) => setImmediate(() => resolve(answer))) : answer;
  }
}

async function collect(streams: readonly SortedStream[]): Promise<string[]> {
  const found: string[] = [];
  for await (const block of intersection(streams)) {
    expect(block.length).to.be.within(1, 1000);
    found.push(...block);
  }
  return found;
}

describe('Merge of postings', function () {
  this.timeout(60_000);

  async function withStreams(
    groups: readonly (readonly Draft[])[],
    work: (streams: readonly (readonly SortedStream[])[]) => Promise<void>,
  ): Promise<void> {
    const level = new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level;
    const entries = groups.flat().flatMap((each, at) =>
      // Neighbours on both sides, outside the range of the cursor.
      [[`${at}!`, 'http://e.example/'], ...textsOf(each).map((text) => [`${at}`, text])].map((parts) => ({
        type: 'put' as const,
        key: entryKey('index', ...parts),
        value: '',
      })),
    );
    await level.batch(entries);
    const snapshot = new StoreSnapshot(level);
    // Not visible in the snapshot.
    await level.batch(
      groups.flat().map((_, at) => ({ type: 'put', key: entryKey('index', `${at}`, 'later'), value: '' })),
    );
    let at = 0;
    const streamOf = (each: Draft): SortedStream => {
      const cursor = snapshot.cursor('index', `${at++}`);
      if (each.kind === 'cursor') return cursor;
      return each.kind === 'list' ? new ListStream(textsOf(each)) : new LateStream(textsOf(each));
    };
    await work(groups.map((group) => group.map(streamOf)));
    await snapshot.close();
    await level.close();
  }

  it('intersects unions like sets', async () => {
    const groups = fc.array(fc.array(draft, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(groups, (given) =>
        withStreams(given, async (streams) => {
          const sets = given.map((group) => new Set(group.flatMap(textsOf)));
          const wanted = [...sets[0]!].filter((text) => sets.every((set) => set.has(text))).sort();
          expect(await collect(streams.map(union))).to.deep.equal(wanted);
        }),
      ),
      { numRuns: runs(150) },
    );
  });

  it('skips between three texts among five thousand, with either stream first', async () => {
    const few = fc.uniqueArray(fc.nat(6000), { minLength: 3, maxLength: 3 });
    const kind = fc.constantFrom('list', 'cursor', 'late');
    await fc.assert(
      fc.asyncProperty(few, kind, fc.boolean(), async (numbers, how, first) => {
        const many: Draft = { size: 5000, from: 0, gap: 1, seed: 1, kind: how };
        await withStreams([[many]], async ([streams]) => {
          const texts = numbers.map(textOf).sort();
          const pair = [new ListStream(texts), streams![0]!];
          const all = new Set(textsOf(many));
          expect(await collect(first ? pair : pair.reverse())).to.deep.equal(texts.filter((text) => all.has(text)));
        });
      }),
      { numRuns: runs(25) },
    );
  });

  it('seeks ascending targets like a sorted set', async () => {
    const targets = fc.array(fc.nat(9000), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.array(draft, { minLength: 1, maxLength: 5 }), targets, (drafts, numbers) =>
        withStreams([drafts], async ([streams]) => {
          const texts = [...new Set(drafts.flatMap(textsOf))].sort();
          const stream = union(streams!);
          for (const target of numbers.map(textOf).sort())
            expect(await stream.seek(target), target).to.equal(texts.find((text) => text >= target));
        }),
      ),
      { numRuns: runs(150) },
    );
  });
});
