/** Rule 20.12: the linkset of a container is its description in RDF, under `lws.profile=solid`. */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { graphOf } from '../support/rdf.js';
import { agent, alice, as, inSolid, inWac, rule, setAcl } from '../support/wac.js';

const update = 'application/sparql-update';
const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const iana = 'http://www.iana.org/assignments/relation/';
const solid = '@prefix solid: <http://www.w3.org/ns/solid/terms#> . <> a solid:InsertDeletePatch ;';

describeStorage(
  'Descriptions of containers',
  (s) => {
    const patched = async (iri: string, text: string, type = update, headers = {}): Promise<Answer> =>
      s.patch(`${iri}.meta`, type, text, headers);
    const expectPatched = async (iri: string, text: string, type = update): Promise<void> => {
      const answer = await patched(iri, text, type);
      expect(answer.status, answer.text).to.equal(204);
    };
    const triples = async (iri: string, subject = iri.replace('.meta', '')): Promise<string[]> =>
      (await graphOf(await s.get(iri, { Accept: 'text/turtle' }), iri))
        .filter((quad) => quad.subject.value === subject)
        .map(({ predicate, object }) => `${predicate.value} ${object.value}`);
    const linkset = async (iri: string): Promise<Record<string, unknown>> =>
      JSON.parse((await s.get(`${iri}.meta`)).text).linkset[0];

    it('SPARQL Update changes links, types and texts, which the container shows (rule 20.12)', async () => {
      const iri = await s.container();
      await expectPatched(
        iri,
        `INSERT DATA { <./> <${label}> "Notes" ; <${iana}describedby> <about> ; a <urn:Notes> }`,
      );
      expect(await linkset(iri)).to.deep.include({ [label]: ['Notes'], describedby: [{ href: `${iri}about` }] });
      expect((await linkset(iri))['type']).to.deep.include({ href: 'urn:Notes' });
      const expected = [`${label} Notes`, `${iana}describedby ${iri}about`];
      expect(await triples(`${iri}.meta`)).to.have.members([
        ...expected,
        'http://www.w3.org/1999/02/22-rdf-syntax-ns#type urn:Notes',
      ]);
      expect(await triples(iri)).to.include.members(expected);
      expect(linked(await s.get(iri), 'type')).to.include('urn:Notes');
      await expectPatched(
        iri,
        `DELETE DATA { <./> <${label}> "Notes" } ; INSERT DATA { <${iri}> <${label}> "A", "B" } ; DELETE DATA { <./> a <urn:Notes> }`,
      );
      expect(await triples(`${iri}.meta`)).to.have.members([`${label} A`, `${label} B`, expected[1]]);
      expect(await triples(iri))
        .to.include(`${label} A`)
        .and.not.include(`${label} Notes`);
      expect(linked(await s.get(iri), 'type')).not.to.include('urn:Notes');
    });

    it('N3 Patch inserts and deletes, and fails if a triple to delete is missing (rule 20.12)', async () => {
      const iri = await s.container();
      await expectPatched(iri, `${solid} solid:inserts { <./> <${label}> "A" } .`, 'text/n3');
      const change = `${solid} solid:deletes { <./> <${label}> "A" } ; solid:inserts { <./> <${label}> "B" } .`;
      await expectPatched(iri, change, 'text/n3');
      expectProblem(await patched(iri, change, 'text/n3'), 409);
      expect(await triples(`${iri}.meta`)).to.deep.equal([`${label} B`]);
    });

    it('keeps the attributes of other links, and the names of relations (rule 20.12)', async () => {
      const iri = await s.container();
      const about = { href: './about', title: 'About' };
      const links = { [`${iana}describedby`]: [about, { href: 'x' }], note: 'as text', relation: [] };
      const put = await s.put(`${iri}.meta`, 'application/linkset+json', JSON.stringify({ linkset: [links] }), {
        'If-Match': '*',
      });
      expect(put.status, put.text).to.equal(204);
      await expectPatched(
        iri,
        `INSERT DATA { <./> <${iana}describedby> <y> } ; DELETE DATA { <./> <${iana}describedby> <x> }`,
      );
      const after = await linkset(iri);
      expect(after[`${iana}describedby`]).to.deep.equal([about, { href: `${iri}y` }]);
      expect(after).to.deep.include({ note: 'as text', relation: [] });
    });

    it('ignores triples of the server, and rejects those that are no link (rule 20.12)', async () => {
      const iri = await s.container();
      const before = await linkset(iri);
      await expectPatched(iri, `INSERT DATA { <./> a <http://www.w3.org/ns/ldp#Container> ; <${iana}linkset> <x> }`);
      expect(await linkset(iri)).to.deep.equal(before);
      for (const triple of [
        '<x> <urn:p> "x"',
        '<./> <urn:p> 1',
        '<./> <urn:p> "x"@en',
        '<./> <urn:p> []',
        '<./> a "x"',
      ])
        expectProblem(await patched(iri, `INSERT DATA { ${triple} }`), 400);
      for (const text of [
        'DELETE WHERE { ?s ?p ?o }',
        'INSERT DATA { GRAPH <x> { <./> <urn:p> "x" } }',
        'CLEAR ALL',
        'x',
      ])
        expectProblem(await patched(iri, text), 400);
      expect(await linkset(iri)).to.deep.equal(before);
    });

    it('needs no precondition, and checks one (rule 20.12)', async () => {
      const iri = await s.container();
      const text = `INSERT DATA { <./> <${label}> "A" }`;
      const stale = (await s.get(`${iri}.meta`, { Accept: 'text/turtle' })).headers['etag']!;
      expect((await patched(iri, text, update, { 'If-Match': stale })).status).to.equal(204);
      expectProblem(await patched(iri, text, update, { 'If-Match': stale }), 412);
      const same = await patched(iri, text);
      expect([same.status, same.headers['etag']]).to.deep.equal([204, (await s.get(`${iri}.meta`)).headers['etag']]);
      expectProblem(await patched(iri, '{"x":[]}', 'application/merge-patch+json'), 428);
    });

    it('needs read and write (rule 20.12)', async () => {
      const iri = await s.container();
      const sent = (sender: Sender): Promise<Answer> =>
        s.send('PATCH', `${iri}.meta`, { 'Content-Type': update }, `INSERT DATA { <./> <${label}> "A" }`, sender);
      for (const [modes, status] of [
        ['Read Append', 403],
        ['Write', 403],
        ['Read Write', 204],
      ] as const) {
        await setAcl(s, iri, rule(modes, agent(alice)));
        expect((await sent(as(s, alice))).status, modes).to.equal(status);
      }
      expect((await sent('anonymous')).status).to.equal(401);
      expect((await request(`${iri}.meta`, { headers: { Accept: 'text/turtle' } })).status).to.equal(401);
    });

    it('is linked and negotiated: a linkset unless RDF is preferred (rule 20.12)', async () => {
      const iri = await s.container();
      await expectPatched(iri, `INSERT DATA { <./> <${label}> "A" }`);
      expect(linked(await s.get(iri), 'describedby')).to.deep.equal([`${iri}.meta`]);
      for (const [accept, type] of [
        ['text/turtle', 'text/turtle'],
        ['application/ld+json, */*;q=0.1', 'application/ld+json'],
        ['application/linkset+json, text/turtle', 'application/linkset+json'],
        ['*/*', 'application/linkset+json'],
        ['application/json', 'application/linkset+json'],
      ] as const) {
        const { headers } = await s.get(`${iri}.meta`, { Accept: accept });
        expect(headers['content-type'], accept).to.include(type);
        expect(headers).to.deep.include({
          vary: headers['vary'],
          'accept-patch': (await s.options(`${iri}.meta`)).headers['accept-patch'],
        });
        expect(headers['vary']).to.include('Accept').and.include('Prefer');
        expect(headers['accept-patch']).to.include('text/n3').and.include(update);
        const again = await s.get(`${iri}.meta`, { Accept: accept, 'If-None-Match': headers['etag']! });
        expect(again.status).to.equal(304);
      }
    });

    it('of other resources is a linkset only (rule 20.12)', async () => {
      const { iri } = await s.stored('text/turtle', '<> a <urn:x> .');
      expectProblem(await patched(iri, `INSERT DATA { <> <${label}> "A" }`, update, { 'If-Match': '*' }), 415);
      const { headers } = await s.get(`${iri}.meta`, { Accept: 'text/turtle' });
      expect(headers['content-type']).to.equal('application/linkset+json');
      expect(headers['accept-patch']).not.to.include(update);
      expect(linked(await s.get(iri), 'describedby')).to.deep.equal([]);
    });
  },
  inSolid(),
);

describeStorage(
  'Descriptions of containers without the profile',
  (s) => {
    it('are linksets only (rule 20.12)', async () => {
      const iri = await s.container();
      const headers = { 'If-Match': '*' };
      expectProblem(await s.patch(`${iri}.meta`, update, `INSERT DATA { <./> <${label}> "A" }`, headers), 415);
      const answer = await s.get(`${iri}.meta`, { Accept: 'text/turtle' });
      expect([answer.headers['content-type'], answer.headers['vary']]).to.deep.equal([
        'application/linkset+json',
        (await s.get(`${iri}.meta`)).headers['vary'],
      ]);
      expect(linked(await s.get(iri), 'describedby')).to.deep.equal([]);
    });
  },
  inWac(),
);
