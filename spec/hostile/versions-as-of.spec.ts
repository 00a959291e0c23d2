/**
 * Queries as of a date by callers who could not read the states of that time while they were the present ones, or cannot read the
 * resource now (rule 27.8). Hidden, deleted, erased and nonexistent graphs have the same results.
 */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { grant, policy } from '../support/grants.js';
import { ask } from '../support/sparql.js';
import { until } from '../support/until.js';
import { aclOf, agent, alice, anybody, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const secret = (iri: string): string => `<${iri}#secret> <http://p.example/secret> "secret", 42 .`;
const open = (iri: string): string => `<${iri}#open> <http://p.example/open> "open" .`;

async function write(s: StorageUnderTest, iri: string, body: string, type = 'text/turtle'): Promise<void> {
  const there = await s.head(iri);
  const condition: Record<string, string> = there.status === 200 ? { 'If-Match': there.headers['etag']! } : {};
  expect((await s.put(iri, type, body, condition)).status).to.be.oneOf([201, 204]);
}

/** Waits for the end of the present second. @returns a date in it */
async function instant(): Promise<string> {
  const second = Math.floor(Date.now() / 1000);
  await until(() => Date.now() >= (second + 1) * 1000);
  return new Date(second * 1000).toUTCString();
}

/** Ways to learn that a graph had content. */
const queriesOn = (iri: string): readonly string[] => [
  'SELECT ?g ?s ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g ?s ?o',
  'SELECT ?g { GRAPH ?g {} } ORDER BY ?g',
  'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }',
  'SELECT (COUNT(DISTINCT ?p) AS ?n) (MAX(?o) AS ?m) { ?s ?p ?o }',
  'ASK { ?s <http://p.example/secret> 42 }',
  `ASK { GRAPH <${iri}> {} }`,
  `SELECT ?o FROM <${iri}> { ?s ?p ?o }`,
  `SELECT ?o FROM NAMED <${iri}> { GRAPH ?g { ?s ?p ?o } }`,
  `SELECT ?o { GRAPH <${iri}> { ?s <http://p.example/secret> ?o } }`,
  `SELECT ?o { <${iri}#secret> <http://p.example/secret>|<http://p.example/open> ?o } ORDER BY ?o`,
  `CONSTRUCT { ?s ?p ?o } { GRAPH <${iri}> { ?s ?p ?o } }`,
  `DESCRIBE <${iri}#secret>`,
];

/** Results of all queries, and of their plans after a run, with the name replaced. */
async function resultsOn(s: StorageUnderTest, iri: string, date: string, who: Sender): Promise<string[]> {
  const results: string[] = [];
  for (const query of queriesOn(iri))
    for (const target of [undefined, `${s.root}.lws/sparql?explain=run`]) {
      const type = /^[CD]/.test(query) ? 'application/n-triples' : 'application/sparql-results+json';
      const headers = { 'Accept-Datetime': date, Accept: target ? 'application/json' : type };
      const answer = await ask(s, query, headers, who, target);
      expect(answer.status, answer.text).to.equal(200);
      results.push(answer.text.replaceAll(iri, 'IRI').replace(/"(ms|milliseconds)":[\d.]+/g, ''));
    }
  return results;
}

async function expectHidden(s: StorageUnderTest, iri: string, date: string, who: Sender): Promise<void> {
  const absent = await resultsOn(s, `${s.scratch}absent`, date, who);
  expect(await resultsOn(s, iri, date, who), `${iri} ${date}`).to.deep.equal(absent);
  // Every second one is a plan, which has the constants of the query.
  expect(absent.filter((_, at) => at % 2 === 0).join()).to.not.match(/"secret"|"42"/);
}

const counted = async (s: StorageUnderTest, iri: string, date: string, who?: Sender): Promise<string> =>
  (
    await ask(
      s,
      `SELECT ?o { GRAPH <${iri}> { ?s ?p ?o } } ORDER BY STR(?o)`,
      { 'Accept-Datetime': date, Accept: 'text/csv' },
      who,
    )
  ).text
    .trim()
    .split('\r\n')
    .slice(1)
    .join(' ');

describeStorage(
  'Queries as of a date over states that a caller may not read',
  (s) => {
    it('hide what ended before a list gave access, and while it was taken away (rule 27.8)', async () => {
      const [given, taken] = [s.fresh(), s.fresh()];
      await write(s, given, secret(given));
      await write(s, taken, open(taken));
      await setAcl(s, taken, rule('Read', agent(alice)));
      const first = await instant();
      await setAcl(s, taken);
      await write(s, taken, secret(taken));
      const second = await instant();
      await write(s, given, open(given));
      await write(s, taken, open(taken));
      await setAcl(s, given, rule('Read', agent(alice)));
      await setAcl(s, taken, rule('Read', agent(alice)));
      for (const date of [first, second]) await expectHidden(s, given, date, as(s, alice));
      for (const date of [first, second]) await expectHidden(s, taken, date, as(s, alice));
      for (const who of [as(s, bob), 'anonymous'] as const)
        for (const iri of [given, taken])
          for (const date of [first, second, await instant()]) await expectHidden(s, iri, date, who);
      expect(await counted(s, given, first)).to.equal('42 secret');
      expect(await counted(s, taken, second)).to.equal('42 secret');
      const third = await instant();
      for (const iri of [given, taken]) {
        await write(s, iri, open(`${iri}2`));
        expect(await counted(s, iri, third, as(s, alice))).to.equal('open');
      }
    });

    it('hide what is hidden now, deleted, replaced under its name, moved and erased (rule 27.8)', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', anybody));
      const [closed, deleted, again, moved, erased, trashed] = 'closed deleted again moved erased trashed'
        .split(' ')
        .map((name) => container + name) as [string, string, string, string, string, string];
      const all = [closed, deleted, again, moved, erased, trashed];
      for (const iri of all) await write(s, iri, secret(iri));
      const date = await instant();
      const shown = 'SELECT ?g { GRAPH ?g { ?s <http://p.example/secret> 42 } }';
      const names = async (who?: Sender): Promise<string[]> => {
        const answer = await ask(s, shown, { 'Accept-Datetime': date, Accept: 'text/csv' }, who);
        return answer.text.trim().split('\r\n').slice(1).sort();
      };
      expect(await names('anonymous')).to.deep.equal([...all].sort());
      await write(s, erased, open(erased));
      await setAcl(s, closed);
      await s.delete(deleted);
      await s.delete(again);
      await write(s, again, open(again));
      await s.send('MOVE', moved, { Destination: `${container}target` });
      const trash = { 'Content-Type': 'application/json' };
      await s.send('POST', `${s.root}.lws/trash`, trash, JSON.stringify({ iri: trashed }));
      expect(await names('anonymous')).to.deep.equal([erased]);
      expect(await names()).to.deep.equal([...all].sort());
      const list = JSON.parse((await s.get(`${erased}?versions`)).text) as { versions: { url: string }[] };
      expect((await s.delete(list.versions[1]!.url)).status).to.equal(204);
      for (const iri of all) await expectHidden(s, iri, date, 'anonymous');
      expect(await names()).to.deep.equal(all.filter((iri) => iri !== erased).sort());
      expect((await s.delete(`${closed}?versions`)).status).to.equal(204);
      // Its present state began before the date.
      expect(await names()).to.include(closed);
      expect((await s.delete(aclOf(closed))).status).to.equal(204);
      expect(await names('anonymous')).to.deep.equal([closed]);
    });

    it('show present states only to members of groups and with grants (rules 27.6, 27.8)', async () => {
      const [inGroup, granted] = [s.fresh(), s.fresh()];
      const group = s.fresh();
      await write(
        s,
        group,
        `<#g> a <http://www.w3.org/2006/vcard/ns#Group>; <http://www.w3.org/2006/vcard/ns#hasMember> <${alice.did}> .`,
      );
      for (const iri of [inGroup, granted]) await write(s, iri, secret(iri));
      const same = s.fresh();
      await write(s, same, open(same));
      await setAcl(s, inGroup, rule('Read', `acl:agentGroup <${group}#g>`));
      for (const iri of [granted, same]) await grant(s, policy(alice, 'read', iri));
      const date = await instant();
      expect(await counted(s, inGroup, date, as(s, alice))).to.equal('42 secret');
      for (const iri of [inGroup, granted]) await write(s, iri, open(iri));
      for (const iri of [inGroup, granted]) expect(await counted(s, iri, date, as(s, alice))).to.equal('');
      expect(await counted(s, same, date, as(s, alice))).to.equal('open');
      for (const iri of [inGroup, granted])
        expect(await counted(s, iri, await instant(), as(s, alice))).to.equal('open');
    });

    it('have no lists, links or items of the trash (rule 27.8)', async () => {
      const iri = s.fresh();
      await write(s, iri, open(iri));
      const link = { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' };
      const patched = await s.send('PATCH', `${iri}.meta`, link, '{"about":[{"href":"http://o.example/secret"}]}');
      expect(patched.status, patched.text).to.be.below(300);
      const trashed = s.fresh();
      await write(s, trashed, open(trashed));
      const trash = { 'Content-Type': 'application/json' };
      await s.send('POST', `${s.root}.lws/trash`, trash, JSON.stringify({ iri: trashed }));
      const date = await instant();
      const answer = await ask(s, 'SELECT ?g { GRAPH ?g { ?s ?p ?o } }', {
        'Accept-Datetime': date,
        Accept: 'text/csv',
      });
      expect(answer.text).to.include(iri);
      expect(answer.text).to.not.match(/\.meta|\.trash|\.acl/);
      expect(answer.text).to.not.include(trashed);
    });
  },
  inWac({ 'versions.all': 'true' }),
);

describeStorage(
  'Queries as of a date in owner mode',
  (s) => {
    it('hide what another owner of the name wrote (rule 27.8)', async () => {
      const iri = s.fresh();
      await write(s, iri, secret(iri));
      const first = await instant();
      await s.delete(iri);
      const made = await s.send('PUT', iri, { 'Content-Type': 'text/turtle' }, open(iri), s.stranger);
      const date = await instant();
      expect(await counted(s, iri, first)).to.equal('42 secret');
      await expectHidden(s, iri, first, s.stranger);
      await expectHidden(s, iri, first, 'anonymous');
      if (made.status === 201) expect(await counted(s, iri, date, s.stranger)).to.equal('open');
    });
  },
  { settings: { 'versions.all': 'true' } },
);
