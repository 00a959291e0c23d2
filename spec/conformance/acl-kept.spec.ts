/** Rules 3.7, 10.3: minimum content of a root ACL, and ACLs without authorizations. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import { aclOf, agent, alice, anybody, as, inWac, ownerRule, rule, setAcl, turtleOf } from '../support/wac.js';

const turtle = 'text/turtle';

describeStorage(
  'Minimum content of an ACL',
  (s) => {
    const refused: Readonly<Record<string, string>> = {
      'nothing at all': '',
      'a comment': '# nobody',
      'triples that are no authorization': '<> <urn:p> <urn:o> .',
      'everything but Control': turtleOf(rule('Read Write', anybody)),
      'Control of descendants only': turtleOf(rule('Read Write Control', agent(alice), 'default')),
      'Control of another resource': turtleOf(rule('Control', agent(alice)).replaceAll('<>', '<x>')),
      'Control without an agent': turtleOf('[] a acl:Authorization ; acl:mode acl:Control ; acl:accessTo <> .'),
      'Control in a node that is no authorization': turtleOf(ownerRule.replace(' a acl:Authorization ;', '')),
    };
    for (const [title, text] of Object.entries(refused))
      it(`ACL, rule 3.9: a root ACL of ${title} is 409 and changes nothing`, async () => {
        const tag = await s.tag(aclOf(s.root));
        const answer = await s.put(aclOf(s.root), turtle, text, { 'If-Match': tag });
        expectProblem(answer, 409, s);
        expect(answer.text).to.contain('Control');
        expect(await s.tag(aclOf(s.root))).to.equal(tag);
        expect((await s.get(s.root, { Accept: 'application/lws+json' })).status).to.equal(200);
      });

    it('ACL, rule 3.9: a root ACL may give Control to other agents', async () => {
      const tag = await s.tag(aclOf(s.root));
      const both = turtleOf(ownerRule, rule('Control', agent(alice)));
      expect((await s.put(aclOf(s.root), turtle, both, { 'If-Match': tag })).status).to.equal(204);
      const others = turtleOf(rule('Read Write Control', agent(alice)));
      expect((await s.put(aclOf(s.root), turtle, others, { 'If-Match': '*' })).status).to.equal(204);
      const back = await s.send(
        'PUT',
        aclOf(s.root),
        { 'Content-Type': turtle, 'If-Match': '*' },
        turtleOf(ownerRule),
        as(s, alice),
      );
      expect(back.status).to.equal(204);
    });

    for (const [title, text] of Object.entries({ 'nothing at all': '', 'no authorization': '<> <urn:p> <urn:o> .' }))
      it(`ACL, rule 3.4: an ACL of ${title} is not stored: GET is 404, and the container's ACL applies`, async () => {
        const { iri } = await s.stored('text/plain', 'x');
        await setAcl(s, s.scratch, rule('Read', agent(alice)));
        expect((await s.put(aclOf(iri), turtle, text)).status).to.equal(201);
        for (const method of ['GET', 'HEAD', 'DELETE'])
          expect((await s.send(method, aclOf(iri))).status, method).to.equal(404);
        expect((await s.send('GET', iri, {}, undefined, as(s, alice))).status).to.equal(200);
        // A nonexistent ACL is created, not replaced.
        const created = await s.put(aclOf(iri), turtle, turtleOf(ownerRule), { 'If-None-Match': '*' });
        expect(created.status).to.equal(201);
        expect((await s.send('GET', iri, {}, undefined, as(s, alice))).status).to.equal(404);
      });

    it('ACL, rule 3.7: one that only names other resources denies all access', async () => {
      const container = await s.container();
      const { iri } = await s.stored('text/plain', 'x', `${container}x`);
      const text = turtleOf(ownerRule).replaceAll('<>', '<other>');
      expect((await s.put(aclOf(iri), turtle, text)).status).to.equal(201);
      expect((await s.get(iri)).status).to.equal(404);
      expect((await s.delete(container, { Depth: 'infinity' })).status).to.equal(403);
    });

    it('ACL, rule 3.1: Link rel="acl" is on linksets and ACLs too', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      await setAcl(s, iri);
      for (const method of ['GET', 'HEAD']) {
        expect(linked(await s.send(method, `${iri}.meta`), 'acl')).to.deep.equal([aclOf(iri)]);
        expect(linked(await s.send(method, aclOf(iri)), 'acl')).to.deep.equal([aclOf(iri)]);
      }
    });
  },
  inWac(),
);
