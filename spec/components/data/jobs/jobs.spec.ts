/** Jobs without a server: slots, the runner and its routes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { jobRoutes } from '../../../../components/data/jobs/job-routes.js';
import { type Job, JobRunner, type JobState } from '../../../../components/data/jobs/job-runner.js';
import type { CallerClass } from '../../../../lib/authorization/authorizer.js';
import { Slots } from '../../../../lib/component/slots.js';
import type { Reply } from '../../../../lib/http/reply.js';
import type { Route } from '../../../../lib/http/route.js';
import type { LwsError } from '../../../../lib/tools/errors.js';

interface State extends JobState {
  steps: number;
}

/** Job that the spec ends. */
class ManualJob implements Job<State> {
  private settle!: { done(): void; fail(error: Error): void };
  private readonly ended = new Promise<void>((done, fail) => {
    this.settle = { done, fail };
  });

  constructor(readonly state: State) {}

  run(): Promise<void> {
    return this.ended;
  }

  finish(): void {
    this.settle.done();
  }

  fail(message: string): void {
    this.settle.fail(new Error(message));
  }

  async stop(): Promise<void> {
    this.fail('stopped');
  }
}

class ManualJobs extends JobRunner<ManualJob> {
  readonly deleted: string[] = [];
  readonly stored: State[] = [];
  isFull = false;
  job: ManualJob | undefined;

  async begin(began = 0): Promise<State> {
    return this.receiveFile((async function* () {})(), () => {}, began);
  }

  receiveFile(body: AsyncIterable<Uint8Array>, check: (size: number) => unknown, began = 0): Promise<State> {
    return this.receive(body, check, async (id) => this.run({ id, began, status: 'running', steps: 0 }));
  }

  contentOf({ id }: State): string {
    return readFileSync(join(this.folder, id), 'utf8');
  }

  resume(state: State): State {
    this.assertIdle();
    return this.run({ ...state, status: 'running' });
  }

  override restore(states: readonly State[]): void {
    super.restore(states);
  }

  /** Adds a job that runs on another server. */
  hear(id: string): void {
    this.states.set(id, { id, began: 0, status: 'running', steps: 0 });
  }

  private run(state: State): State {
    this.job = new ManualJob(state);
    return this.start(this.job);
  }

  protected failed(error: unknown): Pick<JobState, 'status' | 'failure'> {
    const { message } = error as Error;
    return { status: message === 'stopped' ? 'interrupted' : 'failed', failure: message };
  }

  protected override async retain(state: State): Promise<void> {
    if (this.isFull) throw new Error('The disk is full.');
    this.stored.push(state);
  }

  protected deleteFiles(id: string): void {
    this.deleted.push(id);
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'quadpod-jobs-'));
mkdirSync(join(dataDir, 'test'));
after(() => rmSync(dataDir, { recursive: true }));

function open(slots = Slots.forControllers(2, 'tests')) {
  const errors: string[] = [];
  const pauses: (() => Promise<() => void>)[] = [];
  const platform = {
    dataDir,
    store: { beforeReopening: (pause: () => Promise<() => void>) => pauses.push(pause) },
    log: { error: (_: object, message: string) => errors.push(message) },
  };
  const jobs = new ManualJobs(platform as never, { name: 'test', slots, busy: 'Another test is running.' });
  return { jobs, errors, reopen: () => pauses[0]!() };
}

const codeOf = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return 'none';
  } catch (error) {
    return (error as LwsError).code;
  }
};

const idle = async (jobs: ManualJobs): Promise<void> => {
  while (jobs.isBusy) await new Promise((resolve) => setImmediate(resolve));
};

describe('Slots of jobs', () => {
  const total = { controller: 4, known: 3, stranger: 2 };
  const take = (slots: Slots, callerClass: CallerClass, client: string) => slots.take({ callerClass, client });

  it('limit each client and all clients of a caller class', async () => {
    const slots = new Slots(total, 'No slot is free.', { controller: 2, known: 1, stranger: 1 });
    for (const client of ['a', 'b']) take(slots, 'stranger', client);
    expect(await codeOf(() => take(slots, 'stranger', 'c'))).to.equal('too-busy');
    take(slots, 'known', 'a');
    expect(await codeOf(() => take(slots, 'known', 'a'))).to.equal('too-busy');
    take(slots, 'known', 'b');
    for (let count = 0; count < 2; count++) take(slots, 'controller', 'o');
    expect(await codeOf(() => take(slots, 'controller', 'o'))).to.equal('too-busy');
  });

  it('are free again once, however often they are released', async () => {
    const slots = Slots.forControllers(1, 'tests');
    const release = slots.take();
    expect(await codeOf(() => slots.take())).to.equal('too-busy');
    release();
    release();
    slots.take();
    expect(await codeOf(() => slots.take())).to.equal('too-busy');
    release();
    expect(await codeOf(() => slots.take())).to.equal('too-busy');
  });

  it('of controllers are for controllers only', async () => {
    const slots = Slots.forControllers(1, 'tests');
    for (const callerClass of ['known', 'stranger'] as const)
      expect(await codeOf(() => take(slots, callerClass, 'a'))).to.equal('too-busy');
  });
});

describe('A job runner', () => {
  it('runs one job at a time and stores how it ended', async () => {
    const { jobs } = open();
    const { id } = await jobs.begin();
    expect(jobs.find(id)).to.include({ status: 'running' });
    expect(await codeOf(() => jobs.begin())).to.equal('conflict');
    jobs.job!.finish();
    await idle(jobs);
    expect(jobs.stored).to.deep.equal([{ id, began: 0, status: 'done', steps: 0 }]);
    const next = await jobs.begin();
    jobs.job!.fail('no');
    await idle(jobs);
    expect(jobs.find(next.id)).to.include({ status: 'failed', failure: 'no' });
  });

  it('shares slots with other runners', async () => {
    const slots = Slots.forControllers(1, 'tests');
    const [{ jobs: first }, { jobs: second }] = [open(slots), open(slots)];
    await first.begin();
    expect(await codeOf(() => second.begin())).to.equal('too-busy');
    expect(second.deleted).to.have.length(1);
    await first.stop();
    await second.begin();
    await second.stop();
  });

  it('stops a running job by cancel, and deletes one that does not run', async () => {
    const { jobs } = open();
    const { id } = await jobs.begin();
    await jobs.cancel(id);
    expect(jobs.isBusy).to.equal(false);
    expect(jobs.find(id)).to.include({ status: 'interrupted' });
    await jobs.cancel(id);
    expect(jobs.find(id)).to.equal(undefined);
    expect(jobs.deleted).to.deep.equal([id]);
  });

  it('resumes a job that was running when the process ended', async () => {
    const { jobs } = open();
    jobs.restore([{ id: 'a', began: 1, status: 'running', steps: 3 }]);
    expect(jobs.find('a')).to.include({ status: 'interrupted' });
    jobs.resume(jobs.find('a')!);
    expect(jobs.all()).to.deep.equal([{ id: 'a', began: 1, status: 'running', steps: 3 }]);
    jobs.job!.finish();
    await idle(jobs);
    expect(jobs.find('a')).to.include({ status: 'done', steps: 3 });
  });

  it('stops its job before the store is opened again', async () => {
    const { jobs, reopen } = open();
    const { id } = await jobs.begin();
    await reopen();
    await idle(jobs);
    expect(jobs.find(id)).to.include({ status: 'interrupted' });
  });

  it('lists the newest 50 jobs, newest first', async () => {
    const { jobs } = open();
    jobs.restore(Array.from({ length: 50 }, (_, began) => ({ id: `${began}`, began, status: 'done', steps: 0 })));
    const { id } = await jobs.begin(100);
    jobs.job!.finish();
    await idle(jobs);
    const ids = jobs.all().map((state) => state.id);
    expect(ids).to.have.length(50);
    expect([ids[0], ids[1], ids.at(-1)]).to.deep.equal([id, '49', '1']);
    expect(jobs.deleted).to.deep.equal(['0']);
  });

  it('is idle again, and logs the reason, if a state cannot be stored', async () => {
    const { jobs, errors } = open();
    jobs.isFull = true;
    const { id } = await jobs.begin();
    jobs.job!.finish();
    await idle(jobs);
    expect(errors).to.deep.equal(['the state of the test could not be stored']);
    expect(jobs.find(id)).to.include({ status: 'done' });
  });

  it('deletes the files of a job whose input is refused, and is busy while it is received', async () => {
    const { jobs } = open();
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('abc');
      expect(await codeOf(() => jobs.begin())).to.equal('conflict');
      yield Buffer.from('def');
    }
    expect(jobs.contentOf(await jobs.receiveFile(body(), () => {}))).to.equal('abcdef');
    expect(jobs.deleted).to.deep.equal([]);
    await jobs.stop();
    const check = (size: number): void => {
      if (size > 3) throw Object.assign(new Error(), { code: 'too-large' });
    };
    expect(await codeOf(() => jobs.receiveFile(body(), check))).to.equal('too-large');
    expect(jobs.deleted).to.have.length(1);
    expect(jobs.isBusy).to.equal(false);
  });
});

describe('Routes of jobs', () => {
  const platform = { baseUri: 'http://h/s', systemPrefix: '/.lws' };
  function routesOf(jobs: ManualJobs, hasProgress = true) {
    const report = ({ id, status, steps }: State, isWhole: boolean): object => ({ id, status, steps, isWhole });
    return jobRoutes<State>(platform, jobs, { path: '{prefix}/tests', missing: 'none', hasProgress, report });
  }
  const ask = async (routes: readonly Route[], method: string, id: string, accept?: string): Promise<Reply> => {
    const found = routes.find(({ methods }) => methods.includes(method))!;
    return found.handle({ parameters: { id }, req: { headers: { accept } } } as never);
  };

  it('are for controllers only', () => {
    const { routes } = routesOf(open().jobs);
    expect(routes.map(({ access }) => access)).to.deep.equal(['controller', 'controller']);
  });

  it('send lines of progress that end with the job', async () => {
    const { jobs } = open();
    const { id } = await jobs.begin();
    const { fields, body } = await ask(routesOf(jobs).routes, 'GET', id, 'application/x-ndjson');
    expect(fields['Content-Type']).to.equal('application/x-ndjson');
    const lines: State[] = [];
    for await (const line of body as Readable) {
      lines.push(JSON.parse(String(line)) as State);
      if (lines.length === 1) Object.assign(jobs.job!.state, { steps: 7 });
      else jobs.job!.finish();
    }
    expect(lines[0]).to.deep.equal({ id, status: 'running', steps: 0, isWhole: false });
    expect(lines[1]).to.include({ steps: 7 });
    expect(lines.at(-1)).to.deep.equal({ id, status: 'done', steps: 7, isWhole: true });
  });

  it('report the state once, and where it is', async () => {
    const { jobs } = open();
    const state = await jobs.begin();
    for (const [hasProgress, accept] of [
      [true, 'application/json'],
      [false, 'application/x-ndjson'],
    ] as const) {
      const { body } = await ask(routesOf(jobs, hasProgress).routes, 'GET', state.id, accept);
      expect(JSON.parse(String(body))).to.deep.equal({ id: state.id, status: 'running', steps: 0, isWhole: true });
    }
    const { status, fields } = routesOf(jobs).started(202, state);
    expect(status).to.equal(202);
    expect(fields['Location']).to.equal(`http://h/s/.lws/tests/${state.id}`);
    await jobs.stop();
  });

  it('cancel a job by DELETE, and return 404 for an unknown one', async () => {
    const { jobs } = open();
    const { id } = await jobs.begin();
    const { routes } = routesOf(jobs);
    expect((await ask(routes, 'DELETE', id)).status).to.equal(204);
    expect((await ask(routes, 'DELETE', id)).status).to.equal(204);
    for (const method of ['GET', 'DELETE']) expect(await codeOf(() => ask(routes, method, id))).to.equal('not-found');
  });

  it('return 409 for DELETE of a job of another server of the storage', async () => {
    const { jobs } = open();
    jobs.hear('a');
    expect(await codeOf(() => ask(routesOf(jobs).routes, 'DELETE', 'a'))).to.equal('conflict');
  });
});
