/** Simulation of a storage in one process: the same seed gives the same steps. */
import { aclKey } from '../../lib/authorization/acl.js';
import { stageRest } from '../../lib/resources/delete.js';
import { CommitInDoubtError } from '../../lib/storage/level/commit-in-doubt.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { Store } from '../../lib/storage/transactions/store.js';
import { LwsError } from '../../lib/tools/errors.js';
import { FakeFiles } from './fake-files.js';
import { FakeLevel, LevelDisk } from './fake-level.js';
import { containers, iris, Model, predicates, root } from './model.js';
import { makeContainers, makers, type Operation } from './operations.js';
import { simulated, turn, World } from './world.js';

const beginnings = { quads: 'GSPO\u0000', lists: aclKey(''), records: 'R\u0000' };

export interface SimulationOptions {
  readonly seed: number;
  readonly steps: number;
  /** Deleted entries of LevelDB that come back, or values that change. Default: none. */
  readonly harm?: { readonly how: 'return' | 'damage'; readonly of: keyof typeof beginnings };
  /** Compares only what is read with digests, not what LevelDB has. */
  readonly withDigests?: boolean;
}

export interface Outcome {
  /** What is wrong, with the seed and the step. */
  readonly fault?: string;
  /** Number of each event. */
  readonly counts: Readonly<Record<string, number>>;
}

class Fault extends Error {}

class Simulation {
  private readonly files = new FakeFiles();
  readonly world: World;
  private readonly disk = new LevelDisk();
  private level!: FakeLevel;
  private store!: Store;
  private readonly model = new Model((blob) => this.files.isHarmed(blob));
  readonly counts: Record<string, number> = {};
  step = 0;

  constructor(private readonly options: SimulationOptions) {
    this.world = new World(options.seed, this.files);
  }

  private count(event: string): void {
    this.counts[event] = (this.counts[event] ?? 0) + 1;
  }

  async run(): Promise<void> {
    this.world.begin();
    await this.open();
    for (; this.step < this.options.steps; this.step++) {
      this.world.pass(this.world.random(20_000));
      await this.next();
      if (this.world.faults.length > 0) throw new Fault(this.world.faults.join('\n'));
    }
    await this.restart('closed');
  }

  private async next(): Promise<unknown> {
    const { world, model, store } = this;
    const kind = world.random(100);
    if (kind < 66) return this.operate();
    if (kind < 80) return this.expect('read', model.resourceFault(store, world.pick(iris)));
    if (kind < 86) return this.expect('list', model.listFault(store, world.pick(containers)));
    if (kind < 90) return this.expect('query', model.queryFault(store, world.pick(predicates)));
    if (kind < 91) return this.restart('closed');
    if (kind < 93) return this.restart(this.end());
    if (kind < 95) this.level.failNext();
    else if (kind < 97) world.isDiskFull = true;
    else return this.harm();
    await this.operate();
    world.isDiskFull = false;
    return undefined;
  }

  private end(): 'killed' | 'cut' {
    return this.world.oneIn(2) ? 'killed' : 'cut';
  }

  private async harm(): Promise<void> {
    const { harm } = this.options;
    if (harm && (await this.level.harm(harm.how, beginnings[harm.of]))) this.count('harmed entry');
  }

  private async expect(event: string, work: Promise<string | undefined>): Promise<void> {
    this.count(event);
    const isRaw = this.options.withDigests && (event === 'query' || event === 'check');
    const told = work.then((fault) => {
      if (fault !== undefined && !isRaw) throw new Fault(fault);
    });
    await this.world.finished(told);
  }

  /** Runs up to eight operations on different resources at the same time, in some steps until the process ends. */
  private async operate(): Promise<void> {
    const { world, model, store } = this;
    const free = [...iris];
    const operations: Operation[] = [];
    for (let count = 1 + world.random(8); count > 0; count--) {
      const [one, other] = [0, 1].map(() => {
        const iri = free.splice(world.random(free.length), 1)[0]!;
        return { iri, known: model.resources.get(iri) };
      });
      const made = world.pick(makers)(world, one!, other!);
      if (made) operations.push(made);
    }
    if (world.oneIn(12)) world.endAfter(1 + world.random(50));
    const doubtful = new Set(operations);
    const run = async (operation: Operation): Promise<void> => {
      try {
        // So that it also finds batches that are being written.
        for (let turns = world.random(12); turns > 0; turns--) await turn();
        await operation.run(store);
        // Nothing is acknowledged any more.
        if (world.hasEnded) return;
        model.set(operation.changes);
        this.count('operation');
      } catch (error) {
        if (error instanceof CommitInDoubtError) return this.count('commit in doubt');
        if (!(error instanceof LwsError && ['storage-full', 'too-busy'].includes(error.code))) throw error;
        this.count('refused operation');
      }
      doubtful.delete(operation);
    };
    await world.finished(Promise.all(operations.map(run)));
    world.endAfter(Number.POSITIVE_INFINITY);
    if (world.hasEnded || (store.commits.hasFailed && world.oneIn(3))) return this.restart(this.end(), doubtful);
    if (store.commits.hasFailed) await this.recover();
    await this.settle(doubtful);
  }

  /** Waits until the store accepts writes after a rejected batch. */
  private async recover(): Promise<void> {
    this.world.isDiskFull = false;
    for (let turns = 0; this.store.commits.hasFailed; turns++) {
      if (turns > 20_000) throw new Fault('The store does not accept writes again.');
      await turn();
      this.world.pass(5);
    }
    this.count('recovery');
  }

  private async settle(doubtful: Iterable<Operation>): Promise<void> {
    for (const { changes } of doubtful) await this.expect('settled operation', this.model.settle(this.store, changes));
  }

  private async restart(end: 'closed' | 'killed' | 'cut', doubtful: Iterable<Operation> = []): Promise<void> {
    const { world } = this;
    let how = end === 'closed' ? await this.close() : end;
    // The machine may end after the store was closed.
    if (how === 'closed' && world.oneIn(2)) how = 'cut';
    world.isDiskFull = false;
    for (;;) {
      this.count(how);
      this.disk.end(world, how === 'cut');
      if (how === 'cut') this.files.cut();
      if (how === 'cut') world.boot++;
      // It may end again while it opens the storage.
      world.begin(world.oneIn(4) ? 1 + world.random(60) : undefined);
      if (await this.open()) break;
      how = this.end();
    }
    world.endAfter(Number.POSITIVE_INFINITY);
    await this.settle(doubtful);
    await this.expectWhole();
  }

  /** The process ends without closing the store if the disk rejects the last batch. */
  private async close(): Promise<'closed' | 'killed'> {
    try {
      return (await this.world.finished(this.store.close())) ? 'closed' : 'killed';
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      return 'killed';
    }
  }

  /** @returns false if the process ended meanwhile */
  private async open(): Promise<boolean> {
    const { world, disk, files } = this;
    this.level = await FakeLevel.open(world, disk);
    const opened = Store.open(this.level.asLevel, files.dataDir, root).then(async (store) => {
      this.store = store;
      await store.sweep(stageRest);
      await makeContainers(store);
    });
    return world.finished(opened);
  }

  private async expectWhole(): Promise<void> {
    const { model, store } = this;
    for (const iri of iris) await this.expect('read', model.resourceFault(store, iri));
    for (const container of containers) await this.expect('list', model.listFault(store, container));
    await this.expect('query', model.queryFault(store));
    const checked = checkStore(store).then(({ faults }) => (faults.length > 0 ? faults.join('\n') : undefined));
    await this.expect('check', checked);
  }
}

/** Runs a simulation until its end, or the first fault. */
export async function simulate(options: SimulationOptions): Promise<Outcome> {
  const simulation = new Simulation(options);
  const { counts } = simulation;
  try {
    await simulated(simulation.world, () => simulation.run());
    return { counts };
  } catch (error) {
    const what = error instanceof Fault ? error.message : (error as Error).stack;
    return { counts, fault: `Seed ${options.seed}, step ${simulation.step}: ${what}` };
  }
}
