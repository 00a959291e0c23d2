/** Runs one query in a thread, from the task to the end of the result: limits, questions of the thread, and backpressure. */
import type { Readable } from 'node:stream';
import type { CallerClass } from '../../../lib/authorization/authorizer.js';
import type { GraphScope } from '../../../lib/query/access/readable-graphs.js';
import type { ServiceAnswer, ServiceCall } from '../../../lib/query/access/service-call.js';
import type { MemoryIndex } from '../../../lib/query/memory/memory-index.js';
import type { SearchTexts } from '../../../lib/query/parse/text-patterns.js';
import type { PastFact } from '../../../lib/query/past-graphs.js';
import { LwsError } from '../../../lib/tools/errors.js';
import type { Thread } from '../../../lib/tools/threads/thread.js';
import { ThreadOutput } from '../../../lib/tools/threads/thread-output.js';
import type { AnswerPart, Purpose, QueryTask, TimeLimit } from './messages.js';
import { interrupted, refusalOf } from './query-errors.js';
import type { QueryFunctions } from './query-worker.js';
import { scopeMessage } from './scope-message.js';

export interface QueryJob {
  readonly task: QueryTask;
  /** Client of the query, for fair queueing. */
  readonly client: string;
  readonly callerClass: CallerClass;
  /** Returns the read access of the caller. Called after the thread has taken its snapshot, and possibly before as well. */
  readonly scope: () => Promise<GraphScope>;
  /** Returns a signal that aborts when the client disconnects. */
  readonly gone: () => AbortSignal;
  /** Authorizes graphs for which the thread has no decision. Returns one result for each IRI. */
  readonly decide: (iris: readonly string[], purpose: Purpose) => Promise<readonly boolean[]>;
  /** Calls another endpoint, at most until the query ends. */
  readonly callService: (call: ServiceCall, ended: AbortSignal) => Promise<ServiceAnswer>;
  /** Returns, for each earlier state, true if the caller may read it. Present if the task has an earlier state. */
  readonly admits?: (states: readonly PastFact[]) => Promise<readonly boolean[]>;
  /** Searches texts that the caller may read. Present if the task has a text search. */
  readonly searchTexts?: SearchTexts;
}

export interface QueryAnswer {
  readonly mediaType: string;
  readonly hint?: string | undefined;
  /** Result of the query. A small result is one buffer. */
  readonly body: Buffer | Readable;
}

/** Executor of queries: a thread, or an object with the same interface. */
export type Answerer = Pick<Thread<QueryFunctions>, 'isReady' | 'exited' | 'call' | 'end'>;

export interface QueryRules {
  readonly limit: TimeLimit;
  readonly memory?: MemoryIndex | undefined;
}

/** Maximum share of the time limit that a query waits for the index. Afterwards the response is 503 instead of 422. */
const waitShare = 0.8;

export class AskedQuery {
  private body: ThreadOutput | undefined;
  /** Aborts the calls of other endpoints. */
  private calls: AbortController | undefined;
  /** Read access with which the query was started before its snapshot was taken. */
  private presumed: GraphScope | undefined;
  private confirmed: Promise<void> | undefined;

  /** @param begun called when the result begins */
  constructor(
    private readonly job: QueryJob,
    private readonly rules: QueryRules,
    private readonly begun: (answer: QueryAnswer) => void,
  ) {}

  /** Resolves when the result has ended. @throws LwsError for the client */
  async run(thread: Answerer, gone?: AbortSignal): Promise<void> {
    try {
      this.end(await this.ask(thread, gone));
    } catch (error) {
      const refusal = refusalOf(error, this.rules.limit);
      // Wait for the confirmation, so that a result that has begun starts before the error.
      await this.confirmed?.catch(() => {});
      // After the first byte, only a reset shows the client that the result is incomplete.
      this.body?.destroy(refusal as Error);
      throw refusal;
    } finally {
      this.calls?.abort();
    }
  }

  private async ask(thread: Answerer, gone: AbortSignal | undefined): Promise<AnswerPart> {
    const { job } = this;
    const { memory, limit } = this.rules;
    let asked = memory?.asked;
    // Send the read access with the query, to save a round trip: most callers have the same access to all graphs. Not with the
    // index or a new thread, because the access may change before the query starts.
    if (!asked && thread.isReady) {
      const scope = await this.answered(job.scope());
      if (typeof scope === 'string') this.presumed = scope;
    }
    const { presumed } = this;
    const last = await thread.call(
      'answer',
      { task: job.task, limit, asked, presumed },
      {
        deadlineMs: limit.timeoutMs,
        gone,
        take: (part) => this.take(part, thread),
        answers: {
          scope: async () => ({
            scope: scopeMessage(await this.answered(job.scope())),
            changes: asked && memory?.changes(thread, asked),
          }),
          index: async () => {
            asked = await memory?.ready(waitShare * limit.timeoutMs);
            return asked;
          },
          damaged: async (why) => memory?.discard(why),
          decide: async (iris, purpose) => {
            await this.confirm();
            return this.answered(job.decide(iris, purpose));
          },
          service: async (call) => {
            await this.confirm();
            this.calls ??= new AbortController();
            return this.answered(job.callService(call, this.calls.signal));
          },
          past: async (states) => {
            await this.confirm();
            return this.answered(job.admits!(states));
          },
          texts: async (call) => {
            await this.confirm();
            return this.answered(job.searchTexts!(call));
          },
        },
      },
    );
    await this.confirm();
    return last;
  }

  /** Delays the result until the presumed read access is confirmed for the state of the snapshot. */
  private confirm(): Promise<void> | undefined {
    if (this.presumed !== undefined)
      this.confirmed ??= this.answered(this.job.scope()).then((scope) => {
        if (scope !== this.presumed) throw interrupted();
      });
    return this.confirmed;
  }

  private async take({ chunk, ...head }: AnswerPart, thread: Answerer): Promise<void> {
    const confirmed = this.confirm();
    if (confirmed) await confirmed;
    if (!this.body) {
      // The query ends when the client disconnects.
      this.body = new ThreadOutput(() => void thread.end());
      this.begun({ body: this.body, ...head });
    }
    await this.body.add(chunk);
  }

  private end({ chunk, ...head }: AnswerPart): void {
    if (this.body) {
      this.body.push(chunk);
      this.body.finish();
    } else this.begun({ body: Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), ...head });
  }

  /** Returns the answer to a question of the query. @throws LwsError if the answer fails */
  private answered<T>(promise: Promise<T>): Promise<T> {
    return promise.catch((cause: unknown) => {
      throw new LwsError('query-limit', 'The query was interrupted.', { cause });
    });
  }
}
