/** Pages of large containers: equal to a decision on every member, for the work of a page. */
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { type BaseModel, createAuthorizer, type ReadScope } from '../../../lib/authorization/authorizer.js';
import { ownerModel } from '../../../lib/authorization/owner-mode.js';
import { memberCounts, viewState } from '../../../lib/resources/member-counts.js';
import type { Storage } from '../../../lib/resources/storage.js';
import { allMembers, type MemberRequest, visibleMembers } from '../../../lib/resources/visible-members.js';
import { only, subtree, unionOfRanges, withoutRanges } from '../../../lib/storage/keys/iri-ranges.js';
import type { ResourceRecord } from '../../../lib/storage/keys/records.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { type MemoryStore, memoryStore, root, storeOnDisk } from '../../support/memory-store.js';
import { runs } from '../../support/speed.js';

const container = `${root}c/`;
const nameOf = (number: number): string => `${container}m${String(number).padStart(6, '0')}`;
const record = (iri: string, owner: string, members?: number): ResourceRecord => ({
  ...{ iri, owner, kind: members === undefined ? 'rdf' : 'container', mediaType: 'text/turtle', size: 0 },
  ...{ revision: 'r', created: 0, modified: 0 },
  ...(members === undefined ? {} : { members }),
});

/** Container whose members are readable by default, by owner, or not, except some. Counts decisions and read members. */
class World {
  readonly exceptions = new Set<string>();
  readonly work = { decisions: 0, members: 0, running: 0, mostRunning: 0 };
  /** Called when the members have been read next. */
  afterRead: () => Promise<void> = async () => {};
  readable: boolean | { readonly owner: string } = true;
  isDecided = false;

  private readonly store: Store;

  constructor(
    readonly memory: MemoryStore,
    readonly pageSize: number,
  ) {
    const { work } = this;
    const world: World = this;
    this.store = new Proxy(memory.store, {
      get(target, name) {
        if (name !== 'members' && name !== 'keys') return Reflect.get(target, name);
        return async function* (...args: unknown[]) {
          work.mostRunning = Math.max(work.mostRunning, ++work.running);
          for await (const each of Reflect.apply(target[name] as never, target, args) as AsyncIterable<unknown[]>) {
            work.members += each.length;
            const { afterRead } = world;
            world.afterRead = async () => {};
            await afterRead();
            yield each;
          }
          work.running--;
        };
      },
    });
  }

  /** Creates the members that are absent, and deletes the others. */
  change(numbers: readonly number[], owner: string): Promise<void> {
    return this.memory.store.transact((tx) => {
      let { members = 0 } = tx.record(container) ?? {};
      for (const iri of new Set(numbers.map(nameOf))) {
        const before = tx.record(iri);
        const after = record(iri, owner);
        members += before ? -1 : 1;
        if (before) tx.deleteRecord(before);
        else tx.putRecord(after);
        tx.changed(before ? { before } : { after });
      }
      tx.putRecord(record(container, 'nobody', members));
    });
  }

  allows({ iri, owner }: Pick<ResourceRecord, 'iri' | 'owner'>): boolean {
    const { readable } = this;
    const isException = this.exceptions.has(iri);
    return typeof readable === 'object' ? isException || owner === readable.owner : readable !== isException;
  }

  get scope(): ReadScope {
    const { readable } = this;
    if (this.isDecided) return 'decide';
    // Exceptions that follow each other are one range.
    const next = (iri: string): string => nameOf(Number(iri.slice(-6)) + 1);
    const ranges = unionOfRanges(
      [...this.exceptions].map((iri) => ({ from: iri, to: this.exceptions.has(next(iri)) ? next(iri) : only(iri).to })),
    );
    if (readable === true) return { ranges: withoutRanges([subtree(root)], ranges) };
    return readable === false ? { ranges } : { ...readable, ranges };
  }

  get request(): MemberRequest {
    const base: BaseModel = {
      decide: ({ iri, record: given, view }) => {
        this.work.decisions++;
        return { allowed: this.allows(given ?? view.record(iri)!), rule: '' };
      },
      readsAllMembers: () => false,
      readScope: () => this.scope,
      knows: () => false,
    };
    const storage = {
      authorizer: createAuthorizer(base, root),
      store: this.store,
      limits: { pageSize: this.pageSize },
    };
    return { storage: storage as unknown as Storage, access: {}, container: this.store.record(container)! };
  }

  async expectPages(): Promise<void> {
    const { request, pageSize, memory } = this;
    const all: ResourceRecord[] = [];
    for await (const records of memory.store.members(container)) all.push(...records);
    const seen = all.filter((each) => this.allows(each)).map(({ iri }) => iri);
    for (let from = 0; from === 0 || from < all.length + pageSize; from += pageSize) {
      const page = await visibleMembers(request, request.storage.store, { from, count: pageSize });
      expect(page.members.map(({ iri }) => iri)).to.deep.equal(seen.slice(from, from + pageSize));
      expect(page.total).to.equal(seen.length);
      expect(page.state).to.equal(viewState([...seen].reverse()));
      const whole = await allMembers(request, { from, count: pageSize });
      expect(whole).to.deep.equal(all.slice(from, from + pageSize));
    }
  }
}

const numbers = fc.array(fc.nat(60), { maxLength: 12 });
const step = fc.record({ changed: fc.array(numbers, { maxLength: 3 }), excepted: numbers });

describe('Visible members', () => {
  let memory: MemoryStore;
  beforeEach(async () => {
    memory = await memoryStore();
  });
  afterEach(() => memory.dispose());

  it('returns the pages, total and state of a decision on every member, while members change', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom<World['readable'][]>(true, false, { owner: 'a' }),
        fc.array(step, { maxLength: 8 }),
        async (readable, steps) => {
          const store = await memoryStore();
          const world = Object.assign(new World(store, 3), { readable });
          try {
            await world.change(
              Array.from({ length: 30 }, (_, at) => at * 2),
              'a',
            );
            for (const { changed, excepted } of steps) {
              world.exceptions.clear();
              for (const number of excepted) world.exceptions.add(nameOf(number));
              // Counts of a concurrent request are of an earlier state.
              const { request } = world;
              const read = () => visibleMembers(request, request.storage.store, { from: 6, count: 3 });
              await Promise.all(
                changed.flatMap((each, at) => [read(), world.change(each, at % 2 ? 'a' : 'b'), read()]),
              );
              for (const iri of world.exceptions) if (!store.store.record(iri)) world.exceptions.delete(iri);
              await world.expectPages();
            }
          } finally {
            await store.dispose();
          }
        },
      ),
      { numRuns: runs(200) },
    )).timeout(60_000);

  it('counts again what changed while it was counted', async () => {
    const world = new World(memory, 3);
    await world.change([1, 2, 3, 4, 5, 6, 7, 8], 'a');
    world.afterRead = () => world.change([2, 9], 'a');
    const { request } = world;
    await visibleMembers(request, request.storage.store, { from: 0, count: 3 });
    await world.expectPages();
  });

  for (const pauseMs of [0, 5])
    it(`returns one total and state while hidden members are created and deleted, each ${pauseMs} ms after the last`, async () => {
      const disk = await storeOnDisk();
      try {
        const [world, size] = [new World(disk, 100), 1000];
        const visible = Array.from({ length: size }, (_, at) => 2 * at);
        const hidden = visible.filter((number) => number % 20 === 0).map((number) => number + 1);
        await world.change(visible, 'a');
        for (const number of hidden) world.exceptions.add(nameOf(number));
        let isOver = false;
        const write = async (writer: number): Promise<void> => {
          for (let at = writer; !isOver; at += 4) {
            await world.change([hidden[at % hidden.length]!], 'b');
            if (pauseMs > 0) await setTimeout(pauseMs);
          }
        };
        const writers = (pauseMs > 0 ? [0] : [0, 1, 2, 3]).map(write);
        const { request } = world;
        const seen = new Set<string>();
        for (let count = 0; count < 80; count++) {
          const { total, state } = await visibleMembers(request, request.storage.store, { from: 0, count: 100 });
          seen.add(`${total} ${state}`);
        }
        isOver = true;
        await Promise.all(writers);
        expect([...seen]).to.deep.equal([`${size} ${viewState(visible.map(nameOf))}`]);
      } finally {
        await disk.dispose();
      }
    });

  it('returns the total if the counts of concurrent callers, or of one container, do not fit into memory', async () => {
    const [owners, each] = [['a', 'b', 'c', 'd', 'e', 'f'], 4000];
    const world = new World(memory, 1);
    for (const [at, owner] of owners.entries())
      await world.change(
        Array.from({ length: each }, (_, number) => number * owners.length + at),
        owner,
      );
    const { store } = memory;
    const base = ownerModel({ owners: [], publicRead: false, open: false });
    const storage = { authorizer: createAuthorizer(base, root), store, limits: { pageSize: 1 } } as unknown as Storage;
    const read = (subject: string) =>
      visibleMembers({ storage, access: { principal: { subject } }, container: store.record(container)! }, store, {
        from: each - 1,
        count: 1,
      });
    const first = memberCounts(store, store.record(container)!, { size: 1, owner: 'a' })!;
    await first.refresh();
    expect(first.isCurrent).to.equal(true);
    for (const { total, members } of await Promise.all(owners.map(read))) {
      expect(total).to.equal(each);
      expect(members).to.have.length(1);
    }
    // Evicted counts do not follow commits.
    expect(first.isCurrent).to.equal(false);
    const { request } = world;
    const { total } = await visibleMembers(request, request.storage.store, { from: 0, count: 1 });
    expect(total).to.equal(owners.length * each);
  });

  it('decides on the members of the page, and reads at most two blocks for any page of a counted container', async () => {
    const [pageSize, size] = [1000, 12_000];
    const world = new World(memory, pageSize);
    await world.change(
      Array.from({ length: size }, (_, at) => at),
      'a',
    );
    world.exceptions.add(nameOf(5000));
    const read = async (from: number): Promise<typeof world.work> => {
      Object.assign(world.work, { decisions: 0, members: 0 });
      const { request } = world;
      const { total } = await visibleMembers(request, request.storage.store, { from, count: pageSize });
      expect(total).to.equal(memory.store.record(container)!.members! - 1);
      return { ...world.work };
    };
    expect((await read(0)).members).to.be.within(size, size + 2 * pageSize);
    for (const from of [0, 6000, 11_000]) {
      const { decisions, members } = await read(from);
      // The exception, and one visible member of the segment before the page.
      expect(decisions).to.be.at.most(pageSize + 2);
      expect(members).to.be.at.most(2 * pageSize);
    }
    for (let number = 0; number < 5; number++) {
      await world.change([size + number], 'a');
      // The segment that changed is counted again.
      expect((await read(10_000)).members).to.be.at.most(5 * pageSize);
    }
  });

  it('decides on all members for two requests at a time, one of each caller, and rejects more than 50 waiting ones', async () => {
    const world = new World(memory, 3);
    await world.change([1, 2, 3, 4, 5, 6, 7, 8], 'a');
    world.isDecided = true;
    const { request } = world;
    const read = (subject?: string) => {
      const access = subject === undefined ? {} : { principal: { subject } };
      return visibleMembers({ ...request, access }, request.storage.store, { from: 0, count: 3 });
    };
    await Promise.all([read(), read(), read()]);
    expect(world.work.mostRunning).to.equal(1);
    const found = await Promise.all(['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd'].map(read));
    expect(world.work.mostRunning).to.equal(2);
    for (const { total } of found) expect(total).to.equal(8);
    const crowd = await Promise.allSettled(Array.from({ length: 60 }, () => read()));
    const refused = crowd.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
    expect(refused).to.deep.equal(Array(9).fill('too-busy'));
    await world.expectPages();
  });
});
