/** Rules 3.12, 3.13: recovery from an ACL lock-out, and invalid agent identifiers. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { documentOf, grantsOf, policy, postDocument } from '../support/grants.js';
import { uniqueIri } from '../support/search.js';
import {
  aclOf,
  agent,
  alice,
  anybody,
  as,
  bob,
  inWac,
  owner,
  ownerRule,
  rule,
  setBareAcl,
  turtleOf,
  wacSettings,
} from '../support/wac.js';

const turtle = 'text/turtle';
const placeholder = 'did:key:z6Mk...';
const onlyAlice = rule('Read Write Control', agent(alice));

describeStorage(
  'ACLs without access for anyone',
  (s) => {
    it('agents with control of the root may read, replace and delete an ACL that names another agent (rule 3.12)', async () => {
      const container = await s.container();
      const { iri } = await s.stored(turtle, '<> a <#Hidden> .', `${container}hidden`);
      await setBareAcl(s, container, [onlyAlice]);
      for (const hidden of [container, iri, `${iri}.meta`]) await s.expectAbsent(hidden);
      expect(await s.members(s.scratch)).not.to.include(container);
      const search = `${s.root}.lws/type-search?type=${encodeURIComponent(`${iri}#Hidden`)}`;
      expect(JSON.parse((await s.get(search)).text).totalItems).to.equal(0);
      const read = await s.get(aclOf(container));
      expect(read.status, read.text).to.equal(200);
      expect(read.text).to.include(alice.did);
      expect((await s.options(aclOf(container))).status).to.equal(204);
      // Has no ACL of its own, so the response is that of a nonexistent one.
      for (const method of ['GET', 'OPTIONS', 'PUT', 'DELETE'])
        expect(
          (await s.send(method, aclOf(iri), { 'Content-Type': turtle }, turtleOf(ownerRule))).status,
          method,
        ).to.equal(404);
      await setBareAcl(s, container, [onlyAlice, ownerRule]);
      expect((await s.get(iri)).status).to.equal(200);
      await setBareAcl(s, container, [onlyAlice]);
      expect((await s.delete(aclOf(container))).status).to.equal(204);
      expect((await s.get(iri)).status).to.equal(200);
    });

    it('Control of a parent container or public Control is not sufficient (rule 3.12)', async () => {
      const outer = await s.container();
      await setBareAcl(s, outer, [ownerRule, rule('Read Write Control', agent(bob))]);
      const inner = await s.container(`${outer}inner/`);
      await setBareAcl(s, inner, [onlyAlice]);
      const asked = async (who: Parameters<typeof s.send>[4]): Promise<number[]> =>
        [
          await s.send('GET', aclOf(inner), {}, undefined, who),
          await s.send('PUT', aclOf(inner), { 'Content-Type': turtle, 'If-Match': '*' }, turtleOf(ownerRule), who),
          await s.send('DELETE', aclOf(inner), {}, undefined, who),
        ].map(({ status }) => status);
      const open = [ownerRule, rule('Control', anybody)];
      const before = await s.get(aclOf(s.root));
      try {
        await setBareAcl(s, s.root, open);
        expect(await asked(as(s, bob))).to.deep.equal([404, 404, 404]);
        expect(await asked(s.stranger)).to.deep.equal([404, 404, 404]);
        expect(await asked('anonymous')).to.deep.equal([401, 401, 401]);
      } finally {
        await s.put(aclOf(s.root), turtle, before.text, { 'If-Match': '*' });
      }
    });

    it('a member of a group named by the root ACL may, while it is a member (rule 3.12)', async () => {
      const group = await s.stored(turtle, `<#g> <http://www.w3.org/2006/vcard/ns#hasMember> <${bob.did}> .`);
      await setBareAcl(s, group.iri, [ownerRule]);
      const container = await s.container();
      await setBareAcl(s, container, [onlyAlice]);
      const before = await s.get(aclOf(s.root));
      const status = async (): Promise<number> =>
        (await s.send('GET', aclOf(container), {}, undefined, as(s, bob))).status;
      try {
        await setBareAcl(s, s.root, [ownerRule, rule('Control', `acl:agentGroup <${group.iri}#g>`, 'accessTo')]);
        expect(await status()).to.equal(200);
        await s.put(group.iri, turtle, '', { 'If-Match': '*' });
        expect(await status()).to.equal(404);
      } finally {
        await s.put(aclOf(s.root), turtle, before.text, { 'If-Match': '*' });
      }
    });

    it('the root ACL must name an agent with Control and a valid identifier (rule 3.9)', async () => {
      for (const who of [
        anybody,
        'acl:agentGroup <https://groups.example/g#g>',
        'acl:agentClass acl:AuthenticatedAgent',
      ])
        expectProblem(
          await s.put(aclOf(s.root), turtle, turtleOf(rule('Read Write Control', who)), { 'If-Match': '*' }),
          409,
          s,
        );
    });

    it('PUT and PATCH reject an invalid did:key as an agent, in any authorization (rule 3.13)', async () => {
      const { iri } = await s.stored(turtle, '');
      const text = turtleOf(
        ownerRule,
        `[] a acl:Authorization ; acl:agent <${placeholder}> ; acl:accessTo <${uniqueIri()}> .`,
      );
      const put = await s.put(aclOf(iri), turtle, text);
      expectProblem(put, 400, s);
      expect(put.text).to.include(placeholder);
      await setBareAcl(s, iri, [ownerRule]);
      const insert = `INSERT DATA { <#x> <http://www.w3.org/ns/auth/acl#agent> <${placeholder}> }`;
      expectProblem(await s.patch(aclOf(iri), 'application/sparql-update', insert, { 'If-Match': '*' }), 400, s);
      expect((await s.get(aclOf(iri))).text).not.to.include('z6Mk...');
    });

    it('keeps the ETag of an ACL when a PATCH changes nothing (rule 6.13)', async () => {
      const { iri } = await s.stored(turtle, '');
      await setBareAcl(s, iri, [ownerRule]);
      const patch = (update: string, etag: string) =>
        s.patch(aclOf(iri), 'application/sparql-update', update, { 'If-Match': etag });
      const first = await patch('INSERT DATA { <#x> <#y> <#z> }', await s.tag(aclOf(iri)));
      const etag = String(first.headers['etag']);
      for (const update of [
        'INSERT DATA { <#x> <#y> <#z> }',
        'DELETE DATA { <#x> <#y> <#other> }',
        'PREFIX new: <urn:new:> DELETE { ?s new:p ?o } WHERE { ?s new:p ?o }',
      ]) {
        const answer = await patch(update, etag);
        expect([answer.status, answer.headers['etag']], update).to.deep.equal([204, etag]);
      }
      expect((await patch('INSERT DATA { <#x> <#y> <#other> }', etag)).headers['etag']).not.to.equal(etag);
    });

    it('reports the media type before the preconditions, as for linksets and resources (rule 6.11)', async () => {
      const { iri } = await s.stored(turtle, '');
      await setBareAcl(s, iri, [ownerRule]);
      for (const headers of [{}, { 'If-Match': '"stale"' }] as Record<string, string>[]) {
        expectProblem(await s.put(aclOf(iri), 'application/json', '{}', headers), 415, s);
        expectProblem(await s.patch(aclOf(iri), 'application/json', '{}', headers), 415, s);
        expectProblem(await s.put(`${iri}.meta`, 'application/json', '{}', headers), 415, s);
        expectProblem(await s.patch(`${iri}.meta`, 'application/json', '{}', headers), 415, s);
        expectProblem(await s.patch(iri, 'application/json', '{}', headers), 415, s);
      }
    });

    it('a PATCH of an existing ACL needs a condition, as PUT does (rule 3.11)', async () => {
      const { iri } = await s.stored(turtle, '');
      const insert = `INSERT DATA { <#x> <#y> <#z> }`;
      await setBareAcl(s, iri, [ownerRule]);
      expectProblem(await s.patch(aclOf(iri), 'application/sparql-update', insert), 428, s);
      const etag = await s.tag(aclOf(iri));
      expect((await s.patch(aclOf(iri), 'application/sparql-update', insert, { 'If-Match': etag })).status).to.equal(
        204,
      );
    });
  },
  inWac(),
);

describeStorage(
  'ACLs without conditions',
  (s) => {
    it('lws.require-conditional-writes=false applies to ACLs and resources; linksets still need If-Match (rule 6.9)', async () => {
      const { iri } = await s.stored(turtle, '');
      for (const status of [201, 204])
        expect((await s.put(aclOf(iri), turtle, turtleOf(ownerRule))).status).to.equal(status);
      const insert = `INSERT DATA { <#x> <#y> <#z> }`;
      expect((await s.patch(aclOf(iri), 'application/sparql-update', insert)).status).to.equal(204);
      expectProblem(await s.put(aclOf(iri), turtle, turtleOf(ownerRule), { 'If-Match': '"other"' }), 412, s);
      expectProblem(await s.put(`${iri}.meta`, 'application/linkset+json', '{"linkset":[]}'), 428, s);
    });
  },
  { settings: { ...wacSettings, 'require-conditional-writes': 'false' }, owner },
);

describeStorage(
  'Invalid identities',
  (s) => {
    it('an invalid did:key is rejected as an assignee of a grant or a request (rule 17.2)', async () => {
      for (const assignee of [
        placeholder,
        alice.did.replace('did:key', 'DID:KEY'),
        `Did:Key:${alice.did.slice(8)}`,
        `${alice.did}x`,
        'did:key:z',
        'did:key:',
        `${alice.did}#key`,
      ]) {
        const answer = await postDocument(
          s,
          grantsOf(s),
          documentOf(s, 'AccessGrant', [policy(assignee, 'read', s.root)]),
        );
        expectProblem(answer, 400, s);
        expect(answer.text, assignee).to.include('identity');
      }
      expect(
        (await postDocument(s, grantsOf(s), documentOf(s, 'AccessGrant', [policy(bob, 'read', s.root)]))).status,
      ).to.equal(201);
    });
  },
  { settings: { owners: owner.did }, owner },
);
