/**
 * The thread of an import: it reads and encodes, and writes the batches, of which it has the greater part. What is stored is decided
 * by the thread that answers requests.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { LwsError } from '../../lib/errors.js';
import { breathe } from '../../lib/storage/batch-filling.js';
import type { Blobs } from '../../lib/storage/blobs.js';
import { blobsAt } from '../../lib/storage/blobs-at.js';
import { type Level, openLevel, writeBatch } from '../../lib/storage/durable-level.js';
import { otherKeys } from '../../lib/storage/quad-keys.js';
import { BlockBuilder, type BuiltBlock } from './block-builder.js';
import type { FromReader, ImportTask, Operation, ToReader } from './blocks.js';
import { openReader } from './formats/index.js';
import { TransferError } from './member.js';

/** Blocks that wait for their verdict while the next is read. */
const maxWaiting = 2;
const itemsAtATime = 100;
const quadsAtATime = 2000;

const task = workerData as ImportTask;
const tell = (message: FromReader): void => parentPort!.postMessage(message);
const waiting = new Map<number, BuiltBlock>();
/** Of the next batch. */
const operations: Operation[] = [];
let settled: (() => void) | undefined;

const isEnded = (): boolean => Atomics.load(task.ended, 0) !== 0;
/** Waits until so few blocks wait. */
const room = async (most: number, isEnough = (): boolean => false): Promise<void> => {
  while (waiting.size > most && !isEnough())
    await new Promise<void>((resolve) => {
      settled = resolve;
    });
};

async function write(
  level: Level,
  { keys, blobs }: BuiltBlock,
  { accepted, written }: Extract<ToReader, { write: number }>,
): Promise<void> {
  const others = operations.splice(0);
  const last = others.pop();
  await writeBatch(
    level,
    async (batch) => {
      for (const [key, value] of others) {
        if (value === null) batch.del(key);
        else batch.put(key, value);
      }
      let quads = 0;
      for (const index of written)
        for (const key of keys[index]!) {
          batch.put(key, '');
          for (const other of otherKeys(key)) batch.put(other, '');
          if (++quads % quadsAtATime === 0) await breathe();
        }
    },
    () => [last![0], last![1] ?? ''],
  );
  await abortOthers(blobs, accepted);
}

async function abortOthers(blobs: BuiltBlock['blobs'], accepted: readonly number[]): Promise<void> {
  const kept = new Set(accepted);
  await Promise.all(blobs.map((blob, index) => (kept.has(index) ? undefined : blob?.abort())));
}

async function drop(number: number, kept: readonly number[]): Promise<void> {
  try {
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

async function read(blobs: Blobs | undefined): Promise<void> {
  const { source, name, format, mediaType, into, rewrite, cursor, seed, bounds } = task;
  const reader = await openReader({ path: source, name, ...(mediaType === undefined ? {} : { mediaType }) }, format);
  try {
    tell({ total: reader.total });
    let number = 0;
    const isMixed = { isMixed: false };
    const fresh = (): BlockBuilder => new BlockBuilder({ into, seed, blobs, bounds }, isMixed);
    let builder = fresh();
    const send = async (): Promise<void> => {
      const built = await builder.build(number++);
      builder = fresh();
      waiting.set(built.block.number, built);
      const { items, ...rest } = built.block;
      for (let at = 0; at < items.length; at += itemsAtATime) tell({ items: items.slice(at, at + itemsAtATime) });
      tell({ block: rest });
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
  await read(blobs);
} catch (error) {
  const isFault = !(error instanceof TransferError || error instanceof LwsError);
  tell({ broken: isFault ? ((error as Error).stack ?? String(error)) : (error as Error).message, isFault });
} finally {
  parentPort!.close();
  await level?.close();
}
