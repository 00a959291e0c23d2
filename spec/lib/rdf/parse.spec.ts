/** Accepted and rejected RDF documents, in cases where the parsers we use are too strict or too lenient. */
import type { Literal } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { type EncodedDocument, tasks } from '../../../lib/documents/document-tasks.js';
import { parseRdf } from '../../../lib/rdf/parse.js';
import { decodeGraph } from '../../../lib/storage/keys/quad-decoding.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { isomorphic } from './isomorphism.js';

const base = 'http://localhost/r';
const parse = (text: string, format: Parameters<typeof parseRdf>[1]) => parseRdf(Buffer.from(text), format, { base });
const refused = async (text: string, format: Parameters<typeof parseRdf>[1]): Promise<string> => {
  try {
    await parse(text, format);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`accepted: ${text}`);
};

describe('N-Triples (section 7)', () => {
  const count = async (text: string): Promise<number> => (await parse(text, 'application/n-triples')).quads.length;

  it('has one triple on a line, with comments and blank lines', async () => {
    expect(await count('')).to.equal(0);
    expect(await count('# nothing\n\n \t\n')).to.equal(0);
    expect(await count('<a:s> <a:p> <a:o> .')).to.equal(1);
    expect(await count('<a:s><a:p><a:o>.#c\r\n\t_:a.b <a:p> _:c. # d\r<a:s> <a:p> "x" . \n')).to.equal(3);
    expect(
      await count('<a:s> <a:p> "a \\" . <b:s> # \\\\" .\n<a:s> <a:p> "1"^^<a:t>.\n<a:s> <a:p> "x"@en-GB .'),
    ).to.equal(3);
    expect(await count(`<a:s> <a:p> "${'\\n'.repeat(5_000_000)}" .`)).to.equal(1);
  });

  for (const [title, text] of Object.entries({
    'two triples on a line': '<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> . <a:s> <a:p> "o" .',
    'two triples without a space between': '<a:s> <a:p> <a:o> .\n_:a <a:p> _:b._:c <a:p> _:d .',
    'a triple on two lines': '<a:s> <a:p> <a:o> .\n<a:s> <a:p>\n<a:o> .',
    'a full stop on the next line': '<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o>\n.',
  }))
    it(`has no ${title}`, async () => {
      expect(await refused(text, 'application/n-triples')).to.contain('line 2');
    });
});

describe('Documents of RDF 1.2', () => {
  const triple = '<http://e.example/s> <http://e.example/p> "o"';
  const within = triple.replace('"o"', '_:b');
  for (const format of ['text/turtle', 'application/trig', 'application/n-triples', 'application/n-quads'] as const)
    for (const [what, object] of [
      ['a triple term', `<<( ${triple} )>>`],
      ['a triple term in a triple term', `<<(${triple.replace('"o"', `<<(${within})>>`)})>>`],
      ['a base direction', '"x"@en--ltr'],
    ] as const)
      it(`are read with ${what} in ${format}, in a document of any length (rule 1.16)`, async () => {
        const text = `VERSION "1.2"\n${triple} .\n<http://e.example/s> <http://e.example/p> ${object} .\n`;
        const expected = new Parser({ baseIRI: 'http://e.example/g' }).parse(text);
        for (const filling of ['', '# filling\n'.repeat(120_000)]) {
          const bytes = new Uint8Array(Buffer.from(text + filling));
          const task = filling === '' ? tasks.parse : tasks.parseLarge;
          const { keys, turtle } = (await task({ bytes, format, graph: 'http://e.example/g' })) as EncodedDocument;
          const quads = decodeGraph(keys);
          expect(isomorphic(quads, expected)).to.equal(true);
          expect(JSON.stringify(quads), 'blank nodes have new labels (rule 1.7)').not.to.include('"b"');
          expect(
            isomorphic(new Parser({ baseIRI: 'http://e.example/g' }).parse(Buffer.from(turtle!).toString()), expected),
          ).to.equal(true);
        }
      });

  for (const format of ['text/turtle', 'application/n-triples'] as const)
    it(`are too large with more than 16 triple terms within each other in ${format}`, async () => {
      const nested = (depth: number): string => {
        const start = '<http://e.example/s> <http://e.example/p> ';
        return `${start}${`<<(${start}`.repeat(depth)}"o"${')>>'.repeat(depth)} .`;
      };
      expect((await parse(nested(16), format)).quads).to.have.length(1);
      for (const depth of [17, 100_000]) expect(await refused(nested(depth), format)).to.contain('more than 16 levels');
    });

  it('count triple terms against the limit of triples', async () => {
    const text = '<a:s> <a:p> <a:o> {| <a:q> 1 |} .';
    const read = (triples: number) =>
      parseRdf(Buffer.from(text), 'text/turtle', { base: 'http://e.example/', bounds: { triples } });
    expect((await read(4)).quads).to.have.length(3);
    const fault = await read(3).catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(LwsError).with.property('code', 'too-large');
  });

  for (const [line, isValid] of [
    ['<a:s> <a:p> <<( <a:s> <a:p> _:b)>>.', true],
    ['<a:s> <a:p> <<(<a:s><a:p><<(<a:s><a:p>"x" @en--ltr)>>)>>.', true],
    ['<a:s> <a:p> <<( <a:s> <a:p> <a:o> )>> )>> .', false],
    ['<a:s> <a:p> <<( <a:s> <a:p> <<( <a:s> <a:p> <a:o> )>> .', false],
    ['<a:s> <a:p> <<( <a:s> <a:p> )>> .', false],
    ['<a:s> <a:p> <<( <a:s> <a:p>\n<a:o> )>> .', false],
    ['<<( <a:s> <a:p> <a:o> )>> <a:p> <a:o> .', false],
    ['<< <a:s> <a:p> <a:o> >> <a:p> <a:o> .', false],
  ] as const)
    it(`N-Triples ${isValid ? 'has' : 'has not'} ${JSON.stringify(line)}`, async () => {
      const found = await parse(line, 'application/n-triples').catch((error: unknown) => error);
      if (isValid) expect(found).to.have.property('quads').with.length(1);
      else expect(found).to.be.instanceOf(LwsError).with.property('code', 'malformed-body');
    });

  it('are accepted with a version and no new syntax', async () => {
    expect((await parse(`VERSION "1.2"\n${triple} .`, 'application/n-triples')).quads).to.have.length(1);
  });
});

describe('JSON-LD documents', () => {
  const directed = (value: object): string => JSON.stringify({ '@id': 'a:s', 'a:p': value });

  it('have base directions (JSON-LD 1.1, 4.2.4.1)', async () => {
    const context = { '@language': 'AR-eg', '@direction': 'rtl', p: 'http://e.example/p' };
    for (const document of [
      directed({ '@value': 'x', '@language': 'AR-eg', '@direction': 'rtl' }),
      JSON.stringify({ '@context': context, p: 'x' }),
    ]) {
      const { quads } = await parse(document, 'application/ld+json');
      const { value, language, direction, datatype } = quads[0]!.object as Literal;
      expect([value, language, direction, datatype.value]).to.deep.equal([
        ...['x', 'ar-eg', 'rtl', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString'],
      ]);
    }
  });

  it('are rejected with a base direction without a language, or another value', async () => {
    const without = await parse(directed({ '@value': 'x', '@direction': 'rtl' }), 'application/ld+json').catch(
      (error: unknown) => error,
    );
    expect(without).to.be.instanceOf(LwsError).with.property('code', 'unsupported-rdf');
    expect(
      await refused(directed({ '@value': 'x', '@language': 'en', '@direction': 'up' }), 'application/ld+json'),
    ).to.be.a('string');
  });

  it('may contain anything in a JSON literal, even a context (JSON-LD 1.1, 4.2.2)', async () => {
    const value = { '@context': 'https://elsewhere.example/c', '@import': 'x', a: [{ '@context': ['y'] }] };
    for (const document of [
      { 'http://e.example/p': { '@value': value, '@type': '@json' } },
      { '@context': { p: { '@id': 'http://e.example/p', '@type': '@json' } }, p: value },
    ]) {
      const { quads } = await parse(JSON.stringify(document), 'application/ld+json');
      expect(quads).to.have.length(1);
      expect(JSON.parse(quads[0]!.object.value)).to.deep.equal(value);
    }
  });

  const p = 'http://e.example/p';
  const nest = { n: { '@id': '@nest', '@context': { p } } };
  const subject = { '@id': 'http://e.example/s' };
  const nested: Readonly<Record<string, readonly [document: object, values: readonly string[]]>> = {
    'an object': [{ '@context': nest, n: { p: 'a' } }, ['a']],
    'a list of objects': [{ '@context': nest, n: [{ p: 'a' }, { p: 'b' }], [p]: 'c' }, ['a', 'b', 'c']],
    'an object in an object': [
      { '@context': { n: { '@id': '@nest', '@context': nest } }, n: { n: { p: 'a' } } },
      ['a'],
    ],
    'a type': [{ '@context': nest, '@type': 'x:T', n: { '@type': 'x:U' } }, ['x:T', 'x:U']],
    'a reverse property': [
      { '@context': nest, '@reverse': { [p]: { '@id': 'x:a' } }, n: { '@reverse': { [p]: { '@id': 'x:b' } } } },
      ['http://e.example/s', 'http://e.example/s'],
    ],
    'a context within a JSON literal': [
      { '@context': { p: { '@id': p, '@type': '@json' } }, p: nest },
      [JSON.stringify(nest)],
    ],
  };
  for (const [title, [document, values]] of Object.entries(nested))
    it(`have a context for a term of @nest that contains ${title} (JSON-LD 1.1, 4.1.8)`, async () => {
      const { quads } = await parse(JSON.stringify({ ...subject, ...document }), 'application/ld+json');
      const found = quads.map(({ object }) =>
        object.value.replace(
          '"@context":{"p":"http://e.example/p"},"@id":"@nest"',
          '"@id":"@nest","@context":{"p":"http://e.example/p"}',
        ),
      );
      expect(found.sort()).to.deep.equal(values);
    });

  it('are rejected with remote contexts that refer to each other (JSON-LD 1.1 API, 4.1.2)', async () => {
    const [a, b] = ['https://elsewhere.example/a', 'https://elsewhere.example/b/'];
    const read = (contexts: Readonly<Record<string, unknown>>) =>
      parseRdf(Buffer.from(JSON.stringify({ ...subject, '@context': a, p: 1 })), 'application/ld+json', {
        base,
        contexts: Object.fromEntries(
          Object.entries(contexts).map(([iri, context]) => [iri, JSON.stringify({ '@context': context })]),
        ),
      });
    expect((await read({ [a]: ['b/', 'b/'], [b]: { p } })).quads).to.have.length(1);
    for (const contexts of [{ [a]: a }, { [a]: ['b/', { p }], [b]: '../a' }]) {
      const fault = await read(contexts).catch((error: unknown) => error);
      expect(fault).to.be.instanceOf(LwsError).with.property('message').that.includes('context overflow');
    }
  });

  const typed = { ...nest, T: { '@id': 'x:T', '@context': { q: 'x:q' } } };
  const refusals: Readonly<Record<string, readonly [document: object, named: string]>> = {
    'a context in a context': [{ '@context': { '@context': { p } }, p: 1 }, 'keyword redefinition'],
    'a list of contexts in a context': [{ '@context': { '@context': [{ p }] }, p: 1 }, 'keyword redefinition'],
    'a context in one of a list': [{ '@context': [{}, { '@context': { p } }], p: 1 }, 'keyword redefinition'],
    'a context in that of a node below': [{ [p]: { '@context': { '@context': { p } }, p: 1 } }, 'keyword redefinition'],
    'text for a term of @nest': [{ '@context': nest, n: 'x' }, 'invalid @nest value'],
    'an @id in @nest': [{ '@context': nest, n: { '@id': 'x:a' } }, 'colliding keywords'],
    'a context for @nest below the one of a type': [
      { '@context': typed, '@type': 'T', n: { p: 1 } },
      'inside a type-scoped context',
    ],
    'a relative IRI in a list without a base': [
      { '@context': { '@base': null }, [p]: { '@list': [{ '@id': 'a' }] } },
      'absolute IRI',
    ],
  };
  for (const [title, [document, named]] of Object.entries(refusals))
    it(`are rejected with ${title}, by name (rule 1.14)`, async () => {
      expect(await refused(JSON.stringify({ ...subject, ...document }), 'application/ld+json')).to.contain(named);
    });

  for (const [title, context] of Object.entries({
    'the document': 'https://elsewhere.example/c',
    'a list of contexts': [{}, 'https://elsewhere.example/c'],
    'an import': { '@import': 'https://elsewhere.example/c' },
    'the context of a property': { p: { '@id': 'http://e.example/p', '@context': 'https://elsewhere.example/c' } },
    'the context of a type': { T: { '@id': 'http://e.example/T', '@context': 'https://elsewhere.example/c' } },
  }))
    it(`name the context that is not built in, in ${title}`, async () => {
      const document = { '@context': context, '@type': 'T', p: { 'http://e.example/q': 'x' } };
      expect(await refused(JSON.stringify(document), 'application/ld+json')).to.contain('https://elsewhere.example/c');
    });
});
