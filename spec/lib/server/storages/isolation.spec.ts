/**
 * Isolation of storages: each credential of one is sent to every endpoint of the other, and resources that name the other storage
 * are rejected or have no effect there.
 */
import { expect } from 'chai';
import { type Pod, type SpecDeployment, startDeployment } from '../../../support/deployments.js';
import type { Answer } from '../../../support/http.js';
import { request } from '../../../support/http.js';
import { ed25519Identity } from '../../../support/identity.js';
import { signingKey } from '../../../support/jwt.js';
import { form } from '../../../support/oauth.js';
import { proof } from '../../../support/proofs.js';

const json = { 'Content-Type': 'application/json' };
const turtle = { 'Content-Type': 'text/turtle' };
const lws = { 'Content-Type': 'application/lws+json' };
const query = { 'Content-Type': 'application/sparql-query' };

/** Every kind of endpoint, with a request. */
const endpoints: readonly (readonly [
  method: string,
  path: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
])[] = [
  ['GET', 'thing'],
  ['HEAD', 'thing'],
  ['GET', ''],
  ['PUT', 'new', turtle, '<#a> a <#B> .'],
  ['PUT', 'thing', { ...turtle, 'If-Match': '*' }, '<#a> a <#B> .'],
  ['PATCH', 'thing', { 'Content-Type': 'application/sparql-update' }, 'INSERT DATA { <#a> a <#C> }'],
  ['POST', '', { ...turtle, Slug: 'posted' }, '<#a> a <#B> .'],
  ['DELETE', 'thing'],
  ['QUERY', 'thing', query, 'SELECT * { ?s ?p ?o }'],
  ['GET', 'thing.meta'],
  ['PUT', 'thing.meta', { 'Content-Type': 'application/linkset+json', 'If-Match': '*' }, '{"linkset":[{}]}'],
  ['GET', '.lws/graphs?graph=thing'],
  ['PUT', '.lws/graphs?graph=thing', { ...turtle, 'If-Match': '*' }, '<#a> a <#B> .'],
  ['POST', '.lws/sparql', query, 'SELECT * { ?s ?p ?o }'],
  ['GET', '.lws/type-index'],
  ['GET', '.lws/type-search?type=http%3A%2F%2Fe.example%2FB'],
  ['GET', '.lws/status'],
  ['GET', '.lws/explain?iri=x'],
  ['GET', '.lws/owners'],
  ['POST', '.lws/owners', json, '{"id":"https://e.example/me","name":"me"}'],
  ['GET', '.lws/access-grants'],
  ['POST', '.lws/access-grants', lws, '{}'],
  ['POST', '.lws/access-requests', lws, '{}'],
  ['GET', '.lws/subscriptions'],
  ['POST', '.lws/subscriptions', lws, '{}'],
  ['GET', '.lws/events'],
  ['POST', '.lws/import', { 'Content-Type': 'application/n-quads' }, ''],
  ['GET', '.lws/imports'],
  ['GET', '.lws/export'],
  ['POST', '.lws/backups', {}, ''],
  ['POST', 'app/tickets', json, '{"iri":"thing"}'],
  ['GET', 'app/rights?iri=thing'],
  ['GET', 'app/size?iri=thing/'],
];

for (const by of ['path', 'host'] as const)
  describe(`Isolation of storages, by ${by} (rule 21.2)`, function () {
    this.timeout(60_000);
    let deployment: SpecDeployment;
    let alice: Pod;
    let bob: Pod;

    before(async () => {
      deployment = await startDeployment(by, { 'sparql.endpoint.update': 'true' });
      alice = await deployment.add('alice');
      bob = await deployment.add('bob');
      for (const pod of [alice, bob])
        expect((await pod.put('thing', '<#it> a <http://e.example/B> .')).status).to.equal(201);
    });
    after(() => deployment.stop());

    /** State of bob's storage, as its owner sees it. */
    const state = async (): Promise<string> => {
      const answers = [
        '',
        'thing',
        'thing.meta',
        '.lws/owners',
        '.lws/access-grants',
        '.lws/access-requests',
        '.lws/subscriptions',
        '.lws/imports',
      ];
      return (await Promise.all(answers.map(async (path) => (await bob.ask('GET', path)).text))).join('\n');
    };

    const credentials: readonly (readonly [string, () => Promise<string>])[] = [
      ['a self-signed credential of alice for alice', async () => alice.token()],
      ['a credential of bob’s owner for alice', async () => alice.token(bob.owner)],
      ['a credential of bob’s owner for the home', async () => deployment.home.token(bob.owner)],
      ['a credential of the operator for the home', async () => deployment.home.token()],
      ['an access token of alice’s authorization server', () => exchanged(alice, alice.token())],
      [
        'an access token of alice’s authorization server for bob’s owner',
        () => exchanged(alice, alice.token(bob.owner)),
      ],
    ];

    async function exchanged(pod: Pod, subjectToken: string): Promise<string> {
      const body = new URLSearchParams([...form({ root: pod.root }, subjectToken)]).toString();
      const fields = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const answer = await pod.ask('POST', '.lws/token', fields, body, null);
      expect(answer.status, answer.text).to.equal(200);
      return (JSON.parse(answer.text) as { access_token: string }).access_token;
    }

    for (const [name, make] of credentials)
      it(`${name} is rejected at all ${endpoints.length} endpoints of bob, and changes nothing`, async () => {
        const token = await make();
        const before = await state();
        for (const [method, path, headers, body] of endpoints) {
          const answer = await bob.ask(method, path, headers, body, token);
          expect(answer.status, `${method} ${path}: ${answer.text}`).to.equal(401);
        }
        const body = new URLSearchParams([...form({ root: bob.root }, token)]).toString();
        const traded = await bob.ask(
          'POST',
          '.lws/token',
          { 'Content-Type': 'application/x-www-form-urlencoded' },
          body,
          null,
        );
        expect(traded.status, traded.text).to.equal(400);
        expect(await state()).to.equal(before);
      });

    it('the owner of one has no access to the other, with a credential for either', async () => {
      const token = bob.token(alice.owner);
      expect((await bob.ask('GET', 'thing', {}, undefined, token)).status).to.equal(404);
      expect((await bob.ask('PUT', 'thing', { ...turtle, 'If-Match': '*' }, '', token)).status).to.equal(404);
      expect((await bob.ask('GET', '.lws/owners', {}, undefined, token)).status).to.equal(404);
    });

    it('an operator has no access to a storage', async () => {
      expect((await bob.ask('GET', 'thing', {}, undefined, bob.token(deployment.home.owner))).status).to.equal(404);
    });

    it('a DPoP proof, or a nonce, of one is rejected at the other', async () => {
      const key = signingKey('ES256');
      const bound = async (pod: Pod): Promise<string> => {
        const body = new URLSearchParams([...form({ root: pod.root }, pod.token())]).toString();
        const fields = {
          'Content-Type': 'application/x-www-form-urlencoded',
          DPoP: proof(key, `${pod.root}.lws/token`, { method: 'POST' }),
        };
        const answer = await pod.ask('POST', '.lws/token', fields, body, null);
        expect(answer.status, answer.text).to.equal(200);
        return (JSON.parse(answer.text) as { access_token: string }).access_token;
      };
      const [ofAlice, ofBob] = [await bound(alice), await bound(bob)];
      const send = (token: string, iri: string): Promise<Answer> =>
        bob.ask('GET', 'thing', { Authorization: `DPoP ${token}`, DPoP: proof(key, iri, { token }) }, undefined, null);
      expect((await send(ofBob, `${bob.root}thing`)).status).to.equal(200);
      expect((await send(ofBob, `${alice.root}thing`)).status).to.equal(401);
      expect((await send(ofAlice, `${bob.root}thing`)).status).to.equal(401);
    });

    it('a ticket of one gives no access to the other', async () => {
      const made = await alice.ask('POST', 'app/tickets', json, JSON.stringify({ iri: `${alice.root}thing` }));
      expect(made.status, made.text).to.equal(201);
      const { url } = JSON.parse(made.text) as { url: string };
      expect((await alice.ask('GET', url, {}, undefined, null)).status).to.equal(200);
      const { search } = new URL(url);
      expect((await bob.ask('GET', `app/tickets${search}`, {}, undefined, null)).status).to.be.oneOf([
        400, 401, 403, 404,
      ]);
      const foreign = await alice.ask('POST', 'app/tickets', json, JSON.stringify({ iri: `${bob.root}thing` }));
      expect(foreign.status, foreign.text).to.be.oneOf([400, 404]);
    });

    const naming: readonly (readonly [string, () => Promise<Answer>])[] = [
      ['a grant', () => alice.ask('POST', '.lws/access-grants', lws, grant())],
      [
        'an access request',
        () => alice.ask('POST', '.lws/access-requests', lws, grant().replaceAll('AccessGrant', 'AccessRequest')),
      ],
      ['a subscription', () => alice.ask('POST', '.lws/subscriptions', lws, subscription())],
      [
        'an update',
        () =>
          alice.ask(
            'POST',
            '.lws/sparql',
            { 'Content-Type': 'application/sparql-update' },
            `INSERT DATA { GRAPH <${bob.root}new> { <a:b> <a:c> <a:d> } }`,
          ),
      ],
      [
        'an update of an existing graph',
        () =>
          alice.ask(
            'POST',
            '.lws/sparql',
            { 'Content-Type': 'application/sparql-update' },
            `DELETE WHERE { GRAPH <${bob.root}thing> { ?s ?p ?o } }`,
          ),
      ],
      [
        'a graph of the graph store',
        () =>
          alice.ask('PUT', `.lws/graphs?graph=${encodeURIComponent(`${bob.root}new`)}`, turtle, '<a:b> <a:c> <a:d> .'),
      ],
      [
        'an import',
        () =>
          alice.ask(
            'POST',
            `.lws/import?into=${encodeURIComponent(bob.root)}`,
            { 'Content-Type': 'application/n-quads', Slug: 'a.nq' },
            `<a:b> <a:c> <a:d> <${bob.root}new> .\n`,
          ),
      ],
      ['an export', () => alice.ask('GET', `.lws/export?of=${encodeURIComponent(bob.root)}`)],
      ['a link as parent', () => alice.ask('PUT', 'child', { ...turtle, Link: `<${bob.root}>; rel="up"` }, '')],
      ['an explanation', () => alice.ask('GET', `.lws/explain?iri=${encodeURIComponent(`${bob.root}thing`)}`)],
      ['rights', () => alice.ask('GET', `app/rights?iri=${encodeURIComponent(`${bob.root}thing`)}`)],
      ['a size', () => alice.ask('GET', `app/size?iri=${encodeURIComponent(bob.root)}`)],
    ];
    const grant = (): string =>
      JSON.stringify({
        '@context': 'https://www.w3.org/ns/lws/v1',
        type: ['AccessGrant'],
        storage: alice.root,
        access: [
          {
            type: ['AccessPolicy'],
            action: ['read'],
            assignee: alice.owner.did,
            target: { type: 'StorageResource', value: [bob.root] },
          },
        ],
      });
    const subscription = (): string =>
      JSON.stringify({
        '@context': 'https://www.w3.org/ns/lws/v1',
        type: 'WebhookSubscription',
        topic: [`${bob.root}thing`],
        inbox: 'https://inbox.example/',
      });

    for (const [name, send] of naming)
      it(`${name} at alice that names bob is rejected or reveals nothing, and changes nothing`, async () => {
        const before = await state();
        const answer = await send();
        // Removing triples of a nonexistent graph has no effect (SPARQL 1.1 Update 3.1.2), and a link is text only.
        if (!/of an existing graph|a link as parent/.test(name))
          expect(answer.status, answer.text.slice(0, 300)).to.be.within(400, 499);
        expect(await state()).to.equal(before);
        const stranger = bob.token(alice.owner);
        expect((await bob.ask('GET', 'thing', {}, undefined, stranger)).status).to.equal(404);
      });

    it('a query of one does not read the other', async () => {
      for (const text of [
        `SELECT * { GRAPH <${bob.root}thing> { ?s ?p ?o } }`,
        `SELECT * FROM <${bob.root}thing> { ?s ?p ?o }`,
        `SELECT ?g { GRAPH ?g { ?s ?p ?o } FILTER (STRSTARTS(STR(?g), "${bob.root}")) }`,
      ]) {
        const answer = await alice.ask(
          'POST',
          '.lws/sparql',
          { ...query, Accept: 'application/sparql-results+json' },
          text,
        );
        expect(answer.status, answer.text).to.equal(200);
        expect(JSON.parse(answer.text).results.bindings, text).to.deep.equal([]);
      }
      const all = await alice.ask('GET', `.lws/type-search?type=${encodeURIComponent('http://e.example/B')}`);
      expect(all.text).to.include(`${alice.root}thing`).and.not.to.include(bob.root);
    });

    it('messages to a tenant do not reveal the deployment', async () => {
      const answers = await Promise.all(
        ['.lws/status', '', '.lws', '.well-known/solid', '.lws/metrics', '.lws/storages', '.lws/health/ready'].map(
          (path) => bob.ask('GET', path),
        ),
      );
      for (const { text } of answers)
        expect(text).not.to.include('alice').and.not.to.include(deployment.dataDir).and.not.to.include('storages.');
      expect(answers[4]!.status).to.equal(404);
      expect(answers[5]!.status).to.equal(404);
      const settings = (JSON.parse(answers[0]!.text) as { settings: { name: string }[] }).settings.map(
        ({ name }) => name,
      );
      expect(JSON.parse(answers[0]!.text)).not.to.have.any.keys('freeBytes', 'queries');
      expect(settings).to.include('lws.public-read').and.not.to.include('lws.data-dir');
    });

    it('a host and a path without a storage reveal nothing (rules 21.1, 10.2)', async () => {
      const send = (host: string, path: string): Promise<Answer> =>
        request(`http://127.0.0.1:${deployment.port}${path}`, { headers: { Host: host } });
      const elsewhere = await send('evil.example', '/');
      expect(elsewhere.status).to.equal(421);
      expect((await send('evil.example', `${new URL(deployment.home.root).pathname}.lws/health/live`)).status).to.equal(
        200,
      );
      const origin = `localhost:${deployment.port}`;
      const nobody = by === 'path' ? await send(origin, '/carol/') : await send(`carol.${origin}`, '/');
      expect(nobody.status).to.equal(404);
      for (const { headers } of [elsewhere, nobody]) {
        expect(headers['content-type']).to.equal('application/problem+json');
        expect(headers['link']).to.equal(undefined);
      }
    });

    it('tokens use separate keys, and descriptions their own addresses', async () => {
      const keys = await Promise.all([alice, bob, deployment.home].map((pod) => pod.ask('GET', '.lws/jwks')));
      expect(new Set(keys.map(({ text }) => text)).size).to.equal(3);
      const stranger = ed25519Identity();
      const description = await bob.ask('GET', '', { Accept: 'application/lws+cid' }, undefined, bob.token(stranger));
      expect(description.text).to.include(bob.root).and.not.to.include(alice.root);
    });
  });
