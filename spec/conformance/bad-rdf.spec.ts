/** Bad input: malformed RDF in all five syntaxes, remote contexts, entity bombs (rule 1.11). */

import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { rdfTypes } from '../support/rdf.js';

const rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"';
const xml = (content: string, prologue = ''): string =>
  `<?xml version="1.0"?>\n${prologue}<rdf:RDF ${rdf} xmlns:e="http://e.example/">\n${content}\n</rdf:RDF>`;
const t = '<http://e.example/s> <http://e.example/p> ';

const malformed: Readonly<Record<(typeof rdfTypes)[number], readonly string[]>> = {
  'text/turtle': [
    '<a> <b>',
    '<a> <b> <c>',
    'x:a <b> <c> .',
    '<a> <b> "open .',
    '<a> "b" <c> .',
    '"a" <b> <c> .',
    '<a> <b> <c d> .',
    '<a> <b> <c>> .',
    '<a> _:b <c> .',
    '[ <b> <c> .',
    '( 1 2 .',
    '@prefix e: .',
    '<a> <b> "x"@1 .',
    '<a> <b> "\\q" .',
    '<a> <b> <\\u0020> .',
    '<a> <b> "\\uD800" .',
    '<http://e.example/%%%> <b> <c> . }',
    '<a> <b> <c> . junk',
    '{"@id":"a"}',
    '<a> { <b> <c> <d> }',
    '<a> <b> <c> <d> .',
    '@base "x" .',
    '<a> <b> 1.2.3.4e .',
    '<a> <b> tru .',
    '\u0000',
  ],
  'application/n-triples': [
    `${t}"x"`,
    `${t}"x" ${t}`,
    '<a> <b> <c> .',
    `${t}'x' .`,
    `${t}1 .`,
    `${t}e:x .`,
    '@prefix e: <http://e.example/> .',
    `${t}"a\nb" .`,
    `${t}<http://e.example/a b> .`,
    `"s" <http://e.example/p> "o" .`,
    `${t}"x"@ .`,
    `${t}"\\x" .`,
    `${t}"x"^^ .`,
    `${t}"x" <http://e.example/g> .`,
    `${t}"\\uDC00" .`,
  ],
  'application/n-quads': [
    '<urn:s> <urn:p> <urn:o>',
    '<urn:s> <urn:p> <urn:o> . <urn:s> <urn:p> <urn:q> .',
    '<urn:s> <urn:p> <urn:o> <urn:g> <urn:h> .',
    '<s> <urn:p> <urn:o> .',
  ],
  'application/trig': [
    '{ <a> <b> <c> ',
    '{ <a> <b> } }',
    'GRAPH { <a> <b> <c> }',
    '{ <a> <b> <c> . } .',
    '{ { <a> <b> <c> } }',
    '}',
  ],
  'application/rdf+xml': [
    'no XML',
    '<a>',
    '<?xml version="1.0"?><a><b></a></b>',
    xml('<rdf:Description>'),
    xml('<e:p>&undefined;</e:p>'),
    xml('<rdf:Description rdf:about="x" rdf:about="y"/>'),
    xml('<rdf:Description rdf:about="a" rdf:ID="b"/>'),
    xml('<rdf:Description rdf:ID="not a name"/>'),
    xml('<rdf:Description><e:p rdf:parseType="Resource" rdf:resource="x"/></rdf:Description>'),
    xml('<f:x rdf:about="a"/>'),
    xml('<e:a/>').slice(0, -5),
    `${xml('<e:a/>')}<x/>`,
    xml('<rdf:li/>'),
    xml('<rdf:Description rdf:aboutEach="x"/>'),
    xml('<e:a rdf:bagID="x"/>'),
    xml('<e:a e:b="1" e:b="2"/>'),
    xml('<e:a>\u0001</e:a>'),
  ],
  'application/ld+json': [
    '{',
    '{"@id":5}',
    '{"@id":"a","@type":5}',
    '"text"',
    '5',
    '{"@context":5}',
    '{"@context":{"@version":"x"}}',
    '{"@context":{"a":{"@id":"@nope:x","@type":5}}}',
    '{"@id":"a","http://e.example/p":{"@value":{"x":1}}}',
    '{"@id":"a","http://e.example/p":{"@value":"x","@id":"y"}}',
    '{"@id":"a","http://e.example/p":{"@value":"x","@type":5}}',
    '{"@id":"a","http://e.example/p":{"@value":1,"@language":"en"}}',
    '{"@context":{"a":"b","b":"a"},"a":1}',
    '[1,',
    '{"@list":[1],"@set":[2]}',
    '{"@id":"a","@id":"b"',
    '{"@reverse":"x"}',
    '{"@included":5}',
  ],
};

/** Content that is valid in other formats but cannot be a graph of this storage. */
const refusedTerms: readonly (readonly [what: string, type: string, body: string])[] = [
  ['a triple term as subject', 'text/turtle', '<<( <s> <p> <o> )>> <b> <c> .'],
  ['a triple term in quotation marks of RDF-star', 'text/turtle', '<a> <b> << <s> "p" <o> >> .'],
  ['a literal as subject of a triple term', 'text/turtle', '<a> <b> <<( "s" <p> <o> )>> .'],
  ['another base direction', 'text/turtle', '<a> <b> "x"@ar--up .'],
  [
    'a base direction without a language in JSON-LD',
    'application/ld+json',
    '{"@id":"a","http://e.example/p":{"@value":"x","@direction":"rtl"}}',
  ],
  ['N3 formulae', 'text/turtle', '{ <a> <b> <c> } => { <d> <e> <f> } .'],
  ['N3 variables', 'text/turtle', '?x <b> <c> .'],
  ['bytes that are not UTF-8', 'text/turtle', 'latin1:<a> <b> "\u00e9" .'],
  ['bytes that are not UTF-8 in N-Triples', 'application/n-triples', `latin1:${t}"\u00e9" .`],
];
const bytesOf = (body: string): string | Uint8Array =>
  body.startsWith('latin1:') ? Buffer.from(body.slice(7), 'latin1') : body;

async function refusedEverywhere(
  s: StorageUnderTest,
  { container, iri, etag }: Kept,
  type: string,
  text: string,
): Promise<void> {
  const body = bytesOf(text);
  expectProblem(await s.put(`${container}x`, type, body), 400, s);
  expectProblem(await s.post(container, type, body), 400, s);
  expectProblem(await s.put(iri, type, body, { 'If-Match': etag }), 400, s);
  expect(await s.members(container)).to.deep.equal([iri]);
  expect(await s.tag(iri)).to.equal(etag);
}

/** A container with one resource that no rejected write may change. */
interface Kept {
  readonly container: string;
  readonly iri: string;
  readonly etag: string;
}

describeStorage('Bad input: RDF', (s) => {
  let kept: Kept;
  before(async () => {
    const container = await s.container();
    kept = { container, ...(await s.stored('text/turtle', '<> a <#Kept> .', `${container}kept`)) };
  });

  for (const [type, bodies] of Object.entries(malformed))
    for (const body of bodies)
      it(`Bad input, rule 1.6: malformed ${type} is 400 and stores nothing: ${JSON.stringify(body.slice(-90))}`, () =>
        refusedEverywhere(s, kept, type, body));

  for (const [what, type, body] of refusedTerms)
    it(`Bad input: ${what} is rejected with 400, never stored altered`, () => refusedEverywhere(s, kept, type, body));

  for (const [type, body] of [
    ['text/turtle', '<a> <b> <c> .\n<a> <b>\n  <d e> .'],
    ['application/trig', '<a> <b> <c> .\n<a> <b>\n  <d e> .'],
    ['application/n-triples', `${t}"x" .\n\n${t}5x .`],
    ['application/rdf+xml', xml('<e:a></e:b>')],
    ['application/ld+json', '{"@id":"a",\n\n"b" "c"}'],
  ] as const)
    it(`the error for malformed ${type} contains line and column (rule 1.6)`, async () => {
      const { text } = await s.put(s.fresh(), type, body);
      expect(JSON.parse(text).detail).to.match(/\bline 3\b.*column \d+|\b3:\d+/i);
    });

  it('Bad input: deeply nested RDF causes no server error', async () => {
    for (const [type, body] of [
      ['text/turtle', `<a> <b> ${'[ <b> '.repeat(2_000)} 1 ${']'.repeat(2_000)} .`],
      ['text/turtle', `<a> <b> ${'( '.repeat(2_000)} ${')'.repeat(2_000)} .`],
      ['application/rdf+xml', xml(`${'<e:a><e:b>'.repeat(2_000)}${'</e:b></e:a>'.repeat(2_000)}`)],
    ] as const) {
      const iri = s.fresh();
      const { status } = await s.put(iri, type, body);
      expect(status, type).to.be.oneOf([201, 400, 413, 422]);
      for (const Accept of rdfTypes)
        expect((await s.get(iri, { Accept })).status, Accept).to.equal(status === 201 ? 200 : 404);
    }
  });

  it('JSON-LD nested deeper than 64 levels is 400 (rule 1.9)', async () => {
    const body = `${'{"http://e.example/p":'.repeat(65)}1${'}'.repeat(65)}`;
    expectProblem(await s.put(s.fresh(), 'application/ld+json', body), 400, s);
  });
});
