/**
 * RDF documents and JSON documents as work: parsing, rendering, updating. Small ones are done at once, large ones and all full SPARQL
 * updates in worker threads, so that the HTTP thread never stalls.
 */
import { LwsError, tooBusy } from '../errors.js';
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
import { type ResultOf, ThreadEnded } from '../threads/messages.js';
import type { CallOptions, Thread } from '../threads/thread.js';
import { affordable } from '../threads/thread-limits.js';
import { WorkerPool } from '../threads/worker-pool.js';
import {
  type EncodedDocument,
  endedUpdate,
  linesAtATime,
  type MissingContext,
  type PackedDelta,
  tasks,
} from './document-tasks.js';
import type { DocumentFunctions } from './document-worker.js';
import type { RemoteContexts } from './remote-contexts.js';

/** What `Documents` are made with and given. */
export interface DocumentsOptions {
  /** Where JSON-LD contexts come from that do not ship; absent: from nowhere. */
  readonly remoteContexts?: RemoteContexts;
  /** Milliseconds after which a SPARQL update is ended. */
  readonly updateTimeoutMs: number;
  /** Milliseconds after which any other task in a worker is ended. */
  readonly taskTimeoutMs?: number;
  /** What a document may become. */
  readonly bounds?: Bounds;
}

/** Whose work it is: clients take turns, and those of a lower rank come first. */
export interface Sender {
  readonly client: string;
  readonly rank: number;
}

/** Whose work an instance hands over. */
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

/** The threads that documents are worked on in, and who gets one. */
export interface Pools {
  readonly large: DocumentPool;
  readonly updates: DocumentPool;
  /** Documents of other servers do not delay writes. */
  readonly foreign: DocumentPool;
}

type DocumentPool = WorkerPool<DocumentFunctions>;

/** A task for a thread, by the name of its function. */
interface Task<Name extends keyof DocumentFunctions> {
  readonly name: Name;
  readonly given: Parameters<DocumentFunctions[Name]>[0];
  readonly moves?: readonly ArrayBuffer[];
  readonly client?: string | undefined;
  readonly deadlineMs?: number | undefined;
}

/** Callers with control of the storage always find a thread. */
const ranks = [2, 1, 1];

/** The threads of a server; none is started yet. */
export function makePools(): Pools {
  const script = new URL('./document-worker.js', import.meta.url);
  return {
    large: new WorkerPool({ script, size: 2, ranks, queue: 200, idleMs: 20_000, memoryMb: 2048, nurseryMb: 8 }),
    updates: new WorkerPool({
      script,
      size: 2,
      ranks: [2, 2, 1],
      queue: 100,
      memoryMb: 1024,
      nurseryMb: 8,
      graceMs,
      // Where memory is scarce, none waits for what may come.
      ...(affordable(1) === 0 && { idleMs: 20_000 }),
      data: { engine: true },
    }),
    foreign: new WorkerPool({ script, size: 1, queue: 16, idleMs: 20_000, memoryMb: 256, nurseryMb: 8 }),
  };
}

/** What a client is told. */
function endedTask(name: string, error: ThreadEnded): LwsError {
  const details = { cause: error, reason: `the worker task ${name} was ended: ${error.why}` };
  if (error.why === 'busy' || error.why === 'closed')
    return tooBusy('The server has too much of such work waiting. Try again in a moment.', 5, details);
  if (error.why === 'crash')
    return new LwsError('too-busy', 'The work was interrupted. Nothing was changed; try again.', details);
  if (name === 'update') return endedUpdate(details);
  return new LwsError(
    'update-timeout',
    'The document took too long or too much memory to process. Nothing was changed; split it.',
    details,
  );
}

/** Above these sizes the work goes to a worker; below them it takes a millisecond or two. */
const inlineBytes: Readonly<Record<RdfFormat | 'application/json', number>> = {
  'text/turtle': 16_384,
  'application/trig': 16_384,
  'application/n-triples': 16_384,
  'application/n-quads': 16_384,
  // These two are several times slower, and easier to make slow on purpose.
  'application/ld+json': 6_144,
  'application/rdf+xml': 6_144,
  'application/json': 65_536,
};
const inlineTriples = 400;
const inlineUpdateBytes = 8_192;

/** An update ends itself at its deadline; what cannot be interrupted is killed with its thread so much later. */
const graceMs = 200;
const foreignTimeoutMs = 2_000;
const usualTimeoutMs = 120_000;
/** JSON-LD contexts that are fetched for one document; it is parsed again after each. */
const maxContexts = 8;

export class Documents {
  constructor(
    private readonly options: DocumentsOptions,
    private readonly pools: Pools = makePools(),
    private readonly whose: Whose = {},
  ) {}

  /** The same for the work of somebody, who is asked for where a thread has to do it. */
  sentBy(sender: () => Promise<Sender>): Documents {
    return new Documents(this.options, this.pools, { ...this.whose, sender });
  }

  /** The same for one storage of a deployment: storages take turns. */
  of(tenant: string): Documents {
    return new Documents(this.options, this.pools, { ...this.whose, tenant });
  }

  /** Loads what the first updates and searches need: a worker, and in this thread the query engine. Call it when the server listens. */
  warm(): void {
    this.pools.updates.warm();
    void loadQueryEngine();
  }

  /**
   * Parses an RDF document into the graph of a resource, with its default Turtle.
   * @throws LwsError see `parseRdf`, `encodeGraph`
   */
  async parse(bytes: Uint8Array, format: RdfFormat, graph: string): Promise<EncodedDocument> {
    const parsed = await this.parseGraph({ bytes }, format, graph);
    return { ...parsed, keys: allOf(parsed.keys) };
  }

  /** The same, where a large graph may come packed. @param given a string that nobody needs afterwards is not copied */
  async parseGraph(
    { bytes, isTaken = false }: { readonly bytes: Uint8Array; readonly isTaken?: boolean },
    format: RdfFormat,
    graph: string,
  ): Promise<EncodedDocument<GraphKeys>> {
    const { bounds, remoteContexts } = this.options;
    const contexts: Record<string, string> = {};
    for (let fetched = 0; ; fetched++) {
      const parsed =
        bytes.length <= inlineBytes[format]
          ? await tasks.parse({ bytes, format, graph, bounds, contexts })
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
   * The GSPO keys of a document of another server, which is given two seconds; documents of different hosts take turns.
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
    const task = { name: 'parse', given, moves: [bytes.buffer], client, deadlineMs } as const;
    const parsed = await this.inThread(pool, task);
    if ('missing' in parsed || 'keys' in parsed) return parsed;
    const { packed, ...rest } = parsed;
    return { ...rest, keys: new PackedKeys(packed.length, packed.chunks) };
  }

  /** Writes a graph; RDF that RDF/XML cannot express comes as `undefined`. */
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

  /** @throws LwsError `malformed-body` when the bytes are no JSON, `too-large` for too many values */
  checkJson(bytes: Uint8Array): Promise<void> {
    return this.ofJson('checkJson', bytes);
  }

  /** Whether a JSON Patch tests what a document holds. @throws LwsError as `checkJson` */
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
    return this.inThread<Name>(this.pools.large, { name, given: { bytes: copy, most } as never, moves: [copy.buffer] });
  }

  /**
   * A JSON document after a patch.
   * @throws LwsError `malformed-body` for a bad patch, `patch-conflict` for one that does not apply
   */
  async patchJson(bytes: Uint8Array, patch: Uint8Array, merge: boolean): Promise<Uint8Array> {
    const most = this.options.bounds?.values;
    if (bytes.length + patch.length <= inlineBytes['application/json'])
      return tasks.patchJson({ bytes, patch, merge, most });
    const copy = owned(bytes);
    const task = { name: 'patchJson', given: { bytes: copy, patch, merge, most }, moves: [copy.buffer] } as const;
    return this.inThread(this.pools.large, task);
  }

  /**
   * Evaluates an update of one graph. At most 8 KiB of text that only names triples are read here. Everything else runs in a worker thread, over a
   * snapshot that the thread opens.
   * @returns the change, of any state unless it has a revision. Without a store: `undefined` if the update does more than name triples
   * @throws LwsError `update-timeout` when the deadline passes, `too-busy`, and as `evaluateUpdate` of `lib/query`
   */
  async evaluateUpdate(
    update: SentUpdate,
    target: UpdateTarget,
    store?: Pick<Store, 'level'>,
  ): Promise<GraphDelta | undefined> {
    const { updateTimeoutMs: timeoutMs, taskTimeoutMs = usualTimeoutMs } = this.options;
    const task = { ...update, target, timeoutMs };
    if (store) return this.updateIn(this.pools.updates, { ...task, folder: folderOf(store.level) });
    const read = update.text.length <= inlineUpdateBytes ? readPlain(update, target.graph) : undefined;
    const delta = read && (await dataDelta(read, target));
    if (delta || target.inlineOnly) return delta;
    return this.updateIn(this.pools.large, { ...task, timeoutMs: taskTimeoutMs });
  }

  private async updateIn(pool: DocumentPool, given: Task<'update'>['given']): Promise<GraphDelta | undefined> {
    const delta = await this.inThread(pool, { name: 'update', given, deadlineMs: given.timeoutMs + graceMs });
    if (!delta) return undefined;
    // Between threads, objects lose their classes.
    const keysOf = (side: PackedDelta['added']) => unpackedSoon(new PackedKeys(side.length, side.chunks));
    return { ...delta, added: await keysOf(delta.added), removed: await keysOf(delta.removed) };
  }

  /** @param length of the update @throws LwsError `too-large` when a graph has grown beyond what is possible */
  assertGrown(growth: Growth, length: number): void {
    assertGrown(growth, length, this.options.bounds ?? usualBounds);
  }

  /** Whether a graph of that size is written out at once, so that it may be inside a transaction. */
  isSmall(triples: number): boolean {
    return triples <= inlineTriples;
  }

  /** Ends all updates, because they have LevelDB open. Later ones wait until the returned function is called. */
  pauseUpdates(): Promise<() => void> {
    return this.pools.updates.pause();
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool: DocumentPool) => pool.close()));
  }

  private async inThread<Name extends keyof DocumentFunctions>(
    pool: DocumentPool,
    { client, ...task }: Task<Name>,
  ): Promise<ResultOf<DocumentFunctions[Name]>> {
    const { taskTimeoutMs = usualTimeoutMs } = this.options;
    const sender = await this.whose.sender?.();
    try {
      return await pool.run({
        ...sender,
        tenant: this.whose.tenant,
        ...(client === undefined ? {} : { client }),
        work: (thread) => perform(thread, { deadlineMs: taskTimeoutMs, ...task }),
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
  // What the task has left in the memory of the thread goes with the thread alone.
  if (value && typeof value === 'object' && 'packed' in value) void thread.end();
  // Those that came before are the first ones.
  return keys.length === 0
    ? value
    : ({ ...(value as object), keys: keys.concat((value as EncodedDocument).keys) } as typeof value);
}

/** Bytes that a thread may take away: those of a Buffer may be part of others', and are the caller's unless nobody needs them. */
const owned = (bytes: Uint8Array, isTaken = false): Uint8Array<ArrayBuffer> =>
  isTaken && isWhole(bytes) ? bytes : new Uint8Array(bytes);

const isWhole = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
