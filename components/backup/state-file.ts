/** The state of a storage in one file: gzipped lines of entries, between a header and a trailer. It must not know blobs. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Level } from '../../lib/storage/durable-level.js';
import { metaKey } from '../../lib/storage/records.js';
import { type Entry, entryOf, lineOf, stateBlocks } from '../../lib/storage/state-blocks.js';
import type { Header, Trailer } from './entries.js';

/** A back-up is cut off, changed, or none; the message is for people. */
export class BackupError extends Error {}

/**
 * Writes one state of the store, synced, readable by its owner alone.
 * @param told called now and then with the number of entries so far
 * @returns how many entries there are
 */
export async function writeState(level: Level, file: string, told: (entries: number) => void): Promise<number> {
  const snapshot = level.snapshot();
  try {
    const [storage, version] = await Promise.all(
      (['storage', 'version'] as const).map((name) => level.get(metaKey(name), { snapshot })),
    );
    if (storage === undefined || version === undefined) throw new BackupError('There is no storage in this database.');
    const header: Header = { 'quadpod-backup': 1, storage, version, made: new Date().toISOString() };
    const output = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
    // The fastest level: what is left to gain takes ten times as long.
    const gzip = createGzip({ level: 1 });
    const written = pipeline(gzip, output);
    const write = async (text: string): Promise<void> => {
      if (!gzip.write(text)) await Promise.race([new Promise((resolve) => gzip.once('drain', resolve)), written]);
    };
    let entries = 0;
    await write(`${JSON.stringify(header)}\n`);
    for await (const block of stateBlocks(level, snapshot)) {
      await write(`${block.map(lineOf).join('\n')}\n`);
      entries += block.length;
      told(entries);
    }
    gzip.end(`${JSON.stringify({ entries } satisfies Trailer)}\n`);
    await written;
    return entries;
  } finally {
    await snapshot.close();
  }
}

/** What a file of a state begins with. @throws BackupError when it is none */
export async function readHeader(file: string): Promise<Header> {
  for await (const line of linesOf(file)) return headerOf(line, file);
  throw new BackupError(`${file} is empty.`);
}

/**
 * The entries of a file in blocks.
 * @throws BackupError, after what came before, when the file is cut off or damaged
 */
export async function* readState(file: string): AsyncGenerator<Entry[]> {
  let block: Entry[] = [];
  let [line, entries] = [0, 0];
  let trailer: Trailer | undefined;
  for await (const text of linesOf(file)) {
    if (++line === 1) headerOf(text, file);
    else if (trailer) throw new BackupError(`${file} has data after its end (line ${line}).`);
    else if (text.startsWith('{')) trailer = JSON.parse(text) as Trailer;
    else {
      block.push(parsed(text, file, line));
      entries++;
      if (block.length === 1000) {
        yield block;
        block = [];
      }
    }
  }
  if (block.length > 0) yield block;
  if (trailer?.entries !== entries)
    throw new BackupError(
      `${file} is cut off: it has ${entries} entries${trailer ? ` of ${trailer.entries}` : ' and no end'}.`,
    );
}

function parsed(text: string, file: string, line: number): Entry {
  try {
    return entryOf(text);
  } catch (error) {
    throw new BackupError(`${file} is damaged at line ${line}: ${(error as Error).message}.`);
  }
}

function headerOf(line: string, file: string): Header {
  let header: Partial<Header> | undefined;
  try {
    header = JSON.parse(line) as Partial<Header>;
  } catch {
    // Told below.
  }
  if (header?.['quadpod-backup'] !== 1 || typeof header.storage !== 'string')
    throw new BackupError(`${file} is no state of a Quadpod storage, or one of a later version.`);
  return header as Header;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const gunzip = createGunzip();
  // Whoever reads the lines is told; this only ties the two together.
  pipeline(source, gunzip).catch(() => {});
  try {
    yield* createInterface({ input: gunzip, crlfDelay: Number.POSITIVE_INFINITY });
    if (gunzip.errored) throw gunzip.errored;
  } catch (error) {
    throw new BackupError(`${file} cannot be read: ${(error as Error).message}.`);
  } finally {
    gunzip.destroy();
    source.destroy();
  }
}

/** The SHA-256 of a file (base64). */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  const source = createReadStream(file, { highWaterMark: 1 << 20 });
  source.on('data', (chunk) => hash.update(chunk));
  await finished(source);
  return hash.digest('base64');
}

/** Makes sure that the names in a folder are on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
