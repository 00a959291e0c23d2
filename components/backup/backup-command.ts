/**
 * `quadpod backup DIR`: the state of the storage, its blobs and its keys, in a folder. The state of a running server is had over HTTP,
 * since LevelDB has one owner. In a folder that has a back-up already the quads of graphs that are as they were are not written again.
 */
import { createWriteStream, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CommandContext, LwsError } from '../../lib/component/basics.js';
import { type Level, makeFolder, openLevel, StoreUnavailableError } from '../../lib/component/level.js';
import { copyIn } from '../../lib/component/store.js';
import { copyBlobs } from './blob-copies.js';
import { type EarlierBackup, earlierBackup } from './earlier-backup.js';
import { BackupError } from './entries.js';
import {
  copyOnce,
  keyFiles,
  type Manifest,
  prune,
  type QuadsFile,
  quadsFile,
  syncNames,
  writeManifest,
} from './folder.js';
import type { GraphSet } from './graph-set.js';
import { RunningServer } from './running-server.js';
import { digestOfFile, readHeader, type StateFiles, writeState } from './state-file.js';

export async function backUp(context: CommandContext): Promise<number> {
  const { dataDir, operands, print } = context;
  const source = resolve(dataDir);
  const folder = resolve(operands[0]!);
  context.assertStorage();
  if (`${folder}/`.startsWith(`${source}/`))
    throw new BackupError(`A back-up does not go into the storage's own folder ${source}.`);
  await makeFolder(folder);
  let earlier = await earlierBackup(context, folder);
  const time = new Date().toISOString().replace(/[:.]/g, '-');
  const [name, quads] = ['state', 'quads'].map((part) => `${part}-${time}.gz`) as [string, string];
  const files = { state: join(folder, name), quads: join(folder, quads) };
  let server: RunningServer | undefined;
  try {
    server = await stateInto(context, files, earlier?.known);
    if (server?.isWhole) earlier = undefined;
    const blobs = await copyBlobs(context, files.state, folder);
    const keys = keyFiles(source);
    for (const key of keys) await copyOnce(join(source, key), join(folder, key));
    const { storage, version, made } = await readHeader(files.state);
    // A store of an earlier format has its quads in the state.
    const written = existsSync(files.quads) ? { name: quads, made, ...(await quadsFile(files.quads)) } : undefined;
    const manifest: Manifest = {
      ...{ 'quadpod-backup': 2, storage, version, made, state: name, sha256: await digestOfFile(files.state) },
      quads: written ? withFile(earlier?.quads ?? [], written) : [],
      ...{ entries: blobs.entries, blobs: blobs.names.size, keys },
    };
    await syncNames(folder);
    await writeManifest(folder, manifest);
    prune(folder, manifest, blobs.names);
    const secret = keys.length > 0 ? `, and the keys ${keys.join(', ')}: keep it secret` : '';
    print(
      `${folder} has the state of ${made}: ${blobs.entries} entries, ${written ? quadsTold(written, earlier) : ''}` +
        `${blobs.names.size} blobs (${blobs.copied} new)${secret}.`,
    );
    return 0;
  } finally {
    await server?.release();
  }
}

/** One without a graph is not needed after others. */
const withFile = (earlier: readonly QuadsFile[], written: QuadsFile): QuadsFile[] =>
  written.graphs === 0 && earlier.length > 0 ? [...earlier] : [...earlier, written];

function quadsTold(written: QuadsFile, earlier: EarlierBackup | undefined): string {
  const { triples, graphs } = written;
  if (!earlier) return `${triples} triples of ${graphs} graphs, `;
  if (graphs === 0) return `no graph that changed since ${earlier.made}, `;
  return `${triples} triples of ${graphs} graphs that changed since ${earlier.made} (increment ${earlier.quads.length}), `;
}

/** @returns the server that has the state, and holds its blobs, when one runs */
async function stateInto(
  context: CommandContext,
  files: StateFiles,
  known: GraphSet | undefined,
): Promise<RunningServer | undefined> {
  const progress = context.progress('Writing the state');
  const told = (entries: number): void => progress(entries, Number.POSITIVE_INFINITY);
  const level = await openLevel(join(resolve(context.dataDir), 'level')).catch((error: unknown) => {
    if (error instanceof StoreUnavailableError && error.isLocked) return undefined;
    throw error;
  });
  if (level) {
    const write = (from: Level): Promise<void> => writeState(from, files, { known, told });
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
  const server = await RunningServer.begin(context, known);
  try {
    await server.ready(told);
    for (const part of ['state', 'quads'] as const)
      await pipeline(
        Readable.fromWeb((await server.part(part)) as never),
        createWriteStream(files[part], { flags: 'wx', mode: 0o600, flush: true }),
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
  write: (level: Level) => Promise<void>,
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
