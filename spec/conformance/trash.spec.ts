/** Trash (rules 26.1 to 26.5). */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../lib/server/storage/open-store.js';
import { featuresKey, readFeatures } from '../../lib/storage/keys/features.js';
import { entryKey, entryRange } from '../../lib/storage/keys/records.js';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { grant, policy } from '../support/grants.js';
import type { Answer } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { runProcess } from '../support/process.js';
import { startSpecServer } from '../support/server.js';
import { until } from '../support/until.js';
import { aclOf, agent, alice, anybody, as, inWac, modesOf, owner, ownerRule, rule, setAcl } from '../support/wac.js';

interface Item {
  readonly id: string;
  readonly from: string;
  readonly by: string;
  readonly expires: string;
}

const rdfs = 'http://www.w3.org/2000/01/rdf-schema#';
const json = { 'Content-Type': 'application/json' };
const trashUrl = (s: StorageUnderTest): string => `${s.root}.lws/trash`;
const trashed = (
  s: StorageUnderTest,
  iri: string,
  fields: Record<string, string> = {},
  who?: Sender,
): Promise<Answer> => s.send('POST', trashUrl(s), { ...json, ...fields }, JSON.stringify({ iri }), who);
async function put(s: StorageUnderTest, iri: string): Promise<string> {
  const answer = await trashed(s, iri);
  expect(answer.status, answer.text).to.equal(201);
  return (JSON.parse(answer.text) as Item).id;
}
const items = async (s: StorageUnderTest): Promise<Item[]> =>
  (JSON.parse((await s.get(trashUrl(s))).text) as { items: Item[] }).items;
const restored = (s: StorageUnderTest, id: string, who?: Sender): Promise<Answer> =>
  s.send('POST', `${trashUrl(s)}/${id}`, {}, undefined, who);
const placeOf = (s: StorageUnderTest, id: string, iri: string): string =>
  `${s.root}.trash/${id}/${/[^/]+\/?$/.exec(iri)![0]}`;

/** Number of subjects that a search and a query find. */
async function found(s: StorageUnderTest, type: string, who?: Sender): Promise<readonly number[]> {
  const query = `SELECT DISTINCT ?s { ?s a <${type}> }`;
  const [search, select] = [
    await s.send('GET', `${s.root}.lws/type-search?type=${encodeURIComponent(type)}`, {}, undefined, who),
    await s.send(
      'GET',
      `${s.root}.lws/sparql?query=${encodeURIComponent(query)}`,
      { Accept: 'text/csv' },
      undefined,
      who,
    ),
  ];
  expect([search.status, select.status], search.text + select.text).to.deep.equal([200, 200]);
  return [(JSON.parse(search.text) as { items: unknown[] }).items.length, select.text.trim().split('\n').length - 1];
}

/** Asserts that the trash has no resources and no items. */
async function expectEmpty(s: StorageUnderTest): Promise<void> {
  expect(await items(s)).to.deep.equal([]);
  await s.expectAbsent(`${s.root}.trash/`);
}

function everyModel(s: StorageUnderTest, reader: () => Sender, publish: (container: string) => Promise<unknown>): void {
  it('moves a resource with everything in it, and restores it (rules 26.1, 26.4)', async () => {
    const container = await s.container();
    const [type, inner] = [`${container}#Type`, await s.container(`${container}a%20b/`)];
    const { iri, etag } = await s.stored('text/turtle', `<> a <${type}> ; <#p> <x> .`, `${inner}data`);
    await s.send(
      'PUT',
      `${iri}.meta`,
      { 'Content-Type': 'application/linkset+json', 'If-Match': await s.tag(`${iri}.meta`) },
      `{"linkset":[{"anchor":"${iri}","urn:r":[{"href":"urn:t"}]}]}`,
    );
    const before = await s.get(iri, { Accept: 'application/n-triples' });
    expectProblem(await trashed(s, inner, { 'If-Match': etag }), 412, s);
    await expectEmpty(s);
    const id = await put(s, inner);
    await s.expectAbsent(inner);
    const [item] = await items(s);
    expect(item).to.deep.include({ id, from: inner, members: 1 });
    expect(Date.parse(item!.expires) - Date.now()).to.be.within(29 * 86_400_000, 30 * 86_400_000);
    expect((await s.get(`${placeOf(s, id, inner)}data`)).status).to.equal(200);
    const answer = await restored(s, id);
    expect([answer.status, JSON.parse(answer.text)]).to.deep.equal([200, { iri: inner }]);
    expect((await s.get(iri, { Accept: 'application/n-triples' })).text).to.equal(before.text);
    expect((await s.get(`${iri}.meta`)).text).to.contain('urn:t');
    await expectEmpty(s);
    expectProblem(await restored(s, id), 404, s);
  });

  it('keeps resources with the same name apart, and restores none onto another (rule 26.4)', async () => {
    const container = await s.container();
    const iri = `${container}x`;
    const ids: string[] = [];
    for (const words of ['one', 'two']) {
      await s.stored('text/plain', words, iri);
      ids.push(await put(s, iri));
    }
    expect((await items(s)).map(({ id }) => id)).to.deep.equal([...ids].reverse());
    expect((await restored(s, ids[0]!)).status).to.equal(200);
    const refused = await restored(s, ids[1]!);
    expectProblem(refused, 409, s);
    expect(refused.text).to.contain(`${iri} exists. Rename or delete that resource`);
    expect((await s.get(iri)).text).to.equal('one');
    await s.delete(container, { Depth: 'infinity' });
    expectProblem(await restored(s, ids[1]!), 404, s);
    await s.container(container);
    await s.container(`${iri}/`);
    expectProblem(await restored(s, ids[1]!), 409, s);
    await s.delete(`${iri}/`);
    expect((await restored(s, ids[1]!)).status).to.equal(200);
    expect((await s.get(iri)).text).to.equal('two');
    await expectEmpty(s);
  });

  it('pages items, and deletes them permanently (rule 26.4)', async () => {
    const container = await s.container();
    const first = (await s.stored('text/plain', 'x', `${container}x`)).iri;
    const id = await put(s, first);
    const place = placeOf(s, id, first);
    expect((await s.delete(`${trashUrl(s)}/${id}`)).status).to.equal(204);
    await s.expectAbsent(place);
    await expectEmpty(s);
    for (let i = 0; i < 201; i++) await put(s, (await s.stored('text/plain', 'x', `${container}n${i}`)).iri);
    const { items: page, next } = JSON.parse((await s.get(trashUrl(s))).text) as { items: Item[]; next: string };
    expect([page.length, page[0]!.from]).to.deep.equal([200, `${container}n200`]);
    const rest = JSON.parse((await s.get(`${trashUrl(s)}?before=${next}`)).text) as { items: Item[]; next?: string };
    expect([rest.items.map(({ from }) => from), rest.next]).to.deep.equal([[`${container}n0`], undefined]);
    expect((await s.delete(`${s.root}.trash/`, { Depth: 'infinity' })).status).to.equal(204);
    await expectEmpty(s);
  });

  it('deletes or restores an item if both are requested at once, and reports it (rule 26.4)', async () => {
    const container = await s.container();
    const { iri } = await s.stored('text/plain', 'x', `${container}x`);
    for (let round = 0; round < 20; round++) {
      const id = await put(s, iri);
      const [back, gone] = await Promise.all([restored(s, id), s.delete(`${trashUrl(s)}/${id}`)]);
      const { status } = await s.get(iri);
      expect([back.status, gone.status, status]).to.deep.equal(status === 200 ? [200, 404, 200] : [404, 204, 404]);
      if (status === 404) await s.stored('text/plain', 'x', iri);
    }
    await expectEmpty(s);
  });

  it('does not exist for callers without control, in spite of what they could read (rule 26.2)', async () => {
    const container = await s.container();
    await publish(container);
    const { iri } = await s.stored('text/plain', 'x', `${container}x`);
    expect((await s.send('GET', iri, {}, undefined, reader())).status).to.equal(200);
    const id = await put(s, iri);
    const place = placeOf(s, id, iri);
    const { by } = (await items(s))[0]!;
    expect(by).to.be.a('string');
    for (const [method, path] of [
      ['GET', `${s.root}.trash/`],
      ['GET', place],
      ['DELETE', place],
      ['GET', `${place}.meta`],
      ['OPTIONS', place],
      ['PUT', `${s.root}.trash/${id}/new`],
      ['GET', trashUrl(s)],
      ['POST', `${trashUrl(s)}/${id}`],
      ['DELETE', `${trashUrl(s)}/${id}`],
    ] as const) {
      const type = method === 'PUT' ? { 'Content-Type': 'text/plain' } : {};
      const { status } = await s.send(method, path, type, undefined, reader());
      // The routes are no secret. With lws.public-read, every caller reads the root that they require control of.
      expect(status, `${method} ${path}`).to.be.oneOf(path.startsWith(trashUrl(s)) ? [403, 404] : [404]);
    }
    expect((await trashed(s, container, {}, reader())).status).to.be.oneOf([403, 404]);
    const root = await s.send('GET', s.root, { Accept: 'application/lws+json' }, undefined, reader());
    expect(root.text).not.to.contain('.trash');
    expect(await s.members(s.root)).to.include(`${s.root}.trash/`);
    expect((await restored(s, id)).status).to.equal(200);
    expect((await s.send('GET', iri, {}, undefined, reader())).status).to.equal(200);
  });

  it('is not found by searches and queries (rule 26.3)', async () => {
    const container = await s.container();
    await publish(container);
    const type = `${container}#Type`;
    for (const name of ['a', 'b']) await s.stored('text/turtle', `<> a <${type}> .`, `${container}${name}`);
    for (const who of [undefined, reader()]) expect(await found(s, type, who)).to.deep.equal([2, 2]);
    const id = await put(s, `${container}a`);
    for (const who of [undefined, reader()]) expect(await found(s, type, who)).to.deep.equal([1, 1]);
    const named = `ASK { GRAPH <${placeOf(s, id, `${container}a`)}> { ?s ?p ?o } }`;
    const archive = await s.get(`${s.root}.lws/export?format=nquads&of=${encodeURIComponent(s.root)}`);
    expect(archive.text).to.contain(`${container}b`).and.not.to.contain('.trash');
    const answer = await s.get(`${s.root}.lws/sparql?query=${encodeURIComponent(named)}`, {
      Accept: 'application/sparql-results+json',
    });
    expect(JSON.parse(answer.text)).to.include({ boolean: false });
    await restored(s, id);
    for (const who of [undefined, reader()]) expect(await found(s, type, who)).to.deep.equal([2, 2]);
  });

  it('is not found by the type index, text searches and labels (rule 26.3)', async () => {
    const container = await s.container();
    await publish(container);
    const [type, thing] = [`${container}#Rare`, `${container}#thing`];
    const { iri } = await s.stored(
      'text/turtle',
      `<> a <${type}> . <${thing}> <${rdfs}label> "Okapia" .`,
      `${container}r`,
    );
    const places = [
      'type-index',
      'text-search?q=okapia',
      'labels?prefix=okap',
      `labels?iri=${encodeURIComponent(thing)}`,
    ];
    const finds = async (who?: Sender): Promise<boolean[]> => {
      const answers = await Promise.all(
        places.map((path) => s.send('GET', `${s.root}.lws/${path}`, {}, undefined, who)),
      );
      return answers.map(({ status, text }, at) => {
        expect(status, text).to.equal(200);
        return text.includes([type, iri, 'Okapia', 'Okapia'][at]!);
      });
    };
    const [all, none] = [places.map(() => true), places.map(() => false)];
    for (const who of [undefined, reader()]) expect(await finds(who)).to.deep.equal(all);
    const id = await put(s, iri);
    for (const who of [undefined, reader()]) expect(await finds(who)).to.deep.equal(none);
    await restored(s, id);
    for (const who of [undefined, reader()]) expect(await finds(who)).to.deep.equal(all);
  });

  it('rejects what is in it, the root, and its name (rules 1.3, 26.1, 26.2)', async () => {
    for (const name of ['.trash', '.trash/']) expectProblem(await s.put(s.root + name, 'text/plain', ''), 409, s);
    expectProblem(await trashed(s, s.root), 403, s);
    const { iri } = await s.stored('text/plain', 'x');
    const id = await put(s, iri);
    expectProblem(await trashed(s, placeOf(s, id, iri)), 409, s);
    expectProblem(await s.put(`${s.root}.trash/${id}/beside`, 'text/plain', 'x'), 403, s);
    const kept = (await s.stored('text/plain', 'x')).iri;
    expectProblem(await s.send('MOVE', kept, { Destination: `${s.root}.trash/${id}/kept` }), 403, s);
    expect((await s.get(kept)).status).to.equal(200);
    expectProblem(await trashed(s, s.fresh()), 404, s);
    expectProblem(await s.send('POST', trashUrl(s), json, '{}'), 400, s);
    expect((await s.delete(`${trashUrl(s)}/${id}`)).status).to.equal(204);
    await expectEmpty(s);
  });
}

const carol = ed25519Identity();

describeStorage(
  'Trash in owner mode',
  (s) => {
    everyModel(
      s,
      () => as(s, carol),
      async () => {},
    );

    it('has nothing of its creator, who owns it again after it is restored (rules 26.2, 26.4)', async () => {
      const container = await s.container();
      await grant(s, policy(carol, ['read', 'create'], container));
      const iri = `${container}x`;
      const made = await s.send('PUT', iri, { 'Content-Type': 'text/plain' }, 'x', as(s, carol));
      expect(made.status, made.text).to.equal(201);
      const before = await modesOf(s, iri, as(s, carol));
      expect(before).to.contain('write');
      const id = await put(s, iri);
      expect(await modesOf(s, placeOf(s, id, iri), as(s, carol))).to.equal('');
      await restored(s, id);
      const own = await grant(s, policy(carol, ['read'], iri));
      const again = await put(s, iri);
      expect((await s.send('GET', own, {}, undefined, as(s, carol))).text)
        .to.contain(iri)
        .and.not.to.contain('.trash');
      await restored(s, again);
      expect(await modesOf(s, iri, as(s, carol))).to.equal(before);
    });
  },
  { settings: { owners: owner.did, 'public-read': 'true', 'text-search.enabled': 'true' }, owner },
);

describeStorage(
  'Trash with access control lists',
  (s) => {
    everyModel(
      s,
      () => as(s, alice),
      (container) => setAcl(s, container, ownerRule, rule('Read', agent(alice))),
    );

    it('makes lists ineffective until they are restored (rules 26.2, 26.4)', async () => {
      const container = await s.container();
      const { iri } = await s.stored('text/plain', 'x', `${container}x`);
      await setAcl(s, iri, ownerRule, rule('Read Write Control', agent(alice)), rule('Read', anybody));
      const before = await modesOf(s, iri, as(s, alice));
      const id = await put(s, iri);
      const place = placeOf(s, id, iri);
      expect(await modesOf(s, place, as(s, alice))).to.equal('');
      expect((await s.send('GET', place, {}, undefined, 'anonymous')).status).to.equal(401);
      expect((await s.send('GET', aclOf(place), {}, undefined, as(s, alice))).status).to.equal(404);
      await restored(s, id);
      expect(await modesOf(s, iri, as(s, alice))).to.equal(before);
    });
  },
  inWac({ 'text-search.enabled': 'true' }),
);

/** Returns the entry of the trash in the storage description. */
async function trashService(s: StorageUnderTest): Promise<object | undefined> {
  const { text } = await s.get(`${s.root}.lws/storage-description`, { Accept: 'application/json' });
  return (JSON.parse(text) as { service: { type: string }[] }).service.find(
    ({ type }) => type === 'https://www.w3.org/ns/lws#TrashService',
  );
}

/** Leaves what a server does that ends between the steps of a deletion: an entry, and a container without a resource. */
async function leaveHolder(dataDir: string, root: string, likeId: string): Promise<void> {
  const store = await openStore(dataDir, root, {});
  const [trash, holder] = [`${root}.trash/`, `${root}.trash/${likeId}/`].map((iri) => store.record(iri)!);
  await store.transact(async (tx) => {
    tx.putRecord({ ...holder!, iri: `${trash!.iri}left/`, members: 0 });
    tx.putRecord({ ...trash!, members: trash!.members! + 1 });
    tx.putEntry(entryKey('trash', 'left'), JSON.stringify({ from: `${root}left`, at: 0 }));
  });
  await store.close();
}

async function featuresOf(dataDir: string, root: string): Promise<readonly string[]> {
  const store = await openStore(dataDir, root, {});
  const value = store.entry(featuresKey);
  await store.close();
  return [...readFeatures(value)];
}

describeStorage(
  'Trash, expired',
  (s) => {
    it('is emptied at the next start, and the storage is consistent before and after (rule 26.5)', async () => {
      const container = await s.container();
      const [old, recent] = [`${container}old`, `${container}recent`];
      await s.stored('text/turtle', '<> <#p> 1 .', old);
      const { iri } = await s.stored('text/plain', 'x'.repeat(1000), recent);
      const kept = (await s.stored('text/turtle', '<> <#p> 1 .', `${container}kept`)).iri;
      const [oldId, recentId] = [await put(s, old), await put(s, iri)];
      expect(await trashService(s)).to.include({ serviceEndpoint: trashUrl(s), days: 30 });
      const again = s.server!;
      const { dataDir } = again;
      const expectConsistent = async (): Promise<void> => {
        const { code, stdout, stderr } = await runProcess(['check'], { root: s.root, dataDir });
        expect(code, stdout + stderr).to.equal(0);
      };
      await again.stop(true);
      await expectConsistent();
      const file = join(dataDir, 'exported.nq');
      const exported = await runProcess(['export', '--format', 'nquads', '--output', file], { root: s.root, dataDir });
      expect(exported.code, exported.stderr).to.equal(0);
      expect(readFileSync(file, 'utf8')).to.contain(kept).and.not.to.contain('.trash');
      const store = await openStore(dataDir, s.root, {});
      const past = (value: string): string => value.replace(/"at":\d+/, `"at":${Date.now() - 31 * 86_400_000}`);
      for await (const block of store.entries(entryRange('trash')))
        for (const [key, value] of block)
          if (value.includes(old)) await store.transact(async (tx) => tx.putEntry(key, past(value)));
      await store.close();
      s.server = await startSpecServer({ settings: { 'trash.days': '30' }, again });
      await until(async () => (await s.get(placeOf(s, oldId, old))).status === 404);
      expect((await items(s)).map(({ id }) => id)).to.deep.equal([recentId]);
      await s.server.stop(true);
      await expectConsistent();
      await leaveHolder(dataDir, s.root, recentId);
      s.server = await startSpecServer({ settings: { 'trash.days': '0' }, again });
      expectProblem(await s.get(trashUrl(s)), 404, s);
      expect(await trashService(s)).to.equal(undefined);
      await until(async () => (await s.members(`${s.root}.trash/`)).length <= 1, 'empty containers are deleted');
      expect((await s.get(placeOf(s, recentId, iri))).status).to.equal(200);
      await s.server.stop(true);
      await expectConsistent();
      expect(await featuresOf(dataDir, s.root)).to.include('trash');
      s.server = await startSpecServer({ settings: { 'trash.days': '30' }, again });
      expect((await s.send('DELETE', `${trashUrl(s)}/${recentId}`, {})).status).to.equal(204);
      await s.server.stop(true);
      // Earlier versions, which do not know the trash, can open the storage again.
      expect(await featuresOf(dataDir, s.root)).to.not.include('trash');
      s.server = await startSpecServer({ settings: { 'trash.days': '0' }, again });
    });
  },
  { settings: { 'trash.days': '30' } },
);
