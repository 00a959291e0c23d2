/** Readable resources of a caller as ranges: equal to a decision on each resource, and computed once for each state of the ACLs. */
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryLevel } from 'memory-level';
import { aclKey } from '../../../lib/authorization/acl.js';
import { AclIndex } from '../../../lib/authorization/acl-index.js';
import { createAuthorizer, type ReadScope } from '../../../lib/authorization/authorizer.js';
import type { Access } from '../../../lib/authorization/principal.js';
import { withTrash } from '../../../lib/authorization/trash.js';
import { WacModel } from '../../../lib/authorization/wac.js';
import { stageAcl } from '../../../lib/resources/acl-resource.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import type { ResourceRecord } from '../../../lib/storage/keys/records.js';
import type { Level } from '../../../lib/storage/level/durable-level.js';
import { singleServer } from '../../../lib/storage/transactions/coordination.js';
import { writeChanges } from '../../../lib/storage/transactions/shared-change.js';
import type { SharedCommitQueue } from '../../../lib/storage/transactions/shared-commit-queue.js';
import { Store } from '../../../lib/storage/transactions/store.js';
import { memoryStore, root } from '../../support/memory-store.js';
import { readRdf } from '../../support/rdf.js';
import { enough, runs } from '../../support/speed.js';
import { agent, alice, anybody, authenticated, bob, owner, ownerRule, rule, turtleOf } from '../../support/wac.js';

/** Members of groups by IRI, and the groups that were fetched. Those of another host are remote until then. */
class FakeGroups {
  readonly membership = new Map<string, readonly string[]>();
  readonly fetched: string[] = [];

  isRemote(group: string): boolean {
    return !group.startsWith(root) && !this.fetched.includes(group);
  }

  async members(group: string, mayFetch: boolean): Promise<ReadonlySet<string>> {
    if (this.isRemote(group) && !mayFetch) return new Set();
    if (this.isRemote(group)) this.fetched.push(group);
    return new Set(this.membership.get(group));
  }
}

/** A store with its index and its model of access. */
class Server {
  readonly groups = new FakeGroups();
  readonly model: WacModel;

  private constructor(
    readonly store: Store,
    readonly index: AclIndex,
  ) {
    const groups = this.groups as never;
    this.model = new WacModel({ storage: root, view: store, index, groups, maxFetches: 2 });
  }

  static async of(store: Store): Promise<Server> {
    return new Server(store, await AclIndex.open(store));
  }

  /** Writes an ACL, or deletes it. */
  async set(iri: string, rules: readonly string[] | undefined): Promise<void> {
    const keys = rules && encodeGraph(iri, await readRdf(turtleOf(...rules), 'text/turtle', iri));
    await this.store.transact((tx) => {
      const { acl: _acl, ...record } = tx.record(iri) ?? recordOf(iri);
      if (keys)
        return stageAcl(tx, this.index, record, { revision: `r${keys.length}`, modified: 0, prefixes: {}, keys });
      tx.putRecord(record);
      tx.deleteEntry(aclKey(iri));
    });
  }

  /** Returns the names that a caller may read, by its scope. */
  async inScope(access: Access, iris: readonly string[]): Promise<readonly string[]> {
    const scope = await this.model.readScope(access);
    return iris.filter((iri) => isIn(scope, iri));
  }

  /** Returns the names that a caller may read, by a decision on each. */
  async decided(access: Access, iris: readonly string[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const iri of iris)
      if ((await this.model.decide({ view: this.store, access: { ...access }, mode: 'read', iri })).allowed)
        found.push(iri);
    return found;
  }
}

function isIn(scope: ReadScope, iri: string): boolean {
  if (typeof scope === 'object') return scope.ranges.some(({ from, to }) => from <= iri && iri < to);
  return scope === 'everything';
}

const recordOf = (iri: string): ResourceRecord => ({
  ...{ iri, kind: iri.endsWith('/') ? 'container' : 'json', mediaType: 'application/json', size: 0 },
  ...{ revision: 'r', created: 0, modified: 0 },
  ...(iri.endsWith('/') ? { members: 0 } : {}),
});

/** A server that applies the transactions of another one. */
async function follower(other: Store): Promise<{ readonly server: Server; follow(): Promise<void> }> {
  const level = new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level;
  await level.open();
  let queue: SharedCommitQueue | undefined;
  const alone = (work: () => Promise<unknown>): Promise<unknown> => work();
  const order = (own: SharedCommitQueue) => {
    queue = own;
    return { replica: { fill() {} } as never, admitted: () => undefined, alone, reopened() {} };
  };
  const store = await Store.open(level, '/nonexistent', root, { coordination: { ...singleServer, order } as never });
  const bodies: Buffer[] = [];
  other.onCommit((tx) => bodies.push(writeChanges([tx])));
  return {
    server: await Server.of(store),
    async follow() {
      for (const body of bodies.splice(0)) await queue!.apply(body, 0 as never);
    },
  };
}

const names = ['', 'd', 'd!/', 'd-b/', 'd/', 'd/e/', 'd/e/x', 'd/x', 'd0', 'd0/'].map((name) => root + name);
const asked = [...names, ...['absent', 'd-b/absent', 'd/absent/', 'd/e/absent', 'd/e/x!'].map((name) => root + name)];
const origin = 'https://app.example';
const groups = ['g', 'h'].map((name) => `${root}groups#${name}`);
const who = fc.constantFrom(
  ...[
    agent(alice),
    agent(bob),
    agent(alice, bob),
    anybody,
    authenticated,
    'acl:agent <http://xmlns.com/foaf/0.1/Agent>',
  ],
  ...groups.map((group) => `acl:agentGroup <${group}>`),
);
const rules = fc.array(
  fc
    .tuple(
      fc.constantFrom('Read', 'Read', 'Read Write', 'Write', 'Control'),
      who,
      fc.constantFrom('accessTo', 'default', 'accessTo default'),
      fc.constantFrom('', '', `acl:origin <${origin}> ; `),
    )
    .map(([modes, agents, where, limit]) => rule(modes, limit + agents, where)),
  { maxLength: 3 },
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ iri: fc.constantFrom(...names), rules: fc.option(rules, { nil: undefined }) }) },
  fc.record({ group: fc.constantFrom(...groups), members: fc.subarray([alice.did, bob.did]) }),
);
const callers: readonly Access[] = [
  undefined,
  alice.did,
  bob.did,
  'https://other.example/',
  'http://xmlns.com/foaf/0.1/Agent',
]
  .map((subject) => (subject === undefined ? {} : { principal: { subject } }))
  .flatMap((access) => [access, { ...access, origin }, { ...access, origin: 'https://other.example' }]);

describe('Read scope', function () {
  this.timeout(60_000);

  it('contains exactly the resources that a decision on each allows, for random ACLs and changes, here and on another server', async () => {
    let [readable, refused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const memory = await memoryStore();
        const here = await Server.of(memory.store);
        const { server: there, follow } = await follower(memory.store);
        try {
          await here.set(root, [ownerRule]);
          for (const each of steps) {
            if ('iri' in each) await here.set(each.iri, each.rules);
            else for (const server of [here, there]) server.groups.membership.set(each.group, each.members);
            await follow();
            const again = await Server.of(memory.store);
            for (const [group, members] of here.groups.membership) again.groups.membership.set(group, members);
            for (const access of callers) {
              const expected = await here.decided(access, asked);
              readable += expected.length;
              refused += asked.length - expected.length;
              for (const server of [here, there, again])
                expect(await server.inScope(access, asked), JSON.stringify(access)).to.deep.equal(expected);
            }
          }
        } finally {
          await there.store.close();
          await memory.dispose();
        }
      }),
      { numRuns: runs(120) },
    );
    for (const count of [readable, refused]) expect(count).to.be.above(enough(5_000));
  });

  it('is computed once for all callers that are the same to the ACLs, until one changes (rule 4.3)', async () => {
    const { store, dispose } = await memoryStore();
    const server = await Server.of(store);
    await server.set(root, [ownerRule, rule('Read', anybody)]);
    for (let at = 0; at < 50; at++) await server.set(`${root}hidden${at}`, [ownerRule]);
    const scopeOf = (subject?: string, from?: string): Promise<ReadScope> =>
      Promise.resolve(
        server.model.readScope({
          ...(subject === undefined ? {} : { principal: { subject } }),
          ...(from === undefined ? {} : { origin: from }),
        }),
      );
    const first = await scopeOf();
    expect(first).to.be.an('object');
    for (let at = 0; at < 10; at++) {
      expect(await scopeOf(undefined, `https://origin${at}.example`)).to.equal(first);
      expect(await scopeOf(`https://identity${at}.example/`)).to.equal(first);
    }
    await server.set(`${root}hidden7`, [ownerRule, rule('Read', agent(alice))]);
    const second = await scopeOf();
    expect(second).to.deep.equal(first);
    expect(second).not.to.equal(first);
    expect(isIn(await scopeOf(alice.did), `${root}hidden7`)).to.equal(true);
    await dispose();
  });

  it('has the ranges of thousands of ACLs, without the trash (rules 13.12, 26.2)', async () => {
    const { store, dispose } = await memoryStore();
    const server = await Server.of(store);
    const trash = `${root}.trash/`;
    await store.transact((tx) => tx.putRecord(recordOf(trash)));
    await server.set(root, [ownerRule]);
    const own = Array.from({ length: 2_500 }, (_, at) => `${root}c/${at}`);
    for (const iri of [...own, `${trash}x`]) await server.set(iri, [ownerRule, rule('Read', agent(alice))]);
    const authorizer = withTrash(createAuthorizer(server.model, root), root, store);
    const scopes = await Promise.all(
      [alice, owner].map(async ({ did }) => authorizer.readScope({ principal: { subject: did } })),
    );
    for (const scope of scopes) {
      expect(scope).to.be.an('object');
      expect(own.every((iri) => isIn(scope, iri))).to.equal(true);
      for (const iri of [trash, `${trash}x`]) expect(isIn(scope, iri)).to.equal(false);
    }
    expect(scopes.map((scope) => isIn(scope, `${root}c/x`))).to.deep.equal([false, true]);
    expect(
      await Promise.all([alice, owner, bob].map(({ did }) => server.model.knows({ principal: { subject: did } }))),
    ).to.deep.equal([true, true, false]);
    await dispose();
  });

  it('contains what groups make readable, with as many fetches for each ACL as a decision makes (rule 3.6)', async () => {
    const { store, dispose } = await memoryStore();
    const server = await Server.of(store);
    await server.set(root, [ownerRule]);
    const remote = (at: number): string => `https://groups.example/${at}#us`;
    const byGroup = (...numbers: readonly number[]): string =>
      rule('Read', numbers.map((at) => `acl:agentGroup <${remote(at)}>`).join(' ; '));
    await server.set(`${root}a`, [byGroup(0, 1, 2, 3)]);
    await server.set(`${root}b`, [byGroup(2)]);
    await server.set(`${root}c`, [rule('Write', `acl:agentGroup <${remote(4)}>`)]);
    for (let at = 0; at < 5; at++) server.groups.membership.set(remote(at), [bob.did]);
    const access = { principal: { subject: bob.did } };
    expect(await server.inScope({}, asked)).to.deep.equal([]);
    expect(server.groups.fetched).to.deep.equal([]);
    expect(await server.inScope(access, [`${root}a`, `${root}b`, `${root}c`])).to.deep.equal([`${root}a`, `${root}b`]);
    expect(server.groups.fetched).to.deep.equal([0, 1, 2].map(remote));
    await server.inScope(access, []);
    expect(server.groups.fetched).to.deep.equal([0, 1, 2, 3].map(remote));
    server.groups.membership.clear();
    expect(await server.inScope(access, [`${root}a`, `${root}b`])).to.deep.equal([]);
    await dispose();
  });
});
