/** Keys of quads: the layout of quadstore, with fixes for bugs of quadstore's encoder. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryLevel } from 'memory-level';
import { Quadstore } from 'quadstore';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../../../../lib/errors.js';
import { compareKeys, sortKeys } from '../../../../lib/storage/keys/key-order.js';
import { decodeGraph } from '../../../../lib/storage/keys/quad-decoding.js';
import { encodeGraph, graphPrefix } from '../../../../lib/storage/keys/quad-keys.js';
import { quadstoreIndex } from '../../../../lib/storage/level/quadstore-file.js';

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

  it('sorts like LevelDB, by UTF-8 bytes and not by UTF-16 units', () => {
    const keys = ['a\u{1d11e}', 'a\uffee', 'a', 'b', 'a\u00e9'];
    const byBytes = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(sortKeys([...keys])).to.deep.equal(byBytes);
    expect([...keys].sort()).not.to.deep.equal(byBytes);
    expect(compareKeys('a\uffee', 'a\u{1d11e}')).to.be.below(0);
  });

  const refused: [string, unknown, string][] = [
    ['a triple term', quads[0]!, 'unsupported-rdf'],
    ['a literal with a base direction', f.literal('x', { language: 'ar', direction: 'rtl' }), 'unsupported-rdf'],
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
