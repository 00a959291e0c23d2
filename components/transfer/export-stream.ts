/** An export as a stream of bytes: a thread writes it, and what the caller may read is decided here. */
import { resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { Access } from '../../lib/component/access.js';
import { LwsError, type Platform } from '../../lib/component/basics.js';
import { entryRange, partsOfEntry } from '../../lib/component/entries.js';
import type { AskedMode, ExportedState, ExportTask, FromExport, ToExport } from './export-messages.js';
import { openWriter } from './formats/index.js';
import { stateSpaces, TransferError } from './member.js';

export interface ExportRequest {
  /** The container that is exported. */
  readonly of: string;
  readonly format: string;
  readonly isGzip: boolean;
  readonly access: Access;
  /** The operator may read everything. */
  readonly isOperator: boolean;
  /** Milliseconds after which it is broken off, and those for which nobody need take anything of it; absent: any. */
  readonly maxMs?: number | undefined;
  readonly idleMs?: number | undefined;
}

/**
 * Begins an export. The stream fails when it cannot be finished, so that nobody takes a part for the whole.
 * @param onEnd called once, when its thread has released LevelDB
 */
export async function exportStream(platform: Platform, request: ExportRequest, onEnd: () => void): Promise<Readable> {
  const { authorizer, store, rootIri: storage } = platform;
  const { access, isOperator, of, format, isGzip, maxMs, idleMs } = request;
  const scope = isOperator ? 'everything' : await authorizer.readScope(access);
  if (scope === 'nothing') {
    onEnd();
    return emptyExport(request, storage);
  }
  // A copy, since decisions are remembered with it, and may become others.
  const allows = async (mode: AskedMode, iri: string): Promise<boolean> =>
    isOperator || (await authorizer.allows({ view: store, access: { ...access }, mode, iri }));
  // The lists of now say nothing of what was there before, and is exported.
  const decide = async (mode: AskedMode, { iri, revision }: ExportedState): Promise<boolean> => {
    if (!(await allows(mode, iri))) return false;
    const now = store.record(iri);
    return isOperator || now?.revision === revision || now?.kind === 'container';
  };
  const isController = await allows('control', storage);
  const task: ExportTask = {
    ...{ dataDir: resolve(platform.dataDir), blobs: store.blobs.location, storage, of, format, isGzip },
    ended: new Int32Array(new SharedArrayBuffer(4)),
    scope,
    isController,
    kept: isController && of !== storage ? await keptState(platform, of) : undefined,
  };
  const release = store.blobs.hold();
  const onFault = (fault: string): void => platform.log.error({ reason: fault }, 'an export failed');
  const stream = new ThreadOutput(task, { decide, onFault, idleMs });
  const tooLong = (): void => void stream.destroy(tooSlow('The export took too long. Export a part.'));
  const timer = maxMs === undefined ? undefined : setTimeout(tooLong, maxMs);
  stream.worker.once('exit', () => {
    clearTimeout(timer);
    release();
    onEnd();
  });
  return stream;
}

/** Keys of the state of components all of whose targets lie in a container. */
async function keptState({ store, readState }: Platform, of: string): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  for (const space of stateSpaces)
    for await (const entries of store.entries(entryRange(space)))
      for (const [key, value] of entries) {
        const found = readState(space, partsOfEntry(key)[1]!, JSON.parse(value));
        if (found?.targets.every((target) => target.startsWith(of))) kept.add(key);
      }
  return kept;
}

const tooSlow = (message: string): LwsError => new LwsError('too-busy', message, { fields: { 'Retry-After': '60' } });

/** Who may read nothing needs no thread, which anybody could ask for again and again. */
async function emptyExport({ of, format, isGzip }: ExportRequest, storage: string): Promise<Readable> {
  const stream = new PassThrough();
  const writer = await openWriter(format, { stream }, { of, isGzip, storage });
  writer.end().catch((error: Error) => stream.destroy(error));
  return stream;
}

interface OutputOptions {
  readonly decide: (mode: AskedMode, state: ExportedState) => Promise<boolean>;
  readonly onFault: (fault: string) => void;
  readonly idleMs: number | undefined;
}

/** What the thread writes, as fast as it is read. */
class ThreadOutput extends Readable {
  readonly worker: Worker;
  private readonly waiting: Uint8Array[] = [];
  private wantsMore = false;
  private isDone = false;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly task: ExportTask,
    private readonly options: OutputOptions,
  ) {
    super({ highWaterMark: 1 << 18 });
    this.worker = new Worker(new URL('./export-worker.js', import.meta.url), {
      workerData: task,
      resourceLimits: { maxYoungGenerationSizeMb: 64 },
    });
    this.worker.on('message', (message: FromExport) => this.hear(message));
    this.worker.once('error', (error) => this.destroy(error));
    this.worker.once('exit', () => {
      if (!this.isDone) this.destroy(new TransferError('The export was broken off.'));
    });
  }

  private tell(message: ToExport): void {
    this.worker.postMessage(message);
  }

  private hear(message: FromExport): void {
    if ('chunk' in message) this.waiting.push(message.chunk);
    else if ('question' in message) void this.answer(message.question, message.mode, message.states);
    else if ('done' in message) this.isDone = true;
    else {
      if (message.isFault) this.options.onFault(message.broken);
      this.destroy(new TransferError(message.isFault ? 'The server failed; its log says why.' : message.broken));
    }
    this.give();
  }

  private async answer(question: number, mode: AskedMode, states: readonly ExportedState[]): Promise<void> {
    const { decide } = this.options;
    try {
      this.tell({ answer: question, allowed: await Promise.all(states.map((state) => decide(mode, state))) });
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  private give(): void {
    while (this.wantsMore && this.waiting.length > 0) {
      this.wantsMore = this.push(this.waiting.shift());
      this.tell({ taken: true });
    }
    const { idleMs } = this.options;
    // It keeps a state of the store, and the blobs that it has.
    if (!this.wantsMore && idleMs !== undefined)
      this.idle ??= setTimeout(() => this.destroy(tooSlow('Nobody takes anything of the export.')), idleMs);
    if (this.isDone && this.waiting.length === 0) this.push(null);
  }

  override _read(): void {
    this.wantsMore = true;
    clearTimeout(this.idle);
    this.idle = undefined;
    this.give();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.idle);
    Atomics.store(this.task.ended, 0, 1);
    this.tell({ end: true });
    done(error);
  }
}
