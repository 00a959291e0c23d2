/** Random graphs with every odd feature that RDF permits. Independent of syntaxes and writers. */

import type { Literal, Quad, Quad_Object, Quad_Subject } from '@rdfjs/types';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { rdf, xsd } from '../../lib/rdf/vocabulary.js';

export const factory = new DataFactory<Quad>();

/** Splits a string into words. */
const words = (text: string): string[] => text.split(' ');
const oneOf = (...values: string[]): fc.Arbitrary<string> => fc.constantFrom(...values);
const textOf = (...parts: string[]): fc.Arbitrary<string> =>
  fc.array(oneOf(...parts), { maxLength: 6 }).map((list) => list.join(''));

// --- IRIs ---

const bases = [
  ...words('http://ex.org/c/doc http://ex.org/c/ http://ex.org/ http://ex.org http://ex.org?q http://ex.org/a//b'),
  ...words('http://ex.org// http://ex.org/c/doc?q=a/b http://ex.org/c/doc#it http://ex.org/c/doc:1 urn:x:y'),
  ...words('http://localhost:3000/a/b/c/d.ttl http://ex.org/é/%C3%A9'),
];
const nastyBases = [...bases, 'http://ex.org/a/../b', 'http://ex.org/a/./b/c'];
const path = textOf(...words("/ // : ? # a b.c b .b - _ 0 ~ %20 %2E ' ( ) , ; @ !$&*+= é 💩 [] A0"));
const dots = oneOf(...words('. .. ./ ../ /. /.. /./ /../x ... ?/../'));
const predicates = words(
  'http://ex.org/ns#p http://ex.org/ns#q http://ex.org/p.q urn:a:p-1 http://ex.org/1é http://e.org/💩x',
);
const special = [rdf.type, rdf.type, rdf.first, rdf.rest, `${rdf.namespace}_1`, `${rdf.namespace}value`];
const known = [rdf.nil, rdf.type, ...words('http://ex.org/ns#local http://ex.org/ns tag:a@b.c,2000:x')];

/** Returns IRIs at, below, beside and far from the base. Nasty ones have dot segments, removed by some parsers. */
function iris(base: string, nasty: boolean): fc.Arbitrary<string> {
  const document = base.replace(/#.*/s, '');
  const container = document.replace(/(?<=[^/]\/)[^/]*$/, '');
  const root = /^[a-z]+:(?:\/\/[^/?]*)?/.exec(base)![0];
  const elsewhere = words('http://other.org/ http://ex.org/ns# urn: mailto:');
  const start = oneOf(document, `${document}#`, container, container, container, root, `${root}/`, ...elsewhere);
  const end = nasty ? fc.oneof({ weight: 6, arbitrary: path }, { weight: 1, arbitrary: dots }) : path;
  const near = fc.tuple(start, end).map((parts) => parts.join(''));
  return fc.oneof({ weight: 4, arbitrary: near }, { weight: 1, arbitrary: oneOf(document, ...known) });
}

const lexicalForm = oneOf(
  ...words('010 +1 -0 1 1. .5 1.0 -.5 + . 1E0 1e+5 .5e1 1.e1 e1 INF NaN true false True ٣ {"a":1} <b/>'),
  ...['', ' 1', '1\n'],
);
const nastyText = textOf(
  ...['a', ' ', '\n', '\r', '\r\n', '\t', '\u007f', '\u0085', '\u2028', '\ufeff'],
  ...words('" "" """ \' \'\'\' \\ \\n \\u0041 💩 < > &amp; ]]> <!-- é @en ^^ #'),
);
const control = oneOf('\0', '\x01', '\b', '\v', '\f', '\x1f', '\ufffe', '\uffff');
const standardTypes = [xsd.integer, xsd.decimal, xsd.double, xsd.boolean, xsd.string, rdf.JSON, rdf.XMLLiteral];
const datatype = oneOf(...standardTypes, `${xsd.namespace}byte`, 'http://ex.org/ns#type', 'urn:a:type');
const anyText = fc.oneof(
  nastyText,
  fc.string({ unit: 'binary' }),
  fc.tuple(nastyText, control).map((parts) => parts.join('')),
);

const literal: fc.Arbitrary<Literal> = fc.oneof(
  fc
    .tuple(fc.oneof(lexicalForm, nastyText), datatype)
    .map(([value, type]) => factory.literal(value, factory.namedNode(type))),
  fc.tuple(nastyText, oneOf('en', 'en-us', 'de-latn-ch-1996')).map(([value, tag]) => factory.literal(value, tag)),
  anyText.map((value) => factory.literal(value)),
);

/** Blank nodes by number. Nodes from 6 on are heads of lists, if the graph has them. */
const blank = fc.nat(9).map((number) => factory.blankNode(`n${number}`));

interface ListPlan {
  readonly subject: Quad_Subject;
  readonly items: readonly Quad_Object[];
  readonly flaw: string;
}

const first = factory.namedNode(rdf.first);
const rest = factory.namedNode(rdf.rest);
const nil = factory.namedNode(rdf.nil);

/** Returns the triples of a list with an optional flaw. */
function listOf({ subject, items, flaw }: ListPlan, number: number): Quad[] {
  const cells = items.map((_, i) => factory.blankNode(i === 0 ? `n${6 + number}` : `l${number}-${i}`));
  const last = flaw === 'cycle' ? cells[0]! : flaw === 'open' ? factory.blankNode('n0') : nil;
  const middle = cells[cells.length >> 1]!;
  const quads = items.flatMap((item, i) => [
    factory.quad(cells[i]!, first, item),
    factory.quad(cells[i]!, rest, cells[i + 1] ?? last),
  ]);
  if (flaw !== 'loose') quads.push(factory.quad(subject, factory.namedNode(predicates[0]!), cells[0]!));
  if (flaw === 'typed') quads.push(factory.quad(middle, factory.namedNode(rdf.type), nil));
  if (flaw === 'two-firsts') quads.push(factory.quad(middle, first, factory.literal('other')));
  if (flaw === 'two-rests') quads.push(factory.quad(middle, rest, nil));
  if (flaw === 'shared') quads.push(factory.quad(factory.blankNode('n1'), rest, middle));
  if (flaw === 'no-first') quads.shift();
  return quads;
}

const flaws = ['', '', '', '', ...words('cycle open loose typed two-firsts two-rests shared no-first')];

/** Returns graphs with a few lists, in random order. */
function graphs(iri: fc.Arbitrary<string>, predicate: fc.Arbitrary<string>): fc.Arbitrary<Quad[]> {
  const node = iri.map((value) => factory.namedNode(value));
  const subject = fc.oneof<fc.Arbitrary<Quad_Subject>[]>(node, blank, blank);
  const object = fc.oneof<fc.Arbitrary<Quad_Object>[]>(node, blank, blank, literal);
  const triple = fc.tuple(subject, predicate, object).map(([s, p, o]) => factory.quad(s, factory.namedNode(p), o));
  const items = fc.array(object, { minLength: 1, maxLength: 4 });
  const list = fc.record({ subject, items, flaw: oneOf(...flaws) });
  return fc
    .tuple(fc.array(triple, { maxLength: 10 }), fc.array(list, { maxLength: 4 }))
    .map(([triples, lists]) => [...triples, ...lists.flatMap(listOf)])
    .chain((quads) => fc.shuffledSubarray(quads, { minLength: quads.length }));
}

const prefixName = oneOf(
  ...words('a ex ns1 rdf xml xmlx its _ _a http urn mailto tag @foo @context @type a:b a/b a.b a. .a -a a- 1a é'),
  ...words('true prefix base PREFIX graph constructor __proto__ hasOwnProperty a"b a>'),
  ...['', 'a b'],
);
const namespace = oneOf(
  ...words(
    'http://ex.org/ http://ex.org/c/ http://ex.org/c/doc http://ex.org/c/doc# http://ex.org/ns http://ex.org/ns#',
  ),
  ...words('http://ex.org/ns#lo http://ex.org http: http:// urn: urn:a: mailto: relative/ # @type _:b a: ex:x/'),
  ...words('http://www.w3.org/XML/1998/namespace http://www.w3.org/2000/xmlns/ http://ex.org/a"b http://ex.org/<'),
  ...[rdf.namespace, xsd.namespace, '', 'http://ex.org/&', 'http://ex.org/ /'],
);
const prefixMap = fc
  .array(fc.tuple(prefixName, namespace), { maxLength: 6 })
  .map((entries): Record<string, string> => Object.fromEntries(entries));

export interface RandomDocument {
  readonly quads: Quad[];
  readonly base: string;
  readonly prefixes: Record<string, string>;
}

/** Returns the input of a writer. Without `nasty`: no dot segments, and predicates with a valid XML name. */
export function documents(options: { nasty: boolean }): fc.Arbitrary<RandomDocument> {
  const named = oneOf(...predicates, ...special);
  return oneOf(...(options.nasty ? nastyBases : bases)).chain((base) => {
    const iri = iris(base, options.nasty);
    const predicate = options.nasty ? fc.oneof(named, named, iri) : named;
    return fc.record({ quads: graphs(iri, predicate), base: fc.constant(base), prefixes: prefixMap });
  });
}
