/**
 * Random writes of several callers under changing ACLs, with random subscriptions. An inbox receives exactly the committed events
 * that its subscriber could read at the time, in commit order. The response decides if a write is allowed.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { StorageUnderTest } from '../support/conformance.js';
import { type InboxHost, startInboxHost, told } from '../support/inbox.js';
import { linksetOf, linksetType, metaOf } from '../support/linkset.js';
import { enough, runs } from '../support/speed.js';
import { ask, cancel } from '../support/subscriptions.js';
import { aclOf, agent, alice, as, bob, inWac, owner, ownerRule, rule, turtleOf } from '../support/wac.js';

const people = [owner, alice, bob] as const;
const names = ['a', 'b', 'c/', 'c/d', 'c/e', 'c/f/', 'c/f/g'] as const;
const access = ['', 'Read', 'Write', 'Read Write'] as const;
const topics = ['', ...names] as const;

type Step =
  | {
      readonly verb: 'put' | 'patch' | 'meta' | 'delete' | 'tree';
      readonly who: 0 | 1 | 2;
      readonly name: (typeof names)[number];
      readonly value: number;
    }
  | { readonly verb: 'acl'; readonly name: (typeof topics)[number]; readonly modes: readonly (typeof access)[number][] }
  | { readonly verb: 'subscribe'; readonly who: 0 | 1 | 2; readonly topics: readonly (typeof topics)[number][] }
  | { readonly verb: 'cancel'; readonly value: number };

const who = fc.constantFrom(0 as const, 0 as const, 1 as const, 2 as const);
const write = fc.record({
  verb: fc.constantFrom('put', 'put', 'put', 'patch', 'meta', 'delete', 'tree'),
  who,
  name: fc.constantFrom(...names),
  value: fc.nat(2),
});
const step = fc.oneof(
  { weight: 12, arbitrary: write },
  {
    weight: 4,
    arbitrary: fc.record({
      verb: fc.constant('acl'),
      name: fc.constantFrom(...topics),
      modes: fc.tuple(fc.constantFrom(...access), fc.constantFrom(...access)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      verb: fc.constant('subscribe'),
      who,
      topics: fc.uniqueArray(fc.constantFrom(...topics), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('cancel'), value: fc.nat(5) }) },
) as fc.Arbitrary<Step>;

const parentName = (name: string): string => name.replace(/[^/]+\/?$/, '');
const covers = (topic: string, name: string): boolean =>
  topic === name || ((topic === '' || topic.endsWith('/')) && name.startsWith(topic));

interface Known {
  readonly id: string;
  readonly who: 0 | 1 | 2;
  readonly topics: readonly string[];
  readonly inbox: string;
  active: boolean;
  /** Expected events, one list for each commit. The order within a commit is undefined. */
  readonly wanted: string[][];
}

class World {
  readonly subscriptions: Known[] = [];
  private readonly present = new Set<string>(['']);
  /** Names with an ACL, and the modes of alice and bob. */
  private readonly acls = new Map<string, readonly string[]>();

  constructor(
    private readonly s: StorageUnderTest,
    private readonly host: InboxHost,
    private readonly base: string,
  ) {}

  private sender = (index: 0 | 1 | 2) => (index === 0 ? undefined : as(this.s, people[index]));

  private mayRead(index: 0 | 1 | 2, name: string): boolean {
    if (index === 0) return true;
    for (let at = name; ; at = parentName(at)) {
      const modes = this.acls.get(at);
      if (modes) return modes[index - 1]!.includes('Read');
      if (at === '') return false;
    }
  }

  /** Returns the current readers of each name among the subscriptions. */
  private readers(names: readonly string[]): [Known, string][] {
    return this.subscriptions.flatMap((known) =>
      names
        .filter(
          (name) => known.active && known.topics.some((topic) => covers(topic, name)) && this.mayRead(known.who, name),
        )
        .map((name): [Known, string] => [known, name]),
    );
  }

  private tell(type: string, readers: readonly [Known, string][]): void {
    const commits = new Map<Known, string[]>();
    for (const [known, name] of readers)
      commits.set(known, [...(commits.get(known) ?? []), `${type} ${this.base}${name}`]);
    for (const [known, events] of commits) known.wanted.push(events.sort());
  }

  async run(each: Step): Promise<void> {
    if (each.verb === 'acl') return this.setAcl(each.name, each.modes);
    if (each.verb === 'subscribe') return this.subscribe(each.who, each.topics);
    if (each.verb === 'cancel') {
      const known = this.subscriptions[each.value];
      if (known?.active) await cancel(this.s, known.id);
      if (known) known.active = false;
      return;
    }
    const { verb, who, name, value } = each;
    const iri = this.base + name;
    const there = this.present.has(name);
    if (verb === 'delete' || verb === 'tree') {
      const gone = [...this.present].filter(
        (other) => other === name || (name.endsWith('/') && other.startsWith(name)),
      );
      const readers = this.readers(gone);
      const { status } = await this.send('DELETE', iri, verb === 'tree' ? { Depth: 'infinity' } : {}, who);
      if (status !== 204) return;
      for (const other of gone) for (const map of [this.present, this.acls]) map.delete(other);
      return this.tell('Delete', readers);
    }
    const [method, target, type, body] = {
      put: ['PUT', iri, 'text/turtle', `<#a> <#p> ${value} .`],
      patch: ['PATCH', iri, 'application/sparql-update', `INSERT DATA { <#a> <#p> ${value} }`],
      meta: ['PUT', metaOf(iri), linksetType, linksetOf({ title: `${value}` })],
    }[verb] as [string, string, string, string];
    const container = verb === 'put' && name.endsWith('/');
    const tag = (await this.s.get(target)).headers['etag'];
    const headers = { ...(container ? {} : { 'Content-Type': type }), ...(there ? { 'If-Match': '*' } : {}) };
    const { status } = await this.send(method, target, headers, who, container ? '' : body);
    if (status !== 201 && status !== 204) return;
    // A write without effect is no event.
    const same = status === 204 && (await this.s.get(target)).headers['etag'] === tag;
    this.present.add(name);
    if (!same) this.tell(status === 201 ? 'Create' : 'Update', this.readers([name]));
  }

  private send(method: string, iri: string, headers: Record<string, string>, index: 0 | 1 | 2, body?: string) {
    return this.s.send(method, iri, headers, body, this.sender(index));
  }

  private async setAcl(name: string, [hers, his]: readonly string[]): Promise<void> {
    if (!this.present.has(name)) return;
    const rules = [ownerRule, ...(hers ? [rule(hers, agent(alice))] : []), ...(his ? [rule(his, agent(bob))] : [])];
    const headers = { 'Content-Type': 'text/turtle', ...(this.acls.has(name) ? { 'If-Match': '*' } : {}) };
    const { status, text } = await this.s.send('PUT', aclOf(this.base + name), headers, turtleOf(...rules));
    expect(status, text).to.be.oneOf([201, 204]);
    this.acls.set(name, [hers!, his!]);
  }

  private async subscribe(index: 0 | 1 | 2, topics: readonly string[]): Promise<void> {
    const readable = topics.every((topic) => this.present.has(topic) && this.mayRead(index, topic));
    const inbox = this.host.inbox();
    const answer = await ask(
      this.s,
      topics.map((topic) => this.base + topic),
      inbox,
      this.sender(index),
    );
    expect(answer.status, answer.text).to.equal(readable ? 201 : 404);
    if (!readable) return;
    const { id } = JSON.parse(answer.text) as { id: string };
    this.subscriptions.push({ id, who: index, topics, inbox, active: true, wanted: [] });
  }

  /** Compares received and expected events after all deliveries. */
  async compare(): Promise<void> {
    for (const { inbox, wanted, id, active } of this.subscriptions) {
      const count = wanted.flat().length;
      // Deliveries of a cancelled subscription are optional.
      if (active && count > 0) await this.host.received(inbox, count);
      const got = this.host.activities(inbox).map(told);
      const commits: string[][] = [];
      for (const { length } of wanted) {
        const commit = got.splice(0, length).sort();
        if (commit.length > 0) commits.push(commit);
      }
      expect(got, 'unexpected events').to.deep.equal([]);
      if (active) expect(commits).to.deep.equal(wanted);
      else for (const [at, commit] of commits.entries()) expect(wanted[at]).to.include.members(commit);
      if (active) await cancel(this.s, id);
    }
  }
}

describe('Notifications against a model', function () {
  this.timeout(60_000);
  let host: InboxHost;
  const s = new StorageUnderTest();
  before(async () => {
    host = await startInboxHost();
    await s.open(inWac({ 'webhook.allowed-hosts': host.authority }));
  });
  after(async () => {
    await s.close();
    host.close();
  });

  it('delivers to each subscriber the committed events readable at the time, in commit order', async () => {
    let told = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const world = new World(s, host, await s.container());
        await world.run({ verb: 'subscribe', who: 0, topics: [''] });
        await world.run({ verb: 'acl', name: '', modes: ['Read Write', 'Read'] });
        for (const who of [1, 2] as const) await world.run({ verb: 'subscribe', who, topics: [''] });
        for (const each of steps) await world.run(each);
        await world.compare();
        told += world.subscriptions.flatMap(({ wanted }) => wanted.flat()).length;
      }),
      { numRuns: runs(20) },
    );
    expect(told).to.be.above(enough(60));
  });
});
