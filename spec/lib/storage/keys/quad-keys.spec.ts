/** Keys of quads: the layout of quadstore, with fixes for bugs of quadstore's encoder. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryLevel } from 'memory-level';
import { Quadstore } from 'quadstore';
import { DataFactory } from 'rdf-data-factory';
import { tripleDepth } from '../../../../lib/storage/keys/key-layout.js';
import { compareKeys, sortKeys } from '../../../../lib/storage/keys/key-order.js';
import { decodeGraph } from '../../../../lib/storage/keys/quad-decoding.js';
import { encodeGraph, graphPrefix, keyInGraph, layoutOf } from '../../../../lib/storage/keys/quad-keys.js';
import { quadstoreIndex } from '../../../../lib/storage/level/quadstore-file.js';
import { LwsError } from '../../../../lib/tools/errors.js';

const f = new DataFactory<Quad>();
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const graph = 'http://spec.example/g';
const n = f.namedNode.bind(f);
const typed = (value: string, type: string) => f.literal(value, n(xsd + type));
const objects = [
  n('http://spec.example/same'),
  f.literal('http://spec.example/same'),
  f.literal(''),
  f.literal('a\u0000b'),
  f.literal('x', 'en'),
  f.literal('x', 'en-GB'),
  f.literal('𝄞 clef'),
  f.literal('\ufffd'),
  f.blankNode('b1'),
  ...['10', '010', '+10', '1e400', '-0'].map((value) => typed(value, 'integer')),
  ...['INF', '-INF', 'NaN', '1E0', '1.0'].map((value) => typed(value, 'double')),
  typed('3', 'float'),
  typed('2026-01-01T00:00:00Z', 'dateTime'),
  typed('2026-01-01T00:00:00', 'dateTime'),
  typed('never', 'dateTime'),
  typed('true', 'boolean'),
  typed('', 'anyURI'),
];
const quads = objects.map((object) => f.quad(n('http://spec.example/s'), n('http://spec.example/p'), object, n(graph)));
const show = ({ subject, predicate, object }: Quad): string => JSON.stringify([subject, predicate, object]);

/** Triple terms within each other, around a term. */
const nested = (depth: number, inner: Quad['object']): Quad['object'] =>
  depth === 0 ? inner : f.quad(n('http://a/s'), n('http://a/p'), nested(depth - 1, inner));
const deep = (depth: number): Quad['object'] => {
  let term: Quad['object'] = n('http://a/o');
  for (let at = 0; at < depth; at++) term = f.quad(n('http://a/s'), n('http://a/p'), term);
  return term;
};
const depthOf = ({ object }: Quad): number => 1 + (object.termType === 'Quad' ? depthOf(object) : 0);
const langString = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString';
const directed = (value: string, direction: string): Quad['object'] =>
  f.literal(value, { language: 'ar', direction: direction as 'rtl' });
const stating = (object: Quad['object']): Quad => f.quad(n('http://a/s'), n('http://a/p'), object, n(graph));

describe('storage/quad-keys', () => {
  it('encodes quads exactly like quadstore', async () => {
    const backend = new MemoryLevel<string, string>();
    const store = new Quadstore({ backend, dataFactory: f as never, indexes: [[...quadstoreIndex]] });
    await store.open();
    const number = (value: string) =>
      f.quad(n('http://spec.example/n'), n('http://spec.example/p'), typed(value, 'double'));
    const numbers = [
      '1',
      '9.99',
      '10',
      '99',
      '100',
      '0.1',
      '0.01',
      '-1',
      '-10',
      '-0.5',
      '1e21',
      '1e-7',
      '5e-324',
      '-1.7e308',
    ];
    const extreme = numbers.map((value) =>
      f.quad(number(value).subject, number(value).predicate, number(value).object, n(graph)),
    );
    // quadstore reads a dateTime without zone in the server's zone, our encoder in UTC.
    for (const quad of [...quads, ...extreme].filter(({ object }) => object.value !== '2026-01-01T00:00:00')) {
      await store.clear();
      await store.put(quad as never);
      const [gspo] = encodeGraph(graph, [quad]);
      expect(await backend.keys().all()).to.deep.equal([gspo]);
    }
    await store.close();
  });

  it('decodes its own encoding', () => {
    const keys = encodeGraph(graph, quads);
    expect(decodeGraph(keys).map(show).sort()).to.deep.equal(quads.map(show).sort());
    expect(decodeGraph(keys).every((quad) => quad.graph.value === graph)).to.equal(true);
  });

  it('round-trips random literals', () => {
    const value = fc.string({ unit: 'grapheme', maxLength: 30 });
    const term = fc.oneof(
      value.map((text) => f.literal(text)),
      fc.tuple(value, fc.constantFrom('en', 'de-AT')).map(([text, language]) => f.literal(text, language)),
      fc
        .tuple(value, fc.constantFrom('integer', 'double', 'dateTime', 'token'))
        .map(([text, type]) => typed(text, type)),
    );
    fc.assert(
      fc.property(fc.array(term, { maxLength: 8 }), (terms) => {
        const given = terms.map((object) => f.quad(n('http://a/s'), n('http://a/p'), object, n(graph)));
        expect(new Set(decodeGraph(encodeGraph(graph, given)).map(show))).to.deep.equal(new Set(given.map(show)));
      }),
    );
  });

  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  const node = fc.constantFrom(n('http://a/s'), f.blankNode('b1'), n('http://a/t'));
  const leaf = fc.oneof(
    node,
    text.map((value) => f.literal(value)),
    fc.tuple(text, fc.constantFrom('ltr', 'rtl')).map(([value, direction]) => directed(value, direction)),
    fc.constantFrom('5', 'x\u0000\u0000y').map((value) => typed(value, 'integer')),
  );
  const { term: tripleTerm } = fc.letrec<{ term: Quad['object']; triple: Quad['object'] }>((tie) => ({
    term: fc.oneof({ maxDepth: 16, depthSize: 'large' }, leaf, tie('triple')),
    triple: fc.tuple(node, tie('term')).map(([s, o]) => f.quad(s, n('http://a/p'), o)),
  }));

  it('round-trips random triple terms and base directions, and keeps every layout of a key', () => {
    fc.assert(
      fc.property(fc.array(tripleTerm, { maxLength: 8 }), (terms) => {
        const keys = encodeGraph(graph, terms.map(stating));
        expect(new Set(decodeGraph(keys).map(show))).to.deep.equal(new Set(terms.map(stating).map(show)));
        // Equal terms have equal keys, and others do not.
        expect(keys).to.have.lengthOf(new Set(terms.map((term) => show(stating(term)))).size);
        expect(keys.map((key) => keyInGraph(key, 'http://a/other'))).to.have.members(
          encodeGraph('http://a/other', terms.map(stating)),
        );
        for (const [at, { object }] of decodeGraph(keys).entries()) {
          const { suffixAt, ends } = layoutOf(keys[at]!);
          if (object.termType !== 'Quad') continue;
          // The text of a triple term is the rest of the key of that triple after the graph.
          const [own] = encodeGraph('http://a/g', [object as Quad]);
          const text = keys[at]!.slice(ends[2] + 2, suffixAt - 2);
          expect(text).to.equal(keyInGraph(own!, '').slice(graphPrefix('').length));
          expect(keys[at]![suffixAt + 15]).to.equal('8');
          expect(tripleDepth(text)).to.equal(depthOf(object as Quad));
        }
      }),
    );
  });

  it('accepts triple terms 16 levels deep', () => {
    const given = stating(nested(16, f.blankNode('b')));
    expect(decodeGraph(encodeGraph(graph, [given])).map(show)).to.deep.equal([show(given)]);
  });

  it('rejects a triple term as subject', () => {
    const quad = f.quad(stating(n('http://a/o')), n('http://a/p'), n('http://a/o'), n(graph));
    expect(() => encodeGraph(graph, [quad]))
      .to.throw(LwsError)
      .with.property('code', 'unsupported-rdf');
  });

  it('sorts like LevelDB, by UTF-8 bytes and not by UTF-16 units', () => {
    const keys = ['a\u{1d11e}', 'a\uffee', 'a', 'b', 'a\u00e9'];
    const byBytes = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(sortKeys([...keys])).to.deep.equal(byBytes);
    expect([...keys].sort()).not.to.deep.equal(byBytes);
    expect(compareKeys('a\uffee', 'a\u{1d11e}')).to.be.below(0);
  });

  const refused: [string, unknown, string][] = [
    ['triple terms 17 levels deep', nested(17, n('http://a/o')), 'too-large'],
    ['triple terms 10 000 levels deep', deep(10_000), 'too-large'],
    ['a triple term of more than 36^4 characters', nested(2, f.literal('x'.repeat(1_679_600))), 'too-large'],
    [
      'a triple term as subject of a triple term',
      f.quad(stating(n('http://a/o')), n('http://a/p'), n('http://a/o')),
      'unsupported-rdf',
    ],
    [
      'a literal as subject of a triple term',
      f.quad(f.literal('x') as never, n('http://a/p'), n('http://a/o')),
      'unsupported-rdf',
    ],
    [
      'a blank node as predicate of a triple term',
      f.quad(n('http://a/s'), f.blankNode('b') as never, n('http://a/o')),
      'unsupported-rdf',
    ],
    ['a triple term with a relative IRI', f.quad(n('s'), n('http://a/p'), n('http://a/o')), 'malformed-body'],
    ['a triple term with rdf:langString and no language', nested(1, f.literal('x', n(langString))), 'unsupported-rdf'],
    ['a base direction that is neither ltr nor rtl', directed('x', 'up'), 'malformed-body'],
    ['a base direction without a language', { ...f.literal('x'), direction: 'rtl' }, 'malformed-body'],
    ['a lone surrogate', f.literal('a\ud800'), 'unsupported-rdf'],
    ['an IRI with U+0000, which would split a key', n('http://a/\u0000b'), 'malformed-body'],
    ['an IRI with a space', n('http://a/ b'), 'malformed-body'],
    ['a relative IRI', n('b'), 'malformed-body'],
    ['a list as the value of an IRI', { termType: 'NamedNode', value: ['http://a/b'] }, 'malformed-body'],
    ['a list as a label', { termType: 'BlankNode', value: ['b'] }, 'malformed-body'],
    ['a number as the value of a literal', { ...f.literal('1'), termType: 'Literal', value: 1 }, 'malformed-body'],
    ['a list of datatypes', { ...f.literal('x'), datatype: { value: ['http://a/', 'http://b/'] } }, 'malformed-body'],
    ['a list of languages', { ...f.literal('x'), language: ['en', 'de'] }, 'malformed-body'],
  ];
  for (const [what, object, code] of refused)
    it(`rejects ${what} instead of storing it wrong`, () => {
      const quad = f.quad(n('http://a/s'), n('http://a/p'), object as Quad['object'], n(graph));
      expect(() => encodeGraph(graph, [quads[0]!, quad]))
        .to.throw(LwsError)
        .with.property('code', code);
    });

  it('has one prefix for a graph, distinct from graphs with longer names', () => {
    const [key] = encodeGraph(`${graph}2`, [quads[0]!]);
    expect(key!.startsWith(graphPrefix(graph))).to.equal(false);
  });
});
