/** IRIs and literals in Turtle and N-Triples, with manually chosen terms. Must not depend on the implementation. */

import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { writeNTriples, writeTurtle } from '../../../lib/rdf/turtle-writer.js';
import { UnwritableLiteralError } from '../../../lib/rdf/unwritable.js';
import { xsd } from '../../../lib/rdf/vocabulary.js';
import { isomorphic } from './isomorphism.js';
import { readNTriples, readTurtle } from './readers.js';

const factory = new DataFactory<Quad>();
const base = 'http://pod.example/alice/doc';

function withObject(value: string, datatypeOrLanguage: string = xsd.string): Quad {
  const type = datatypeOrLanguage.includes(':') ? factory.namedNode(datatypeOrLanguage) : datatypeOrLanguage;
  return factory.quad(factory.namedNode(base), factory.namedNode('urn:p'), factory.literal(value, type));
}

/** Returns a literal in Turtle, after checking that it is read as the same. */
function literal(value: string, datatypeOrLanguage?: string): string {
  const quad = withObject(value, datatypeOrLanguage);
  const text = writeTurtle([quad], { base, prefixes: { xsd: xsd.namespace } });
  expect(isomorphic(readTurtle(text, base), [quad]), text).to.equal(true);
  return /<urn:p> (.*) \.\n$/s.exec(text)![1]!;
}

/** Returns IRIs in Turtle, after checking that they are read as the same. */
const references = (iris: string[], documentBase = base, prefixes = {}): string[] =>
  iris.map((iri) => {
    const quad = factory.quad(factory.namedNode('urn:s'), factory.namedNode('urn:p'), factory.namedNode(iri));
    const text = writeTurtle([quad], { base: documentBase, prefixes });
    expect(readTurtle(text, documentBase)[0]!.object.value).to.equal(iri);
    return /<urn:p> (\S+) \.\n$/.exec(text)![1]!;
  });

describe('Turtle writer: IRIs', () => {
  it('writes the document, its fragments, its siblings and their children as relative references', () => {
    const names = ['', '#', '#a/b?c:d', 'name', 'name/', 'name/x', 'name#x', 'a.b%20c', 'doc/child', 'é'];
    const iris = names.map((name) => (/^[^#]/.test(name) ? `http://pod.example/alice/${name}` : base + name));
    expect(references(iris)).to.deep.equal(names.map((name) => `<${name}>`));
  });

  it('writes the full IRI if a relative reference could resolve to another one', () => {
    const container = 'http://pod.example/alice/';
    const doubtful = ' / /x a//b a:b a/b:c . .. ./x ../x a/../b a/. .acl ?q x?q doc?q a#b:c'.split(' ');
    const iris = [
      ...doubtful.map((name) => container + name),
      'http://pod.example/alice',
      'http://pod.example/',
      'https://pod.example/alice/x',
    ];
    expect(references(iris)).to.deep.equal(iris.map((iri) => `<${iri}>`));
  });

  it('supports bases with a query, a fragment, no path or no hierarchy', () => {
    expect(
      references(['http://a/b/c?q=x/y', 'http://a/b/c?q=x/y#z', 'http://a/b/d', 'http://a/b/c'], 'http://a/b/c?q=x/y'),
    ).to.deep.equal(['<>', '<#z>', '<d>', '<c>']);
    expect(references(['http://a/b#x', 'http://a/b', 'http://a/c'], 'http://a/b#x')).to.deep.equal([
      '<#x>',
      '<>',
      '<c>',
    ]);
    expect(references(['http://a', 'http://a#x', 'http://a/b', 'http://ab'], 'http://a')).to.deep.equal([
      '<>',
      '<#x>',
      '<http://a/b>',
      '<http://ab>',
    ]);
    expect(references(['urn:a:b', 'urn:a:b#c'], 'urn:a:b')).to.deep.equal(['<urn:a:b>', '<urn:a:b#c>']);
    expect(references(['http://a/b/../c', 'http://a/b/../d'], 'http://a/b/../c')).to.deep.equal([
      '<http://a/b/../c>',
      '<http://a/b/../d>',
    ]);
  });
});

describe('Turtle writer: prefixed names and escapes', () => {
  it('uses the longest namespace that leaves a plain local name', () => {
    const prefixes = {
      a: 'http://ex.org/',
      b: 'http://ex.org/ns#',
      c: 'http://ex.org/ns#',
      d: 'http://ex.org/ns#lo',
      e: 'http://ex.org/ns/',
    };
    const names = 'x ns#x ns#lo ns#local ns#lo- ns/1.2_3- ns#-x ns#x. ns# ns#é ns#a/b %20'.split(' ');
    expect(
      references(
        names.map((name) => `http://ex.org/${name}`),
        base,
        prefixes,
      ),
    ).to.deep.equal([
      ...['a:x', 'b:x', 'b:lo', 'd:cal', 'b:lo-', 'e:1.2_3-', '<http://ex.org/ns#-x>', '<http://ex.org/ns#x.>'],
      ...['<http://ex.org/ns#>', '<http://ex.org/ns#é>', '<http://ex.org/ns#a/b>', '<http://ex.org/%20>'],
    ]);
  });

  it('escapes characters that are not allowed in an IRI', () => {
    const quad = factory.quad(
      factory.namedNode('urn:s'),
      factory.namedNode('urn:p'),
      factory.namedNode('urn:a> <b"\\'),
    );
    expect(writeNTriples([quad])).to.equal('<urn:s> <urn:p> <urn:a\\u003E\\u0020\\u003Cb\\u0022\\u005C> .\n');
    expect(writeTurtle([quad], { base, prefixes: {} })).to.equal(writeNTriples([quad]));
  });
});

describe('Turtle writer: literals', () => {
  it('writes numbers and booleans bare if they are read as the same literal', () => {
    for (const value of ['1', '010', '+1', '-0']) expect(literal(value, xsd.integer)).to.equal(value);
    for (const value of ['1.0', '.5', '-.50', '+00.1']) expect(literal(value, xsd.decimal)).to.equal(value);
    for (const value of ['1E0', '.5e1', '1.e-1', '+1.5E+10']) expect(literal(value, xsd.double)).to.equal(value);
    for (const value of ['true', 'false']) expect(literal(value, xsd.boolean)).to.equal(value);
    for (const value of ['1.0', '', '1 ', '1\n', '٣']) expect(literal(value, xsd.integer)).to.match(/\^\^xsd:integer$/);
    for (const value of ['1', '1.', '.', '1E0'])
      expect(literal(value, xsd.decimal)).to.equal(`"${value}"^^xsd:decimal`);
    for (const value of ['1', '1.0', 'INF', 'NaN', 'e1'])
      expect(literal(value, xsd.double)).to.equal(`"${value}"^^xsd:double`);
    for (const value of ['1', 'True']) expect(literal(value, xsd.boolean)).to.equal(`"${value}"^^xsd:boolean`);
    expect(literal('1', `${xsd.namespace}byte`)).to.equal('"1"^^xsd:byte');
  });

  it('escapes strings, and writes multi-line strings as such', () => {
    expect(literal('plain é 💩')).to.equal('"plain é 💩"');
    expect(literal('"\\\t\r\b\f\0\x7f\uffff')).to.equal('"\\"\\\\\\t\\r\\b\\f\\u0000\\u007F\\uFFFF"');
    expect(literal('a "b" ""c""" \\\r\n"')).to.equal('"""a "b" \\""c\\"\\"" \\\\\\r\n\\""""');
    expect(literal('two\nlines', 'en-us')).to.equal('"""two\nlines"""@en-us');
    expect(literal('a', 'urn:t:x')).to.equal('"a"^^<urn:t:x>');
  });

  it('rejects an invalid language tag', () => {
    const quad = factory.quad(
      factory.namedNode('urn:s'),
      factory.namedNode('urn:p'),
      factory.literal('a', 'en . <x> <y> <z>'),
    );
    expect(() => writeTurtle([quad], { base, prefixes: {} })).to.throw(UnwritableLiteralError, 'not a language tag');
    expect(() => writeNTriples([quad])).to.throw(UnwritableLiteralError);
  });
});

describe('N-Triples writer', () => {
  it('writes one line each, in the order of the input, with new labels', () => {
    const quads = readTurtle('_:z <urn:p> _:y, "a\\n\\"\\\\\\u0001\\u007f"@en, 1 . <x> <urn:p> _:z .', 'http://a/');
    const text = writeNTriples(quads);
    expect(text).to.equal(
      `_:b0 <urn:p> _:b1 .
_:b0 <urn:p> "a\\n\\"\\\\\\u0001\\u007F"@en .
_:b0 <urn:p> "1"^^<${xsd.integer}> .
<http://a/x> <urn:p> _:b0 .
`,
    );
    expect(isomorphic(readNTriples(text), quads)).to.equal(true);
  });
});
