/** Rule 3.7: methods, conditions and lifecycle of `.acl` resources. */
import { expect } from 'chai';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { describeStorage, ldp, lws } from '../support/conformance.js';
import { expectChallenge, expectProblem, linked, listOf } from '../support/expectations.js';
import { expectGraph, graphOf, mediaType, rdfTypes, readRdf } from '../support/rdf.js';
import { aclOf, agent, alice, anybody, as, inWac, modesOf, ownerRule, rule, setAcl, turtleOf } from '../support/wac.js';

const turtle = 'text/turtle';
const document = turtleOf(ownerRule, rule('Read', agent(alice)));

describeStorage(
  'ACL resources',
  (s) => {
    /** Creates a resource with its own ACL. @returns the IRI of the ACL */
    const withAcl = async (suffix = ''): Promise<string> => {
      const iri = suffix ? await s.container(s.fresh(suffix)) : (await s.stored(turtle, '<> a <#C> .')).iri;
      expect((await s.put(aclOf(iri), turtle, document)).status).to.equal(201);
      return aclOf(iri);
    };

    it('ACL, rule 3.1: Link rel="acl" is on every GET and HEAD, and names `X.acl` and `/c/.acl`', async () => {
      const { iri } = await s.stored(turtle, '<> a <#C> .');
      const bytes = (await s.stored('text/plain', 'x')).iri;
      const container = await s.container();
      for (const method of ['GET', 'HEAD'])
        for (const target of [iri, bytes, container, s.root]) {
          const answer = await s.send(method, target, { Accept: 'text/turtle' });
          expect(linked(answer, 'acl'), `${method} ${target}`).to.deep.equal([`${target}.acl`]);
        }
      const description = await s.get(s.root);
      expect(linked(description, 'acl')).to.deep.equal([`${s.root}.acl`]);
    });

    for (const suffix of ['', '/']) {
      const what = suffix ? 'a container' : 'a data resource';
      it(`ACL, rule 3.3: GET, HEAD and DELETE of a nonexistent ACL of ${what} are 404`, async () => {
        const iri = suffix ? await s.container() : (await s.stored(turtle, '')).iri;
        expectProblem(await s.get(aclOf(iri)), 404, s);
        expect((await s.head(aclOf(iri))).status).to.equal(404);
        expectProblem(await s.delete(aclOf(iri)), 404, s);
      });

      it(`ACL, rule 3.7: PUT creates the ACL of ${what} with 201 and an ETag, and replaces it with 204`, async () => {
        const iri = suffix ? await s.container() : (await s.stored(turtle, '')).iri;
        const created = await s.put(aclOf(iri), turtle, document, { 'If-None-Match': '*' });
        expect(created.status).to.equal(201);
        expect(created.headers['etag']).to.equal(await s.tag(aclOf(iri)));
        await expectGraph(await s.get(aclOf(iri)), iri, document);
        const other = turtleOf(ownerRule);
        const replaced = await s.put(aclOf(iri), turtle, other, { 'If-Match': created.headers['etag']! });
        expect(replaced.status).to.equal(204);
        expect(replaced.headers['etag'])
          .to.equal(await s.tag(aclOf(iri)))
          .and.not.equal(created.headers['etag']);
        await expectGraph(await s.get(aclOf(iri)), iri, other);
      });

      it(`ACL, rule 3.7: DELETE of the ACL of ${what} is 204, then it is 404`, async () => {
        const target = await withAcl(suffix);
        expect((await s.delete(target)).status).to.equal(204);
        await s.expectAbsent(target);
        expect((await s.get(target.slice(0, -4))).status).to.equal(200);
      });
    }

    it('ACL, rule 3.7: replacing without a condition is 428, with a stale ETag 412', async () => {
      const target = await withAcl();
      const before = await s.get(target);
      expectProblem(await s.put(target, turtle, ''), 428, s);
      expectProblem(await s.put(target, turtle, '', { 'If-Match': '"stale.ttl"' }), 412, s);
      expectProblem(await s.put(target, turtle, '', { 'If-None-Match': '*' }), 412, s);
      expectProblem(await s.delete(target, { 'If-Match': '"stale.ttl"' }), 412, s);
      const after = await s.get(target);
      expect([after.text, after.headers['etag']]).to.deep.equal([before.text, before.headers['etag']]);
    });

    it('ACL, rule 6.9: If-Match fails if there is no ACL', async () => {
      const { iri, etag } = await s.stored(turtle, '');
      for (const tag of ['*', '"x"', etag])
        expectProblem(await s.put(aclOf(iri), turtle, document, { 'If-Match': tag }), 412, s);
      await s.expectAbsent(aclOf(iri));
    });

    it('ACL, rule 8.1: DELETE needs the ETag of the ACL; the ETag of the described resource does not match', async () => {
      const target = await withAcl();
      const described = await s.tag(target.slice(0, -4));
      expectProblem(await s.delete(target, { 'If-Match': described }), 412, s);
      expect((await s.delete(target, { 'If-Match': await s.tag(target) })).status).to.equal(204);
    });

    it('ACL, rule 3.7: it has five serializations with separate ETags, and supports 304', async () => {
      const target = await withAcl();
      const base = target.slice(0, -4);
      const tags = new Set<string>();
      for (const Accept of rdfTypes) {
        const answer = await s.get(target, { Accept });
        expect(mediaType(answer)).to.equal(Accept);
        await expectGraph(answer, base, document);
        expect(answer.headers['vary']).to.match(/\baccept\b/i);
        const etag = answer.headers['etag']!;
        tags.add(etag);
        const head = await s.head(target, { Accept });
        expect([head.status, head.headers['etag'], mediaType(head)]).to.deep.equal([200, etag, Accept]);
        expect((await s.get(target, { Accept, 'If-None-Match': etag })).status).to.equal(304);
        const put = await s.put(target, turtle, '', { 'If-Match': etag, 'If-None-Match': etag });
        expect(put.status, 'a tag of any serialisation is known').to.equal(412);
      }
      expect(tags.size).to.equal(rdfTypes.length);
      expect(mediaType(await s.get(target, { Accept: 'image/png' }))).to.equal(turtle);
    });

    for (const type of rdfTypes)
      it(`ACL, rule 3.7: an ACL read as ${type} can be written back with the same meaning`, async () => {
        for (const suffix of ['', '/']) {
          const target = await withAcl(suffix);
          const iri = target.slice(0, -4);
          const read = await s.get(target, { Accept: type });
          expect((await s.put(target, type, read.text, { 'If-Match': read.headers['etag']! })).status).to.equal(204);
          const again = await s.get(target, { Accept: type });
          expect(isomorphic(await graphOf(again, iri), await readRdf(document, turtle, iri)), again.text).to.equal(
            true,
          );
          expect(await modesOf(s, iri, as(s, alice))).to.equal('read');
        }
      });

    it('ACL, rule 3.7: relative IRIs resolve against the described resource', async () => {
      const container = await s.container();
      const { iri } = await s.stored(turtle, '', `${container}x`);
      const text = (terms: string) => document.replaceAll('<>', terms);
      expect((await s.put(aclOf(iri), turtle, text('<x>'))).status).to.equal(201);
      expect((await s.put(aclOf(container), turtle, text('<.>'))).status).to.equal(201);
      for (const target of [iri, container]) expect(await modesOf(s, target, as(s, alice))).to.equal('read');
    });

    it('ACL, rule 1.6: malformed RDF is 400, an unsupported type 415, and nothing is stored', async () => {
      const { iri } = await s.stored(turtle, '');
      expectProblem(await s.put(aclOf(iri), turtle, '<> a'), 400, s);
      expectProblem(await s.put(aclOf(iri), 'application/trig', '<urn:g> { <> a <#C> }'), 400, s);
      expectProblem(await s.put(aclOf(iri), 'application/json', '{}'), 415, s);
      expectProblem(await s.put(aclOf(iri), 'text/plain', document), 415, s);
      expectProblem(await s.send('PUT', aclOf(iri), {}, document), 415, s);
      await s.expectAbsent(aclOf(iri));
    });

    it('ACL, rules 3.7, 6.21: OPTIONS is 204 with Allow; other methods are 405 with Allow', async () => {
      const target = await withAcl();
      const options = await s.options(target);
      expect(options.status).to.equal(204);
      expect(listOf(options, 'allow')).to.include.members(['get', 'head', 'put', 'delete', 'options']);
      const answer = await s.send('POST', target, { 'Content-Type': turtle }, '');
      expectProblem(answer, 405, s);
      expect(listOf(answer, 'allow')).to.include('put').and.not.include('post');
    });

    it('ACL, rule 2.4: every method needs control on the described resource', async () => {
      const target = await withAcl();
      const iri = target.slice(0, -4);
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'POST', 'PATCH']) {
        const send = (who: Parameters<typeof s.send>[4]) =>
          s.send(method, target, { 'Content-Type': turtle }, method === 'PUT' ? '' : undefined, who);
        expect((await send(as(s, alice))).status, `${method} by a reader`).to.equal(403);
        expect((await send(s.stranger)).status, `${method} by a stranger`).to.equal(404);
        expect((await send('anonymous')).status, `${method} by nobody`).to.equal(401);
      }
      await setAcl(s, iri, rule('Control', agent(alice)));
      expect((await s.send('GET', target, {}, undefined, as(s, alice))).status).to.equal(200);
      await setAcl(s, iri, rule('Read Write Append', agent(alice), 'accessTo'));
      expectProblem(await s.send('GET', target, {}, undefined, as(s, alice)), 403, s);
      expectProblem(await s.send('PUT', target, { 'If-Match': '*' }, '', as(s, alice)), 403, s);
    });

    it('ACL, rule 2.4: public control allows every method', async () => {
      const target = await withAcl();
      await setAcl(s, target.slice(0, -4), rule('Control', anybody));
      expect((await s.send('GET', target, {}, undefined, 'anonymous')).status).to.equal(200);
      expectChallenge(await s.send('GET', target.slice(0, -4), {}, undefined, 'anonymous'), s);
    });

    it('an ACL has the storage link and is not an ldp:Container (rule 7.6)', async () => {
      const answer = await s.get(await withAcl('/'));
      expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
      expect(linked(answer, 'type')).not.to.include.members([`${ldp}BasicContainer`]);
    });
  },
  inWac(),
);
