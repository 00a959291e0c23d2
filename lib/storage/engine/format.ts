/**
 * The format of a store, and the migrations from earlier formats. A migration may be killed at any time: what it did stays done, and the next
 * start continues it.
 */

import { countLines } from '../graphs/line-sizes.js';
import { widenKeys } from '../graphs/widen-keys.js';
import { metaKey } from '../state/records.js';
import { type Level, writeBatch } from './durable-level.js';
import { countEarlierEntries } from './quota.js';

/** The format of a new store. A server refuses to open a store whose format it does not know. */
export const storeFormat = '2';

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
};

/** @throws Error for a format of a later version */
export function assertKnown(format: string): void {
  if (format !== storeFormat && !Object.hasOwn(migrations, format))
    throw new Error(
      `The storage was written by a later version (format ${format}); this one reads ${storeFormat} and before.`,
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
