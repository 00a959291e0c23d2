/** Expectations of Solid and LDP clients beyond LWS: containment, WAC-Allow, creating patches, patched ACLs. */
import { expect } from 'chai';
import { ldp } from '../../lib/rdf/vocabulary.js';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem, listOf } from '../support/expectations.js';
import { expectGraph, graphOf } from '../support/rdf.js';
import { acl, aclOf, agent, alice, anybody, as, bob, inWac, modesOf, owner, rule, setAcl } from '../support/wac.js';

const update = 'application/sparql-update';
const patch = (s: StorageUnderTest, iri: string, text: string, sender?: Sender, headers = {}) =>
  s.send('PATCH', iri, { 'Content-Type': update, ...headers }, text, sender);
const any = { 'If-Match': '*' };
const insertion = 'INSERT DATA { <#it> <urn:p> "x" }';

describeStorage(
  'Containment in RDF',
  (s) => {
    it('a container contains its members, with their types, date and size (rule 9.5, LDP 5.2.1.4)', async () => {
      const container = await s.container();
      await s.stored('text/plain', 'four', `${container}a.txt`);
      await s.send('PUT', `${container}c/`, {});
      const quads = await graphOf(await s.get(container, { Accept: 'text/turtle' }), container);
      const said = (subject: string): string[] =>
        quads
          .filter((quad) => quad.subject.value === subject)
          .map(({ predicate, object }) => `${predicate.value} ${object.value}`);
      const type = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
      expect(said(container)).to.include.members([
        `${ldp.contains} ${container}a.txt`,
        `${ldp.contains} ${container}c/`,
        `${type} ${ldp.Container}`,
        `${type} ${ldp.BasicContainer}`,
      ]);
      expect(said(`${container}a.txt`)).to.include.members([
        `${type} ${ldp.Resource}`,
        'http://www.w3.org/ns/posix/stat#size 4',
      ]);
      expect(said(`${container}a.txt`).filter((line) => line.includes('dc/terms/modified'))).to.have.length(1);
      expect(said(`${container}a.txt`)).to.not.include(`${type} ${ldp.Container}`);
      expect(said(`${container}c/`)).to.include.members([`${type} ${ldp.Resource}`, `${type} ${ldp.Container}`]);
    });

    it('OPTIONS on a data resource lists the types that PUT accepts', async () => {
      const { iri } = await s.stored('text/turtle', '');
      expect(listOf(await s.send('OPTIONS', iri, {}), 'accept-put')).to.include.members(['text/turtle', '*/*']);
      expect((await s.send('OPTIONS', s.scratch, {})).headers['accept-put']).to.equal(undefined);
    });

    it('an insert-only PATCH creates the resource (rule 6.18)', async () => {
      const iri = s.fresh();
      const answer = await patch(s, iri, insertion);
      expect([answer.status, answer.headers['location']], answer.text).to.deep.equal([201, iri]);
      const read = await s.get(iri);
      expect(read.headers['etag']).to.equal(answer.headers['etag']);
      await expectGraph(read, iri, '<#it> <urn:p> "x" .');
      expect((await patch(s, iri, 'INSERT DATA { <#it> <urn:p> "y" }')).status).to.equal(204);
      const large = `INSERT DATA { ${Array.from({ length: 900 }, (_, i) => `<#i${i}> <urn:p> "${i}" .`).join('\n')} }`;
      expect((await patch(s, s.fresh(), large)).status).to.equal(201);
    });

    it('a 404 says how to create the resource, unreadable or nonexistent (rule 6.18)', async () => {
      const answer = await s.get(s.fresh());
      expectProblem(answer, 404, s);
      expect(answer.headers['accept-patch']).to.equal(update);
      expect(listOf(answer, 'accept-put')).to.include('text/turtle');
      expect((await s.get(s.fresh('/'))).headers['accept-patch']).to.equal(undefined);
    });

    it('a 404 names the methods that may create, independent of unreadable resources and of the caller (rule 6.18)', async () => {
      const { iri: hidden } = await s.stored('text/plain', 'x');
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        for (const [iri, allowed, sender] of [
          [s.fresh(), 'GET, HEAD, OPTIONS, QUERY, PUT, PATCH', undefined],
          [s.fresh(), 'GET, HEAD, OPTIONS, QUERY, PUT, PATCH', s.stranger],
          [hidden, 'GET, HEAD, OPTIONS, QUERY, PUT, PATCH', s.stranger],
          [s.fresh('/'), 'GET, HEAD, OPTIONS, PUT', undefined],
          [`${s.fresh()}.acl`, 'GET, HEAD, OPTIONS, QUERY', undefined],
        ] as const) {
          const { status, headers } = await s.send(method, iri, {}, undefined, sender);
          expect([status, headers['allow']], `${method} ${iri}`).to.deep.equal([404, allowed]);
        }
      expect((await s.send('GET', s.fresh(), {}, undefined, 'anonymous')).headers['allow']).to.equal(undefined);
    });

    for (const [what, text, status] of [
      ['a deletion', 'DELETE DATA { <#it> <urn:p> "x" }', 404],
      ['an insertion and a deletion', `${insertion} ; DELETE DATA { <#it> <urn:p> "y" }`, 404],
      ['a WHERE', 'INSERT { <#it> <urn:p> ?o } WHERE { <#it> <urn:q> ?o }', 404],
      ['a syntax error', 'INSERT DATA {', 400],
      ['a graph', 'INSERT DATA { GRAPH <urn:g> { <#it> <urn:p> "x" } }', 400],
    ] as const)
      it(`a PATCH of a nonexistent resource with ${what} is ${status} and creates nothing (rule 6.18)`, async () => {
        const iri = s.fresh();
        expectProblem(await patch(s, iri, text), [status, 422], s);
        expect((await s.get(iri)).status).to.equal(404);
      });

    it('a PATCH of a nonexistent resource is 404 for containers, reserved names, other types and missing parents (rule 6.18)', async () => {
      expectProblem(await patch(s, s.fresh('/'), insertion), 404, s);
      expectProblem(await patch(s, `${s.fresh('/')}deep`, insertion), 404, s);
      expectProblem(await s.send('PATCH', s.fresh(), { 'Content-Type': 'application/merge-patch+json' }, '{}'), 404, s);
      expectProblem(await patch(s, `${s.root}.lws/x`, insertion), [404, 405, 409], s);
    });

    it('a PATCH of a nonexistent resource with If-Match is 412; with If-None-Match: * it creates once (rule 6.18)', async () => {
      const iri = s.fresh();
      expectProblem(await patch(s, iri, insertion, undefined, { 'If-Match': '"x"' }), 412, s);
      expect((await patch(s, iri, insertion, undefined, { 'If-None-Match': '*' })).status).to.equal(201);
      expectProblem(await patch(s, iri, insertion, undefined, { 'If-None-Match': '*' }), 412, s);
    });

    it('a PATCH of a nonexistent resource without permission to create gets the usual error (rule 6.18)', async () => {
      expectChallenge(await patch(s, s.fresh(), insertion, 'anonymous'), s);
      expectProblem(await patch(s, s.fresh(), insertion, s.stranger), 404, s);
    });

    it('concurrent patches of one new IRI are all applied (rule 6.18)', async () => {
      const iri = s.fresh();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => patch(s, iri, `INSERT DATA { <#i${i}> <urn:p> ${i} }`)),
      );
      const created = answers.filter(({ status }) => status === 201);
      expect(created).to.have.length(1);
      const lost = answers.filter(({ status }) => status !== 201 && status !== 204);
      expect(lost.map(({ status }) => status)).to.deep.equal([]);
      expect(await graphOf(await s.get(iri), iri)).to.have.length(8);
    });
  },
  { settings: {} },
);

describeStorage(
  'Web Access Control for applications',
  (s) => {
    it('WAC-Allow on reads lists the modes of the caller and the public (rule 3.11, WAC 7.1)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      await setAcl(s, iri, rule('Read', anybody), rule('Read Append', agent(alice)));
      const told = async (sender?: Sender) => (await s.send('GET', iri, {}, undefined, sender)).headers['wac-allow'];
      expect(await told()).to.equal('user="read append write control",public="read"');
      expect(await told(as(s, alice))).to.equal('user="read append",public="read"');
      expect(await told('anonymous')).to.equal('user="read",public="read"');
      expect((await s.send('HEAD', s.scratch, {})).headers['wac-allow']).to.match(/^user="read append write control"/);
    });

    it('patching an ACL requires control of the resource (rule 3.11)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      await setAcl(s, iri);
      const grant = `INSERT DATA { <#a> a <${acl}Authorization> ; <${acl}agent> <${alice.did}> ;
        <${acl}accessTo> <> ; <${acl}mode> <${acl}Read> }`;
      expectProblem(await patch(s, aclOf(iri), grant, as(s, alice)), 404, s);
      expectChallenge(await patch(s, aclOf(iri), grant, 'anonymous'), s);
      expect(await modesOf(s, iri, as(s, alice))).to.equal('');
      const before = (await s.get(aclOf(iri))).headers['etag'];
      const answer = await patch(s, aclOf(iri), grant, undefined, { 'If-Match': before! });
      expect(answer.status, answer.text).to.equal(204);
      expect(answer.headers['etag']).to.be.a('string').and.not.equal(before);
      expect(await modesOf(s, iri, as(s, alice))).to.equal('read');
      expectProblem(await patch(s, aclOf(iri), grant, undefined, { 'If-Match': before! }), 412, s);
      expect((await patch(s, aclOf(iri), `DELETE WHERE { <#a> ?p ?o }`, undefined, any)).status).to.equal(204);
      expect(await modesOf(s, iri, as(s, alice))).to.equal('');
      expect(await modesOf(s, iri, as(s, owner))).to.equal('read write delete control');
    });

    it('an insert-only patch creates an ACL (rule 3.11)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      expectProblem(await patch(s, aclOf(iri), `DELETE WHERE { ?s ?p ?o }`), 404, s);
      const rules = [owner, bob].map(
        ({ did }, i) => `<#r${i}> a <${acl}Authorization> ; <${acl}agent> <${did}> ; <${acl}accessTo> <> ;
          <${acl}mode> <${acl}Read>, <${acl}Control> .`,
      );
      expect((await patch(s, aclOf(iri), `INSERT DATA { ${rules.join('\n')} }`)).status).to.equal(201);
      expect(await modesOf(s, iri, as(s, bob))).to.equal('read control');
    });

    it('a patch that removes the last control of the root, has another type, or is malformed is rejected (rules 3.9, 3.11)', async () => {
      const root = aclOf(s.root);
      const before = await s.get(root);
      expectProblem(await patch(s, root, 'DELETE WHERE { ?s ?p ?o }', undefined, any), 409, s);
      expectProblem(await s.send('PATCH', root, { 'Content-Type': 'text/n3', ...any }, ''), 415, s);
      expectProblem(await patch(s, root, 'DELETE WHERE {', undefined, any), 400, s);
      expectProblem(await patch(s, `${root}?x`, 'DELETE WHERE { ?s ?p ?o }'), 400, s);
      expect((await s.get(root)).text).to.equal(before.text);
      expect(before.headers['accept-patch']).to.equal(update);
    });
  },
  inWac(),
);
