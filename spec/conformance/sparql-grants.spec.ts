/** Rules 2.8, 14.2, 17.4: SPARQL in owner mode: owners, creators, other callers, and additional access from grants. */
import { expect } from 'chai';
import { describeStorage, lws } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { constraint, grant, grantsOf, policy, publicAgentIri, revoke } from '../support/grants.js';
import { metaOf, putLinks } from '../support/linkset.js';
import { ask, endpointOf, graphsSeen, holds, rowsOf } from '../support/sparql.js';
import { below, build, e, half, wholeTree } from '../support/sparql-views.js';
import { alice, as, bob, owner } from '../support/wac.js';

const owned = { settings: { owners: owner.did }, owner };

describeStorage(
  'SPARQL and access grants',
  (s) => {
    before(() => build(s));

    describe('for a caller with a grant for half', () => {
      let made = '';
      before(async () => {
        made = await grant(s, policy(alice, 'read', `${s.scratch}open/`));
      });
      half(s, () => as(s, alice));
      it('a revoked grant has no effect from the next query on (rule 17.4)', async () => {
        await revoke(s, made);
        expect(await graphsSeen(s, as(s, alice))).to.deep.equal([]);
        expect(await graphsSeen(s)).to.deep.equal(below(s, wholeTree));
      });
    });

    it('actions other than read show no graph (rule 17.4)', async () => {
      const made = await grant(s, policy(alice, ['modify', 'create', 'delete'], s.scratch));
      expect(await graphsSeen(s, as(s, alice))).to.deep.equal([]);
      await revoke(s, made);
    });

    it('a grant on the root shows all graphs, only to its assignee (rule 17.4)', async () => {
      const made = await grant(s, policy(alice, 'read', s.root));
      expect(await graphsSeen(s, as(s, alice))).to.deep.equal(below(s, wholeTree));
      for (const sender of [as(s, bob), 'anonymous'] as const) expect(await graphsSeen(s, sender)).to.deep.equal([]);
      await revoke(s, made);
      expect(await graphsSeen(s, as(s, alice))).to.deep.equal([]);
    });

    it('a public grant shows its target to anonymous callers (rule 17.4)', async () => {
      const made = await grant(s, policy(publicAgentIri, 'read', `${s.scratch}shut/a`));
      for (const sender of [s.stranger, 'anonymous'] as const)
        expect(await graphsSeen(s, sender)).to.deep.equal(below(s, ['shut/a', 'shut/a.meta']));
      await revoke(s, made);
      expect(await graphsSeen(s, 'anonymous')).to.deep.equal([]);
    });

    it('target types: data resources, or containers and descendants (rule 17.4)', async () => {
      for (const [type, paths] of [
        ['DataResource', ['shut/a', 'shut/a.meta', 'shut/b', 'shut/inner/a']],
        ['Container', ['shut/a', 'shut/a.meta', 'shut/b', 'shut/inner/.meta', 'shut/inner/a']],
      ] as const) {
        const made = await grant(s, policy(alice, 'read', `${s.scratch}shut/`, type));
        expect(await graphsSeen(s, as(s, alice)), type).to.deep.equal(below(s, paths));
        await revoke(s, made);
      }
    });

    for (const [what, limits, paths] of [
      [
        'a declared type',
        [constraint('type', 'eq', `${e}T`)],
        ['open/a', 'open/a.meta', 'shut/a', 'shut/a.meta', 'shut/inner/.meta'],
      ],
      ['another type', [constraint('type', 'eq', `${e}U`)], []],
      ['no such type', [constraint('type', 'neq', `${e}T`)], ['open/c', 'shut/b', 'shut/inner/a']],
      ['a structural type', [constraint('type', 'eq', `${lws}Container`)], ['shut/inner/.meta']],
      ['a format', [constraint('format', 'eq', 'text/turtle')], wholeTree.filter((path) => !path.includes('inner/.'))],
      ['another format', [constraint('mediaType', 'eq', 'application/json')], []],
      [
        'a format and a type',
        [constraint('format', 'eq', 'text/turtle'), constraint('type', 'eq', `${e}T`)],
        ['open/a', 'open/a.meta', 'shut/a', 'shut/a.meta'],
      ],
      ['a time that has passed', [constraint('dateTime', 'lt', '2020-01-01T00:00:00Z')], []],
      ['an unknown operand', [constraint('weather', 'eq', 'fine')], []],
    ] as const)
      it(`a grant constrained by ${what} (rule 17.5)`, async () => {
        const made = await grant(s, policy(alice, 'read', s.scratch, 'StorageResource', ...limits));
        const seen = await graphsSeen(s, as(s, alice));
        const [counted] = rowsOf(
          await ask(s, 'SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s ?p ?o } }', {}, as(s, alice)),
        );
        const reads: string[] = [];
        for (const path of wholeTree) {
          const { status } = await s.send('GET', s.scratch + path, {}, undefined, as(s, alice));
          if (status === 200) reads.push(s.scratch + path);
        }
        await revoke(s, made);
        expect(seen).to.deep.equal(below(s, paths));
        expect(Number(counted)).to.equal(paths.length);
        // Each graph is a readable resource.
        expect(seen.filter((iri) => !reads.includes(iri))).to.deep.equal([]);
      });

    it('decisions for concurrent patterns are not mixed up (rule 14.2)', async () => {
      const limit = constraint('type', 'eq', `${e}T`);
      const made = await grant(s, policy(alice, 'read', s.scratch, 'StorageResource', limit));
      const query = `SELECT ?o { { <${e}a> <${e}same> ?o } UNION { ?s <${e}n> ?o } UNION { ?s <${e}secret> ?o } }`;
      const answer = rowsOf(await ask(s, query, {}, as(s, alice)));
      await revoke(s, made);
      expect(answer).to.deep.equal(['1', '10', 's3cret']);
    });

    it('a purpose applies to the request that states it (rule 17.5)', async () => {
      const purpose = 'https://purpose.example/';
      const limit = constraint('purpose', 'eq', purpose);
      const made = await grant(s, policy(alice, 'read', `${s.scratch}shut/b`, 'DataResource', limit));
      const query = `SELECT ?o { ?s <${e}n> ?o }`;
      const seen = async (headers: Record<string, string>) => rowsOf(await ask(s, query, headers, as(s, alice)));
      expect(await seen({ 'LWS-Purpose': purpose })).to.deep.equal(['20']);
      expect(await seen({})).to.deep.equal([]);
      expect(await seen({ 'LWS-Purpose': `${purpose}x` })).to.deep.equal([]);
      expect(await seen({ 'LWS-Purpose': purpose })).to.deep.equal(['20']);
      await revoke(s, made);
      expect(await seen({ 'LWS-Purpose': purpose })).to.deep.equal([]);
    });

    it('access granted by type is revoked when the type is removed (rule 17.4)', async () => {
      const { iri } = await s.stored('text/turtle', `<> a <${e}Given> ; <${e}given> 1 .`);
      const limit = constraint('type', 'eq', `${e}Given`);
      const made = await grant(s, policy(alice, 'read', s.scratch, 'StorageResource', limit));
      expect(await graphsSeen(s, as(s, alice))).to.deep.equal([iri]);
      expect((await s.patch(iri, 'application/sparql-update', `DELETE DATA { <> a <${e}Given> }`)).status).to.equal(
        204,
      );
      expect(await graphsSeen(s, as(s, alice))).to.deep.equal([]);
      expect((await putLinks(s, iri, { type: [{ href: `${e}Given` }] })).status).to.equal(204);
      expect(await graphsSeen(s, as(s, alice))).to.deep.equal([iri, metaOf(iri)]);
      await revoke(s, made);
      await s.delete(iri);
    });

    it('grants are never in the dataset, also for the owner (rule 14.2)', async () => {
      const made = await grant(s, policy(alice, 'read', `${s.scratch}open/c`));
      for (const iri of [made, grantsOf(s), `${made}.meta`])
        for (const query of [
          `ASK { GRAPH <${iri}> { ?s ?p ?o } }`,
          `ASK { { <${iri}> ?p ?o } UNION { ?s ?p <${iri}> } }`,
        ])
          expect(await holds(s, query), query).to.equal(false);
      expect(await holds(s, `ASK { { ?s ?p "${alice.did}" } UNION { ?s ?p <${alice.did}> } }`)).to.equal(false);
      await revoke(s, made);
    });

    it('the endpoint is public, but an invalid credential is 401 (rules 2.5, 14.1)', async () => {
      for (const sender of [s.stranger, 'anonymous'] as const) {
        expect(await holds(s, 'ASK { ?s ?p ?o }', sender)).to.equal(false);
        expect((await s.send('GET', endpointOf(s), {}, undefined, sender)).status).to.equal(200);
      }
      expectChallenge(await ask(s, 'ASK {}', {}, { token: 'a.b.c' }), s, 'invalid_token');
      expectChallenge(await ask(s, 'SELECT', {}, { token: 'a.b.c' }), s, 'invalid_token');
    });
  },
  owned,
);

describeStorage(
  'SPARQL and creators',
  (s) => {
    before(async () => {
      await s.restart({ settings: { owners: `${owner.did} ${alice.did}` }, owner });
      const turtle = { 'Content-Type': 'text/turtle' };
      for (const [who, name] of [
        [alice, 'hers'],
        [owner, 'mine'],
      ] as const) {
        const made = await s.send('PUT', s.scratch + name, turtle, `<> <${e}by> "${name}" .`, as(s, who));
        expect(made.status, made.text).to.equal(201);
      }
      await s.restart({ settings: { owners: owner.did }, owner });
    });

    it('the creator of a resource sees its graph, and no other (rule 2.8)', async () => {
      expect(await graphsSeen(s, as(s, alice))).to.deep.equal([`${s.scratch}hers`]);
      expect(await graphsSeen(s)).to.deep.equal([`${s.scratch}hers`, `${s.scratch}mine`]);
      for (const sender of [s.stranger, 'anonymous'] as const) expect(await graphsSeen(s, sender)).to.deep.equal([]);
    });

    it('with public-read every caller sees all graphs, without it only owners (rule 2.9)', async () => {
      await s.restart({ settings: { owners: owner.did, 'public-read': 'true' }, owner });
      for (const sender of [s.stranger, 'anonymous', as(s, alice)] as const)
        expect(await graphsSeen(s, sender)).to.deep.equal([`${s.scratch}hers`, `${s.scratch}mine`]);
      await s.restart({ settings: { owners: owner.did }, owner });
      expect(await graphsSeen(s, 'anonymous')).to.deep.equal([]);
    });
  },
  owned,
);
