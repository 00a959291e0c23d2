/**
 * Directory with the segment of an index, next to the database. `MANIFEST.json` contains the name of the segment and its
 * position in the change log. The log lists the graphs changed since, unless their entries were removed. The directory can be
 * deleted at any time: the index is then built from the database.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { stagedGraphs } from '../../storage/graphs/staged-keys.js';
import { entryBlocks, type Level, type LevelSnapshot } from '../../storage/level/durable-level.js';
import { makeFolders, syncDirectory, writeWhole } from '../../storage/level/synced-files.js';
import { allChanges, changeKey, positionOfKey, readEntry } from '../../storage/log/change-entry.js';
import { linksetEnd } from '../access/graph-ranges.js';
import { longName, type SegmentName } from '../segments/segment.js';

/** Version of the manifest and of the content of segments. */
const format = 2;
const manifestName = 'MANIFEST.json';
/** Maximum count of graphs changed since the manifest. Above it, the index is built from all quads. */
const maxChanged = 200_000;

/** State of a storage that an index corresponds to. */
export interface IndexedState {
  /** IRI of the storage. */
  readonly storage: string;
  /** Position of the last event in the change log. */
  readonly position: number;
}

interface Manifest extends IndexedState {
  readonly format: number;
  /** File name of the segment. */
  readonly file: string;
  /** Digest of the segment (`SegmentName`). */
  readonly digest: string;
}

const checksumOf = (manifest: Manifest): number => crc32(JSON.stringify(manifest));

interface Opened {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
}

/**
 * Returns the state of a snapshot for a manifest. Returns `undefined` if an index of this snapshot cannot be used after a
 * restart: if there is no change log, or the snapshot has staged graphs, which the log does not contain.
 */
export async function indexedState({ level, snapshot }: Opened, storage: string): Promise<IndexedState | undefined> {
  const [last] = await level.keys({ ...allChanges(), reverse: true, limit: 1, snapshot }).all();
  if (last === undefined || (await stagedGraphs(level, snapshot)).size > 0) return undefined;
  return { storage, position: positionOfKey(last) };
}

export class IndexFolder {
  private readonly manifest: string;
  private names = 0;

  constructor(private readonly folder: string) {
    this.manifest = join(folder, manifestName);
  }

  /** True if there is a manifest. It may be outdated. */
  get hasFiles(): boolean {
    return existsSync(this.manifest);
  }

  /** Returns the path of a file in the directory. */
  path(file: string): string {
    return join(this.folder, file);
  }

  /** Returns a new file name, and creates the directory. @throws errors of the file system */
  newName(): string {
    makeFolders(this.folder);
    return `${Date.now()}-${++this.names}.seg`;
  }

  /** Removes the manifest, so that the next build reads all quads. @throws errors of the file system */
  withdraw(): void {
    rmSync(this.manifest, { force: true });
  }

  /** Replaces the manifest. To be called when the segment is on disk. @throws errors of the file system */
  publish({ name, digest }: SegmentName, { storage, position }: IndexedState): void {
    // The directory entry of the segment is synced before the manifest refers to it.
    syncDirectory(this.folder);
    const manifest: Manifest = { format, storage, position, file: basename(name), digest };
    writeWhole(this.manifest, JSON.stringify({ ...manifest, checksum: checksumOf(manifest) }));
  }

  /**
   * Removes all files except the manifest, its segment and `used`. Threads can still read removed files that are open.
   * @throws errors of the file system
   */
  async clean(used: readonly string[]): Promise<void> {
    const files = [...used, this.readManifest()?.file ?? ''];
    const kept = new Set([manifestName, ...files, ...files.map(longName)]);
    for (const name of await namesIn(this.folder))
      if (!kept.has(name)) await rm(join(this.folder, name), { force: true });
  }

  /** Returns the segment of the manifest and the graphs changed since. Returns `undefined` if the segment cannot be used. */
  async read(
    storage: string,
    opened: Opened,
  ): Promise<{ readonly segment: SegmentName; readonly changed: readonly string[] } | undefined> {
    const manifest = this.readManifest();
    if (manifest?.format !== format || manifest.storage !== storage) return undefined;
    const changed = await changedSince(manifest, opened);
    return changed && { segment: { name: this.path(manifest.file), digest: manifest.digest }, changed };
  }

  private readManifest(): Manifest | undefined {
    try {
      const { checksum, ...rest } = JSON.parse(readFileSync(this.manifest, 'utf8')) as Manifest & { checksum: number };
      return checksumOf(rest) === checksum ? rest : undefined;
    } catch {
      // The manifest does not exist or is damaged.
      return undefined;
    }
  }
}

/** Returns the index directory next to a LevelDB. @param level directory of the LevelDB */
export const indexFolder = (level: string): IndexFolder => new IndexFolder(join(dirname(level), 'index'));

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Returns the graphs changed since a position. Returns `undefined` if the log lacks changes or there are too many. */
async function changedSince(
  { position, storage }: IndexedState,
  { level, snapshot }: Opened,
): Promise<readonly string[] | undefined> {
  const graphs = new Set<string>();
  let last: number | undefined;
  for await (const entries of entryBlocks(level, { ...allChanges(), gte: changeKey(position) }, { snapshot }))
    for (const entry of entries) {
      const { previous, events } = readEntry(entry, storage);
      const end = positionOfKey(entry[0]);
      // The entry at the position may have been removed from the log. The next entry then names the position as `previous`.
      if (end !== position && previous !== (last ?? position)) return undefined;
      last = end;
      for (const { what } of end === position ? [] : events) {
        if ('id' in what) continue;
        const { iri } = (what.after ?? what.before)!;
        graphs.add(iri).add(iri + linksetEnd);
      }
      if (graphs.size > maxChanged) return undefined;
    }
  return last === undefined ? undefined : [...graphs];
}
