/** Rules 1.10, 10.3 (413, quota). */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

const text = (length: number): string => 'x'.repeat(length);
const json = (length: number): string => JSON.stringify(text(length - 2));
const binary = 'application/octet-stream';
const mergePatch = 'application/merge-patch+json';

describeStorage(
  'Limits: quota',
  (s) => {
    afterEach(async () => {
      for (const iri of await s.members(s.scratch)) await s.delete(iri, { Depth: 'infinity' });
    });

    for (const [type, body] of [
      [binary, text],
      ['application/json', json],
    ] as const) {
      it(`Limits, rule 10.3: ${type} up to the quota is stored, one byte more is 507`, async () => {
        const iri = s.fresh();
        expectProblem(await s.put(iri, type, body(1001)), 507, s);
        await s.expectAbsent(iri);
        expectProblem(await s.post(s.scratch, type, body(1001)), 507, s);
        expect(await s.members(s.scratch)).to.deep.equal([]);
        expect((await s.put(iri, type, body(1000))).status).to.equal(201);
        expectProblem(await s.put(s.fresh(), type, body(3)), 507, s);
      });

      it(`Limits, rule 10.3: the quota applies to ${type} without Content-Length`, async () => {
        const iri = s.fresh();
        const whole = body(1001);
        expectProblem(await s.put(iri, type, [whole.slice(0, 600), whole.slice(600)]), 507, s);
        await s.expectAbsent(iri);
      });
    }

    it('Limits, rule 10.3: replaced content does not count', async () => {
      const { iri } = await s.stored(binary, text(900));
      expect((await s.put(iri, binary, text(1000), { 'If-Match': '*' })).status).to.equal(204);
      const etag = await s.tag(iri);
      expectProblem(await s.put(iri, binary, text(1001), { 'If-Match': '*' }), 507, s);
      expect(await s.tag(iri)).to.equal(etag);
      expect((await s.get(iri)).text).to.have.length(1000);
    });

    it('Limits, rule 10.3: a COPY beyond the quota is 507 and creates nothing, a MOVE needs no quota', async () => {
      const container = await s.container();
      for (const name of ['a', 'b']) await s.stored(binary, text(300), container + name);
      const to = `${s.fresh()}/`;
      expectProblem(await s.send('COPY', container, { Destination: to }), 507, s);
      await s.expectAbsent(to);
      expect((await s.send('COPY', `${container}a`, { Destination: `${container}c` })).status).to.equal(201);
      expectProblem(await s.send('COPY', `${container}a`, { Destination: s.fresh() }), 507, s);
      expect((await s.send('MOVE', container, { Destination: to })).status).to.equal(201);
      expect(await s.members(to)).to.have.members(['a', 'b', 'c'].map((name) => to + name));
      await s.stored(binary, text(100));
      expectProblem(await s.put(s.fresh(), binary, text(1)), 507, s);
    });

    it('Limits, rule 10.3: a COPY that replaces a container may use its bytes', async () => {
      const [source, to] = [await s.container(), await s.container()];
      await s.stored(binary, text(400), `${source}a`);
      await s.stored(binary, text(500), `${to}b`);
      expect((await s.send('COPY', source, { Destination: to, Overwrite: 'T' })).status).to.equal(204);
      expect(await s.members(to)).to.deep.equal([`${to}a`]);
    });

    it('Limits, rule 10.3: a deletion frees quota', async () => {
      const container = await s.container();
      await s.stored(binary, text(1000), `${container}x`);
      expectProblem(await s.put(s.fresh(), binary, text(10)), 507, s);
      await s.delete(container, { Depth: 'infinity' });
      await s.stored(binary, text(1000));
    });

    it('Limits, rule 10.3: RDF counts as its default Turtle', async () => {
      const iri = s.fresh();
      const turtle = `<> <http://e.example/p> "${text(1000)}" .`;
      expectProblem(await s.put(iri, 'text/turtle', turtle), 507, s);
      await s.expectAbsent(iri);
      const { iri: kept } = await s.stored('text/turtle', `<> <http://e.example/p> "${text(500)}" .`);
      const size = (await s.get(kept)).bytes.length;
      await s.stored(binary, text(1000 - size));
      expectProblem(await s.put(s.fresh(), binary, text(1)), 507, s);
    });

    it('Limits: a PATCH beyond the quota is 507 and changes nothing', async () => {
      const { iri: rdf } = await s.stored('text/turtle', '');
      const { iri: document } = await s.stored('application/json', '{}');
      const tags = [await s.tag(rdf), await s.tag(document)];
      const insert = `INSERT DATA { <> <#p> "${text(1000)}" }`;
      expectProblem(await s.patch(rdf, 'application/sparql-update', insert), 507, s);
      expectProblem(await s.patch(document, mergePatch, `{"a":"${text(1000)}"}`), 507, s);
      expect([await s.tag(rdf), await s.tag(document)]).to.deep.equal(tags);
    });

    it('Limits: concurrent writes do not exceed the quota together', async () => {
      const puts = Array.from({ length: 6 }, () => s.put(s.fresh(), binary, text(400)));
      const statuses = (await Promise.all(puts)).map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([201, 201, 507, 507, 507, 507]);
    });
  },
  { settings: { 'quota.max-bytes': '1000' } },
);

describeStorage(
  'Limits: body sizes',
  (s) => {
    for (const [type, body] of [
      ['application/json', json(1001)],
      ['text/turtle', `# ${text(1000)}`],
      ['application/ld+json', json(1001)],
      ['application/rdf+xml', text(1001)],
    ] as const)
      it(`a ${type} body above lws.max-request-bytes is 413 and stores nothing (rule 1.10)`, async () => {
        const iri = s.fresh();
        expectProblem(await s.put(iri, type, body), 413, s);
        expectProblem(await s.put(iri, type, [body.slice(0, 500), body.slice(500)]), 413, s);
        await s.expectAbsent(iri);
        expectProblem(await s.post(s.scratch, type, body), 413, s);
      });

    it('a body of exactly lws.max-request-bytes is stored (rule 1.10)', async () => {
      expect((await s.put(s.fresh(), 'application/json', json(1000))).status).to.equal(201);
    });

    for (const [type, target, body] of [
      ['application/sparql-update', 'text/turtle', `INSERT DATA { <> <#p> "${text(1000)}" }`],
      [mergePatch, 'application/json', `{"a":"${text(1000)}"}`],
      ['application/json-patch+json', 'application/json', `[{"op":"add","path":"/a","value":"${text(1000)}"}]`],
    ] as const)
      it(`a ${type} body above lws.max-request-bytes is 413 and changes nothing (rule 1.10)`, async () => {
        const { iri, etag } = await s.stored(target, target === 'text/turtle' ? '' : '{}');
        expectProblem(await s.patch(iri, type, body), 413, s);
        expect(await s.tag(iri)).to.equal(etag);
      });

    it('binary bodies are limited by lws.max-binary-bytes, not lws.max-request-bytes (rule 1.10)', async () => {
      expect((await s.put(s.fresh(), binary, text(2000))).status).to.equal(201);
      const iri = s.fresh();
      expectProblem(await s.put(iri, binary, text(2001)), 413, s);
      expectProblem(await s.put(iri, binary, [text(1000), text(1001)]), 413, s);
      await s.expectAbsent(iri);
    });
  },
  { settings: { 'max-request-bytes': '1000', 'max-binary-bytes': '2000' } },
);
