/** One query in one thread, from its task to the end of its answer: limits, what the thread asks for, and how fast its answer is taken. */
import type { Readable } from 'node:stream';
import type { CallerClass } from '../../../lib/authorization/authorizer.js';
import { LwsError } from '../../../lib/errors.js';
import type { GraphScope } from '../../../lib/query/access/readable-graphs.js';
import type { ServiceAnswer, ServiceCall } from '../../../lib/query/access/service-call.js';
import type { MemoryIndex } from '../../../lib/query/memory/memory-index.js';
import type { Thread } from '../../../lib/threads/thread.js';
import { ThreadOutput } from '../../../lib/threads/thread-output.js';
import type { AnswerPart, Purpose, QueryTask, TimeLimit } from './messages.js';
import { interrupted, refusalOf } from './query-errors.js';
import type { QueryFunctions } from './query-worker.js';

export interface QueryJob {
  readonly task: QueryTask;
  /** Whose query it is. */
  readonly client: string;
  readonly standing: CallerClass;
  /** What the client may read; asked, or asked again, when the thread has its snapshot. */
  readonly scope: () => Promise<GraphScope>;
  /** Aborts when the client goes away. */
  readonly gone: AbortSignal;
  /** Answers what the thread cannot decide. */
  readonly decide: (iris: readonly string[], purpose: Purpose) => Promise<readonly boolean[]>;
  /** Asks another endpoint, as long as the query runs. */
  readonly callService: (call: ServiceCall, ended: AbortSignal) => Promise<ServiceAnswer>;
}

export interface QueryAnswer {
  readonly mediaType: string;
  readonly hint?: string | undefined;
  /** A small answer comes whole. */
  readonly body: Buffer | Readable;
}

/** What answers queries: a thread of them, or what is called like one. */
export type Answerer = Pick<Thread<QueryFunctions>, 'isReady' | 'exited' | 'call' | 'end'>;

export interface QueryRules {
  readonly limit: TimeLimit;
  readonly memory?: MemoryIndex | undefined;
}

export class AskedQuery {
  private body: ThreadOutput | undefined;
  /** Ends its calls of other endpoints. */
  private calls: AbortController | undefined;
  /** The scope that the query has begun with. */
  private presumed: GraphScope | undefined;
  private confirmed: Promise<void> | undefined;

  /** @param begun is called when the answer begins */
  constructor(
    private readonly job: QueryJob,
    private readonly rules: QueryRules,
    private readonly begun: (answer: QueryAnswer) => void,
  ) {}

  /** Returns when the answer has ended. @throws what a client is told */
  async run(thread: Answerer): Promise<void> {
    try {
      this.end(await this.ask(thread));
    } catch (error) {
      const refusal = refusalOf(error, this.rules.limit);
      // What came before it is begun before it fails, however long the scope takes.
      await this.confirmed?.catch(() => {});
      // After the first byte only a broken connection says that the answer is not whole.
      this.body?.destroy(refusal as Error);
      throw refusal;
    } finally {
      this.calls?.abort();
    }
  }

  private async ask(thread: Answerer): Promise<AnswerPart> {
    const { job } = this;
    const { memory, limit } = this.rules;
    let asked = memory?.asked;
    // Saves a way there and back: what most may read is the same for everything. The changes that an index in memory needs,
    // and the time that a new thread takes, are only known when it has begun.
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
        gone: job.gone,
        take: (part) => this.take(part, thread),
        answers: {
          scope: async () => ({
            scope: await this.answered(job.scope()),
            changes: asked && memory?.changes(thread, asked),
          }),
          index: async () => {
            asked = await memory?.ready();
            return asked;
          },
          decide: async (iris, purpose) => {
            await this.confirm();
            return this.answered(job.decide(iris, purpose));
          },
          service: async (call) => {
            await this.confirm();
            this.calls ??= new AbortController();
            return this.answered(job.callService(call, this.calls.signal));
          },
        },
      },
    );
    await this.confirm();
    return last;
  }

  /** Waits with what a presumed scope has led to, until the scope, asked again, is the same. */
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
      // A client that goes away ends its query.
      this.body = new ThreadOutput(() => void thread.end());
      this.begun({ ...head, body: this.body });
    }
    await this.body.add(chunk);
  }

  private end({ chunk, ...head }: AnswerPart): void {
    if (this.body) {
      this.body.push(chunk);
      this.body.finish();
    } else this.begun({ ...head, body: Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) });
  }

  /** @throws LwsError when what the query needs to know cannot be had */
  private answered<T>(promise: Promise<T>): Promise<T> {
    return promise.catch((cause: unknown) => {
      throw new LwsError('query-limit', 'The query was interrupted.', { cause });
    });
  }
}
