/** Statements of the Turtle and TriG writers, with manually written texts. Must not depend on the implementation. */

import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { DataFactory } from 'rdf-data-factory';
import { serializeRdf } from '../../../lib/rdf/serialize.js';
import { plainTurtleSize, writeTurtle } from '../../../lib/rdf/turtle-writer.js';
import { rdf } from '../../../lib/rdf/vocabulary.js';
import { isomorphic } from './isomorphism.js';
import { readTurtle } from './readers.js';

const factory = new DataFactory<Quad>();
const base = 'http://pod.example/alice/doc';
const simple = factory.quad(factory.namedNode(base), factory.namedNode('urn:p'), factory.literal(''));
const ex = { ex: 'http://ex.org/ns#' };

/** Converts Turtle with `ex` as its only prefix, after checking that the result is read as the same graph. */
function rewritten(turtle: string, prefixes: Record<string, string> = ex, documentBase = base): string {
  const quads = readTurtle(`@prefix ex: <${ex.ex}> . ${turtle}`, documentBase);
  const text = writeTurtle(quads, { base: documentBase, prefixes });
  expect(isomorphic(readTurtle(text, documentBase), quads), text).to.equal(true);
  return text;
}

/** Omits the prefix declaration and the empty line. */
function body(turtle: string, documentBase = base): string {
  return rewritten(turtle, ex, documentBase).replace(`@prefix ex: <${ex.ex}> .\n\n`, '');
}

describe('Turtle writer: statements', () => {
  it('groups by subject, the document and its fragments first, and types first within a subject', () => {
    const text = '<other> ex:p 1 . <#it> ex:p <> ; a ex:B, ex:A . <> ex:q "a", "b" ; ex:p <#it> . <other> ex:q 2 .';
    expect(body(text)).to.equal(
      `<> ex:q "a", "b" ;
    ex:p <#it> .

<#it> a ex:B, ex:A ;
    ex:p <> .

<other> ex:p 1 ;
    ex:q 2 .
`,
    );
  });

  it('writes each of many objects on its own line', () => {
    expect(body('<> ex:p 1, 2, 3, 4 .')).to.equal('<> ex:p 1, 2, 3, 4 .\n');
    expect(body('<> ex:p 1, 2, 3, 4, 5 .')).to.equal(
      '<> ex:p\n        1,\n        2,\n        3,\n        4,\n        5 .\n',
    );
  });

  it('declares all prefixes in order, except those that are not valid Turtle', () => {
    const bad = { _: 'urn:x:', 'a.': 'urn:x:', '1': 'urn:x:', 'a b': 'urn:x:', rel: 'x/', none: '', odd: 'urn:"' };
    const prefixes = { z: 'urn:z:', ...ex, '': `${base}#`, 'é.b': 'urn:é:', ...bad };
    const declared: Record<string, string> = {};
    const text = writeTurtle([simple], { base, prefixes });
    new Parser({ baseIRI: base, format: 'text/turtle' }).parse(text, null, (name, iri) => {
      declared[name] = iri.value;
    });
    expect(Object.entries(declared)).to.deep.equal([
      ['z', 'urn:z:'],
      ['ex', 'http://ex.org/ns#'],
      ['', `${base}#`],
      ['é.b', 'urn:é:'],
    ]);
  });

  it('writes only the prefixes if there are no triples', () => {
    expect(writeTurtle([], { base, prefixes: ex })).to.equal('@prefix ex: <http://ex.org/ns#> .\n');
    expect(writeTurtle([], { base, prefixes: {} })).to.equal('');
  });

  it('writes the same as TriG', () => {
    const quads = readTurtle('<> <urn:p> [ <urn:q> (1) ] .', base);
    expect(serializeRdf(quads, 'application/trig', { base, prefixes: ex })).to.equal(
      writeTurtle(quads, { base, prefixes: ex }),
    );
  });
});

describe('Turtle writer: size without the text', () => {
  /** Sorted by subject and predicate. */
  const sizesOf = (turtle: string, prefixes: Record<string, string>) => {
    const quads = readTurtle(`@prefix ex: <${ex.ex}> . ${turtle}`, base);
    const placeOf = ({ subject, predicate }: Quad): string => `${subject.value} ${predicate.value}`;
    const sorted = quads.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : placeOf(a) > placeOf(b) ? 1 : 0));
    const options = { base, prefixes };
    return [plainTurtleSize(sorted, options), Buffer.byteLength(writeTurtle(sorted, options))];
  };

  for (const turtle of [
    '',
    '<> ex:p 1 .',
    '<> ex:p 1, 2, 3, 4 ; ex:q <other> .',
    '<> ex:p 1, 2, 3, 4, 5 ; a ex:A, ex:B .',
    '<other> ex:p 1 . <#it> ex:p <> ; a ex:B, ex:A . <> ex:q "a", "b" ; ex:p <#it> . <other> ex:q 2 .',
    '<urn:x> <urn:p> "é\\n\\"", "𐐷"@de, true, 1.5, 1e3, "x"^^<urn:t>, "x"^^ex:t ; ex:q <http://pod.example/é>, () .',
    '<#é> ex:é "ü" . <http://ex.org/ns#a/b> ex:a.b "" . <> a <> .',
  ])
    it(`is the length of: ${turtle}`, () => {
      for (const prefixes of [{}, ex, { '': `${base}#`, 'a b': 'urn:x:', ...ex }]) {
        const [size, length] = sizesOf(turtle, prefixes);
        expect(size).to.equal(length);
      }
    });

  it('is unknown for blank nodes and triple terms', () => {
    for (const turtle of ['[] ex:p 1 .', '<> ex:p [] .', '<> ex:p (1) .', '<> ex:p <<( <> ex:p 1 )>> .'])
      expect(sizesOf(turtle, ex)[0], turtle).to.equal(undefined);
  });
});

describe('Turtle writer: blank nodes', () => {
  it('nests those with one reference, labels shared ones, and writes unreferenced ones anonymously', () => {
    const text = '<> ex:p [ ex:q [], [ a ex:A ; ex:r _:s ] ] ; ex:s _:s . _:s ex:v 1 . [] ex:w 2 .';
    expect(body(text)).to.equal(
      `<> ex:p [ ex:q [], [ a ex:A ;
            ex:r _:b0 ] ] ;
    ex:s _:b0 .

_:b0 ex:v 1 .

[] ex:w 2 .
`,
    );
  });

  it('opens a cycle at one node, and nests nodes that depend on it', () => {
    expect(body('_:tail ex:v 1 . _:a ex:p _:b . _:b ex:p _:a ; ex:q _:tail . _:me ex:p _:me .')).to.equal(
      '_:b0 ex:p [ ex:p _:b0 ] ;\n    ex:q [ ex:v 1 ] .\n\n_:b1 ex:p _:b1 .\n',
    );
  });
});

describe('Turtle writer: lists', () => {
  it('writes lists, lists in lists, and the empty one', () => {
    expect(body('<> ex:p (1 "b" <c> [ ex:q 1 ] (2 ()) ()) , () .')).to.equal(
      '<> ex:p ( 1 "b" <c> [ ex:q 1 ] ( 2 () ) () ), () .\n',
    );
  });

  it('writes a list that is a subject, or that is referenced in its middle, by its cells', () => {
    const prefixes = { ...ex, rdf: rdf.namespace };
    expect(rewritten('(1 2) ex:p 3 .', prefixes)).to.match(
      /\[] rdf:first 1 ;\n {4}rdf:rest \( 2 \) ;\n {4}ex:p 3 \.\n$/,
    );
    const shared =
      '@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . <> ex:p _:a, _:b . _:a rdf:first 1 ; rdf:rest _:b . _:b rdf:first 2 ; rdf:rest () .';
    expect(rewritten(shared, prefixes)).to.include('<> ex:p [ rdf:first 1 ;\n        rdf:rest _:b0 ], _:b0 .');
  });

  it('does not write a malformed list as a list', () => {
    const head = `@prefix r: <${rdf.namespace}> . <> ex:p _:a . _:a r:first 1 ; r:rest _:b . _:b r:first 2 ; `;
    for (const flaw of [
      'r:rest _:a .',
      'r:rest <c> .',
      'r:rest _:c .',
      'r:rest () ; a r:List .',
      'r:rest (), (3) .',
      'r:first 3 ; r:rest () .',
    ]) {
      expect(body(head + flaw), flaw).not.to.include('( 1');
    }
  });

  it('supports lists and nesting of any length and depth', () => {
    const node = (i: number) => factory.blankNode(`n${i}`);
    const first = factory.namedNode(rdf.first);
    const rest = factory.namedNode(rdf.rest);
    const nil = factory.namedNode(rdf.nil);
    const count = 20_000;
    const chain = (link: (i: number) => Quad[]) => [
      factory.quad(factory.namedNode(base), factory.namedNode('urn:p'), node(0)),
      ...Array.from({ length: count }, (_, i) => link(i)).flat(),
    ];
    const long = chain((i) => [
      factory.quad(node(i), first, nil),
      factory.quad(node(i), rest, i + 1 < count ? node(i + 1) : nil),
    ]);
    const deep = chain((i) => [
      factory.quad(node(i), rest, nil),
      factory.quad(node(i), first, i + 1 < count ? node(i + 1) : nil),
    ]);
    const open = chain((i) => [factory.quad(node(i), first, nil), factory.quad(node(i), rest, node(i + 1))]);
    const nest = chain((i) => [factory.quad(node(i), factory.namedNode('urn:q'), node(i + 1))]);
    const ring = chain((i) => [factory.quad(node(i), rest, node((i + 1) % count))]).slice(1);
    expect(writeTurtle(long, { base, prefixes: {} })).to.equal(`<> <urn:p> (${' ()'.repeat(count)} ) .\n`);
    for (const quads of [long, deep, open, nest, ring]) {
      const read = readTurtle(writeTurtle(quads, { base, prefixes: {} }), base);
      expect(new Set(read.map(({ subject }) => subject.value)).size).to.equal(
        new Set(quads.map(({ subject }) => subject.value)).size,
      );
      expect(read.length).to.equal(quads.length);
    }
  });
});
