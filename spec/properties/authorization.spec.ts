/** Authorization against a model: all decisions and views agree for random trees, ACLs, grants and clients. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { filterOfDocument } from '../../components/search/type-index/filter.js';
import { typesOf as indexOf } from '../../components/search/type-index/readable-types.js';
import { searchTypes } from '../../components/search/type-index/search.js';
import type { View } from '../../lib/authorization/authorizer.js';
import { requireAccess, requirePut } from '../../lib/authorization/guard.js';
import type { Access } from '../../lib/authorization/principal.js';
import { Documents } from '../../lib/documents/documents.js';
import { stageRemoval } from '../../lib/resources/delete.js';
import { viewState } from '../../lib/resources/member-counts.js';
import { jsonListing } from '../../lib/resources/membership.js';
import type { Storage } from '../../lib/resources/storage.js';
import { stageNew } from '../../lib/resources/write.js';
import { LwsError } from '../../lib/tools/errors.js';
import { enough, runs } from '../support/speed.js';
import { allows, type Client, type Mode, outcome, parentOf, root, typesOf, type World } from './authorization-model.js';
import { type BuiltWorld, build } from './authorization-storage.js';
import { client, people, types, world } from './authorization-worlds.js';

const statuses: Readonly<Record<string, number>> = {
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'parent-not-found': 404,
};

const accessOf = ({ subject, client: app, origin, purpose }: Client): Access => ({
  ...(subject === undefined ? {} : { principal: { subject, ...(app === undefined ? {} : { client: app }) } }),
  ...(origin === undefined ? {} : { origin }),
  ...(purpose === undefined ? {} : { purpose }),
});
/** Only authenticated callers have a client id. */
const clean = (who: Client): Client => (who.subject === undefined ? { ...who, client: undefined } : who);

async function answered(work: () => Promise<unknown>): Promise<number> {
  try {
    await work();
    return 200;
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    return statuses[error.code] ?? -1;
  }
}

const needs: readonly (Mode | 'put')[] = ['read', 'append', 'write', 'delete', 'control', 'put'];

describe('Authorization against a model', function () {
  this.timeout(60_000);
  let documents: Documents;
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-authorization-'));
  before(() => {
    documents = new Documents({ updateTimeoutMs: 10_000 });
  });
  after(async () => {
    await documents.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const inWorlds = (
    numRuns: number,
    check: (built: BuiltWorld, like: World, clients: readonly Client[]) => Promise<void>,
  ): Promise<void> =>
    fc.assert(
      fc.asyncProperty(world, fc.array(client.map(clean), { minLength: 5, maxLength: 5 }), async (like, clients) => {
        const built = await build(like, documents, folder);
        try {
          await check(built, like, clients);
        } finally {
          await built.dispose();
        }
      }),
      { numRuns: runs(numRuns) },
    );

  it('decides every operation on every name as the model, outside and inside of a transaction', async () => {
    const seen = new Map<number, number>();
    await inWorlds(120, async ({ storage }, like, clients) => {
      const iris = [...like.resources.keys()];
      const absent = iris.filter((iri) => iri.endsWith('/')).flatMap((iri) => [`${iri}absent`, `${iri}absent/`]);
      const decide = async (view: View): Promise<void> => {
        for (const who of clients) {
          const access = accessOf(who);
          for (const iri of [...iris, ...absent, `${root}absent/below`])
            for (const need of needs) {
              // The nearest container decides for anonymous callers, and there may be none.
              if (iri.endsWith('below') && who.subject === undefined) continue;
              if (iri === root && need === 'put') continue;
              const got = await answered(async () =>
                need === 'put'
                  ? requirePut(storage, view, access, iri)
                  : requireAccess(storage, view, access, need, iri),
              );
              const wanted = outcome(like, who, need, iri);
              seen.set(wanted, (seen.get(wanted) ?? 0) + 1);
              expect(got, `${need} ${iri} by ${JSON.stringify(who)}`).to.equal(wanted);
            }
        }
      };
      await decide(storage.store);
      await storage.store.transact((tx) => decide(tx));
    });
    for (const status of [200, 401, 403, 404]) expect(seen.get(status), `${status}s`).to.be.above(enough(1000));
  });

  it('shows exactly the readable resources of the model in listings, index and search', async () => {
    let shown = 0;
    await inWorlds(120, async (built, like, clients) => {
      for (const who of clients) shown += await expectViews(built, like, who);
    });
    expect(shown).to.be.above(enough(1000));
  });

  it('shows exactly the readable resources after members were deleted and created', async () => {
    let changed = 0;
    await inWorlds(60, async (built, before, clients) => {
      let like = before;
      for (const who of clients) await expectViews(built, like, who);
      const leaves = [...like.resources.keys()].filter((iri) => !iri.endsWith('/') && !iri.endsWith('/g'));
      const left = leaves.filter((_, at) => at % 2 === 1);
      for (const iris of [leaves.filter((_, at) => at % 2 === 0), left.map((iri) => `${iri}+`)]) {
        like = await exchange(built.storage, like, iris);
        changed += iris.length;
        for (const who of clients) await expectViews(built, like, who);
      }
    });
    expect(changed).to.be.above(enough(60));
  });
});

/** Deletes the resources that exist and creates the others. @returns the changed world */
async function exchange(storage: Storage, like: World, iris: readonly string[]): Promise<World> {
  const authorizer = { ...storage.authorizer, allows: () => true };
  const resources = new Map(like.resources);
  await storage.store.transact(async (tx) => {
    for (const iri of iris) {
      const access = { principal: { subject: people[1]! } };
      const record = tx.record(iri);
      if (record) await stageRemoval({ ...storage, authorizer }, tx, { access, record });
      else
        stageNew(storage, tx, { iri, access }, { kind: 'rdf', document: { keys: [], prefixes: {}, size: 0 } as never });
    }
  });
  for (const iri of iris)
    if (!resources.delete(iri)) resources.set(iri, { kind: 'rdf', owner: people[1]!, declared: [], asserted: [] });
  return { ...like, resources, acls: new Map([...like.acls].filter(([iri]) => resources.has(iri))) };
}

/** Compares listings, index and search of a caller with the model. @returns the number of readable resources */
async function expectViews({ storage, platform, lists }: BuiltWorld, like: World, who: Client): Promise<number> {
  const access = (): Access => accessOf(who);
  const why = JSON.stringify(who);
  const readable = [...like.resources].filter(([iri]) => allows(like, who, 'read', iri));
  const iris = readable.map(([iri]) => iri).sort();
  const found = await searchTypes({ platform, lists, access: access() }, [], { from: 0, count: 1000 });
  expect(
    found.items.map(({ iri }) => iri),
    why,
  ).to.deep.equal(iris);
  expect(found.total, why).to.equal(iris.length);
  for (const type of types) {
    const ofType = readable.filter(([, each]) => typesOf(each).includes(type)).map(([iri]) => iri);
    const filter = filterOfDocument({ type: [type] }, 'malformed-filter');
    const { items } = await searchTypes({ platform, lists, access: access() }, filter, { from: 0, count: 1000 });
    expect(
      items.map(({ iri }) => iri),
      `${type} ${why}`,
    ).to.deep.equal(ofType.sort());
  }
  const index = [...new Set(readable.flatMap(([, each]) => typesOf(each)))].sort();
  expect(await indexOf(platform, access()), why).to.deep.equal(index);
  for (const [iri, { kind }] of like.resources) {
    if (kind !== 'container') continue;
    const members = iris.filter((each) => each !== root && parentOf(each) === iri);
    const { pageSize } = storage.limits;
    for (let page = 1; page === 1 || (page - 1) * pageSize < members.length; page++) {
      const listing = await jsonListing(storage, access(), storage.store.record(iri)!, page === 1 ? undefined : page);
      const { items, totalItems } = JSON.parse(listing.bytes.toString());
      expect(
        items.map(({ id }: { id: string }) => id),
        `${iri} ${why}`,
      ).to.deep.equal(members.slice((page - 1) * pageSize, page * pageSize));
      expect(totalItems).to.equal(members.length);
      if (page === 1 && listing.isPartial) expect(listing.tag.split('.')[0]).to.equal(viewState(members));
    }
  }
  return iris.length;
}
