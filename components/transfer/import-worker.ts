/**
 * The thread of an import: it reads and encodes, and writes the batches, of which it has the greater part. What is stored is decided
 * by the thread that answers requests.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { LwsError } from '../../lib/component/basics.js';
import { type Blobs, blobsAt } from '../../lib/component/blobs.js';
import { breathe, type Level, openLevel, PreparedBatch, putQuad } from '../../lib/component/level.js';
import { BlockBuilder, type BuiltBlock } from './block-builder.js';
import type { FromReader, ImportTask, Operation, ToReader } from './blocks.js';
import { openReader } from './formats/index.js';
import { TransferError } from './member.js';

/** Blocks that wait for their verdict, or for the disk, while the next is read. */
const maxWaiting = 3;
const itemsAtATime = 100;
const quadsAtATime = 2000;

const task = workerData as ImportTask;
const tell = (message: FromReader): void => parentPort!.postMessage(message);
const waiting = new Map<number, BuiltBlock>();
/** Of the next batch. */
const operations: Operation[] = [];
/** Batches that have the graphs of their blocks, of which nobody knows yet whether they are written. */
const prepared = new Map<number, Promise<PreparedBatch>>();
/** Whether all graphs of the last block were written. */
let isUsual = true;
let settled: (() => void) | undefined;

const isEnded = (): boolean => Atomics.load(task.ended, 0) !== 0;
/** Waits until so few blocks wait. */
const room = async (most: number, isEnough = (): boolean => false): Promise<void> => {
  while (waiting.size > most && !isEnough())
    await new Promise<void>((resolve) => {
      settled = resolve;
    });
};

/** Puts the quads of some items into a batch. */
async function filled(level: Level, { keys }: BuiltBlock, items: readonly number[]): Promise<PreparedBatch> {
  const batch = new PreparedBatch(level);
  const { writer } = batch;
  let quads = 0;
  for (const index of items)
    for (const key of keys[index]!) {
      putQuad(writer, key);
      if (++quads % quadsAtATime === 0) await breathe();
    }
  return batch;
}

const graphsOf = ({ keys }: BuiltBlock): number[] => [...keys.keys()].filter((index) => keys[index] !== undefined);

/** Mostly all graphs of a block are written: so its batch is filled while that is decided. */
function prepare(level: Level, built: BuiltBlock): void {
  if (!task.writes || !isUsual) return;
  const batch = filled(level, built, graphsOf(built));
  // Whoever writes it hears of it.
  batch.catch(() => {});
  prepared.set(built.block.number, batch);
}

async function takePrepared(number: number): Promise<PreparedBatch | undefined> {
  const batch = prepared.get(number);
  prepared.delete(number);
  return batch;
}

async function write(
  level: Level,
  built: BuiltBlock,
  { write: number, accepted, written }: Extract<ToReader, { write: number }>,
): Promise<void> {
  const others = operations.splice(0);
  const last = others.pop()!;
  let batch = await takePrepared(number);
  isUsual = written.length === graphsOf(built).length;
  if (!isUsual) {
    await batch?.close();
    batch = undefined;
  }
  batch ??= await filled(level, built, written);
  for (const [key, value] of others) {
    if (value === null) batch.writer.del(key);
    else batch.writer.put(key, value);
  }
  await batch.write([last[0], last[1] ?? ''], { sync: true });
  await abortOthers(built.blobs, accepted);
}

async function abortOthers(blobs: BuiltBlock['blobs'], accepted: readonly number[]): Promise<void> {
  const kept = new Set(accepted);
  await Promise.all(blobs.map((blob, index) => (kept.has(index) ? undefined : blob?.abort())));
}

async function drop(number: number, kept: readonly number[]): Promise<void> {
  try {
    await (await takePrepared(number))?.close();
    await abortOthers(waiting.get(number)?.blobs ?? [], kept);
  } finally {
    settle(number);
  }
}

function settle(number: number): void {
  waiting.delete(number);
  settled?.();
}

async function hear(level: Level, message: ToReader): Promise<void> {
  if ('operations' in message) operations.push(...message.operations);
  else if ('keysOf' in message) {
    const { keys } = waiting.get(message.keysOf)!;
    tell({ keysOf: message.keysOf, keys: message.items.map((index) => keys[index] ?? []) });
  } else if ('write' in message)
    try {
      await write(level, waiting.get(message.write)!, message);
      tell({ written: message.write });
    } catch (error) {
      // It may be on the disk: its blobs stay, and the store finds out when it is opened again.
      tell({ refused: message.write, message: (error as Error).message });
    } finally {
      settle(message.write);
    }
  else if ('drop' in message) await drop(message.drop, message.kept);
  else if ('abandon' in message) await Promise.all([...waiting.keys()].map((number) => drop(number, [])));
  else settled?.();
}

async function read(level: Level | undefined, blobs: Blobs | undefined): Promise<void> {
  const { source, name, format, mediaType, into, rewrite, cursor, seed, acls, bounds } = task;
  const reader = await openReader({ path: source, name, ...(mediaType === undefined ? {} : { mediaType }) }, format);
  try {
    tell({ total: reader.total });
    let number = 0;
    const known = { isMixed: false, listed: '' };
    const fresh = (): BlockBuilder => new BlockBuilder({ into, seed, acls, blobs, bounds }, known);
    let builder = fresh();
    const send = async (): Promise<void> => {
      const built = await builder.build(number++);
      builder = fresh();
      waiting.set(built.block.number, built);
      const { items, ...rest } = built.block;
      for (let at = 0; at < items.length; at += itemsAtATime) tell({ items: items.slice(at, at + itemsAtATime) });
      tell({ block: rest });
      if (level) prepare(level, built);
      await room(maxWaiting - 1, isEnded);
    };
    try {
      for await (const step of reader.read({ into, rewrite, ...(cursor === undefined ? {} : { cursor }) })) {
        await builder.add(step);
        if (builder.isFull) await send();
        if (isEnded()) return;
      }
    } finally {
      // What came before an error is whole, and stored.
      if (isEnded()) await builder.abort();
      else if (!builder.isEmpty) await send();
    }
  } finally {
    // What was sent is written here, or dropped, whatever became of the source.
    await room(0);
    await reader.close();
  }
  tell({ done: true });
}

const level = task.dryRun ? undefined : await openLevel(task.level);
try {
  const blobs = task.dryRun ? undefined : await blobsAt(task.blobs);
  parentPort!.on('message', (message: ToReader) => {
    hear(level!, message).catch((error: Error) => tell({ broken: error.stack ?? error.message, isFault: true }));
  });
  await read(level, blobs);
} catch (error) {
  const isFault = !(error instanceof TransferError || error instanceof LwsError);
  tell({ broken: isFault ? ((error as Error).stack ?? String(error)) : (error as Error).message, isFault });
} finally {
  parentPort!.close();
  await level?.close();
}
