/** JSON-LD writer with manually written graphs. Must not depend on the implementation. */

import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { writeJsonLd } from '../../../lib/rdf/jsonld-writer.js';
import { rdf, xsd } from '../../../lib/rdf/vocabulary.js';
import { isomorphic } from './isomorphism.js';
import { readJsonLd, readTurtle } from './readers.js';

const factory = new DataFactory<Quad>();
const base = 'http://pod.example/alice/doc';

const triple = (predicate: string, object: Quad['object'] = factory.literal('')): Quad =>
  factory.quad(factory.namedNode(base), factory.namedNode(predicate), object);

/** Returns the parsed document, after checking that it has the same graph. */
async function written(quads: Quad[], prefixes: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const text = writeJsonLd(quads, { base, prefixes });
  expect(isomorphic(await readJsonLd(text), quads), text).to.equal(true);
  return JSON.parse(text);
}

const rewritten = (turtle: string, prefixes = { ex: 'http://ex.org/' }) =>
  written(readTurtle(`@prefix ex: <http://ex.org/> . ${turtle}`, base), prefixes);

describe('JSON-LD writer', () => {
  it('writes one subject as one node object', async () => {
    const turtle = '<> ex:p "a", "b"@en-us, <x> ; ex:q 010 ; a ex:B, <urn:C> .';
    const expected = {
      '@context': { ex: 'http://ex.org/' },
      '@id': base,
      '@type': ['ex:B', 'urn:C'],
      'ex:p': ['a', { '@value': 'b', '@language': 'en-us' }, { '@id': 'http://pod.example/alice/x' }],
      'ex:q': { '@value': '010', '@type': xsd.integer },
    };
    expect(await rewritten(turtle)).to.deep.equal(expected);
    const quads = readTurtle(`@prefix ex: <http://ex.org/> . ${turtle}`, base);
    expect(writeJsonLd(quads, { base, prefixes: { ex: 'http://ex.org/' } })).to.equal(
      `${JSON.stringify(expected, null, 2)}\n`,
    );
  });

  it('writes several subjects as a graph, the document first, with new labels', async () => {
    expect(await rewritten('<x> ex:p _:z . <#it> ex:p 1 . _:z ex:p [] . <> ex:p _:z .', {} as never)).to.deep.equal({
      '@graph': [
        { '@id': base, 'http://ex.org/p': { '@id': '_:b0' } },
        { '@id': `${base}#it`, 'http://ex.org/p': { '@value': '1', '@type': xsd.integer } },
        { '@id': 'http://pod.example/alice/x', 'http://ex.org/p': { '@id': '_:b0' } },
        { '@id': '_:b0', 'http://ex.org/p': { '@id': '_:b1' } },
      ],
    });
    expect(await written([])).to.deep.equal({ '@graph': [] });
  });
});

describe('JSON-LD writer: lists', () => {
  it('writes well-formed lists as such, in any position', async () => {
    expect(await rewritten('<> ex:p (1 (<x> ()) []), () .')).to.deep.include({
      'ex:p': [
        {
          '@list': [
            { '@value': '1', '@type': xsd.integer },
            { '@list': [{ '@id': 'http://pod.example/alice/x' }, { '@list': [] }] },
            { '@id': '_:b0' },
          ],
        },
        { '@list': [] },
      ],
    });
    const first = `<${rdf.first}>`;
    const rest = `<${rdf.rest}>`;
    await rewritten('(1 2) ex:p 3 .');
    await rewritten(`_:a ${first} _:a ; ${rest} () .`);
    await rewritten(`_:a ${first} 1 ; ${rest} _:b . _:b ${first} _:a ; ${rest} () .`);
    await rewritten(`_:b ${first} _:a ; ${rest} () . _:x ${first} (1) ; ${rest} () . _:a ${first} _:x ; ${rest} _:b .`);
    await rewritten(`<> ex:p _:a . _:a ${first} 1 ; ${rest} _:b . _:b ${first} 2 ; ${rest} _:a .`);
  });

  it('limits the nesting of lists', () => {
    const cells = Array.from({ length: 20_000 }, (_, i) => factory.blankNode(`c${i}`));
    const quads = cells.flatMap((cell, i) => [
      factory.quad(cell, factory.namedNode(rdf.first), cells[i + 1] ?? factory.literal('')),
      factory.quad(cell, factory.namedNode(rdf.rest), factory.namedNode(rdf.nil)),
    ]);
    const text = writeJsonLd([triple('urn:p', cells[0]!), ...quads], { base, prefixes: {} });
    expect(text.match(/"@list": \[\n/g)!.length + text.match(new RegExp(rdf.first, 'g'))!.length).to.equal(
      cells.length,
    );
    expect(text).not.to.match(/^ {120}/m);
  });
});

describe('JSON-LD writer: types and literals', () => {
  it('writes types that are not identifiers as values of the property', async () => {
    expect(await rewritten('<> a "literal", (1), _:b, () .')).to.deep.equal({
      '@context': { ex: 'http://ex.org/' },
      '@id': base,
      '@type': ['_:b0', rdf.nil],
      [rdf.type]: ['literal', { '@list': [{ '@value': '1', '@type': xsd.integer }] }],
    });
  });

  it('keeps lexical forms, including those of JSON literals', async () => {
    const forms = ['{"b" : 1,"a":2.0}', 'not JSON', '"a"', 'null', '1.0', 'true', ''];
    const types = [rdf.JSON, xsd.integer, xsd.decimal, xsd.boolean, rdf.XMLLiteral, 'urn:t'];
    const quads = forms.flatMap((form) =>
      types.map((type) => triple('urn:p', factory.literal(form, factory.namedNode(type)))),
    );
    await written(quads, { rdf: rdf.namespace, xsd: xsd.namespace });
    expect(writeJsonLd(quads, { base, prefixes: {} })).not.to.include('@json');
  });

  it('writes base directions', () => {
    const quads = [triple('urn:p', factory.literal('a', { language: 'ar', direction: 'rtl' }))];
    expect(JSON.parse(writeJsonLd(quads, { base, prefixes: {} }))).to.deep.include({
      'urn:p': { '@value': 'a', '@language': 'ar', '@direction': 'rtl' },
    });
  });
});

describe('JSON-LD writer: prefixes', () => {
  const context = async (quads: Quad[], prefixes: Record<string, string>) =>
    (await written(quads, prefixes))['@context'];

  it('only uses prefixes that parsers recognize', async () => {
    const good = {
      a: 'urn:a:',
      b: 'http://ex.org/',
      c: 'http://ex.org/?',
      d: 'http://ex.org/#',
      'e.f': 'urn:[]',
      'g h': 'urn:@',
    };
    const names = { '': 'urn:b:', _: 'urn:b:', '@id': 'urn:b:', '@foo': 'urn:b:', 'a:b': 'urn:b:', 'a/b': 'urn:b:' };
    const objects = { constructor: 'urn:b:', hasOwnProperty: 'urn:b:', ['__proto__']: 'urn:b:' };
    const iris = { i: 'http://ex.org/x', j: 'relative/', k: '', l: 'urn:a b:', m: '@type' };
    const quads = ['urn:a:x', 'urn:b:x', 'http://ex.org/x', 'http://ex.org/xy', 'urn:a://x'].map((predicate) =>
      triple(predicate),
    );
    const document = await written(quads, { ...good, ...names, ...objects, ...iris });
    expect(document['@context']).to.deep.equal(good);
    expect(Object.keys(document)).to.include.members(['a:x', 'urn:b:x', 'b:x', 'b:xy', 'urn:a://x']);
  });

  it('drops a prefix with the name of a used scheme', async () => {
    const ex = { ex: 'urn:ex:' };
    const prefixes = { ...ex, mailto: 'urn:m:', tag: 'urn:t:', urn: 'http://u.example/', s: 'urn:s:' };
    expect(await context([triple('tag:a:b', factory.namedNode('mailto:a@b'))], prefixes)).to.deep.equal({
      ...ex,
      s: 'urn:s:',
    });
    const typed = factory.literal('', factory.namedNode('s:type'));
    expect(await context([triple('urn:ex:p', typed)], prefixes)).to.deep.equal({
      ...ex,
      mailto: 'urn:m:',
      tag: 'urn:t:',
    });
  });
});
