/**
 * `quadpod backup DIR`: the state of the storage, its blobs and its keys, in a folder. The state of a running server is had over HTTP,
 * since LevelDB has one owner; blobs are files that never change, and are copied once.
 */
import { createWriteStream, existsSync, mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CommandContext } from '../../lib/component.js';
import { LwsError } from '../../lib/errors.js';
import { atOnce } from '../../lib/storage/at-once.js';
import { type BlobFacts, DamagedBlobError } from '../../lib/storage/blob-integrity.js';
import type { Blobs } from '../../lib/storage/blobs.js';
import { blobsAt } from '../../lib/storage/blobs-at.js';
import { type Level, openLevel, StoreUnavailableError } from '../../lib/storage/durable-level.js';
import { blobFacts, iriOfRecordKey, readRecord } from '../../lib/storage/records.js';
import { copyIn } from '../../lib/storage/shared/copy.js';
import { isOf } from './entries.js';
import { blobFile, copyOnce, keyFiles, type Manifest, makeOnce, prune, writeManifest } from './folder.js';
import { RunningServer } from './running-server.js';
import { BackupError, digestOf, readHeader, readState, syncFolder, writeState } from './state-file.js';

export async function backUp(context: CommandContext): Promise<number> {
  const { dataDir, operands, print } = context;
  const source = resolve(dataDir);
  const folder = resolve(operands[0]!);
  context.assertStorage();
  if (`${folder}/`.startsWith(`${source}/`))
    throw new BackupError(`A back-up does not go into the storage's own folder ${source}.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `state-${new Date().toISOString().replace(/[:.]/g, '-')}.gz`;
  const file = join(folder, name);
  let server: RunningServer | undefined;
  try {
    server = await stateInto(context, file);
    const blobs = await copyBlobs(context, file, folder);
    const keys = keyFiles(source);
    for (const key of keys) await copyOnce(join(source, key), join(folder, key));
    const { storage, made } = await readHeader(file);
    const { entries } = blobs;
    const manifest: Manifest = {
      ...{ 'quadpod-backup': 1, storage, made, state: name, sha256: await digestOf(file) },
      ...{ entries, blobs: blobs.names.size, keys },
    };
    await syncFolder(folder);
    await writeManifest(folder, manifest);
    prune(folder, manifest, blobs.names);
    print(
      `${folder} has the state of ${made}: ${entries} entries, ${blobs.names.size} blobs (${blobs.copied} new), ` +
        `${statSync(file).size} bytes of state${keys.length > 0 ? `, and the keys ${keys.join(', ')}: keep it secret` : ''}.`,
    );
    return 0;
  } finally {
    await server?.release();
  }
}

/** @returns the server that has the state, and holds its blobs, when one runs */
async function stateInto(context: CommandContext, file: string): Promise<RunningServer | undefined> {
  const told = context.progress('Writing the state');
  const level = await openLevel(join(resolve(context.dataDir), 'level')).catch((error: unknown) => {
    if (error instanceof StoreUnavailableError && error.isLocked) return undefined;
    throw error;
  });
  if (level) {
    const write = (from: Level): Promise<number> =>
      writeState(from, file, (entries) => told(entries, Number.POSITIVE_INFINITY));
    let copy: Awaited<ReturnType<typeof copyIn>>;
    try {
      copy = await copyIn(level);
      if (copy === 'none') await write(level);
    } finally {
      await level.close();
    }
    if (copy !== 'none') await copyInto(context, copy, write);
    return undefined;
  }
  const server = await RunningServer.begin(context);
  try {
    const state = await server.state((entries) => told(entries, Number.POSITIVE_INFINITY));
    await pipeline(
      Readable.fromWeb(state as never),
      createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }),
    );
    return server;
  } catch (error) {
    await server.release();
    throw error;
  }
}

/** A copy of a storage in a database lacks what other servers wrote since it was followed last: it is followed first, when that can be. */
async function copyInto(
  { dataDir, onStore, print }: CommandContext,
  copy: 'whole' | 'unfinished',
  write: (level: Level) => Promise<number>,
): Promise<void> {
  try {
    await onStore(({ level }) => write(level));
  } catch (error) {
    if (!(error instanceof StoreUnavailableError || error instanceof LwsError)) throw error;
    if (copy === 'unfinished')
      throw new BackupError(`The data directory is an unfinished copy of a storage in a database. ${error.message}`);
    print(
      `${error.message}\nThe back-up has what this copy has; it lacks what other servers have written since it was stopped.`,
    );
    const level = await openLevel(join(resolve(dataDir), 'level'));
    await write(level).finally(() => level.close());
  }
}

interface CopiedBlobs {
  readonly names: ReadonlySet<string>;
  readonly copied: number;
  /** Of the state. */
  readonly entries: number;
}

async function copyBlobs(context: CommandContext, file: string, folder: string): Promise<CopiedBlobs> {
  const { blobs: location, progress } = context;
  const names = new Set<string>();
  const facts = new Map<string, BlobFacts>();
  let entries = 0;
  for await (const block of readState(file)) {
    entries += block.length;
    for (const [key, value] of block)
      if (isOf('B', key)) names.add(key.slice(2));
      else if (location.s3 && isOf('R', key)) {
        const record = readRecord(iriOfRecordKey(key), value);
        if (record.blob) facts.set(record.blob, blobFacts(record));
      }
  }
  const told = progress('Copying blobs');
  let [copied, done] = [0, 0];
  const blobs = await blobsAt(location);
  const copy = async (name: string): Promise<void> => {
    const to = blobFile(folder, name);
    const isCopied = location.s3
      ? await fetchOnce(blobs, facts.get(name), to)
      : await copyFileOnce(blobFile(location.dataDir, name), to);
    if (isCopied === undefined)
      throw new BackupError(
        `The blob ${name} of the storage is missing. Run "quadpod check" when the server is stopped.`,
      );
    if (isCopied) copied++;
    told(++done, names.size);
  };
  try {
    await atOnce(names, blobs.atOnce, copy);
  } finally {
    blobs.close();
  }
  return { names, copied, entries };
}

const copyFileOnce = async (from: string, to: string): Promise<boolean | undefined> =>
  existsSync(from) ? copyOnce(from, to, statSync(from).size) : undefined;

/** @returns `undefined` when the blob is missing @throws BackupError when it is not what was stored, or cannot be had */
async function fetchOnce(blobs: Blobs, facts: BlobFacts | undefined, to: string): Promise<boolean | undefined> {
  if (!facts) return undefined;
  const write = async (part: string): Promise<void> =>
    pipeline(await blobs.read(facts), createWriteStream(part, { flags: 'wx', mode: 0o600 }));
  try {
    return await makeOnce(to, write, facts.size);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof LwsError) throw new BackupError(`${blobs.name}: ${error.reason ?? error.message}`);
    throw error instanceof DamagedBlobError ? new BackupError(error.message) : error;
  }
}
