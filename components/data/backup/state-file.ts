/**
 * Files of a backup: gzipped lines between a header and a trailer. Lines are entries. In quads files, quads are grouped by
 * graph, and other entries in parts.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { allLinks } from '../../../lib/resources/linkset.js';
import { storeFormat } from '../../../lib/storage/graphs/format.js';
import { GraphCursor } from '../../../lib/storage/graphs/graph-cursor.js';
import { type Entry, entryOf, isSection, lineOf, stateLines } from '../../../lib/storage/graphs/state-blocks.js';
import { KeyDigest } from '../../../lib/storage/keys/key-digest.js';
import { graphRange } from '../../../lib/storage/keys/quad-keys.js';
import { allRecords, metaKey, partsOfEntry, rangeOf } from '../../../lib/storage/keys/records.js';
import { openVersions } from '../../../lib/storage/keys/version-entries.js';
import { entryBlocks, keyBlocks, type Level, type LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { entryFaults } from '../../../lib/storage/transactions/repair.js';
import {
  BackupError,
  type BackupFormat,
  type BackupSection,
  backupFormats,
  type Header,
  isSectionLine,
  lineOfPart,
  lineOfSection,
  readSectionLine,
  sectionOf,
  type Trailer,
} from './entries.js';
import { entryParts, referringEntries } from './entry-parts.js';
import type { GraphSet } from './graph-set.js';

const keysAtATime = 1000;

interface StateSource {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  /** Sections to omit. */
  readonly known: GraphSet | undefined;
}

/**
 * Yields the quads of a storage as lines, graph by graph, in the order of the entries that refer to the graphs: linksets,
 * dropped graphs that are being removed, and records. Skips known graphs, and graphs without such an entry (they are being
 * written or removed).
 * @returns blocks of lines, which may be empty so that the caller can report progress
 * @throws BackupError for a damaged record
 */
async function* graphStateLines({ level, snapshot, known }: StateSource): AsyncGenerator<string[]> {
  const cursor = new GraphCursor(level, snapshot);
  try {
    for (const range of [allLinks, openVersions, allRecords()])
      for await (const entries of entryBlocks(level, range, { snapshot })) {
        let lines: string[] = [];
        for (const entry of entries) {
          const state = sectionOf(entry);
          if (!state || known?.has(state)) continue;
          lines.push(lineOfSection(state));
          const digest = new KeyDigest();
          const keysOf = entry[0].startsWith(openVersions.gte)
            ? keyBlocks(level, graphRange(partsOfEntry(entry[0])[1]!), { snapshot })
            : cursor.keys(state.name);
          for await (const keys of keysOf) {
            digest.toggle(keys);
            for (const key of keys) lines.push(JSON.stringify(key));
            if (lines.length < keysAtATime) continue;
            yield lines;
            lines = [];
          }
          if (differs(state, digest))
            throw damagedState(`The triples of ${state.name} differ from those that were written.`);
        }
        yield lines;
      }
  } finally {
    await cursor.close();
  }
}

/** Yields the parts of the other entries as lines, except known parts. @param references receives a line for each part */
async function* partLines({ level, snapshot, known }: StateSource, references: string[]): AsyncGenerator<string[]> {
  for await (const { state, lines } of entryParts(level, snapshot)) {
    references.push(lineOfPart(state));
    yield known?.has(state) ? [] : [lineOfSection(state), ...lines];
  }
}

/** Yields the lines of a state file: entries that refer to graphs, parts and blobs, and facts about the storage. */
async function* referringLines(
  { level, snapshot }: StateSource,
  parts: readonly string[],
): AsyncGenerator<readonly string[]> {
  yield* stateLines(level, snapshot, { hasQuads: false, without: rangeOf('E\u0000') });
  for (const range of referringEntries)
    for await (const entries of entryBlocks(level, range, { snapshot })) yield entries.map(lineOf);
  yield parts;
}

const differs = (state: BackupSection, digest: KeyDigest): boolean =>
  state.digest !== undefined && state.digest !== digest.toString();

const damagedState = (text: string): BackupError =>
  new BackupError(`${text} Stop the server, run "quadpod check --repair", and back up again.`);

/** Paths of the state file and the quads file. */
export type StateFiles = Readonly<Record<'state' | 'quads', string>>;

export interface StateOptions {
  /** Graphs to omit from the quads file. */
  readonly known?: GraphSet | undefined;
  /** Called periodically with the count of entries so far. */
  readonly told: (entries: number) => void;
}

/**
 * Writes one state of the store to files, which are synced and have mode 0600. A store in an earlier format stores graphs
 * differently: the state file contains everything, and there is no quads file. @throws BackupError if there is no storage, or a
 * record is damaged
 */
export async function writeState(level: Level, files: StateFiles, { known, told }: StateOptions): Promise<void> {
  const snapshot = level.snapshot();
  try {
    const [storage, version] = await Promise.all(
      (['storage', 'version'] as const).map((name) => level.get(metaKey(name), { snapshot })),
    );
    if (storage === undefined || version === undefined) throw new BackupError('This database contains no storage.');
    const header: Header = { 'quadpod-backup': formatOf(version), storage, version, made: new Date().toISOString() };
    let entries = 0;
    const count = (more: number): void => {
      entries += more;
      told(entries);
    };
    const write = (file: string, source: AsyncIterable<readonly string[]>): Promise<void> =>
      writeLines(file, header, source, count);
    for await (const { text } of entryFaults(level, snapshot)) throw damagedState(text);
    if (formatOf(version) === 1) return await write(files.state, stateLines(level, snapshot, { hasQuads: true }));
    const source = { level, snapshot, known };
    const parts: string[] = [];
    await write(files.quads, inTurn(graphStateLines(source), partLines(source, parts)));
    await write(files.state, referringLines(source, parts));
  } finally {
    await snapshot.close();
  }
}

/** Returns the backup format for a store. @param version format version of the store */
const formatOf = (version: string): BackupFormat => (version === storeFormat ? 3 : 1);

async function* inTurn<T>(...sources: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  for (const source of sources) yield* source;
}

async function writeLines(
  file: string,
  header: Header,
  source: AsyncIterable<readonly string[]>,
  told: (lines: number) => void,
): Promise<void> {
  async function* text(): AsyncGenerator<string> {
    let entries = 0;
    yield `${JSON.stringify(header)}\n`;
    for await (const lines of source) {
      for (const line of lines) if (!isSectionLine(line)) entries++;
      if (lines.length > 0) yield `${lines.join('\n')}\n`;
      told(lines.length);
    }
    yield `${JSON.stringify({ entries } satisfies Trailer)}\n`;
  }
  // Use the fastest compression level: higher levels take ten times as long for little gain.
  const gzip = createGzip({ level: 1 });
  await pipeline(text(), gzip, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
}

/** Reads the first line of a backup file. @throws BackupError if it is not a header */
export async function readHeader(file: string): Promise<Header> {
  for await (const [line] of lineBlocks(file)) return headerOf(line!, file);
  throw new BackupError(`${file} is empty.`);
}

/** Selects the content of a file to read (default: everything). */
export interface StateReader {
  /** Returns true to read the quads of a graph, false to skip them. */
  wants?(state: BackupSection): boolean;
  /** Called at the end of each selected graph. */
  ended?(state: BackupSection, triples: number, isOther: boolean): void;
  /** Key prefixes of the entries to read. Other entries may be skipped. */
  readonly keys?: readonly string[];
  /** Called at the end of the file with the total count of entries. */
  counted?(entries: number): void;
}

/**
 * Yields the selected entries of a file in blocks.
 * @throws BackupError if the file is truncated or damaged, after yielding the entries before the fault
 */
export async function* readState(file: string, reader: StateReader = {}): AsyncGenerator<Entry[]> {
  const { wants, ended, counted } = reader;
  const beginnings = reader.keys?.map((key) => `[${JSON.stringify(key).slice(0, -1)}`);
  let block: Entry[] = [];
  let [line, entries, triples] = [0, 0, 0];
  let trailer: Trailer | undefined;
  let state: BackupSection | undefined;
  let digest = new KeyDigest();
  let isPassed = false;
  const end = (): void => {
    if (state && !isPassed) ended?.(state, triples, differs(state, digest));
    [state, triples, digest] = [undefined, 0, new KeyDigest()];
  };
  for await (const lines of lineBlocks(file)) {
    for (const text of lines) {
      if (++line === 1) headerOf(text, file);
      else if (trailer) throw new BackupError(`${file} has data after its end (line ${line}).`);
      else if (text.startsWith('{')) trailer = parsed(JSON.parse, text, file, line);
      else if (isSectionLine(text)) {
        end();
        state = parsed(readSectionLine, text, file, line);
        isPassed = wants?.(state) === false;
      } else {
        entries++;
        if (!isPassed) triples++;
        const isLeft = isPassed || beginnings?.some((beginning) => text.startsWith(beginning)) === false;
        if (isLeft && !isSection(text)) continue;
        const entry = parsed(entryOf, text, file, line);
        if (state?.digest !== undefined) digest.toggle([entry[0]]);
        block.push(entry);
      }
    }
    if (block.length === 0) continue;
    yield block;
    block = [];
  }
  end();
  if (trailer?.entries !== entries)
    throw new BackupError(
      `${file} is truncated: it has ${entries} entries${trailer ? ` of ${trailer.entries}` : ' and no trailer'}.`,
    );
  counted?.(entries);
}

function parsed<T>(read: (text: string) => T, text: string, file: string, line: number): T {
  try {
    return read(text);
  } catch (error) {
    throw new BackupError(`${file} cannot be read at line ${line}: ${(error as Error).message}.`);
  }
}

function headerOf(line: string, file: string): Header {
  let header: Partial<Header> | undefined;
  try {
    header = JSON.parse(line) as Partial<Header>;
  } catch {
    // The check below rejects an invalid header.
  }
  if (!backupFormats.includes(header?.['quadpod-backup'] as BackupFormat) || typeof header?.storage !== 'string')
    throw new BackupError(`${file} is not a backup of a Quadpod storage, or is of a later version.`);
  return header as Header;
}

/** Yields the lines of a file in blocks. */
async function* lineBlocks(file: string): AsyncGenerator<string[]> {
  const source = createReadStream(file, { highWaterMark: 1 << 18 });
  const gunzip = createGunzip({ chunkSize: 1 << 17 });
  gunzip.setEncoding('utf8');
  // Ignore errors here: the loop over `gunzip` throws them.
  pipeline(source, gunzip).catch(() => {});
  let begun = '';
  try {
    for await (const chunk of gunzip as AsyncIterable<string>) {
      begun += chunk;
      if (!chunk.includes('\n')) continue;
      const lines = begun.split('\n');
      begun = lines.pop()!;
      yield lines;
    }
    if (gunzip.errored) throw gunzip.errored;
  } catch (error) {
    throw new BackupError(`${file} is not readable: ${(error as Error).message}.`);
  } finally {
    gunzip.destroy();
    source.destroy();
  }
  if (begun !== '') yield [begun];
}

/** Returns the SHA-256 of a file, in base64. */
export async function digestOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  const source = createReadStream(file, { highWaterMark: 1 << 20 });
  source.on('data', (chunk) => hash.update(chunk));
  await finished(source);
  return hash.digest('base64');
}
