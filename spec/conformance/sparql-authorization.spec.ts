/** Rules 2.1, 3.2, 14.2: a query is evaluated over the resources that Web Access Control lets the client read. */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { ask, graphsSeen } from '../support/sparql.js';
import { below, build, expectImmediateRevocation, half, wholeTree } from '../support/sparql-views.js';
import { agent, alice, anybody, as, bob, inWac, rule, setAcl } from '../support/wac.js';

describeStorage(
  'SPARQL and Web Access Control',
  (s) => {
    before(async () => {
      await build(s);
      await setAcl(s, `${s.scratch}open/`, rule('Read', agent(alice)));
    });
    const seenBy = (sender: Sender): Promise<string[]> => graphsSeen(s, sender);

    describe('for a caller who may read half', () => half(s, () => as(s, alice)));

    it('WAC, rule 3.2: the owner sees all graphs, other callers none', async () => {
      expect(await graphsSeen(s)).to.deep.equal(below(s, wholeTree));
      for (const sender of [s.stranger, as(s, bob), 'anonymous'] as const)
        expect(await seenBy(sender)).to.deep.equal([]);
    });

    it('WAC, rule 3.3: the ACL of a resource wins over that of its container, both ways', async () => {
      await setAcl(s, `${s.scratch}open/c`, rule('Read', agent(bob)));
      await setAcl(s, `${s.scratch}shut/b`, rule('Read', anybody, 'accessTo'));
      expect(await seenBy(as(s, alice))).to.deep.equal(below(s, ['open/a', 'open/a.meta', 'shut/b']));
      expect(await seenBy(as(s, bob))).to.deep.equal(below(s, ['open/c', 'shut/b']));
      expect(await seenBy('anonymous')).to.deep.equal(below(s, ['shut/b']));
      for (const path of ['open/c', 'shut/b']) expect((await s.delete(`${s.scratch}${path}.acl`)).status).to.equal(204);
      expect(await seenBy(as(s, alice))).to.deep.equal(below(s, ['open/a', 'open/a.meta', 'open/c']));
      expect(await seenBy('anonymous')).to.deep.equal([]);
    });

    it('WAC, rule 2.2: Append, Write and Control without Read show no graph', async () => {
      await setAcl(s, `${s.scratch}shut/b`, rule('Append Write Control', agent(bob)));
      expect(await seenBy(as(s, bob))).to.deep.equal([]);
      expect((await s.delete(`${s.scratch}shut/b.acl`)).status).to.equal(204);
    });

    it('WAC, rule 3.3: accessTo of a container shows its metadata, not its members', async () => {
      await setAcl(s, `${s.scratch}shut/inner/`, rule('Read', agent(bob), 'accessTo'));
      expect(await seenBy(as(s, bob))).to.deep.equal(below(s, ['shut/inner/.meta']));
      expect((await s.delete(`${s.scratch}shut/inner/.acl`)).status).to.equal(204);
    });

    it('WAC, rule 3.5: an authorization with an origin applies to requests of that origin', async () => {
      await setAcl(
        s,
        `${s.scratch}shut/b`,
        `${rule('Read', agent(bob)).slice(0, -1)}; acl:origin <https://app.example> .`,
      );
      const count = async (headers: Record<string, string>) =>
        (await ask(s, `ASK { GRAPH <${s.scratch}shut/b> { ?s ?p ?o } }`, headers, as(s, bob))).text.includes('true');
      expect(await count({})).to.equal(false);
      expect(await count({ Origin: 'https://app.example' })).to.equal(true);
      expect(await count({ Origin: 'https://evil.example' })).to.equal(false);
      expect((await s.delete(`${s.scratch}shut/b.acl`)).status).to.equal(204);
    });

    it('WAC, rule 14.2: a changed group applies from the next query on', async () => {
      const group = s.fresh('g');
      const members = (who: string) => `<#us> <http://www.w3.org/2006/vcard/ns#hasMember> <${who}> .`;
      await s.stored('text/turtle', members(bob.did), group);
      await setAcl(s, `${s.scratch}shut/b`, rule('Read', `acl:agentGroup <${group}#us>`));
      expect(await seenBy(as(s, bob))).to.deep.equal(below(s, ['shut/b']));
      expect((await s.put(group, 'text/turtle', members(alice.did), { 'If-Match': '*' })).status).to.equal(204);
      expect(await seenBy(as(s, bob))).to.deep.equal([]);
      expect((await s.delete(`${s.scratch}shut/b.acl`)).status).to.equal(204);
      await s.delete(group);
    });

    it('graphs that are no longer readable are absent from the next query (rule 14.2)', () =>
      expectImmediateRevocation(s));
  },
  inWac(),
);
