/**
 * Tasks on RDF and JSON documents: parsing, serializing, updating. Small tasks run directly. Large tasks, and SPARQL updates
 * with a WHERE, run in worker threads, so that they do not block the HTTP thread.
 */

import type { GraphDelta } from '../query/change-set.js';
import { dataDelta, readPlain } from '../query/data-delta.js';
import type { SentUpdate, UpdateTarget } from '../query/parse/read-update.js';
import { loadQueryEngine } from '../query/query-engine.js';
import { assertGrown, type Bounds, type Growth, usualBounds } from '../rdf/bounds.js';
import { UnknownContext } from '../rdf/contexts.js';
import type { RdfFormat } from '../rdf/formats.js';
import { hasParts } from '../rdf/parse-in-parts.js';
import { allOf, type GraphKeys, PackedKeys, unpackedSoon } from '../storage/keys/graph-keys.js';
import { folderOf } from '../storage/level/shared-level.js';
import type { Store } from '../storage/transactions/store.js';
import { LwsError, tooBusy } from '../tools/errors.js';
import { usualValues } from '../tools/json/json.js';
import { type ResultOf, ThreadEnded } from '../tools/threads/messages.js';
import { owned } from '../tools/threads/owned-bytes.js';
import type { CallOptions, Thread } from '../tools/threads/thread.js';
import { affordable } from '../tools/threads/thread-limits.js';
import { WorkerPool } from '../tools/threads/worker-pool.js';
import {
  type EncodedDocument,
  endedUpdate,
  type GivenDocument,
  linesAtATime,
  type MissingContext,
  type PackedDelta,
  tasks,
} from './document-tasks.js';
import type { DocumentFunctions } from './document-worker.js';
import type { RemoteContexts } from './remote-contexts.js';
import { untilResumed, withLevel } from './update-gate.js';

/** Dependencies and limits of `Documents`. */
export interface DocumentsOptions {
  /** Source of JSON-LD contexts that do not ship with the server (default: none). */
  readonly remoteContexts?: RemoteContexts;
  /** Timeout of a SPARQL update, in milliseconds. */
  readonly updateTimeoutMs: number;
  /** Timeout of any other task in a worker, in milliseconds. */
  readonly taskTimeoutMs?: number;
  /** Limits of parsed documents. */
  readonly bounds?: Bounds;
}

/** Client for which a task is queued. Lower ranks are served first. Clients of the same rank are served in round robin. */
export interface Sender {
  readonly client: string;
  readonly rank: number;
}

/** Client and tenant (storage) for which an instance queues its tasks. */
interface Whose {
  readonly sender?: () => Promise<Sender>;
  readonly tenant?: string;
}

export interface DocumentBounds {
  readonly format: RdfFormat;
  readonly graph: string;
  readonly client?: string;
  readonly deadlineMs?: number;
  readonly contexts?: Readonly<Record<string, string>>;
}

/** Worker pools for documents. */
export interface Pools {
  readonly large: DocumentPool;
  readonly updates: DocumentPool;
  /** Pool for documents of other servers, which must not delay writes. */
  readonly foreign: DocumentPool;
}

type DocumentPool = WorkerPool<DocumentFunctions>;

/** Task for a thread: name and arguments of a function. */
interface Task<Name extends keyof DocumentFunctions> {
  readonly name: Name;
  readonly given: Parameters<DocumentFunctions[Name]>[0];
  readonly moves?: readonly ArrayBuffer[];
  readonly client?: string | undefined;
  readonly deadlineMs?: number | undefined;
  /** Length of the JSON texts in bytes. */
  readonly json?: number;
}

/** Maximum memory in bytes: of running JSON tasks, of texts that wait for them, and of a task whose thread is reused. */
const [memoryOfJson, waitingJson, memoryOfThread] = [affordable(1280 << 20), affordable(256 << 20), 128 << 20];

/** Returns the estimated memory of a JSON task in bytes. Measured with 2 000 000 values in 64 MiB, and in 4 MiB. */
const memoryFor = (length: number, values = usualValues): number => 12 * length + 80 * Math.min(length / 2, values);

/** Maximum count of threads for each rank, so that a thread is always available for callers with control of the storage. */
const ranks = [2, 1, 1];

/** Creates the pools without starting a thread. */
export function makePools(): Pools {
  const script = new URL('./document-worker.js', import.meta.url);
  return {
    large: new WorkerPool({
      ...{ script, size: 2, ranks, queue: 200, idleMs: 20_000, memoryMb: 2048, nurseryMb: 8 },
      ...{ memoryOfAll: memoryOfJson, heldByAll: waitingJson },
    }),
    updates: new WorkerPool({
      script,
      size: 2,
      ranks: [2, 2, 1],
      queue: 100,
      memoryMb: 1024,
      nurseryMb: 8,
      graceMs,
      // If memory is scarce, idle threads end early.
      ...(affordable(1) === 0 && { idleMs: 20_000 }),
      data: { engine: true },
    }),
    foreign: new WorkerPool({ script, size: 1, queue: 16, idleMs: 20_000, memoryMb: 256, nurseryMb: 8 }),
  };
}

/** Returns the error for the client if the thread of a task ended. */
function endedTask(name: string, error: ThreadEnded): LwsError {
  const details = { cause: error, reason: `the worker task ${name} was ended: ${error.why}` };
  if (error.why === 'busy' || error.why === 'closed')
    return tooBusy('Too many document tasks are waiting. Retry in a few seconds.', 5, details);
  if (error.why === 'crash')
    return new LwsError('too-busy', 'The task was interrupted. Nothing was changed. Retry the request.', details);
  if (name === 'update') return endedUpdate(details);
  return new LwsError(
    'update-timeout',
    'Processing the document exceeded the time or memory limit. Nothing was changed. Split the document.',
    details,
  );
}

/** Maximum sizes for work in the HTTP thread, where it takes up to 2 ms. Larger documents are sent to a worker. */
const inlineBytes: Readonly<Record<RdfFormat | 'application/json', number>> = {
  'text/turtle': 16_384,
  'application/trig': 16_384,
  'application/n-triples': 16_384,
  'application/n-quads': 16_384,
  // Lower limits, because these formats are several times slower and easier to use for attacks.
  'application/ld+json': 6_144,
  'application/rdf+xml': 6_144,
  'application/json': 65_536,
};
const inlineTriples = 400;
const inlineUpdateBytes = 8_192;

/** Time between the timeout of an update and the end of its thread, in milliseconds: some work cannot be interrupted. */
const graceMs = 200;
const foreignTimeoutMs = 2_000;
const usualTimeoutMs = 120_000;
/** Maximum count of JSON-LD contexts fetched for a document. After each fetch, the document is parsed again. */
const maxContexts = 8;

export class Documents {
  constructor(
    private readonly options: DocumentsOptions,
    private readonly pools: Pools = makePools(),
    private readonly whose: Whose = {},
  ) {}

  /** Returns an instance for a client. `sender` is called only when a task needs a thread. */
  sentBy(sender: () => Promise<Sender>): Documents {
    return new Documents(this.options, this.pools, Object.assign({}, this.whose, { sender }));
  }

  /** Returns an instance for one storage of a deployment. The tasks of storages are run in round robin. */
  of(tenant: string): Documents {
    return new Documents(this.options, this.pools, { ...this.whose, tenant });
  }

  /** Preloads a worker for updates, and the query engine of this thread. To be called when the server is listening. */
  warm(): void {
    this.pools.updates.warm();
    void loadQueryEngine();
  }

  /** Parses an RDF document into the graph of a resource, with its default Turtle. @throws LwsError see `parseRdf`, `encodeGraph` */
  async parse(bytes: Uint8Array, format: RdfFormat, graph: string): Promise<EncodedDocument> {
    const parsed = await this.parseGraph({ bytes }, format, graph);
    return { ...parsed, keys: allOf(parsed.keys) };
  }

  /** Like `parse`, but a large graph may be returned packed, and without its Turtle. */
  async parseGraph(
    { bytes, isTaken = false, sizeOnly }: GivenDocument,
    format: RdfFormat,
    graph: string,
  ): Promise<EncodedDocument<GraphKeys>> {
    const { bounds, remoteContexts } = this.options;
    const contexts: Record<string, string> = {};
    for (let fetched = 0; ; fetched++) {
      const parsed =
        bytes.length <= inlineBytes[format]
          ? await tasks.parse({ bytes, format, graph, sizeOnly, bounds, contexts })
          : await this.parseIn(this.pools.large, owned(bytes, isTaken && hasParts(format)), {
              format,
              graph,
              contexts,
            });
      if (!('missing' in parsed)) return parsed;
      const { missing } = parsed;
      const text = fetched < maxContexts ? await remoteContexts?.(missing) : undefined;
      if (text === undefined) throw new UnknownContext(missing);
      contexts[missing] = text;
    }
  }

  /**
   * Returns the GSPO keys of a document of another server. The timeout is two seconds. Hosts are served in round robin.
   * @throws LwsError see `parse`
   */
  async parseForeign(bytes: Uint8Array, format: RdfFormat, url: string): Promise<readonly string[]> {
    const parsed = await this.parseIn(this.pools.foreign, owned(bytes), {
      format,
      graph: url,
      client: new URL(url).host,
      deadlineMs: foreignTimeoutMs,
    });
    if ('missing' in parsed) throw new UnknownContext(parsed.missing);
    return allOf(parsed.keys);
  }

  private async parseIn(
    pool: DocumentPool,
    bytes: Uint8Array<ArrayBuffer>,
    { client, deadlineMs, ...document }: DocumentBounds,
  ): Promise<EncodedDocument<GraphKeys> | MissingContext> {
    const given = { ...document, bytes, bounds: this.options.bounds };
    // The length is read before the transfer to a thread, which empties the array.
    const json = document.format === 'application/ld+json' ? bytes.length : 0;
    const task = { name: 'parse', given, moves: [bytes.buffer], client, deadlineMs, json } as const;
    const parsed = await this.inThread(pool, task);
    if ('missing' in parsed || 'keys' in parsed) return parsed;
    const { packed, ...rest } = parsed;
    return { ...rest, keys: new PackedKeys(packed.length, packed.chunks) };
  }

  /** Serializes a graph. Returns `undefined` if the format cannot express the graph. */
  async render(
    keys: readonly string[],
    format: RdfFormat,
    graph: string,
    prefixes: Readonly<Record<string, string>>,
  ): Promise<Uint8Array | undefined> {
    if (keys.length <= inlineTriples) return tasks.render({ lines: keys, format, graph, prefixes });
    const given = { lines: keys, format, graph, prefixes };
    return this.inThread(this.pools.large, { name: 'render', given });
  }

  /**
   * Returns a small graph in which blank nodes keep their labels from another graph.
   * @param others keys of the other graph that contain blank nodes
   */
  async keepLabels(document: EncodedDocument, others: readonly string[], graph: string): Promise<EncodedDocument> {
    const { keys, prefixes } = document;
    const given = { lines: [...others, ...keys], count: others.length, graph, prefixes };
    if (given.lines.length <= inlineTriples) return { ...document, ...tasks.keepLabels(given) };
    return { ...document, ...(await this.inThread(this.pools.large, { name: 'keepLabels', given })) };
  }

  /** Asserts that bytes are JSON. @throws LwsError `malformed-body` if not, `too-large` for too many values */
  checkJson(bytes: Uint8Array): Promise<void> {
    return this.ofJson('checkJson', bytes);
  }

  /** Returns true if the effect of a JSON Patch depends on the document. @throws LwsError as `checkJson` */
  readsContent(bytes: Uint8Array): Promise<boolean> {
    return this.ofJson('readsContent', bytes);
  }

  private async ofJson<Name extends 'checkJson' | 'readsContent'>(
    name: Name,
    bytes: Uint8Array,
  ): Promise<ResultOf<DocumentFunctions[Name]>> {
    const most = this.options.bounds?.values;
    if (bytes.length <= inlineBytes['application/json']) return tasks[name]({ bytes, most }) as never;
    const copy = owned(bytes);
    const task = { name, given: { bytes: copy, most } as never, moves: [copy.buffer], json: copy.length };
    return this.inThread<Name>(this.pools.large, task);
  }

  /** Applies a patch to JSON. @throws LwsError `malformed-body` for an invalid patch, `patch-conflict` if it does not apply */
  async patchJson(bytes: Uint8Array, patch: Uint8Array, merge: boolean): Promise<Uint8Array> {
    const most = this.options.bounds?.values;
    if (bytes.length + patch.length <= inlineBytes['application/json'])
      return tasks.patchJson({ bytes, patch, merge, most });
    // Copies are transferred to the thread. Cloning a patch of 60 MB would take 0.5 s.
    const given = { bytes: owned(bytes), patch: owned(patch), merge, most };
    const moves = [given.bytes.buffer, given.patch.buffer];
    const json = bytes.length + patch.length;
    return this.inThread(this.pools.large, { name: 'patchJson', given, moves, json });
  }

  /**
   * Evaluates an update of one graph. If the update has at most 8 KiB and only triples without variables, it is parsed in this
   * thread. Otherwise, a worker thread evaluates it on a snapshot that the thread opens.
   * @returns the change, valid for any state unless it has a revision. Without a store, returns `undefined` if the update
   * contains more than triples without variables
   * @throws LwsError `update-timeout`, `too-busy`, and as `evaluateUpdate` of `lib/query`
   */
  async evaluateUpdate(
    update: SentUpdate,
    target: UpdateTarget,
    store?: Pick<Store, 'level'>,
  ): Promise<GraphDelta | undefined> {
    const { updateTimeoutMs: timeoutMs, taskTimeoutMs = usualTimeoutMs } = this.options;
    const task = { target, timeoutMs, ...update };
    if (store) {
      const folder = folderOf(store.level);
      await untilResumed(folder);
      return this.updateIn(this.pools.updates, { ...task, folder });
    }
    const read = update.text.length <= inlineUpdateBytes ? readPlain(update, target.graph) : undefined;
    const delta = read && (await dataDelta(read, target));
    if (delta || target.inlineOnly) return delta;
    return this.updateIn(this.pools.large, { ...task, timeoutMs: taskTimeoutMs });
  }

  private async updateIn(pool: DocumentPool, given: Task<'update'>['given']): Promise<GraphDelta | undefined> {
    const delta = await this.inThread(pool, { name: 'update', given, deadlineMs: given.timeoutMs + graceMs });
    if (!delta) return undefined;
    // Restores the class of the keys, which a message between threads loses.
    const keysOf = (side: PackedDelta['added']) => unpackedSoon(new PackedKeys(side.length, side.chunks));
    return { ...delta, added: await keysOf(delta.added), removed: await keysOf(delta.removed) };
  }

  /** Asserts the limits of a graph after an update. @param length characters of the update @throws LwsError `too-large` */
  assertGrown(growth: Growth, length: number): void {
    assertGrown(growth, length, this.options.bounds ?? usualBounds);
  }

  /** True if a graph with this triple count can be serialized inside a transaction. */
  isSmall(triples: number): boolean {
    return triples <= inlineTriples;
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool: DocumentPool) => pool.close()));
  }

  private async inThread<Name extends keyof DocumentFunctions>(
    pool: DocumentPool,
    { client, json = 0, ...task }: Task<Name>,
  ): Promise<ResultOf<DocumentFunctions[Name]>> {
    const { taskTimeoutMs = usualTimeoutMs, bounds } = this.options;
    const memory = memoryFor(json, bounds?.values);
    const sender = await this.whose.sender?.();
    const { folder } = task.given as { readonly folder?: string };
    try {
      return await pool.run({
        ...sender,
        tenant: this.whose.tenant,
        ...(client === undefined ? {} : { client }),
        ...{ memory, held: json },
        work: (thread) => {
          const work = async () => {
            try {
              return await perform(thread, { deadlineMs: taskTimeoutMs, ...task });
            } finally {
              // The memory of a thread is released only when the thread ends.
              if (memory > memoryOfThread) void thread.end();
            }
          };
          return folder === undefined ? work() : withLevel(folder, thread, work);
        },
      });
    } catch (error) {
      throw error instanceof ThreadEnded ? endedTask(task.name, error) : error;
    }
  }
}

async function perform<Name extends keyof DocumentFunctions>(
  thread: Thread<DocumentFunctions>,
  { name, given, moves = [], deadlineMs }: Task<Name>,
): Promise<ResultOf<DocumentFunctions[Name]>> {
  const keys: string[] = [];
  const take = (some: readonly string[]): void => {
    for (const key of some) keys.push(key);
  };
  const { lines = [] } = given as { readonly lines?: readonly string[] };
  let at = 0;
  for (; lines.length - at > linesAtATime; at += linesAtATime)
    await thread.call('lines', lines.slice(at, at + linesAtATime));
  const options = { take, moves, deadlineMs } as CallOptions<DocumentFunctions[Name]>;
  const value = await thread.call(name, { ...given, lines: lines.slice(at) }, options);
  // After a large graph, the thread ends, since its memory is not released earlier.
  if (value && typeof value === 'object' && 'packed' in value) void thread.end();
  // `keys` contains the lines that were sent before the result.
  return keys.length === 0
    ? value
    : ({ ...(value as object), keys: keys.concat((value as EncodedDocument).keys) } as typeof value);
}
