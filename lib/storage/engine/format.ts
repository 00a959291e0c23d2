/**
 * The format of a store, and the migrations from earlier formats. A migration may be killed at any time: what it did stays done, and the next
 * start continues it.
 */

import { countLines } from '../graphs/line-sizes.js';
import { Orders } from '../graphs/orders.js';
import { allQuads } from '../graphs/quad-keys.js';
import { widenKeys } from '../graphs/widen-keys.js';
import { metaKey } from '../state/records.js';
import { type BatchWriter, keyBlocks, type Level, writeBatch } from './durable-level.js';
import { countEarlierEntries } from './quota.js';

/** The format of a new store. A server refuses to open a store whose format it does not know. */
export const storeFormat = '3';

/**
 * What this format may have, by name. A store names what it has (`M features`), separated by spaces, and a server refuses one with a name
 * that it does not know. What changes the layout of a store from here on adds a name, and no format.
 */
const knownFeatures: readonly string[] = ['orders'];

/** What every new store begins with. @param orders in which its quads are put */
export const newFacts = (orders: Orders): readonly (readonly [key: string, value: string])[] => [
  [metaKey('version'), storeFormat],
  [metaKey('features'), knownFeatures.join(' ')],
  [metaKey('orders'), orders.text],
  [metaKey('quads'), '0'],
];

interface Migration {
  readonly to: string;
  /** What the migration does, for the message to the operator. */
  readonly what: string;
  run(level: Level, options: Required<Pick<MigrationOptions, 'onProgress' | 'deriveGraphs'>>): Promise<void>;
}

/** Migrations by the format that they start from. */
const migrations: Readonly<Record<string, Migration>> = {
  1: {
    to: '2',
    what: 'keys of the first servers are written anew, and sizes, linksets and what counts against the quota are completed',
    async run(level, { onProgress, deriveGraphs }) {
      await widenKeys(level, onProgress);
      await deriveGraphs(level);
      await countEarlierEntries(level);
      await countLines(level, onProgress);
    },
  },
  2: {
    to: '3',
    what: 'its quads are counted, and it is noted which orders they are kept in',
    async run(level, { onProgress }) {
      // A store that was restored, or copied from a checkpoint, says it of itself; what is older has all orders.
      const orders = (await level.get(metaKey('orders'))) ?? Orders.all.text;
      const facts = newFacts(Orders.read(orders));
      const fill = (batch: BatchWriter): void => {
        for (const fact of facts) batch.put(...fact);
      };
      const quads = await countQuads(level, onProgress);
      await writeBatch(level, fill, () => [metaKey('quads'), String(quads)]);
    },
  },
};

/** How many quads there are, for a store whose counter does not say it. */
export async function countQuads(level: Level, told: (done: number) => void = () => {}): Promise<number> {
  let quads = 0;
  for await (const keys of keyBlocks(level, allQuads)) {
    quads += keys.length;
    told(quads);
  }
  return quads;
}

/** @throws Error for a format of a later version, or a feature of one */
export async function assertKnown(level: Level, format: string): Promise<void> {
  if (format !== storeFormat && !Object.hasOwn(migrations, format))
    throw new Error(
      `The storage was written by a later version (format ${format}); this one reads ${storeFormat} and before.`,
    );
  const features = (await level.get(metaKey('features')))?.split(' ') ?? [];
  const unknown = features.filter((name) => name !== '' && !knownFeatures.includes(name));
  if (unknown.length > 0)
    throw new Error(
      `The storage was written by a later version, and has what this one does not know: ${unknown.join(', ')}. ` +
        'Start the version that wrote it last, or a later one.',
    );
}

export interface MigrationOptions {
  /** Called before a migration begins. */
  readonly onMigration?: (message: string) => void;
  /** Called with how many keys or records of a step are done. */
  readonly onProgress?: (done: number) => void;
  /** Writes the graphs that modules above lib/storage derive from entries, and that a store of format 1 lacks. */
  readonly deriveGraphs?: (level: Level) => Promise<void>;
}

/** Brings a store to the format of today, step by step. */
export async function migrate(
  level: Level,
  { onMigration, onProgress = () => {}, deriveGraphs = async () => {} }: MigrationOptions,
): Promise<void> {
  for (;;) {
    const migration = migrations[(await level.get(metaKey('version')))!];
    if (!migration) return;
    const { to, what, run } = migration;
    onMigration?.(
      `The storage has an earlier format and is brought to format ${to}: ${what}. ` +
        'Earlier versions of the server cannot open it from here on. This may be interrupted: the next start goes on.',
    );
    await run(level, { onProgress, deriveGraphs });
    await writeBatch(
      level,
      (batch) => {
        for (const mark of ['lines', 'counted'] as const) batch.del(metaKey(mark));
      },
      () => [metaKey('version'), to],
    );
  }
}
