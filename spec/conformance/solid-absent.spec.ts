/** Rule 20.1: without `lws.profile` the Solid profile is absent, by default and with Web Access Control. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { listOf } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { agent, alice, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const n3 = 'text/n3';
const insertion =
  '@prefix solid: <http://www.w3.org/ns/solid/terms#> . <> a solid:InsertDeletePatch ; solid:inserts { <#a> <urn:p> 1 } .';
const app = 'https://app.example';

/** Traces of a profile that any response could show. */
function expectNothing(answer: Answer, what: string): void {
  const head = JSON.stringify(answer.headers).toLowerCase();
  for (const trace of [n3, 'pim/space', 'access-control-']) expect(head, what).to.not.include(trace);
  expect(answer.text, what).to.not.include(n3).and.not.include('pim/space#storage>');
}

/** Requests for existing and nonexistent resources. */
async function walk(s: StorageUnderTest): Promise<void> {
  const container = await s.container();
  const places = {
    root: s.root,
    container,
    rdf: (await s.stored('text/turtle', '<> a <urn:C> .', `${container}rdf`)).iri,
    json: (await s.stored('application/json', '{}', `${container}json`)).iri,
    bytes: (await s.stored('text/plain', 'x', `${container}bytes`)).iri,
    absent: `${container}absent`,
    deep: `${container}a/b/c`,
    linkset: `${container}rdf.meta`,
    acl: `${container}.acl`,
    description: `${s.root}.lws/storage-description`,
    endpoint: `${s.root}.lws/sparql`,
    health: `${s.root}.lws/health/ready`,
  };
  const bodies = {
    GET: [undefined, ''],
    HEAD: [undefined, ''],
    OPTIONS: [undefined, ''],
    POST: ['text/turtle', 'no Turtle'],
    PUT: ['text/turtle', 'no Turtle'],
    PATCH: [n3, insertion],
  } as const;
  for (const [name, iri] of Object.entries(places))
    for (const [method, [type, body]] of Object.entries(bodies))
      for (const accept of ['*/*', 'text/turtle', 'application/ld+json'])
        for (const who of [undefined, s.stranger, 'anonymous'] as const) {
          const headers = { Accept: accept, Origin: app, ...(type ? { 'Content-Type': type } : {}) };
          expectNothing(await s.send(method, iri, headers, body || undefined, who), `${method} ${name} ${accept}`);
        }
  const preflight = {
    Origin: app,
    'Access-Control-Request-Method': 'PUT',
    'Access-Control-Request-Headers': 'X-Custom',
  };
  expectNothing(await s.send('OPTIONS', places.rdf, preflight, undefined, 'anonymous'), 'preflight');
}

function body(s: StorageUnderTest): void {
  it('no response shows a trace of it (rule 20.1)', () => walk(s)).timeout(120_000);

  it('no N3 Patch, and no implicit parents (rules 20.1, 6.7, 6.14)', async () => {
    const { iri } = await s.stored('text/turtle', '');
    expect((await s.patch(iri, n3, insertion)).status).to.equal(415);
    expect(listOf(await s.patch(iri, n3, insertion), 'accept-patch')).to.deep.equal(['application/sparql-update']);
    expect((await s.patch(s.fresh(), n3, insertion)).status).to.equal(404);
    expect((await s.put(s.fresh('/x'), 'text/turtle', '')).status).to.equal(404);
    expect(
      (await s.patch(s.fresh('/x'), 'application/sparql-update', 'INSERT DATA { <#a> <urn:p> 1 }')).status,
    ).to.equal(404);
  });

  it('conditions are required, a Content-Type is not (rules 20.1, 6.9, 1.5)', async () => {
    const { iri } = await s.stored('text/turtle', '');
    expect((await s.put(iri, 'text/turtle', '')).status).to.equal(428);
    const bare = s.fresh();
    expect((await s.send('PUT', bare, {}, 'x')).status).to.equal(201);
    expect((await s.get(bare)).headers['content-type']).to.equal('application/octet-stream');
  });

  it('unreadable and nonexistent resources get the same response (rules 20.1, 4.2)', async () => {
    const { iri } = await s.stored('text/turtle', '');
    for (const target of [iri, s.fresh()])
      for (const method of ['GET', 'DELETE', 'PATCH', 'POST'])
        expect(
          (await s.send(method, target, { 'Content-Type': 'application/sparql-update' }, '', s.stranger)).status,
        ).to.equal(404);
  });
}

describeStorage('Without a profile', body);
describeStorage('Without a profile, in Web Access Control', body, inWac());

describeStorage(
  'Access without a profile',
  (s) => {
    it('a PATCH needs write, and DELETE needs no mode on the container (rules 20.1, 2.2, 2.3)', async () => {
      const container = await s.container();
      const { iri } = await s.stored('text/turtle', '', `${container}x`);
      await setAcl(s, iri, rule('Read Append', agent(alice)), rule('Read Write', agent(bob)));
      const insert = (who = bob) =>
        s.send(
          'PATCH',
          iri,
          { 'Content-Type': 'application/sparql-update' },
          'INSERT DATA { <#a> <urn:p> 1 }',
          as(s, who),
        );
      expect((await insert(alice)).status).to.equal(403);
      expect((await insert()).status).to.equal(204);
      expect((await s.send('POST', iri, { 'Content-Type': 'text/turtle' }, '', as(s, alice))).status).to.equal(405);
      expect((await s.send('DELETE', iri, {}, undefined, as(s, bob))).status).to.equal(204);
    });
  },
  inWac(),
);
