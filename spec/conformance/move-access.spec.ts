/** Rights of MOVE and COPY, and what becomes of access control lists, grants and owners (rules 6.24, 6.25). */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { grant, policy } from '../support/grants.js';
import { ed25519Identity } from '../support/identity.js';
import { aclOf, agent, alice, as, bob, inSolid, inWac, modesOf, ownerRule, rule, setAcl } from '../support/wac.js';

const carol = ed25519Identity();

describeStorage(
  'MOVE and COPY with access control lists',
  (s) => {
    const send = (method: string, iri: string, to: string, who?: Sender, fields: Record<string, string> = {}) =>
      s.send(method, iri, { Destination: to, ...fields }, undefined, who);

    it('a list goes along with a moved resource, not with a copy (rule 6.25)', async () => {
      const container = await s.container();
      await s.stored('text/plain', 'x', `${container}x`);
      await setAcl(s, container, ownerRule, rule('Read', agent(alice)));
      const [copied, moved] = [s.fresh('/'), s.fresh('/')];
      expect((await send('COPY', container, copied)).status).to.equal(201);
      expectProblem(await s.get(aclOf(copied)), 404, s);
      expect((await send('MOVE', container, moved)).status).to.equal(201);
      expect(await modesOf(s, `${moved}x`, as(s, alice))).to.equal('read');
      expect(await modesOf(s, `${copied}x`, as(s, alice))).to.equal('');
      const text = (await s.get(aclOf(moved), { Accept: 'application/n-triples' })).text;
      expect(text).to.contain(`<${moved}>`).and.not.to.contain(`<${container}>`);
      // A new resource of the old name has no access of the old one.
      await s.container(container);
      await s.stored('text/plain', 'new', `${container}x`);
      expect(await modesOf(s, `${container}x`, as(s, alice))).to.equal('');
    });

    it('a moved resource without a list inherits from its new container (rule 6.24)', async () => {
      const [open, closed] = [await s.container(), await s.container()];
      await setAcl(s, open, ownerRule, rule('Read', agent(alice)));
      await s.stored('text/plain', 'x', `${closed}x`);
      await send('MOVE', `${closed}x`, `${open}x`);
      expect(await modesOf(s, `${open}x`, as(s, alice))).to.equal('read');
    });

    it('MOVE needs read and write at the source, and creates at the destination (rule 6.24)', async () => {
      for (const [ofSource, ofTarget, move, copy] of [
        ['Read', 'Append', 403, 201],
        ['Read Write', 'Append', 201, 201],
        ['Read Write', 'Read', 403, 403],
        ['Write', 'Append', 404, 404],
        ['', 'Append', 404, 404],
      ] as const) {
        const [source, target] = [await s.container(), await s.container()];
        await s.stored('text/plain', 'x', `${source}x`);
        await setAcl(s, source, ownerRule, ...(ofSource ? [rule(ofSource, agent(alice))] : []));
        await setAcl(s, target, ownerRule, rule(ofTarget, agent(alice)));
        const name = `${ofSource} to ${ofTarget}`;
        expect((await send('COPY', `${source}x`, `${target}copy`, as(s, alice))).status, name).to.equal(copy);
        expect((await send('MOVE', `${source}x`, `${target}moved`, as(s, alice))).status, name).to.equal(move);
        expect((await s.get(`${source}x`)).status, name).to.equal(move === 201 ? 404 : 200);
      }
    });

    it('a container is moved only with everything in it, and copied as far as it can be read (rule 6.24)', async () => {
      const [source, target] = [await s.container(), await s.container()];
      for (const name of ['a', 'b']) await s.stored('text/plain', name, source + name);
      for (const each of [source, target]) await setAcl(s, each, ownerRule, rule('Read Write', agent(alice)));
      await setAcl(s, `${source}b`, ownerRule);
      const refused = await send('MOVE', source, `${target}moved/`, as(s, alice));
      expectProblem(refused, 403, s);
      expect(refused.text).not.to.contain(`${source}b`);
      expect((await s.members(source)).sort()).to.deep.equal([`${source}a`, `${source}b`]);
      expect((await send('COPY', source, `${target}copied/`, as(s, alice))).status).to.equal(201);
      expect(await s.members(`${target}copied/`)).to.deep.equal([`${target}copied/a`]);
    });

    it('a destination that may not be deleted is not replaced (rule 6.24)', async () => {
      const [source, target] = [await s.container(), await s.container()];
      await s.stored('text/plain', 'x', `${source}x`);
      const { iri } = await s.stored('text/plain', 'kept', `${target}x`);
      await setAcl(s, source, ownerRule, rule('Read Write', agent(alice)));
      await setAcl(s, target, ownerRule, rule('Read Append', agent(alice)));
      expectProblem(await send('MOVE', `${source}x`, iri, as(s, alice), { Overwrite: 'T' }), 403, s);
      await setAcl(s, iri, ownerRule);
      // A hidden resource is refused as for every other method, with and without Overwrite.
      const answers = await Promise.all(
        ['T', 'F'].map((overwrite) => send('COPY', `${source}x`, iri, as(s, alice), { Overwrite: overwrite })),
      );
      expect(new Set(answers.map(({ status }) => status)).size).to.equal(1);
      expect((await s.get(iri)).text).to.equal('kept');
    });

    it('lists are moved and replaced with control only (rule 6.25)', async () => {
      const [own, team] = [await s.container(), await s.container()];
      for (const iri of [`${own}doc`, `${team}doc`]) await s.stored('text/plain', iri, iri);
      await setAcl(s, own, ownerRule, rule('Read Write Control', agent(alice)));
      await setAcl(s, `${own}doc`, ownerRule, rule('Read Write Control', agent(alice)), rule('Read', agent(carol)));
      await setAcl(s, team, ownerRule, rule('Read Write', agent(alice)));
      await setAcl(
        s,
        `${team}doc`,
        ownerRule,
        rule('Read Write', agent(alice)),
        rule('Read Write Control', agent(bob)),
      );
      // Neither a planted list, nor the removal of one.
      expectProblem(await send('MOVE', `${own}doc`, `${team}new`, as(s, alice)), 403, s);
      expectProblem(await send('MOVE', `${own}doc`, `${team}doc`, as(s, alice), { Overwrite: 'T' }), 403, s);
      await s.stored('text/plain', 'plain', `${own}plain`);
      expectProblem(await send('MOVE', `${own}plain`, `${team}doc`, as(s, alice), { Overwrite: 'T' }), 403, s);
      const copied = await send('COPY', `${own}doc`, `${team}doc`, as(s, alice), { Overwrite: 'T' });
      expect(copied.status).to.equal(204);
      expect((await s.get(`${team}doc`)).text).to.equal(`${own}doc`);
      expect(await modesOf(s, `${team}doc`, as(s, bob))).to.contain('control');
      expect(await modesOf(s, `${team}doc`, as(s, carol))).to.equal('');
      expect((await send('MOVE', `${own}doc`, `${team}doc`, undefined, { Overwrite: 'T' })).status).to.equal(204);
      expect(await modesOf(s, `${team}doc`, as(s, carol))).to.equal('read');
    });
  },
  inWac(),
);

describeStorage(
  'MOVE and COPY with the Solid profile',
  (s) => {
    it('an overwritten resource needs write access to its container too (rule 6.24)', async () => {
      const [own, site] = [await s.container(), await s.container()];
      const { iri } = await s.stored('text/plain', 'draft', `${site}draft`);
      await s.stored('text/plain', 'x', `${own}x`);
      await setAcl(s, own, ownerRule, rule('Read Write', agent(alice)));
      await setAcl(s, iri, ownerRule, rule('Read Write', agent(alice)));
      for (const method of ['MOVE', 'COPY']) {
        const answer = await s.send(method, `${own}x`, { Destination: iri, Overwrite: 'T' }, undefined, as(s, alice));
        expect(answer.status).to.be.oneOf([403, 404]);
      }
      expect((await s.get(iri)).text).to.equal('draft');
    });
  },
  inSolid(),
);

describeStorage('MOVE and COPY with grants', (s) => {
  it('only a controller of the storage moves grants, and only their targets (rule 6.25)', async () => {
    const [open, team] = [await s.container(), await s.container()];
    const box = await s.container(`${open}box/`);
    const card = `${open}card`;
    await s.stored('text/turtle', '<#me> <#p> 1 .', card);
    await grant(s, policy(bob, 'read', box));
    const named = await grant(s, policy(`${card}#me`, 'read', `${open}x`));
    await grant(s, policy(alice, ['read', 'create', 'delete'], open));
    await grant(s, policy(alice, ['read', 'create', 'delete'], team));
    const moved = await s.send('MOVE', box, { Destination: `${team}box/` }, undefined, as(s, alice));
    expect(moved.status).to.equal(201);
    await s.stored('text/plain', 'plan', `${team}box/plan`);
    expectProblem(await s.send('GET', `${team}box/plan`, {}, undefined, as(s, bob)), 404, s);
    expect((await s.send('MOVE', card, { Destination: `${team}profile` })).status).to.equal(201);
    expect((await s.get(named)).text).to.contain(`${card}#me`);
  });

  it('grants of a moved resource apply to its new name only (rule 6.25)', async () => {
    const container = await s.container();
    await s.stored('text/plain', 'x', `${container}x`);
    await grant(s, policy(alice, 'read', container));
    await grant(s, policy(bob, 'read', `${container}x`));
    const to = s.fresh('/');
    expect((await s.send('MOVE', container, { Destination: to })).status).to.equal(201);
    for (const who of [alice, bob])
      expect((await s.send('GET', `${to}x`, {}, undefined, as(s, who))).status).to.equal(200);
    await s.container(container);
    await s.stored('text/plain', 'new', `${container}x`);
    for (const who of [alice, bob])
      expectProblem(await s.send('GET', `${container}x`, {}, undefined, as(s, who)), 404, s);
  });

  it('a moved resource keeps its creator, and a copy belongs to the caller (rule 6.25)', async () => {
    const container = await s.container();
    await grant(s, policy(alice, ['read', 'create'], container));
    const iri = `${container}x`;
    const made = await s.send('PUT', iri, { 'Content-Type': 'text/plain', 'If-None-Match': '*' }, 'x', as(s, alice));
    expect(made.status).to.equal(201);
    const [to, copy] = [s.fresh(), s.fresh()];
    await s.send('COPY', iri, { Destination: copy });
    await s.send('MOVE', iri, { Destination: to });
    expect(await modesOf(s, to, as(s, alice))).to.contain('delete');
    expect(await modesOf(s, copy, as(s, alice))).to.equal('');
  });

  it('keeps the owner of a replaced resource, as PUT does (rule 6.25)', async () => {
    const container = await s.container();
    const own = await s.container();
    await grant(s, policy(alice, ['read', 'create'], own));
    const who = as(s, alice);
    const text = { 'Content-Type': 'text/plain', 'If-None-Match': '*' };
    for (const method of ['COPY', 'MOVE', 'PUT']) {
      const { iri } = await s.stored('text/plain', 'theirs', `${container}${method}`);
      const temporary = await grant(s, policy(alice, ['read', 'modify', 'delete'], iri));
      const source = `${own}${method}`;
      expect((await s.send('PUT', source, text, 'hers', who)).status).to.equal(201);
      const replaced =
        method === 'PUT'
          ? await s.send('PUT', iri, { 'Content-Type': 'text/plain', 'If-Match': '*' }, 'hers', who)
          : await s.send(method, source, { Destination: iri, Overwrite: 'T' }, undefined, who);
      expect(replaced.status, method).to.equal(204);
      expect((await s.send('DELETE', temporary)).status).to.equal(204);
      expect(await modesOf(s, iri, who), method).to.equal('');
      expectProblem(await s.send('GET', iri, {}, undefined, who), 404, s);
    }
  });

  it('keeps the owners of the members of a replaced container (rule 6.25)', async () => {
    const [theirs, own] = [await s.container(), await s.container()];
    await s.stored('text/plain', 'theirs', `${theirs}x`);
    await grant(s, policy(alice, ['read', 'create'], own));
    const who = as(s, alice);
    const temporary = await grant(s, policy(alice, ['read', 'create', 'modify', 'delete'], theirs));
    const source = `${own}box/`;
    expect((await s.send('PUT', source, {}, undefined, who)).status).to.equal(201);
    for (const name of ['x', 'y'])
      await s.send('PUT', source + name, { 'Content-Type': 'text/plain', 'If-None-Match': '*' }, 'hers', who);
    const replaced = await s.send('COPY', source, { Destination: theirs, Overwrite: 'T' }, undefined, who);
    expect(replaced.status).to.equal(204);
    expect((await s.send('DELETE', temporary)).status).to.equal(204);
    for (const iri of [theirs, `${theirs}x`]) expect(await modesOf(s, iri, who), iri).to.equal('');
    // She created the other one, as by POST (rule 2.8).
    expect(await modesOf(s, `${theirs}y`, who)).to.contain('delete');
  });
});
