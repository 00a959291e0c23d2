/** Rule 14.11: SPARQL Update at the endpoint (SPARQL 1.1 Update; SPARQL 1.1 Protocol 2.2): graphs are resources. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { startInboxHost, told } from '../support/inbox.js';
import { indexed, uniqueIri } from '../support/search.js';
import { encoded, endpointOf, formType } from '../support/sparql.js';
import {
  changesIn,
  inserting,
  postUpdate,
  storedValues,
  update,
  updatedBy,
  updates,
  updateType,
  valuesOf,
} from '../support/sparql-update.js';
import { subscribe } from '../support/subscriptions.js';

const host = await startInboxHost();
after(() => host.close());

describeStorage('SPARQL Update, where it is off', (s) => {
  it('is 415 and not advertised', async () => {
    const iri = s.fresh();
    expectProblem(await postUpdate(s, inserting(iri, 'a')), 415, s);
    await s.expectAbsent(iri);
    const form = encoded([['update', inserting(iri, 'a')]]);
    expectProblem(await s.post(endpointOf(s), formType, form), 400, s);
    await s.expectAbsent(iri);
    expect((await s.get(endpointOf(s))).text).not.to.include('SPARQL11Update');
    expect((await s.options(endpointOf(s))).headers['accept-post']).not.to.include(updateType);
  });
});

describeStorage(
  'SPARQL Update',
  (s) => {
    it('a plain If-Match is 400 and names LWS-If-Match (rule 14.11)', async () => {
      const iri = s.fresh();
      const answer = await s.post(endpointOf(s), updateType, inserting(iri, 'a'), { 'If-Match': '"x"' });
      expectProblem(answer, 400, s);
      expect(answer.text).to.include('LWS-If-Match');
      await s.expectAbsent(iri);
    });

    it('is advertised', async () => {
      expect((await s.get(endpointOf(s))).text).to.include('SPARQL11Update');
      expect((await s.options(endpointOf(s))).headers['accept-post']).to.include(updateType);
    });

    it('creates, changes, empties and deletes resources, and returns the ETag of each', async () => {
      const [a, b, c, d] = [s.fresh('a'), s.fresh('b'), s.fresh('c'), s.fresh('d')];
      for (const iri of [b, c, d]) await storedValues(s, iri, 'old');
      const text = `${inserting(a, 'new')} ; ${inserting(b, 'new')} ; CLEAR GRAPH <${c}> ; DROP GRAPH <${d}>`;
      const updated = updatedBy(await postUpdate(s, text));
      expect(updated.map(({ status }) => status)).to.deep.equal(['created', 'changed', 'changed', 'deleted']);
      for (const { id, etag } of updated) expect(etag, id).to.equal(id === d ? undefined : await s.tag(id));
      expect(await valuesOf(s, a)).to.deep.equal(['new']);
      expect(await valuesOf(s, b)).to.deep.equal(['new', 'old']);
      expect(await valuesOf(s, c)).to.deep.equal([]);
      expect(await valuesOf(s, d)).to.equal(undefined);
    });

    it('keeps the ETag of unchanged graphs', async () => {
      const a = await storedValues(s, s.fresh('a'), 'x');
      const tag = await s.tag(a);
      const text = `${inserting(a, 'x')} ; DELETE DATA { GRAPH <${a}> { <urn:s> <urn:p> "none" } }`;
      expect(updatedBy(await postUpdate(s, text))).to.deep.equal([{ id: a, status: 'unchanged', etag: tag }]);
      expect(await update(s, `COPY <${a}> TO <${a}> ; CLEAR GRAPH <${a}> ; ${inserting(a, 'x')}`)).to.deep.equal([
        `${a.slice(a.lastIndexOf('/') + 1)} unchanged`,
      ]);
      expect(await s.tag(a)).to.equal(tag);
    });

    it('shows each operation the effects of previous ones', async () => {
      const [a, b, c] = [s.fresh('a'), s.fresh('b'), s.fresh('c')];
      await storedValues(s, a, 'gone', 'kept');
      const copy = (from: string, to: string) =>
        `INSERT { GRAPH <${to}> { ?s ?p ?o } } WHERE { GRAPH <${from}> { ?s ?p ?o } }`;
      const text = `DELETE DATA { GRAPH <${a}> { <urn:s> <urn:p> "gone" } } ; ${inserting(a, 'come')} ; ${copy(a, b)} ;
        CLEAR GRAPH <${a}> ; ${inserting(a, 'last')} ; ${copy(a, c)} ;
        INSERT { GRAPH <${c}> { <urn:s> <urn:count> ?n } } WHERE { SELECT (COUNT(*) AS ?n) { GRAPH <${b}> { ?s ?p ?o } } } ;
        DELETE { GRAPH <${c}> { ?s ?p "last" } } WHERE { GRAPH <${c}> { ?s ?p "last" } GRAPH <${a}> { ?s ?p "last" } }`;
      await postUpdate(s, text).then(updatedBy);
      expect(await valuesOf(s, a)).to.deep.equal(['last']);
      expect(await valuesOf(s, b)).to.deep.equal(['come', 'kept']);
      expect(await valuesOf(s, c)).to.deep.equal(['2']);
    });

    it('returns the current state of graphs without a triple', async () => {
      const [a, b, out] = [s.fresh('a'), s.fresh('b'), s.fresh('o')];
      await storedValues(s, b, 'x');
      const text = `CREATE GRAPH <${a}> ; CLEAR GRAPH <${b}> ;
        INSERT { GRAPH <${out}> { <urn:s> <urn:p> ?g } } WHERE { GRAPH ?g {} FILTER(?g IN (<${a}>, <${b}>)) } ;
        DROP GRAPH <${b}> ;
        INSERT { GRAPH <${out}> { <urn:s> <urn:q> ?g } } WHERE { GRAPH ?g {} FILTER(?g IN (<${a}>, <${b}>)) }`;
      updatedBy(await postUpdate(s, text));
      expect(await valuesOf(s, out)).to.have.members([a, a, b]);
    });

    it('changes part of a large graph, and empties it', async () => {
      const a = s.fresh('a');
      await s.stored('text/turtle', Array.from({ length: 20_100 }, (_, i) => `<urn:s> <urn:p> ${i} .`).join('\n'), a);
      const count = async (iri = a) =>
        (await s.get(iri, { Accept: 'application/n-triples' })).text.split('\n').filter((line) => line !== '').length;
      await update(s, `${inserting(a, 'x')} ; DELETE DATA { GRAPH <${a}> { <urn:s> <urn:p> 0, 1, -1 } }`);
      expect(await count()).to.equal(20_099);
      const copy = s.fresh('copy');
      await update(s, `COPY <${a}> TO <${copy}>`);
      expect(await count(copy)).to.equal(20_099);
      expect(Number((await s.head(copy, { Accept: 'text/turtle' })).headers['content-length'])).to.equal(
        (await s.get(copy)).bytes.length,
      );
      await update(
        s,
        `DELETE WHERE { GRAPH <${a}> { ?s ?p "x" } } ; DELETE { GRAPH <${a}> { ?s ?p ?o } } WHERE { GRAPH <${a}> { ?s ?p ?o FILTER(?o < 200) } }`,
      );
      expect(await count()).to.equal(19_900);
      await update(s, `CLEAR GRAPH <${a}> ; ${inserting(a, 'x')}`);
      expect(await valuesOf(s, a)).to.deep.equal(['x']);
    });

    it('accepts a form with using-graph-uri and using-named-graph-uri', async () => {
      const [a, b, out] = [
        await storedValues(s, s.fresh('a'), 'a'),
        await storedValues(s, s.fresh('b'), 'b'),
        s.fresh(),
      ];
      const text = `INSERT { GRAPH <${out}> { ?s ?p ?o } } WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }`;
      const send = (...more: (readonly [string, string])[]) =>
        s.post(endpointOf(s), formType, encoded([['update', text], ...more]));
      await send(['using-graph-uri', a]).then(updatedBy);
      expect(await valuesOf(s, out)).to.deep.equal(['a']);
      await send(['using-named-graph-uri', b]).then(updatedBy);
      expect(await valuesOf(s, out)).to.deep.equal(['a', 'b']);
      const using = encoded([
        ['update', `WITH <${out}> ${text}`],
        ['using-graph-uri', a],
      ]);
      expectProblem(await s.post(endpointOf(s), formType, using), 400, s);
      expectProblem(await send(['default-graph-uri', a]), 400, s);
      expectProblem(await send(['query', 'ASK {}']), 400, s);
    });

    it('evaluates LWS-If-Match, for changed and unchanged graphs', async () => {
      const [a, b] = [await storedValues(s, s.fresh('a'), 'a'), await storedValues(s, s.fresh('b'), 'b')];
      const given = (of: Record<string, string>) => ({
        'LWS-If-Match': Object.entries(of)
          .map(([iri, tag]) => `<${iri}> ${tag}`)
          .join(', '),
      });
      const [tagA, tagB] = [await s.tag(a), await s.tag(b)];
      for (const [iri, tag] of [
        [a, '"x"'],
        [b, '"x"'],
        [a, `W/${tagA}`],
      ] as const)
        expectProblem(await postUpdate(s, inserting(a, 'n'), undefined, given({ [a]: tagA, [iri]: tag })), 412, s);
      expectProblem(await postUpdate(s, inserting(s.fresh(), 'n'), undefined, given({ [s.fresh()]: '"x"' })), 404, s);
      for (const bad of ['x', `<${a}>`, `<${a}> x`, `<${a}> *`, `<${a}> "x" <${b}> "y"`, `<> "x"`, `<${a} "x"`])
        expectProblem(await postUpdate(s, inserting(a, 'n'), undefined, { 'LWS-If-Match': bad }), 400, s);
      expect(await s.tag(a)).to.equal(tagA);
      expect(
        changesIn(await postUpdate(s, inserting(a, 'n'), undefined, given({ [a]: tagA, [b]: tagB }))),
      ).to.have.length(1);
    });

    it('rejects operations without a specific graph and explains it', async () => {
      const iri = s.fresh();
      for (const text of [
        'INSERT DATA { <urn:s> <urn:p> 1 }',
        `DELETE { ?s ?p ?o } INSERT { GRAPH <${iri}> { ?s ?p ?o } } WHERE { ?s ?p ?o }`,
        'DELETE WHERE { ?s ?p ?o }',
        ...['CLEAR', 'DROP', 'CLEAR SILENT'].flatMap((op) =>
          ['DEFAULT', 'NAMED', 'ALL'].map((what) => `${op} ${what}`),
        ),
        `COPY DEFAULT TO <${iri}>`,
        `LOAD <${iri}>`,
      ]) {
        const answer = await postUpdate(s, text);
        expectProblem(answer, 400, s);
        const reason = /\b(?:ALL|NAMED)$/.test(text) ? 'ALL and NAMED are not supported' : 'default graph';
        expect(answer.text, text).to.include(reason);
      }
    });

    it('rejects targets that are not RDF resources of the storage, SERVICE, and remote LOAD', async () => {
      const { iri: json } = await s.stored('application/json', '{}');
      const iri = await storedValues(s, s.fresh(), 'x');
      for (const [text, status] of [
        [inserting('urn:x', '1'), 400],
        [inserting(`${s.root.slice(0, -1)}.example/x`, '1'), 400],
        [inserting(`${s.scratch}box/`, '1'), 400],
        [inserting(`${iri}?x`, '1'), 400],
        [inserting(`${iri}.meta`, '1'), 409],
        [inserting(`${iri}.acl`, '1'), 409],
        [inserting(`${s.root}.lws/sparql`, '1'), 409],
        [inserting(json, '1'), 409],
        [inserting(`${iri}/below`, '1'), 404],
        [`CREATE GRAPH <${iri}>`, 409],
        [`CREATE GRAPH <${iri}/>`, 400],
        [`CLEAR GRAPH <${s.fresh()}>`, 404],
        [`DROP GRAPH <${s.fresh()}>`, 404],
        [`COPY <${s.fresh()}> TO <${iri}>`, 404],
        [`LOAD <https://elsewhere.example/x> INTO GRAPH <${iri}>`, 404],
        [`INSERT { GRAPH <${iri}> { ?s ?p ?o } } WHERE { SERVICE <${s.root}.lws/sparql> { ?s ?p ?o } }`, 400],
        ['SELECT * {}', 400],
        ['INSERT DATA {', 400],
      ] as const) {
        const answer = await postUpdate(s, text);
        expect(answer.status, `${text}\n${answer.text}`).to.equal(status);
      }
      expect(await valuesOf(s, iri)).to.deep.equal(['x']);
    });

    it('rejects updates above the limits of length, width and count, and changes nothing', async () => {
      const out = s.fresh();
      const many = Array.from({ length: 251 }, (_, i) => inserting(`${s.scratch}many${i}`, 'x'));
      const numbers = await storedValues(s, s.fresh(), ...Array.from({ length: 60 }, (_, i) => String(i)));
      const cross = ['a', 'b', 'c'].map((name) => `GRAPH <${numbers}> { <urn:s> <urn:p> ?${name} }`).join(' ');
      const long = `BIND(IRI(CONCAT("urn:${'x'.repeat(4000)}", STR(?a), "-", STR(?b), "-", STR(?c))) AS ?t)`;
      for (const [text, status] of [
        [inserting(out, 'x'.repeat(1 << 20)), 413],
        [many.join(' ; '), 422],
        [`INSERT { GRAPH <${out}> { <urn:s> ?t ?a } } WHERE { ${cross} ${long} }`, 422],
        [`INSERT { GRAPH <${out}> { <urn:s> <urn:p> 1 } } WHERE { ${cross} }`, 422],
        [`INSERT { GRAPH <${out}> { <urn:s> <urn:p> 1 } } WHERE { ${'{'.repeat(20_000)}${'}'.repeat(20_000)} }`, 400],
      ] as const) {
        const answer = await postUpdate(s, text);
        expect(answer.status, `${text.slice(0, 200)}\n${answer.text}`).to.equal(status);
      }
      await s.expectAbsent(out);
      await s.expectAbsent(`${s.scratch}many0`);
    });

    it('notifies subscriptions and updates the type index', async () => {
      const [type, inbox, container] = [uniqueIri(), host.inbox(), await s.container()];
      await subscribe(s, [container], inbox);
      const [a, b] = [`${container}a`, `${container}b`];
      await update(s, `${inserting(a, 'x')} ; INSERT DATA { GRAPH <${b}> { <${b}> a <${type}> } }`);
      expect(await indexed(s)).to.include(type);
      await update(s, `${inserting(a, 'y')} ; DROP GRAPH <${b}>`);
      expect(await indexed(s)).not.to.include(type);
      await update(s, inserting(`${container}last`, 'x'));
      const heard = (await host.receivedAbout(inbox, `${container}last`)).map(told);
      const wanted = [`Create ${a}`, `Create ${b}`, `Update ${a}`, `Delete ${b}`, `Create ${container}last`];
      expect(heard).to.deep.equal(wanted);
    });
  },
  { settings: { ...updates, 'sparql.endpoint.max-results': '100000', 'webhook.allowed-hosts': host.authority } },
);

describeStorage(
  'SPARQL Update and the quota',
  (s) => {
    it('is 507 above the quota and writes nothing', async () => {
      const [a, b] = [s.fresh('a'), s.fresh('b')];
      expectProblem(await postUpdate(s, `${inserting(a, 'x')} ; ${inserting(b, 'x'.repeat(2000))}`), 507, s);
      for (const iri of [a, b]) await s.expectAbsent(iri);
      expect(await update(s, inserting(a, 'x'))).to.have.length(1);
    });
  },
  { settings: { ...updates, 'quota.max-bytes': '1000' } },
);
