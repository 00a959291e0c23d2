/**
 * RDF documents and JSON documents as work: parsing, rendering, updating. Small ones are done at once, large ones and all full SPARQL
 * updates in worker threads, so that the HTTP thread never stalls.
 */
import { LwsError } from '../errors.js';
import { type DataChange, dataChange } from '../query/data-change.js';
import { readDataUpdate } from '../query/parse/data-update.js';
import type { ReadUpdate } from '../query/parse/read-update.js';
import { assertGrown, type Bounds, type Growth, usualBounds } from '../rdf/bounds.js';
import { UnknownContext } from '../rdf/contexts.js';
import type { RdfFormat } from '../rdf/formats.js';
import { hasParts } from '../rdf/parse-in-parts.js';
import { allOf, type GraphKeys, PackedKeys, unpackedSoon } from '../storage/graphs/graph-keys.js';
import { type ResultOf, ThreadEnded } from '../threads/line.js';
import type { CallOptions, Thread } from '../threads/thread.js';
import { WorkerPool } from '../threads/worker-pool.js';
import {
  type EncodedDocument,
  endedUpdate,
  linesAtATime,
  loadUpdates,
  type MissingContext,
  type PackedChange,
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

/** The threads that documents are worked on in, and who gets one. */
export interface Pools {
  readonly large: DocumentPool;
  readonly updates: DocumentPool;
  /** What others sent for a stranger's word keeps nobody waiting who stores something. */
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
      data: { engine: true },
    }),
    foreign: new WorkerPool({ script, size: 1, queue: 16, idleMs: 20_000, memoryMb: 256, nurseryMb: 8 }),
  };
}

/** What a client is told. */
function endedTask(name: string, error: ThreadEnded): LwsError {
  const details = { cause: error, reason: `the worker task ${name} was ended: ${error.why}` };
  if (error.why === 'busy' || error.why === 'closed')
    return new LwsError('too-busy', 'The server has too much of such work waiting. Try again in a moment.', {
      ...details,
      fields: { 'Retry-After': '5' },
    });
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

  /** @throws LwsError `malformed-body` when the bytes are no JSON */
  async checkJson(bytes: Uint8Array): Promise<void> {
    if (bytes.length <= inlineBytes['application/json']) return tasks.checkJson({ bytes });
    const copy = owned(bytes);
    await this.inThread(this.pools.large, { name: 'checkJson', given: { bytes: copy }, moves: [copy.buffer] });
  }

  /**
   * A JSON document after a patch.
   * @throws LwsError `malformed-body` for a bad patch, `patch-conflict` for one that does not apply
   */
  async patchJson(bytes: Uint8Array, patch: Uint8Array, merge: boolean): Promise<Uint8Array> {
    if (bytes.length + patch.length <= inlineBytes['application/json']) return tasks.patchJson({ bytes, patch, merge });
    const copy = owned(bytes);
    const task = { name: 'patchJson', given: { bytes: copy, patch, merge }, moves: [copy.buffer] } as const;
    return this.inThread(this.pools.large, task);
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
    const change = await this.inThread(this.pools.large, { name: 'readChange', given: { text, graph } });
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
  async update(text: string, { keys: lines, graph, prefixes }: GraphState): Promise<EncodedDocument> {
    const timeoutMs = this.options.updateTimeoutMs;
    const given = { text, graph, prefixes, lines, timeoutMs, bounds: this.options.bounds };
    return this.inThread(this.pools.updates, { name: 'update', given, deadlineMs: timeoutMs + graceMs });
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.pools).map((pool: DocumentPool) => pool.close()));
  }

  private async inThread<Name extends keyof DocumentFunctions>(
    pool: DocumentPool,
    { client, ...task }: Task<Name>,
  ): Promise<ResultOf<DocumentFunctions[Name]>> {
    const { taskTimeoutMs = 120_000 } = this.options;
    const sender = await this.sender?.();
    try {
      return await pool.run({
        ...sender,
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
  return keys.length === 0 ? value : { ...value, keys: keys.concat((value as EncodedDocument).keys) };
}

/** Bytes that a thread may take away: those of a Buffer may be part of others', and are the caller's unless nobody needs them. */
const owned = (bytes: Uint8Array, isTaken = false): Uint8Array<ArrayBuffer> =>
  isTaken && isWhole(bytes) ? bytes : new Uint8Array(bytes);

const isWhole = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
