/** Rule 3.1: placement, creation and deletion of ACLs, the first root ACL, and owner mode without ACLs. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem, linked } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { expectGraph } from '../support/rdf.js';
import { found, indexed, uniqueIri } from '../support/search.js';
import {
  acl,
  aclOf,
  agent,
  alice,
  as,
  inWac,
  modesOf,
  owner,
  ownerRule,
  rule,
  setAcl,
  turtleOf,
  wacSettings,
} from '../support/wac.js';

const turtle = 'text/turtle';

/** Response without volatile fields and without names. */
function visible({ status, headers: { date, ...headers }, text }: Answer, ...names: string[]): string {
  let all = JSON.stringify({ status, headers, text }).replace(/urn:uuid:[0-9a-f-]{36}/g, 'ID');
  for (const name of names) all = all.replaceAll(name, 'NAME');
  return all;
}

describeStorage(
  'ACLs and their resources',
  (s) => {
    it('ACL, rule 3.7: every method on the ACL of a nonexistent resource is 404', async () => {
      for (const suffix of ['', '/'])
        for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'POST', 'PATCH']) {
          const target = aclOf(s.fresh(suffix));
          const body = method === 'PUT' ? turtleOf(ownerRule) : undefined;
          const { status } = await s.send(method, target, { 'Content-Type': turtle }, body);
          expect(status, `${method} ${target}`).to.equal(404);
        }
    });

    it('ACL, rule 3.7: an ACL cannot be created before its resource', async () => {
      const iri = s.fresh();
      expectProblem(await s.put(aclOf(iri), turtle, turtleOf(rule('Read Control', agent(alice)))), 404, s);
      await s.stored(turtle, '', iri);
      expect(await modesOf(s, iri, as(s, alice))).to.equal('');
      expectProblem(await s.get(aclOf(iri)), 404, s);
    });

    it('ACL: a container and a data resource of the same name have separate ACLs', async () => {
      const container = await s.container();
      const name = container.slice(0, -1);
      for (const method of ['GET', 'PUT'])
        expectProblem(
          await s.send(method, `${name}.acl`, { 'Content-Type': turtle }, method === 'PUT' ? '' : undefined),
          404,
          s,
        );
      const { iri } = await s.stored(turtle, '');
      expectProblem(await s.put(`${iri}/.acl`, turtle, turtleOf(ownerRule)), 404, s);
    });

    it('ACL: linksets, ACLs and system paths have no ACL', async () => {
      const { iri } = await s.stored(turtle, '');
      await setAcl(s, iri);
      const system = [
        '.lws/',
        '.lws',
        '.lws/type-index',
        '.lws/storage-description',
        '.lws/access-grants',
        'app',
        'app/',
      ];
      const paths = [
        `${iri}.meta`,
        `${iri}.acl`,
        ...system.map((path) => s.root + path),
        `${s.root}.well-known/lws-configuration`,
      ];
      for (const path of paths)
        for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
          const headers = method === 'PUT' ? { 'Content-Type': turtle } : {};
          const answer = await s.send(
            method,
            `${path}.acl`,
            headers,
            method === 'PUT' ? turtleOf(ownerRule) : undefined,
          );
          expect(answer.status, `${method} ${path}.acl: ${answer.text}`).to.equal(404);
          const stranger = await s.send(method, `${path}.acl`, headers, method === 'PUT' ? '' : undefined, s.stranger);
          expect(stranger.status, `${method} ${path}.acl by a stranger`).to.equal(404);
        }
    });

    it('ACL: an ACL has no linkset', async () => {
      const { iri } = await s.stored(turtle, '');
      await setAcl(s, iri);
      for (const method of ['GET', 'PUT', 'PATCH', 'OPTIONS'])
        expect((await s.send(method, `${iri}.acl.meta`)).status, method).to.equal(404);
    });

    it('ACL, rule 3.10: it is deleted with its resource, and a new resource of that name has none', async () => {
      const container = await s.container();
      for (const path of ['x', 'd/']) {
        const iri = container + path;
        const make = () => (path.endsWith('/') ? s.container(iri) : s.stored(turtle, '', iri));
        await make();
        await setAcl(s, iri, rule('Read', agent(alice)));
        expect((await s.delete(iri)).status).to.equal(204);
        expectProblem(await s.get(aclOf(iri)), 404, s);
        await make();
        expectProblem(await s.get(aclOf(iri)), 404, s);
        expect(await modesOf(s, iri, as(s, alice))).to.equal('');
      }
    });

    it('ACL, rule 3.10: a recursive deletion deletes the ACLs of all descendants', async () => {
      const c = await s.container();
      await s.container(`${c}d/`);
      await s.stored(turtle, '', `${c}d/x`);
      for (const path of ['', 'd/', 'd/x']) await setAcl(s, c + path, rule('Read', agent(alice)));
      expect((await s.delete(c, { Depth: 'infinity' })).status).to.equal(204);
      await s.container(c);
      await s.container(`${c}d/`);
      await s.stored(turtle, '', `${c}d/x`);
      for (const path of ['', 'd/', 'd/x']) {
        expect(await modesOf(s, c + path, as(s, alice)), path).to.equal('');
        expectProblem(await s.get(aclOf(c + path)), 404, s);
      }
    });

    it('ACL: replacing a resource keeps its ACL, also with another media type', async () => {
      const { iri } = await s.stored(turtle, '');
      await setAcl(s, iri, rule('Read', agent(alice)));
      for (const [type, body] of [
        [turtle, '<> a <#D> .'],
        ['application/json', '{}'],
        ['text/plain', 'x'],
      ] as const)
        expect((await s.put(iri, type, body, { 'If-Match': '*' })).status).to.equal(204);
      expect(await modesOf(s, iri, as(s, alice))).to.equal('read');
    });

    it('ACL: writing one changes neither the ETag nor the listing of its resource', async () => {
      const container = await s.container();
      const { iri } = await s.stored(turtle, '<> a <#C> .', `${container}x`);
      const see = async () => Promise.all([iri, `${iri}.meta`, container].map(async (at) => visible(await s.get(at))));
      const before = await see();
      await setAcl(s, iri, rule('Read', agent(alice)));
      await setAcl(s, container);
      expect(await see()).to.deep.equal(before);
    });

    it('ACL, rules 9.1, 14.2: an ACL is not listed as a member, type or search result', async () => {
      const container = await s.container();
      const { iri } = await s.stored(turtle, '', `${container}x`);
      const type = uniqueIri();
      await setAcl(s, iri, `<> a <${type}> .`);
      await setAcl(s, container, `<> a <${type}> .`);
      expect(await s.members(container)).to.deep.equal([iri]);
      expect(await found(s, [['type', type]])).to.deep.equal([]);
      expect(await found(s, [[`${acl}agent`, owner.did]])).to.deep.equal([]);
      const types = await indexed(s);
      expect(types).not.to.include(type);
      expect(types).not.to.include(`${acl}Authorization`);
      expect((await found(s, [])).filter((id) => /\.(?:acl|meta)$/.test(id))).to.deep.equal([]);
    });

    it('ACL, rule 3.7: `/.acl` cannot be deleted, and can be replaced', async () => {
      expectProblem(await s.delete(aclOf(s.root)), 403, s);
      const { text, headers } = await s.get(aclOf(s.root));
      expect((await s.put(aclOf(s.root), turtle, text, { 'If-Match': headers['etag']! })).status).to.equal(204);
      await expectGraph(await s.get(aclOf(s.root)), s.root, text);
      expectProblem(await s.send('DELETE', aclOf(s.root), {}, undefined, s.stranger), 404, s);
    });

    it('ACL, rule 3.8: the first root ACL gives only the owners Read, Write and Control, on everything', async () => {
      expect(await modesOf(s, s.scratch, as(s, owner))).to.equal('read append write delete control');
      for (const sender of [as(s, alice), 'anonymous'] as const)
        for (const iri of [s.root, s.scratch]) {
          const { status } = await s.send('GET', iri, { Accept: turtle }, undefined, sender);
          expect(status).to.equal(sender === 'anonymous' ? 401 : 404);
        }
      const root = (await s.get(aclOf(s.root), { Accept: turtle })).text;
      for (const word of [owner.did, 'Read', 'Write', 'Control', 'accessTo', 'default']) expect(root).to.include(word);
      expect(root).not.to.include('Agent>').and.not.to.include('foaf:Agent');
    });

    it('ACL, rule 3.7: POST cannot create an ACL in any form', async () => {
      for (const Slug of ['.acl', 'x.acl', '.ACL', 'x.acl/'])
        expectProblem(await s.post(s.scratch, turtle, turtleOf(ownerRule), { Slug }), 409, s);
    });
  },
  inWac(),
);

describeStorage(
  'The root ACL and later settings',
  (s) => {
    it('ACL, rule 3.8: with lws.public-read the first root ACL gives public read access', async () => {
      const { iri } = await s.stored(turtle, '');
      for (const target of [iri, s.scratch, s.root])
        expect((await request(target, { headers: { Accept: turtle } })).status).to.equal(200);
      expectChallenge(await request(aclOf(s.root)), s);
      expectChallenge(await request(iri, { method: 'DELETE' }), s);
    });

    it('ACL, rule 3.8: later changes of lws.owners and lws.public-read do not change it', async () => {
      const { iri } = await s.stored(turtle, '');
      const before = (await s.get(aclOf(s.root))).text;
      await s.restart({ settings: { 'access-control': 'wac', owners: alice.did }, owner: alice });
      expect((await request(iri)).status, 'public').to.equal(200);
      expect((await s.get(aclOf(s.root))).status, 'the new owner').to.equal(403);
      expect((await s.delete(iri)).status).to.equal(403);
      await s.restart({ settings: wacSettings, owner });
      expect((await s.get(aclOf(s.root))).text).to.equal(before);
    });
  },
  inWac({ 'public-read': 'true' }),
);

describeStorage('Owner mode', (s: StorageUnderTest) => {
  it('in owner mode there is no Link rel="acl", and `.acl` is only reserved (rules 1.4, 3.1)', async () => {
    const { iri } = await s.stored(turtle, '<> a <#C> .');
    for (const target of [iri, s.scratch, s.root, `${iri}.meta`])
      for (const Accept of [turtle, '*/*'])
        expect(linked(await s.get(target, { Accept }), 'acl'), target).to.deep.equal([]);
    for (const target of [iri, s.scratch]) {
      expectProblem(await s.put(aclOf(target), turtle, turtleOf(ownerRule)), 409, s);
      for (const method of ['GET', 'DELETE']) expectProblem(await s.send(method, aclOf(target)), 404, s);
    }
  });
});
