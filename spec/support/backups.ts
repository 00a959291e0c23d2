/** Backup commands run in this process, and the entries of a storage. */
import { backUp } from '../../components/data/backup/backup-command.js';
import { restore } from '../../components/data/backup/restore-command.js';
import { verify } from '../../components/data/backup/verify-command.js';
import { standardComponents } from '../../components/index.js';
import { commandContext, onStore } from '../../lib/server/command-context.js';
import { coreSettings } from '../../lib/server/settings/core-settings.js';
import { loadSettings } from '../../lib/settings/settings.js';
import { type Entry, stateBlocks } from '../../lib/storage/graphs/state-blocks.js';
import type { Level } from '../../lib/storage/level/durable-level.js';
import { checkStore } from '../../lib/storage/transactions/check.js';

const commands = { backup: backUp, restore, verify };

export interface BackupRun {
  /** Backup directory. */
  readonly folder: string;
  readonly dataDir: string;
  readonly root: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string>>;
}

/**
 * Runs a backup command in this process.
 * @returns the printed lines, then the error message if it failed. After a restore, also the faults found in the store
 */
export async function runBackup(
  command: keyof typeof commands,
  { folder, dataDir, root, settings: own = {}, flags = {} }: BackupRun,
): Promise<string[]> {
  const settings = loadSettings([coreSettings, ...standardComponents.map((component) => component.settings)], {
    flags: { 'base-uri': root.slice(0, -1), 'data-dir': dataDir, ...own },
  });
  const made = commandContext({ settings, flags, operands: [folder], components: standardComponents }, async () => 0);
  const lines: string[] = [];
  const check = (): Promise<number> =>
    onStore({ settings, components: standardComponents }, async (store) => {
      const { faults, blobs } = await checkStore(store, { content: true });
      lines.push(...faults, `${blobs} blobs in ${store.blobs.name}`);
      return 0;
    });
  const context = { ...made, check, progress: () => () => {}, print: (line: string) => void lines.push(line) };
  try {
    await commands[command](context);
  } catch (error) {
    lines.push((error as Error).message);
  }
  return lines;
}

/** Returns all entries of a storage, in key order. */
export async function entriesOf(level: Level): Promise<Entry[]> {
  const snapshot = level.snapshot();
  const found: Entry[] = [];
  try {
    for await (const block of stateBlocks(level, snapshot, { hasQuads: true })) found.push(...block);
  } finally {
    await snapshot.close();
  }
  return found;
}
