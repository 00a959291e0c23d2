/** Rule 3.3: the effective ACL is the resource's own, otherwise the nearest ancestor's. ACLs are not merged. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import {
  aclOf,
  agent,
  alice,
  anybody,
  as,
  authenticated,
  bob,
  every,
  inWac,
  modesOf,
  owner,
  ownerRule,
  rule,
  setAcl,
  setBareAcl,
} from '../support/wac.js';

/** Creates a resource and its container. */
async function make(s: StorageUnderTest, base: string, ...paths: string[]): Promise<void> {
  for (const path of paths)
    if (path.endsWith('/') || path === '') await s.container(base + path);
    else await s.stored('text/turtle', '<> a <#C> .', base + path);
}

describeStorage(
  'WAC, inheritance',
  (s) => {
    const modes = (iri: string, who = alice): Promise<string> => modesOf(s, iri, as(s, who));

    it('WAC, rule 3.3: accessTo applies to the container, default to its descendants', async () => {
      const c = s.fresh('/');
      await make(s, c, '', 'x', 'd/', 'd/y', 'd/e/', 'd/e/z');
      await setAcl(s, c, rule('Read', agent(alice), 'accessTo'), rule('Write', agent(bob), 'default'));
      expect(await modes(c)).to.equal('read');
      expect(await modes(c, bob)).to.equal('');
      for (const path of ['x', 'd/y', 'd/e/z']) {
        expect(await modes(c + path), path).to.equal('');
        expect(await modes(c + path, bob), path).to.equal('write delete');
      }
      for (const path of ['d/', 'd/e/']) {
        expect(await modes(c + path), path).to.equal('');
        expect(await modes(c + path, bob), path).to.equal('append write delete');
      }
    });

    it('WAC, rule 3.3: only the nearest ACL applies, without merging', async () => {
      const c = s.fresh('/');
      await make(s, c, '', 'd/', 'd/x', 'd/e/', 'd/e/y', 'z');
      await setAcl(s, c, rule('Read Write Control', agent(alice)), rule('Read', anybody));
      await setAcl(s, `${c}d/`, rule('Append', agent(alice)));
      await setAcl(s, `${c}d/e/y`, rule('Read', agent(bob)));
      expect(await modes(`${c}z`)).to.equal('read write delete control');
      expect(await modes(`${c}d/`)).to.equal('append');
      expect(await modes(`${c}d/x`)).to.equal('');
      expect(await modes(`${c}d/e/`)).to.equal('append');
      expect(await modes(`${c}d/e/y`)).to.equal('');
      expect(await modes(`${c}d/e/y`, bob)).to.equal('read');
      for (const path of ['d/', 'd/x', 'd/e/', 'd/e/y'])
        expect(await modesOf(s, c + path, 'anonymous'), path).to.equal('');
    });

    it('WAC, rule 3.4: an ACL without default denies all access below, also to the owner', async () => {
      const c = s.fresh('/');
      await make(s, c, '', 'x', 'd/', 'd/y');
      const rules = [rule('Read Write Control', agent(owner), 'accessTo'), rule('Read', agent(alice), 'accessTo')];
      await setBareAcl(s, c, rules);
      expect(await modes(c, owner)).to.equal(every(c));
      for (const path of ['x', 'd/', 'd/y'])
        for (const who of [owner, alice]) expect(await modes(c + path, who), path).to.equal('');
    });

    it('WAC, rule 3.3: there is no superuser, except for the ACLs themselves', async () => {
      const c = s.fresh('/');
      await make(s, c, '', 'x');
      await setBareAcl(s, c, [rule('Read Write Control', agent(alice))]);
      for (const path of ['', 'x']) {
        // Control of the root includes the existing ACLs below (rule 3.12).
        expect(await modes(c + path, owner)).to.equal(path === '' ? 'control' : '');
        expect(await modes(c + path)).to.equal(every(c + path));
      }
      expect(await s.members(s.scratch)).not.to.include(c);
    });

    it('WAC, rule 3.3: creating a resource grants no access to it', async () => {
      const c = s.fresh('/');
      await make(s, c, '');
      await setAcl(s, c, rule('Append', agent(alice)));
      expect((await s.send('PUT', `${c}hers`, {}, 'x', as(s, alice))).status).to.equal(201);
      expect(await modes(`${c}hers`)).to.equal('');
    });

    for (const [what, text] of [
      ['without triples', ''],
      ['of a comment alone', '# nothing here'],
    ] as const)
      it(`WAC, rule 3.4: an ACL ${what} is ignored`, async () => {
        const c = s.fresh('/');
        await make(s, c, '', 'x', 'd/', 'd/y');
        await setAcl(s, c, rule('Read', agent(alice)));
        await setAcl(s, `${c}d/`, rule('Read', agent(bob)));
        for (const path of ['x', 'd/']) {
          const replaces = path === 'd/' ? { 'If-Match': '*' } : {};
          const { status } = await s.put(aclOf(c + path), 'text/turtle', text, replaces);
          expect(status, path).to.be.oneOf([201, 204]);
        }
        for (const path of ['x', 'd/', 'd/y']) {
          expect(await modes(c + path), path).to.equal('read');
          expect(await modes(c + path, bob), path).to.equal('');
          expect(await modes(c + path, owner), path).to.equal(every(c + path));
        }
      });

    it('WAC, rule 3.3: after the deletion of an ACL the next one applies immediately', async () => {
      const c = s.fresh('/');
      await make(s, c, '', 'd/', 'd/y');
      await setAcl(s, c, rule('Read', agent(alice)));
      await setAcl(s, `${c}d/`, rule('Read', agent(bob)));
      expect([await modes(`${c}d/y`), await modes(`${c}d/y`, bob)]).to.deep.equal(['', 'read']);
      expect((await s.delete(aclOf(`${c}d/`))).status).to.equal(204);
      expect([await modes(`${c}d/y`), await modes(`${c}d/y`, bob)]).to.deep.equal(['read', '']);
    });

    it('WAC, rule 3.3: a default authorization must name the container of its ACL', async () => {
      const c = s.fresh('/');
      await make(s, c, '', 'd/', 'd/y', 'z');
      const stray = rule('Read', agent(alice), 'default');
      await setAcl(s, c, stray.replace('<>', '<d/>'), stray.replace('<>', `<${s.root}>`), stray.replace('<>', '<z>'));
      for (const path of ['', 'd/', 'd/y', 'z']) expect(await modes(c + path), path).to.equal('');
    });

    it('WAC, rule 3.3: the ACL of a data resource has no effect on longer names', async () => {
      const c = s.fresh('/');
      await make(s, c, '', 'd', 'd-b/', 'd-b/x', 'd0', 'd.b', 'dd/', 'dd/x', 'd!');
      await setAcl(s, `${c}d`, rule('Read', anybody));
      for (const path of ['', 'd-b/', 'd-b/x', 'd0', 'd.b', 'dd/', 'dd/x', 'd!'])
        expect(await modes(c + path), path).to.equal('');
      expect(await modes(`${c}d`)).to.equal('read');
    });

    it('WAC, rule 3.3: the ACL of a container has no effect on its siblings', async () => {
      const c = s.fresh('/');
      const neighbours = ['d-b/', 'd-b/x', 'd0', 'd.b/', 'd.b/x', 'dd/', 'dd/x', 'd!/', 'd!/x', 'd~', "d'/", "d'/x"];
      await make(s, c, '', 'd/', 'd/x', 'd/-', 'd/!', 'd/~', 'd/0', ...neighbours);
      await setAcl(s, `${c}d/`, rule('Read', anybody));
      for (const path of neighbours) expect(await modes(c + path), path).to.equal('');
      for (const path of ['d/', 'd/x', 'd/-', 'd/!', 'd/~', 'd/0'])
        expect(await modes(c + path), path).to.equal('read');
      const listed = JSON.parse((await s.send('GET', `${c}d/`, {}, undefined, as(s, alice))).text);
      expect(listed.totalItems).to.equal(5);
    });

    it('WAC, rule 2.2: the nearest ACL applies to a new resource immediately', async () => {
      const c = s.fresh('/');
      await make(s, c, '');
      await setAcl(s, c, rule('Append', anybody, 'accessTo'), rule('Read', authenticated, 'default'));
      const posted = await s.send('POST', c, { Slug: 'x' }, 'x', 'anonymous');
      expect(posted.status).to.equal(201);
      expect(await modes(`${c}x`)).to.equal('read');
      expect(await modesOf(s, `${c}x`, 'anonymous')).to.equal('');
    });

    it('WAC, rule 2.3: a recursive DELETE needs delete on every descendant', async () => {
      const c = s.fresh('/');
      await make(s, c, '', 'd/', 'd/x', 'd/e/', 'd/e/y');
      await setAcl(s, c, rule('Read Write', agent(alice)));
      await setAcl(s, `${c}d/e/y`, rule('Read Append', agent(alice)));
      const remove = () => s.send('DELETE', `${c}d/`, { Depth: 'infinity' }, undefined, as(s, alice));
      expect((await remove()).status).to.equal(403);
      for (const path of ['d/x', 'd/e/y']) expect((await s.get(c + path)).status).to.equal(200);
      await setBareAcl(s, `${c}d/e/y`, [ownerRule, rule('Write', agent(alice))]);
      expect((await remove()).status).to.equal(204);
      await s.expectAbsent(`${c}d/e/y`);
    });
  },
  inWac(),
);
