/** Endpoints for the console: explain and status, restricted to controllers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/threads/package-root.js';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge, expectProblem } from '../support/expectations.js';
import { grant, policy } from '../support/grants.js';
import { alice, as, inWac } from '../support/wac.js';

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
      it(`Rule 12.6: ${path} requires control and is read-only`, async () => {
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
      expect(told['freeBytes']).to.be.a('number').and.to.be.above(0);
      expect(told).not.to.have.property('lastBackup');
      expect(told['queries']).to.deep.equal({ running: 0, waiting: 0 });
      expect(told['index']).to.have.keys('quads', 'memory_bytes', 'changed_graphs', 'building', 'build_seconds');
      const mode = told.settings.find(({ name }) => name === 'lws.access-control');
      expect(mode).to.deep.include({ value: 'wac', source: 'flag --access-control' });
    });
  },
  inWac({ 'quota.max-bytes': '1000000000' }),
);
