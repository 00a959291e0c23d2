/** RDF/XML writer with manually written graphs. Must not depend on the implementation. */

import type { Literal, Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import {
  UnwritableError,
  UnwritableLiteralError,
  UnwritablePredicateError,
  writeRdfXml,
} from '../../../lib/rdf/rdfxml-writer.js';
import { rdf, xsd } from '../../../lib/rdf/vocabulary.js';
import { isomorphic } from './isomorphism.js';
import { readRdfXml, readTurtle } from './readers.js';

const factory = new DataFactory<Quad>();
const base = 'http://pod.example/alice/doc';

const triple = (predicate: string, object: Quad['object'] = factory.literal('')): Quad =>
  factory.quad(factory.namedNode(base), factory.namedNode(predicate), object);

async function written(quads: Quad[], prefixes: Record<string, string> = {}): Promise<string> {
  const text = writeRdfXml(quads, { base, prefixes });
  expect(isomorphic(await readRdfXml(text, base), quads), text).to.equal(true);
  return text;
}

const declarations = (text: string): string[] => [...text.matchAll(/xmlns:(\S+="[^"]*")/g)].map((match) => match[1]!);

describe('RDF/XML writer', () => {
  it('writes one element for each subject, the document first, with new labels of blank nodes', async () => {
    const quads = readTurtle(
      '<x> <urn:p:q> _:z . _:z <urn:p:q> <#it> . <> a <urn:p:T> ; <urn:p:q> "a", "b"@en-us, 1 .',
      base,
    );
    expect(await written(quads, { p: 'urn:p:', unused: 'http://ex.org/?a&b' })).to.equal(
      `<?xml version="1.0" encoding="UTF-8"?>
<rdf:RDF
    xmlns:p="urn:p:"
    xmlns:unused="http://ex.org/?a&amp;b"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="http://pod.example/alice/doc">
    <rdf:type rdf:resource="urn:p:T"/>
    <p:q>a</p:q>
    <p:q xml:lang="en-us">b</p:q>
    <p:q rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</p:q>
  </rdf:Description>
  <rdf:Description rdf:about="http://pod.example/alice/x">
    <p:q rdf:nodeID="b0"/>
  </rdf:Description>
  <rdf:Description rdf:nodeID="b0">
    <p:q rdf:resource="http://pod.example/alice/doc#it"/>
  </rdf:Description>
</rdf:RDF>
`,
    );
  });

  it('writes an empty graph', async () => {
    expect(await written([])).to.match(/<rdf:RDF\n.*>\n<\/rdf:RDF>\n$/s);
  });

  it('keeps every character of a text', async () => {
    const values = [' ', '', '\n', ' a\r\nb\rc\td ', '<a b="c">&amp;</a>', ']]>', '💩\u0085\u2028\ufeff\u007f', "'"];
    const datatypes = [xsd.string, rdf.XMLLiteral, rdf.JSON, 'urn:t?a&b'].map((iri) => factory.namedNode(iri));
    const literals: Literal[] = values.flatMap((value) => datatypes.map((type) => factory.literal(value, type)));
    await written(literals.map((literal) => triple('urn:p:q', literal)));
    expect(await written([triple('urn:p:q', factory.literal('a\r\n'))])).to.include('>a&#xD;\n<');
  });

  it('writes base directions in the syntax of RDF 1.2', async () => {
    const text = await written([triple('urn:p:q', factory.literal('a', { language: 'ar', direction: 'rtl' }))]);
    expect(text).to.include('rdf:version="1.2"');
  });

  it('rejects characters that XML does not allow', () => {
    for (const character of ['\0', '\b', '\v', '\f', '\x1f', '\ufffe', '\uffff', '\ud800', 'a\udc00']) {
      const quads = [triple('urn:p:q', factory.literal(character))];
      expect(() => writeRdfXml(quads, { base, prefixes: {} }))
        .to.throw(UnwritableLiteralError)
        .with.property('value', character);
      const named = [triple('urn:p:q', factory.namedNode(`urn:${character}`))];
      expect(() => writeRdfXml(named, { base, prefixes: {} })).to.throw(UnwritableError);
    }
  });
});

describe('RDF/XML writer: names', () => {
  it('splits a predicate before the longest name, unless a prefix requires another position', async () => {
    const name = async (predicate: string, prefixes?: Record<string, string>) =>
      /^ {4}<([^\s/>]+)/m.exec((await written([triple(predicate)], prefixes)).split('Description')[1]!)![1];
    expect(await name('http://ex.org/a.b#1c-d.e')).to.equal('ns1:c-d.e');
    expect(await name('urn:x:é𝒳·1')).to.equal('ns1:é𝒳·1');
    expect(await name('http://ex.org/local', { a: 'http://ex.org/', b: 'http://ex.org/lo' })).to.equal('b:cal');
    expect(await name('http://ex.org/lo1', { a: 'http://ex.org/', b: 'http://ex.org/lo' })).to.equal('a:lo1');
    expect(await name('http://ex.org/x', { ns1: 'urn:x:' })).to.equal('ns2:x');
    expect(await name(`${rdf.namespace}_1`, { r: rdf.namespace })).to.equal('r:_1');
  });

  it('rejects predicates without a name, and those with a meaning in RDF/XML', () => {
    const nameless = ['http://ex.org/', 'urn:p:1', 'urn:p:a/', 'http://ex.org/%20', 'http://www.w3.org/2000/xmlns/a'];
    const syntax = ['li', 'RDF', 'Description', 'ID', 'about', 'nodeID', 'resource', 'parseType', 'datatype', 'bagID'];
    for (const predicate of [...nameless, ...syntax.map((local) => rdf.namespace + local)]) {
      expect(() => writeRdfXml([triple(predicate)], { base, prefixes: { e: rdf.namespace } }))
        .to.throw(UnwritablePredicateError)
        .with.property('predicate', predicate);
    }
  });

  it('takes linear time for the longest names', () => {
    expect(() => writeRdfXml([triple(`urn:${'a'.repeat(1e6)}`)], { base, prefixes: {} })).not.to.throw();
    expect(() => writeRdfXml([triple(`urn:${'a'.repeat(1e6)}/`)], { base, prefixes: {} })).to.throw(
      UnwritablePredicateError,
    );
    expect(() => writeRdfXml([triple(`urn:${'1'.repeat(1e6)}`)], { base, prefixes: {} })).to.throw(
      UnwritablePredicateError,
    );
  });

  it('declares only valid XML namespaces', async () => {
    const bad = { '': 'urn:a:', '1a': 'urn:a:', xmlx: 'urn:a:', XML: 'urn:a:', 'a:b': 'urn:a:', 'a b': 'urn:a:' };
    const reserved = {
      x: 'http://www.w3.org/XML/1998/namespace',
      y: 'http://www.w3.org/2000/xmlns/',
      rdf: 'urn:other:',
    };
    const others = { empty: '', relative: 'a/', control: 'urn:\u0001', space: 'urn: a', good: 'urn:a:', é: 'urn:é:' };
    const text = await written([triple('urn:a:x')], { ...bad, ...reserved, ...others });
    expect(declarations(text)).to.deep.equal(['good="urn:a:"', 'é="urn:é:"', `rdf="${rdf.namespace}"`]);
  });
});
