/**
 * Thread of an import: reads, encodes, and writes the batches, because it has most of their content. The HTTP thread authorizes
 * each item.
 */
import type { Blobs } from '../../../lib/storage/blobs/blobs.js';
import { blobsAt } from '../../../lib/storage/blobs/blobs-at.js';
import { type Level, openLevel, PreparedBatch } from '../../../lib/storage/level/durable-level.js';
import { slices } from '../../../lib/tools/collections.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { acquire, type Caller, isEnding, serve, threadData } from '../../../lib/tools/threads/worker-host.js';
import { BlockBuilder, type BuiltBlock } from './block-builder.js';
import type { BlockPart, BlockWrite, ImportTask, Operation, ReadPart } from './blocks.js';
import { Formats } from './formats/index.js';

/** Maximum count of blocks that wait for the HTTP thread or the disk while the next block is read. */
const maxWaiting = 3;
const itemsAtATime = 100;
const quadsAtATime = 2000;

const task = threadData as ImportTask;
/** LevelDB; undefined in a dry run. */
let level: Level | undefined;
const waiting = new Map<number, BuiltBlock>();
/** Operations of the next batch that were received from the HTTP thread. */
const operations: Operation[] = [];
/** Batches filled with the graphs of a block before its verdict is known. */
const prepared = new Map<number, Promise<PreparedBatch>>();
/** True if all graphs of the last block were written. The next batch is then prepared in advance. */
let isUsual = true;
let settled: (() => void) | undefined;

/** Waits until at most `most` blocks are pending, or until `isEnough` returns true. */
const room = async (most: number, isEnough = (): boolean => false): Promise<void> => {
  while (waiting.size > most && !isEnough())
    await new Promise<void>((resolve) => {
      settled = resolve;
    });
};

/** Adds the quads of some items to a batch. */
async function filled(level: Level, { keys }: BuiltBlock, items: readonly number[]): Promise<PreparedBatch> {
  const batch = new PreparedBatch(level);
  const { writer } = batch;
  let quads = 0;
  for (const index of items)
    for (const key of keys[index]!) {
      writer.put(key, '');
      if (++quads % quadsAtATime === 0) await yieldToEventLoop();
    }
  return batch;
}

const graphsOf = ({ keys }: BuiltBlock): number[] => [...keys.keys()].filter((index) => keys[index] !== undefined);

/** Prepares the batch of a block before the HTTP thread has authorized it, because mostly all graphs are written. */
function prepare(level: Level, built: BuiltBlock): void {
  if (!task.writes || !isUsual) return;
  const batch = filled(level, built, graphsOf(built));
  // `write` awaits the promise and throws. Until then a rejection must not be reported as unhandled.
  batch.catch(() => {});
  prepared.set(built.block.number, batch);
}

/** Returns the prepared batch. @param fits true if the batch can be written unchanged. Otherwise it is closed */
async function takePrepared(number: number, fits: boolean): Promise<PreparedBatch | undefined> {
  const batch = await prepared.get(number);
  prepared.delete(number);
  if (fits) return batch;
  await batch?.close();
  return undefined;
}

async function write(
  level: Level,
  built: BuiltBlock,
  { block, accepted, written, ...rest }: BlockWrite,
): Promise<void> {
  const others = [...operations.splice(0), ...rest.operations];
  const last = others.pop()!;
  isUsual = written.length === graphsOf(built).length;
  const batch = (await takePrepared(block, isUsual)) ?? (await filled(level, built, written));
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
    await takePrepared(number, false);
    await abortOthers(waiting.get(number)?.blobs ?? [], kept);
  } finally {
    settle(number);
  }
}

function settle(number: number): void {
  waiting.delete(number);
  settled?.();
}

/** Reads the source and sends its blocks. @returns true if the whole source was read */
async function read(caller: Caller<unknown, ReadPart>, blobs: Blobs | undefined): Promise<boolean> {
  const { source, name, format, mediaType, into, rewrite, cursor, seed, acls, texts } = task;
  const formats = await Formats.of(task.formats);
  const typed = mediaType === undefined ? {} : { mediaType };
  const reader = await formats.openReader({ path: source, name, ...typed, target: { into, rewrite } }, format);
  try {
    caller.tell({ total: reader.total });
    let number = 0;
    const known = { isMixed: false, listed: '' };
    const fresh = (): BlockBuilder => new BlockBuilder({ into, seed, acls, texts, blobs }, known);
    let builder = fresh();
    const send = async (): Promise<void> => {
      const built = await builder.build(number++);
      builder = fresh();
      waiting.set(built.block.number, built);
      const { items, ...rest } = built.block;
      for (const some of slices(items, itemsAtATime)) caller.tell({ items: some });
      caller.tell({ block: rest });
      if (level) prepare(level, built);
      await room(maxWaiting - 1, isEnding);
    };
    try {
      for await (const step of reader.read({ into, rewrite, ...(cursor === undefined ? {} : { cursor }) })) {
        await builder.add(step);
        if (builder.isFull) await send();
        if (isEnding()) return false;
      }
    } finally {
      // The members before an error are complete, so they are sent and stored.
      if (isEnding()) await builder.abort();
      else if (!builder.isEmpty) await send();
    }
  } finally {
    // Wait until all sent blocks are written or dropped, also after an error of the source.
    await room(0);
    await reader.close();
  }
  return true;
}

const functions = {
  /** Sends the blocks. @returns true if the whole source was read @throws TransferError, LwsError if reading fails */
  async read(_: undefined, caller: Caller<unknown, ReadPart>): Promise<boolean> {
    if (task.dryRun) return read(caller, undefined);
    level = await acquire(() => openLevel(task.level));
    return read(caller, await blobsAt(task.blobs));
  },

  /** Receives some operations of the next batch. Sending all at once would block the HTTP thread. */
  operations(some: readonly Operation[]): void {
    operations.push(...some);
  },

  /** Returns all keys of some items. */
  keysOf({ block, items }: BlockPart): readonly (readonly string[])[] {
    const { keys } = waiting.get(block)!;
    return items.map((index) => keys[index] ?? []);
  },

  /** Writes a batch. After a failure, the batch may have been stored, so its blobs are kept until the next start. */
  async write(given: BlockWrite): Promise<void> {
    try {
      await write(level!, waiting.get(given.block)!, given);
    } finally {
      settle(given.block);
    }
  },

  /** Drops a block. Removes its blobs, except those of the given items. */
  drop: ({ block, items }: BlockPart) => drop(block, items),

  /** Drops all blocks. The HTTP thread sends no further verdicts. */
  async abandon(): Promise<void> {
    await Promise.all([...waiting.keys()].map((number) => drop(number, [])));
  },
};

export type ImportFunctions = typeof functions;

serve(functions);
