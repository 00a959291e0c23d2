/** RDF/XML cases not covered by the W3C tests: text in pieces, the document element, XML literals, stray text, encodings. */
import { expect } from 'chai';
import { parseRdf } from '../../../lib/rdf/parse.js';
import { LwsError } from '../../../lib/tools/errors.js';

const base = 'http://localhost/r';
const namespaces = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.example/"';
const read = async (document: string | Uint8Array): Promise<string[]> => {
  const bytes = typeof document === 'string' ? Buffer.from(document) : document;
  const { quads } = await parseRdf(bytes, 'application/rdf+xml', { base });
  return quads.map(({ subject, predicate, object }) => {
    const short = ({ termType, value }: { termType: string; value: string }): string =>
      termType === 'BlankNode' ? '_' : value.replace('http://e.example/', 'e:').replace(/^.*rdf-syntax-ns#/, 'rdf:');
    return `${short(subject)} ${short(predicate)} ${short(object)}`;
  });
};
const within = (content: string): string => `<rdf:RDF ${namespaces}>${content}</rdf:RDF>`;
const about = (content: string): string => within(`<rdf:Description rdf:about="urn:a">${content}</rdf:Description>`);
const refuses = async (document: string | Uint8Array): Promise<void> => {
  const answer = await read(document).catch((error: unknown) => error);
  expect(answer, JSON.stringify(answer)).to.be.instanceOf(LwsError).with.property('code', 'malformed-body');
};

describe('RDF/XML', () => {
  const texts: Readonly<Record<string, [content: string, value: string]>> = {
    'a comment': ['a<!-- c -->b', 'ab'],
    'several comments': ['<!-- c -->a<!-- c --> <!-- c -->b<!-- c -->', 'a b'],
    'a processing instruction': ['a<?p i?>b', 'ab'],
    CDATA: ['a<![CDATA[<&]]>b', 'a<&b'],
    'CDATA alone': ['<![CDATA[<b>]]><![CDATA[&amp;]]>', '<b>&amp;'],
    references: ['a&amp;<!-- c -->&#98;', 'a&b'],
    'nothing but a comment': ['<!-- c -->', ''],
    blanks: [' <!-- c --> ', '  '],
  };
  for (const [title, [content, value]] of Object.entries(texts))
    it(`7.2.16: joins text with ${title}`, async () => {
      expect(await read(about(`<e:p>${content}</e:p>`))).to.deep.equal([`urn:a e:p ${value}`]);
    });

  it('accepts a few hundred nested elements, but no more, because their cost grows', async () => {
    const nested = (depth: number): string =>
      within('<rdf:Description><e:p>'.repeat(depth) + '</e:p></rdf:Description>'.repeat(depth));
    expect(await read(nested(400))).to.have.length(400);
    await refuses(nested(600));
    await refuses(within('<rdf:Description><e:p>'.repeat(300_000)));
  });

  const documents: Readonly<Record<string, [element: string, triples: string[]]>> = {
    'rdf:about': [`<e:T ${namespaces} rdf:about="urn:a"/>`, ['urn:a rdf:type e:T']],
    'a relative rdf:about': [`<e:T ${namespaces} rdf:about="x"/>`, ['http://localhost/x rdf:type e:T']],
    'rdf:ID': [`<e:T ${namespaces} rdf:ID="x"/>`, [`${base}#x rdf:type e:T`]],
    'xml:base of a property element': [
      `<rdf:Description ${namespaces} rdf:about="urn:a"><e:p xml:base="http://b/c/" rdf:resource="../x"/><e:p rdf:resource="y"/></rdf:Description>`,
      ['urn:a e:p http://b/x', 'urn:a e:p http://localhost/y'],
    ],
    'xml:base of a property element, for its content': [
      `<rdf:Description ${namespaces} rdf:about="urn:a"><e:p xml:base="http://b/"><e:T xml:base="c/" rdf:about="x"/></e:p></rdf:Description>`,
      ['urn:a e:p http://b/c/x', 'http://b/c/x rdf:type e:T'],
    ],
    'xml:base of a property element with rdf:type': [
      `<rdf:Description ${namespaces} rdf:about="urn:a"><e:p xml:base="http://b/" rdf:resource="x" rdf:type="y"/></rdf:Description>`,
      ['urn:a e:p http://b/x', 'http://b/x rdf:type http://b/y'],
    ],
    'xml:base of a collection': [
      `<rdf:Description ${namespaces} rdf:about="urn:a"><e:p xml:base="http://b/" rdf:parseType="Resource"><e:p rdf:resource="x"/></e:p></rdf:Description>`,
      ['urn:a e:p _', '_ e:p http://b/x'],
    ],
    'absolute IRIs with dot segments': [
      `<rdf:Description ${namespaces} rdf:about="http://b/c/../a"><e:p rdf:resource="http://b/./x"/><e:p rdf:resource="./../z"/></rdf:Description>`,
      ['http://b/c/../a e:p http://b/./x', 'http://b/c/../a e:p http://localhost/z'],
    ],
    'xml:base': [`<e:T ${namespaces} xml:base="http://b/" rdf:about="x"/>`, ['http://b/x rdf:type e:T']],
    'rdf:nodeID': [
      `<rdf:Description ${namespaces} rdf:nodeID="n"><e:p rdf:nodeID="n"/></rdf:Description>`,
      ['_ e:p _'],
    ],
    'property attributes': [
      `<rdf:Description ${namespaces} rdf:about="urn:a" e:p="x" rdf:type="http://e.example/T"/>`,
      ['urn:a e:p x', 'urn:a rdf:type e:T'],
    ],
  };
  for (const [title, [element, triples]] of Object.entries(documents))
    it(`7.2.8: accepts a single node element as document, with ${title}`, async () => {
      expect(await read(element)).to.have.members(triples);
      expect(await read(`<?xml version="1.0"?>\n<!-- c -->${element}\n`)).to.have.members(triples);
    });

  const literals: Readonly<Record<string, [content: string, value: string]>> = {
    'escaped characters': ['a &amp; &lt;b> &#13;', 'a &amp; &lt;b&gt; &#xD;'],
    CDATA: ['<![CDATA[<a>&]]>', '&lt;a&gt;&amp;'],
    'escaped attributes': [`<a t='"&amp;&lt;&gt;&#9;'>x</a>`, '<a t="&quot;&amp;&lt;>&#x9;">x</a>'],
    'attributes in order': ['<a c="1" b="2" e:a="3"/>', '<a xmlns:e="http://e.example/" b="2" c="1" e:a="3"></a>'],
    'a namespace at its first use': [
      '<e:a><e:b/></e:a><e:c/>',
      '<e:a xmlns:e="http://e.example/"><e:b></e:b></e:a><e:c xmlns:e="http://e.example/"></e:c>',
    ],
    'comments and processing instructions': ['a<!-- c --><?p i?><?q?>', 'a<!-- c --><?p i?><?q?>'],
    'elements of RDF': [
      '<rdf:li xml:lang="en"/>',
      '<rdf:li xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xml:lang="en"></rdf:li>',
    ],
  };
  for (const [title, [content, value]] of Object.entries(literals))
    it(`7.2.17: preserves in an XML literal ${title}`, async () => {
      const document = about(`<e:p rdf:parseType="Literal">${content}</e:p><e:q>x</e:q>`);
      const { quads } = await parseRdf(Buffer.from(document), 'application/rdf+xml', { base });
      expect(quads.map(({ object }) => object.value)).to.deep.equal([value, 'x']);
    });

  it('7.2.21: reads rdf:type as an attribute of a property as an IRI', async () => {
    for (const [content, triples] of [
      ['<e:p rdf:type="http://e.example/T"/>', ['urn:a e:p _', '_ rdf:type e:T']],
      [
        '<e:p rdf:resource="urn:b" rdf:type="x" e:q="y"/>',
        ['urn:a e:p urn:b', 'urn:b rdf:type http://localhost/x', 'urn:b e:q y'],
      ],
    ] as const) {
      expect(await read(about(content))).to.have.members(triples);
      const { quads } = await parseRdf(Buffer.from(about(content)), 'application/rdf+xml', { base });
      expect(quads.find(({ predicate }) => predicate.value.endsWith('type'))?.object.termType).to.equal('NamedNode');
    }
  });

  it('7.2.20: reads an undefined parse type like Literal', async () => {
    expect(await read(about('<e:p rdf:parseType="Other"><a>x</a></e:p>'))).to.deep.equal(['urn:a e:p <a>x</a>']);
  });

  for (const [title, document] of Object.entries({
    'in rdf:RDF': within('x'),
    'in a node element': about('x'),
    'after a property': about('<e:p>a</e:p>x'),
    'before an element in a property': about('<e:p>x<e:T/></e:p>'),
    'after an element in a property': about('<e:p><e:T/>x</e:p>'),
    'beside rdf:resource': about('<e:p rdf:resource="urn:b">x</e:p>'),
    'in parseType="Resource"': about('<e:p rdf:parseType="Resource">x</e:p>'),
    'in parseType="Collection"': about('<e:p rdf:parseType="Collection">x<e:T/></e:p>'),
    'as CDATA': about('<![CDATA[x]]>'),
  }))
    it(`7.2: rejects text ${title}`, () => refuses(document));

  for (const [title, document] of Object.entries({
    'two elements in a property': about('<e:p><e:T/><e:T/></e:p>'),
    'an element beside rdf:resource': about('<e:p rdf:resource="urn:b"><e:T/></e:p>'),
    'an element beside property attributes': about('<e:p e:q="x"><e:T/></e:p>'),
    'rdf:about on a property': about('<e:p rdf:about="urn:b"/>'),
    'rdf:resource on a node': within('<e:T rdf:resource="urn:b"/>'),
    'rdf:RDF with an attribute': `<rdf:RDF ${namespaces} e:p="x"/>`,
    'a truncated document': within('').slice(0, -3),
  }))
    it(`7.2: ${title} is refused`, () => refuses(document));

  for (const encoding of ['utf-16le', 'utf-16be'] as const)
    for (const mark of ['\ufeff', ''])
      it(`XML 1.0, 4.3.3: accepts ${encoding} ${mark ? 'with' : 'without'} a byte order mark`, async () => {
        const text = `${mark}<?xml version="1.0" encoding="UTF-16"?>${about('<e:p>ä€😀</e:p>')}`;
        const bytes = Buffer.from(text, 'utf16le');
        if (encoding === 'utf-16be') bytes.swap16();
        expect(await read(bytes)).to.deep.equal(['urn:a e:p ä€😀']);
        await refuses(bytes.subarray(0, -1));
      });
});
