/** Rules 1.16 and 7.8: triple terms and base directions in documents. */
import { expect } from 'chai';
import { Parser } from 'n3';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { expectGraph, mediaType, rdfTypes } from '../support/rdf.js';

const ex = 'http://e.example/';
const annotated = `PREFIX : <${ex}>
:a :p :b ~ :r {| :q "x"@ar--rtl, _:n |} .
_:n :p <<( _:n :p <<( :a :p _:n )>> )>> .
<< :c :p 1 >> :by <#me> .`;
const directed = `PREFIX : <${ex}> :a :p "x"@ar--rtl, "y" .`;
const plain = `PREFIX : <${ex}> :a :p "x"@ar, <<>> .`.replace('<<>>', '<>');
const type = (format: string): string => `${format}; version=1.2`;

describeStorage('RDF 1.2', (s) => {
  for (const format of rdfTypes.filter((each) => each !== 'application/ld+json'))
    it(`a graph with triple terms is read as ${format}, and accepted in it again (rule 1.16)`, async () => {
      const { iri } = await s.stored('text/turtle', annotated);
      const answer = await s.get(iri, { Accept: format });
      expect(answer.headers['content-type']).to.equal(type(format));
      await expectGraph(answer, iri, annotated);
      const copy = s.fresh();
      expect((await s.put(copy, `${format}; version=1.2`, answer.text)).status).to.equal(201);
      const again = await s.get(copy);
      await expectGraph(again, iri, annotated.replace('<#me>', `<${iri}#me>`));
    });

  it('a graph with triple terms is not offered as JSON-LD, a graph with base directions is (rule 7.8)', async () => {
    const { iri } = await s.stored('text/turtle', annotated);
    for (const [accept, format] of [
      ['application/ld+json', 'text/turtle'],
      ['application/ld+json, application/n-triples;q=0.5', 'application/n-triples'],
      ['application/ld+json, application/rdf+xml;q=0.5', 'application/rdf+xml'],
    ] as const)
      expect((await s.get(iri, { Accept: accept })).headers['content-type'], accept).to.equal(type(format));
    const { iri: other } = await s.stored('text/turtle', directed);
    const answer = await s.get(other, { Accept: 'application/ld+json' });
    expect(answer.headers['content-type']).to.equal('application/ld+json');
    expect(JSON.parse(answer.text)[`${ex}p`]).to.deep.include({
      ...{ '@value': 'x', '@language': 'ar', '@direction': 'rtl' },
    });
    const copy = s.fresh();
    expect((await s.put(copy, 'application/ld+json', answer.text)).status).to.equal(201);
    await expectGraph(await s.get(copy), copy, directed);
  });

  it('only graphs with terms of RDF 1.2 have a version, which Accept can exclude (rule 7.8)', async () => {
    const graphs = { annotated, directed, plain };
    for (const [name, text] of Object.entries(graphs)) {
      const { iri } = await s.stored('text/turtle', text);
      const typeFor = async (accept: string) => (await s.get(iri, { Accept: accept })).headers['content-type'];
      const version = name === 'plain' ? '' : '; version=1.2';
      for (const accept of ['text/turtle', 'text/turtle;version=1.2', '*/*'])
        expect(await typeFor(accept), `${name} ${accept}`).to.equal(`text/turtle${version}`);
      for (const [older, excludes] of [
        ['1.1', name !== 'plain'],
        ['1.2-basic', name === 'annotated'],
      ] as const)
        expect(
          await typeFor(`application/trig;version=${older}, application/n-triples;q=0.5`),
          `${name} ${older}`,
        ).to.equal(`application/${excludes ? 'n-triples' : 'trig'}${version}`);
      expect(await typeFor('application/trig;version=1.1')).to.equal(
        name === 'plain' ? 'application/trig' : 'text/turtle; version=1.2',
      );
    }
  });

  it('the version goes when the last such term is replaced (rule 7.8)', async () => {
    const { iri, etag } = await s.stored('text/turtle', annotated);
    const replaced = await s.put(iri, 'text/turtle', plain, { 'If-Match': etag });
    expect(replaced.status).to.equal(204);
    expect((await s.get(iri)).headers['content-type']).to.equal('text/turtle');
    const again = await s.put(iri, 'text/turtle', directed, { 'If-Match': replaced.headers['etag'] ?? '' });
    expect(again.status).to.equal(204);
    expect((await s.get(iri)).headers['content-type']).to.equal(type('text/turtle'));
  });

  it('a large graph with triple terms is streamed as lines, and not as JSON-LD (rule 1.16)', async () => {
    const lines = Array.from(
      { length: 20_100 },
      (_, at) => `<${ex}s${at}> <${ex}p> <<( <${ex}s${at}> <${ex}p> <<( _:b${at} <${ex}q> "${at}"@ar--rtl )>> )>> .\n`,
    );
    const { iri } = await s.stored('application/n-triples', lines.join(''));
    for (const format of ['text/turtle', 'application/n-quads', 'application/ld+json']) {
      const answer = await s.get(iri, { Accept: format });
      expect(answer.headers['content-type']).to.equal(type(format.replace('application/ld+json', 'text/turtle')));
      const quads = new Parser({ format: 'application/n-quads' }).parse(answer.text);
      expect(quads.length).to.equal(lines.length);
      expect(Number(answer.headers['content-length'])).to.equal(Buffer.byteLength(answer.text));
    }
  }).timeout(60_000);

  it('a MOVE with Prefer: rewrite-links rewrites IRIs within triple terms (rule 6.27)', async () => {
    const { iri } = await s.stored('text/turtle', '<> <#p> <<( <> <#q> <<( <#x> <#q> <> )>> )>> .');
    for (const [rewrites, from] of [
      [false, iri],
      [true, undefined],
    ] as const) {
      const destination = s.fresh();
      const copied = await s.send('COPY', iri, {
        Destination: destination,
        ...(rewrites ? { Prefer: 'rewrite-links' } : {}),
      });
      expect(copied.status, copied.text).to.equal(201);
      const base = from ?? destination;
      const answer = await s.get(destination);
      expect(answer.headers['content-type']).to.equal(type('text/turtle'));
      await expectGraph(
        answer,
        destination,
        `<${base}> <${base}#p> <<( <${base}> <${base}#q> <<( <${base}#x> <${base}#q> <${base}> )>> )>> .`,
      );
    }
  });

  it('bounds of triple terms are 413 and name the limit (rule 1.16)', async () => {
    const nested = (depth: number, text: string): string =>
      `<a> <b> ${'<<( <a> <b> '.repeat(depth)}"${text}"${' )>>'.repeat(depth)} .`;
    await s.stored('text/turtle', nested(16, 'x'));
    for (const [body, limit] of [
      [nested(17, 'x'), '16 levels'],
      [nested(3, 'x'.repeat(1_679_500)), '1679615'],
    ] as const) {
      const answer = await s.put(s.fresh(), 'text/turtle', body);
      expectProblem(answer, 413, s);
      expect(JSON.parse(answer.text).detail).to.include(limit);
    }
  });

  it('metadata and N3 patches cannot have triple terms (rule 1.16)', async () => {
    const { iri } = await s.stored('text/turtle', plain);
    const body = `<${iri}> <${ex}about> <<( <${iri}> <${ex}p> "x" )>> .`;
    const meta = await s.put(`${iri}.meta`, 'text/turtle', body, { 'If-Match': await s.tag(`${iri}.meta`) });
    expect(meta.status, meta.text).to.be.within(400, 422);
    expect(mediaType(meta)).to.equal('application/problem+json');
  });
});
