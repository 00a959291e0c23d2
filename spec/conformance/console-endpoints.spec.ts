/** Endpoints for the console: explain and status, restricted to controllers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge, expectProblem } from '../support/expectations.js';
import { grant, policy } from '../support/grants.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

describeStorage(
  'Console endpoints',
  (s) => {
    const explain = (parameters: Readonly<Record<string, string>>) =>
      s.get(`${s.root}.lws/explain?${new URLSearchParams(parameters)}`);
    const explained = async (parameters: Readonly<Record<string, string>>): Promise<unknown> => {
      const { status, text } = await explain(parameters);
      expect(status, text).to.equal(200);
      return JSON.parse(text);
    };

    for (const path of ['explain?iri=x', 'status'])
      it(`${path} requires control and is read-only (rule 12.6)`, async () => {
        const at = `${s.root}.lws/${path}`;
        expectChallenge(await s.send('GET', at, {}, undefined, 'anonymous'), s);
        for (const who of [as(s, alice), s.stranger])
          expectProblem(await s.send('GET', at, {}, undefined, who), [403, 404], s);
        expectProblem(await s.send('POST', at, {}, 'x'), 405, s);
      });

    it('explain: returns the decision, the rule behind it, and the required modes', async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      const needs = { mode: 'read', iri };
      const refused = await explained({ as: alice.did, method: 'GET', iri });
      expect(refused).to.deep.include({ allowed: false, needs, exists: true });
      await grant(s, policy(alice, 'read', iri));
      const allowed = (await explained({ as: alice.did, method: 'GET', iri })) as { rule: string };
      expect(allowed).to.deep.include({ allowed: true, needs, exists: true });
      expect(allowed.rule).to.include('grant');
      expect(await explained({ iri })).to.deep.include({ allowed: false, needs });
      expect(await explained({ iri: `${iri}.acl` })).to.deep.include({ needs: { mode: 'control', iri } });
    });

    it('explain: a PUT that would create needs append on the container', async () => {
      const iri = s.fresh();
      const needs = { mode: 'append', iri: s.scratch };
      expect(await explained({ as: alice.did, method: 'put', iri })).to.deep.include({ needs, exists: true });
      expect(await explained({ iri })).to.deep.include({ exists: false });
    });

    it('explain: 400 without an IRI, for a foreign one, and for an unknown method', async () => {
      expectProblem(await explain({}), 400, s);
      expectProblem(await explain({ iri: 'https://elsewhere.example/' }), 400, s);
      expectProblem(await explain({ iri: s.root, method: 'SING' }), 400, s);
    });

    it('status: returns versions, bytes and quota, and the settings with their sources', async () => {
      const { status, text, headers } = await s.get(`${s.root}.lws/status`);
      expect(status, text).to.equal(200);
      expect(headers['cache-control']).to.include('no-store');
      const told = JSON.parse(text) as Record<string, unknown> & { settings: { name: string }[] };
      const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
      expect(told).to.include({ version, node: process.version, quotaBytes: 1_000_000_000 });
      expect(told['uptimeSeconds']).to.be.a('number').and.to.be.at.least(0);
      expect(told['bytes']).to.be.a('number').and.to.be.above(0);
      expect(told['resources']).to.be.a('number').and.to.be.above(0);
      expect(told['freeBytes']).to.be.a('number').and.to.be.above(0);
      expect(told).not.to.have.property('lastBackup');
      expect(told['queries']).to.deep.equal({ running: 0, waiting: 0 });
      expect(told['index']).to.have.keys('quads', 'memory_bytes', 'changed_graphs', 'building', 'build_seconds');
      const mode = told.settings.find(({ name }) => name === 'lws.access-control');
      expect(mode).to.deep.include({ value: 'wac', source: 'flag --access-control' });
    });

    it('status: counts resources and triples with every change', async () => {
      const counts = async (): Promise<readonly number[]> => {
        const { resources, triples } = JSON.parse((await s.get(`${s.root}.lws/status`)).text) as Record<string, number>;
        return [resources!, triples!];
      };
      const [resources, triples] = (await counts()) as [number, number];
      const folder = await s.container();
      const { iri, etag } = await s.stored('text/turtle', '<> a <#C>, <#D> .', `${folder}rdf`);
      await s.stored('text/plain', 'x', `${folder}text`);
      expect(await counts()).to.deep.equal([resources + 3, triples + 2]);
      expect((await s.put(iri, 'text/turtle', '<> a <#C> .', { 'If-Match': etag })).status).to.equal(204);
      expect((await s.send('COPY', folder, { Destination: s.fresh('/') })).status).to.equal(201);
      expect(await counts()).to.deep.equal([resources + 6, triples + 2]);
      expect((await s.delete(folder, { Depth: 'infinity' })).status).to.equal(204);
      expect(await counts()).to.deep.equal([resources + 3, triples + 1]);
    });

    it('size: sums what the caller can read below a container (rule 9.6)', async () => {
      const size = (iri: string, who?: Parameters<typeof s.send>[4]) =>
        s.send('GET', `${s.root}app/size?${new URLSearchParams({ iri })}`, {}, undefined, who);
      const folder = await s.container();
      const hidden = await s.container(`${folder}hidden/`);
      await s.container(`${folder}shown/`);
      for (const [name, text] of [
        ['a', 'x'.repeat(10)],
        ['shown/b', 'x'.repeat(200)],
        ['hidden/c', 'x'.repeat(3000)],
        ['d', 'x'.repeat(40_000)],
      ] as const)
        await s.stored('text/plain', text, folder + name);
      expect(JSON.parse((await size(folder)).text)).to.deep.equal({ bytes: 43_210, resources: 6, isComplete: true });
      await setAcl(s, folder, rule('Read', agent(alice)));
      await setAcl(s, hidden);
      await setAcl(s, `${folder}d`);
      const partly = await size(folder, as(s, alice));
      expect(JSON.parse(partly.text)).to.deep.equal({ bytes: 210, resources: 3, isComplete: true });
      expect(partly.headers['cache-control']).to.include('no-store');
      for (const iri of [hidden, `${folder}absent/`]) expectProblem(await size(iri, as(s, alice)), [403, 404], s);
      expect((await size(hidden, as(s, alice))).status).to.equal((await size(`${folder}absent/`, as(s, alice))).status);
      expectProblem(await size(folder, 'anonymous'), 401, s);
      for (const iri of ['', `${folder}a`, 'https://elsewhere.example/']) expectProblem(await size(iri), 400, s);
    });
  },
  inWac({ 'quota.max-bytes': '1000000000' }),
);
