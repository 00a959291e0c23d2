/**
 * RDF documents and JSON documents as work: parsing, rendering, updating. Small ones are done at once, large ones and all full SPARQL
 * updates in worker threads, so that the HTTP thread never stalls.
 */
import { type ErrorCode, LwsError } from '../errors.js';
import { type DataChange, dataChange } from '../query/data-change.js';
import { readDataUpdate } from '../query/parse/data-update.js';
import type { ReadUpdate } from '../query/parse/read-update.js';
import { assertGrown, type Bounds, type Growth, usualBounds } from '../rdf/bounds.js';
import { UnknownContext } from '../rdf/contexts.js';
import type { RdfFormat } from '../rdf/formats.js';
import { hasParts } from '../rdf/parse-in-parts.js';
import { allOf, type GraphKeys, PackedKeys, unpackedSoon } from '../storage/graphs/graph-keys.js';
import { WorkerPool } from '../threads/worker-pool.js';
import { runTask, type Task, TaskAborted, TaskFailed, type TaskResult } from '../threads/worker-task.js';
import {
  type EncodedDocument,
  loadUpdates,
  type MissingContext,
  type PackedChange,
  type PackedDocument,
  tasks,
} from './document-tasks.js';
import type { RemoteContexts } from './remote-contexts.js';

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

export interface DocumentBounds {
  readonly format: RdfFormat;
  readonly graph: string;
  readonly client?: string;
  readonly deadlineMs?: number;
  readonly contexts?: Readonly<Record<string, string>>;
}

/** A graph as it is before an update. */
export interface GraphState {
  /** Its GSPO keys. */
  readonly keys: readonly string[];
  readonly graph: string;
  readonly prefixes: Readonly<Record<string, string>>;
}

export interface Pools {
  readonly large: WorkerPool;
  readonly updates: WorkerPool;
  /** What others sent for a stranger's word keeps nobody waiting who stores something. */
  readonly foreign: WorkerPool;
}

/** Who controls the storage always finds a thread. */
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
      workerData: { engine: true },
    }),
    foreign: new WorkerPool({ script, size: 1, queue: 16, idleMs: 20_000, memoryMb: 256, nurseryMb: 8 }),
  };
}

/** What a client is told. */
export function abortedTask(task: Task, error: TaskAborted): LwsError {
  const details = { cause: error, reason: `the worker task ${task.name} was ended: ${error.why}` };
  if (error.why === 'busy' || error.why === 'closed')
    return new LwsError('too-busy', 'The server has too much of such work waiting. Try again in a moment.', {
      ...details,
      fields: { 'Retry-After': '5' },
    });
  if (error.why === 'crash')
    return new LwsError('too-busy', 'The work was interrupted. Nothing was changed; try again.', details);
  if (task.name === 'update') return endedUpdate(details);
  return new LwsError(
    'update-timeout',
    'The document took too long or too much memory to process. Nothing was changed; split it.',
    details,
  );
}

/** @param details what belongs in the log */
export const endedUpdate = (details: { readonly cause?: unknown; readonly reason?: string } = {}): LwsError =>
  new LwsError(
    'update-timeout',
    'The update took too long or too much memory and was ended. Nothing was changed; make its WHERE narrower.',
    details,
  );

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
/** JSON-LD contexts that are fetched for one document; it is parsed again after each. */
const maxContexts = 8;

export class Documents {
  constructor(
    private readonly options: DocumentsOptions,
    private readonly pools: Pools = makePools(),
    private readonly sender?: () => Promise<Sender>,
  ) {}

  /** The same for the work of somebody, who is asked for where a thread has to do it. */
  sentBy(sender: () => Promise<Sender>): Documents {
    return new Documents(this.options, this.pools, sender);
  }

  /** Loads what the first updates and searches need, a worker and in this thread the query engine; call it when the server listens. */
  warm(): void {
    this.pools.updates.warm();
    void loadUpdates().then(({ loadQueryEngine }) => loadQueryEngine());
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
          : await this.parseIn(this.pools.large, isTaken && hasParts(format) ? bytes : owned(bytes), {
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
    pool: WorkerPool,
    bytes: Uint8Array,
    { format, graph, client, deadlineMs, contexts }: DocumentBounds,
  ): Promise<EncodedDocument<GraphKeys> | MissingContext> {
    const task = {
      name: 'parse',
      arguments: { bytes, format, graph, bounds: this.options.bounds, contexts },
      ...(client === undefined ? {} : { client }),
    };
    const { value, lines } = await this.inWorker(pool, task, deadlineMs);
    if ('missing' in (value as object)) return value as MissingContext;
    if (!('packed' in (value as object))) return { ...(value as Omit<EncodedDocument, 'keys'>), keys: lines };
    const { packed, ...document } = value as PackedDocument;
    return { ...document, keys: new PackedKeys(packed.length, packed.chunks) };
  }

  /** Writes a graph; RDF that RDF/XML cannot express comes as `undefined`. */
  async render(
    keys: readonly string[],
    format: RdfFormat,
    graph: string,
    prefixes: Readonly<Record<string, string>>,
  ): Promise<Uint8Array | undefined> {
    if (keys.length <= inlineTriples) return tasks.render({ lines: keys, format, graph, prefixes });
    const task = { name: 'render', arguments: { format, graph, prefixes }, lines: keys };
    return (await this.inWorker(this.pools.large, task)).value as Uint8Array | undefined;
  }

  /** @throws LwsError `malformed-body` when the bytes are no JSON */
  async checkJson(bytes: Uint8Array): Promise<void> {
    if (bytes.length <= inlineBytes['application/json']) tasks.checkJson({ bytes });
    else await this.inWorker(this.pools.large, { name: 'checkJson', arguments: { bytes: owned(bytes) } });
  }

  /**
   * A JSON document after a patch.
   * @throws LwsError `malformed-body` for a bad patch, `patch-conflict` for one that does not apply
   */
  async patchJson(bytes: Uint8Array, patch: Uint8Array, merge: boolean): Promise<Uint8Array> {
    if (bytes.length + patch.length <= inlineBytes['application/json']) return tasks.patchJson({ bytes, patch, merge });
    const task = { name: 'patchJson', arguments: { bytes: owned(bytes), patch, merge } };
    return (await this.inWorker(this.pools.large, task)).value as Uint8Array;
  }

  /**
   * Reads an update that only names triples and is short; any other is `undefined`, and for `update` to read.
   * @param isApplied `apply` may be called with it
   */
  async readUpdate(text: string, graph: string, isApplied: boolean): Promise<ReadUpdate | undefined> {
    const update = text.length <= inlineUpdateBytes ? readDataUpdate(text, graph) : undefined;
    // No transaction should wait for the engine to be loaded.
    if (update && isApplied) await (await loadUpdates()).loadQueryEngine();
    return update;
  }

  /** What an update does that has been read; `undefined` when it does more than name triples. */
  changeOf(update: ReadUpdate, graph: string): DataChange | undefined {
    return dataChange(update, graph);
  }

  /**
   * Reads an update of any length for what it does; `undefined` when it does more than name triples.
   * @throws LwsError see `readUpdate`
   */
  async readChange(text: string, graph: string): Promise<DataChange | undefined> {
    const task = { name: 'readChange', arguments: { text, graph } };
    const change = (await this.inWorker(this.pools.large, task)).value as PackedChange | undefined;
    if (!change) return undefined;
    // Between threads, objects lose their classes.
    const keysOf = (side: PackedChange['added']) => unpackedSoon(new PackedKeys(side.length, side.chunks));
    return { ...change, added: await keysOf(change.added), removed: await keysOf(change.removed) };
  }

  /** @param length of the update @throws LwsError `too-large` when a graph has grown beyond what is possible */
  assertGrown(growth: Growth, length: number): void {
    assertGrown(growth, length, this.options.bounds ?? usualBounds);
  }

  /** Whether `apply` answers at once for a graph of that size, so that it may run inside a transaction. */
  isSmall(triples: number): boolean {
    return triples <= inlineTriples;
  }

  /** The graph after an update that only names triples. */
  apply(update: ReadUpdate, { keys, graph, prefixes }: GraphState): Promise<EncodedDocument> {
    return tasks.apply({ update, lines: keys, graph, prefixes });
  }

  /**
   * The graph after any update, computed in a worker under a deadline.
   * @throws LwsError `update-timeout` when the deadline passes, and as `readUpdate`
   */
  async update(text: string, { keys, graph, prefixes }: GraphState): Promise<EncodedDocument> {
    const timeoutMs = this.options.updateTimeoutMs;
    const task = {
      name: 'update',
      arguments: { text, graph, prefixes, timeoutMs, bounds: this.options.bounds },
      lines: keys,
    };
    const { value, lines } = await this.inWorker(this.pools.updates, task, timeoutMs + graceMs);
    return { ...(value as Omit<EncodedDocument, 'keys'>), keys: lines };
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool: WorkerPool) => pool.close()));
  }

  private async inWorker(pool: WorkerPool, task: Task, deadlineMs?: number): Promise<TaskResult> {
    try {
      return await runTask(
        pool,
        { ...(await this.sender?.()), ...task },
        deadlineMs ?? this.options.taskTimeoutMs ?? 120_000,
      );
    } catch (error) {
      if (error instanceof TaskFailed && error.fault.code !== undefined)
        throw new LwsError(error.fault.code as ErrorCode, error.fault.message, { cause: error });
      if (error instanceof TaskAborted) throw abortedTask(task, error);
      throw error;
    }
  }
}

/** A copy that a worker may take away; the bytes of a Buffer may be part of others', and are the caller's. */
const owned = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
