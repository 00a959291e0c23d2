/** Random graphs with triple terms, and random queries about them (SPARQL 1.2). Blank nodes of the data have fixed labels. */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { base, graphNames, type SpecData, type SpecTriple } from '../lib/query/engine-dataset.js';
import { part, type Random, type Text } from './sparql-random.js';

const factory = new DataFactory<Quad>();
const iri = (name: string): Term => factory.namedNode(base + name);
const reifies = factory.namedNode('http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies');
const integer = factory.namedNode('http://www.w3.org/2001/XMLSchema#integer');
const decimal = factory.namedNode('http://www.w3.org/2001/XMLSchema#decimal');

const nodes = ['a', 'b', 'c', 'p'];
const predicates = ['p', 'q'];
const reifiers = ['r1', 'r2', 'r3'];
const literals: readonly (readonly [string, Term])[] = [
  ['1', factory.literal('1', integer)],
  ['1.0', factory.literal('1.0', decimal)],
  ['"x"', factory.literal('x')],
  ['"x"@en', factory.literal('x', 'en')],
  ['"x"@en--ltr', factory.literal('x', { language: 'en', direction: 'ltr' })],
  ['"x"@en--rtl', factory.literal('x', { language: 'en', direction: 'rtl' })],
];

const tripleOf = ({ subject, predicate, object }: SpecTriple): Term =>
  factory.quad(subject as never, predicate as never, object as never) as unknown as Term;

/** A few triples, some of which are reified: with annotations, within other triple terms, or not asserted themselves. */
export function tripleTermData(random: Random): SpecData {
  const node = (): Term => (random.chance(0.15) ? factory.blankNode(random.pick(['x', 'y'])) : iri(random.pick(nodes)));
  const plain = (): SpecTriple => ({
    subject: node(),
    predicate: iri(random.pick(predicates)),
    object: random.chance(0.6) ? node() : random.pick(literals)[1],
  });
  const all = random.some(3, 6, plain);
  const nested = (depth: number): SpecTriple => {
    const inner = random.chance(0.7) ? random.pick(all) : plain();
    return depth === 0 ? inner : { ...plain(), object: tripleOf(nested(depth - 1)) };
  };
  const graph = (): SpecTriple[] =>
    random.some(4, 12, () => {
      if (random.chance(0.35)) return random.pick(all);
      const subject = random.chance(0.8) ? iri(random.pick(reifiers)) : node();
      if (random.chance(0.25)) return { ...plain(), subject };
      const predicate = random.chance(0.75) ? reifies : iri(random.pick(predicates));
      return { subject, predicate, object: tripleOf(nested(random.chance(0.2) ? 1 : 0)) };
    });
  return new Map(graphNames.slice(0, 1 + random.below(3)).map((name) => [name, graph()]));
}

const variables = ['?a', '?b', '?c', '?d', '?e', '?f', '?h', '?t', '?u'];

/** Makes queries. The solutions of a query do not depend on the order of the data. */
class Queries {
  constructor(private readonly random: Random) {}

  private readonly variable = (): string => this.random.pick(variables);
  private readonly node = (): string => `:${this.random.pick(nodes)}`;
  private readonly literal = (): string => this.random.pick(literals)[0];

  private subject(): string {
    return this.random.either([
      [7, this.variable],
      [1, this.node],
      [0.5, () => `:${this.random.pick(reifiers)}`],
      [0.3, () => '_:n'],
    ]);
  }

  private verb(): string {
    return this.random.either([
      [3, () => `:${this.random.pick(predicates)}`],
      [1.5, this.variable],
      [1, () => 'rdf:reifies'],
    ]);
  }

  private object(depth = 0): string {
    return this.random.either([
      [6, this.variable],
      [1, this.node],
      [0.5, this.literal],
      [depth > 1 ? 0 : 2, () => this.tripleTerm(depth + 1)],
    ]);
  }

  private tripleTerm(depth = 0): string {
    return `<<( ${this.random.chance(0.8) ? this.variable() : this.node()} ${this.verb()} ${this.object(depth)} )>>`;
  }

  private ground(depth = 0): string {
    const object = this.random.either([
      [2, this.node],
      [1, this.literal],
      [depth > 0 ? 0 : 0.6, () => this.ground(1)],
    ]);
    return `<<( ${this.node()} :${this.random.pick(predicates)} ${object} )>>`;
  }

  private annotation(): string {
    return this.random.either([
      [2, () => `{| ${this.verb()} ${this.object(1)} |}`],
      [1, () => `~ ${this.random.chance(0.7) ? this.variable() : `:${this.random.pick(reifiers)}`}`],
      [1, () => `~ ${this.variable()} {| :${this.random.pick(predicates)} ${this.variable()} |}`],
      [0.5, () => '~'],
    ]);
  }

  private pattern(): Text {
    return this.random.either<Text>([
      [3, () => `${this.subject()} ${this.verb()} ${this.object()} .`],
      [4, () => `${this.subject()} rdf:reifies ${this.tripleTerm()} .`],
      [3, () => `${this.subject()} ${this.verb()} ${this.object(2)} ${this.annotation()} .`],
      [1, () => `<< ${this.subject()} ${this.verb()} ${this.object(2)} >> ${this.verb()} ${this.object(1)} .`],
      [0.5, () => `${this.subject()} rdf:reifies/:p? ${this.tripleTerm()} .`],
      [0.5, () => `${this.subject()} :p+ ${this.random.chance(0.5) ? this.variable() : this.node()} .`],
    ]);
  }

  private expression(): string {
    const of = this.variable();
    return this.random.either([
      [1, () => `isTRIPLE(${of})`],
      [1, () => `SUBJECT(${of}) = ${this.random.chance(0.5) ? this.node() : this.variable()}`],
      [1, () => `OBJECT(${of}) = ${this.random.chance(0.5) ? this.literal() : this.variable()}`],
      [1, () => `${of} = ${this.random.chance(0.5) ? this.ground() : this.variable()}`],
      [1, () => `${of} != ${this.ground()}`],
      [1, () => `sameTerm(${of}, ${this.random.chance(0.5) ? this.ground() : this.variable()})`],
      [0.7, () => `${of} IN (${this.ground()}, ${this.node()}, ${this.literal()})`],
      [0.5, () => `hasLANGDIR(OBJECT(${of}))`],
      [0.5, () => `LANGDIR(${of}) = "ltr"`],
      [0.7, () => `TRIPLE(${this.variable()}, :p, ${this.variable()}) = ${of}`],
      [1, () => `${this.random.chance(0.5) ? 'NOT ' : ''}EXISTS { ${this.patterns(1, 2)} }`],
    ]);
  }

  private made(): string {
    return this.random.either([
      [2, () => this.tripleExpression()],
      [1, () => `TRIPLE(${this.variable()}, ${this.random.chance(0.5) ? ':p' : this.variable()}, ${this.variable()})`],
      [1, () => `SUBJECT(${this.variable()})`],
      [1, () => `OBJECT(${this.variable()})`],
      [0.5, () => `STRLANGDIR(STR(${this.variable()}), "en", "ltr")`],
      [0.5, () => `DATATYPE(${this.variable()})`],
    ]);
  }

  private tripleExpression = (): string =>
    `<<( ${this.variable()} :${this.random.pick(predicates)} ${this.random.chance(0.5) ? this.variable() : this.literal()} )>>`;

  private patterns(least: number, most: number): string {
    const texts = this.random.some(least, most, () => this.pattern());
    return texts.join(' ');
  }

  private group(depth = 0): Text {
    const { random } = this;
    const inner = (): Text => this.group(depth + 1);
    const parts: Text[] = random.some<Text>(1, 2, () => part(this.pattern()));
    const more: Text[] = random.some<Text>(0, 2, () =>
      random.either<Text>([
        [2, () => part(`FILTER(${this.expression()})`)],
        [depth > 1 ? 0 : 1.5, () => part(['OPTIONAL {', inner(), '}'])],
        [depth > 1 ? 0 : 1, () => part(['{', inner(), '} UNION {', inner(), '}'])],
        [depth > 1 ? 0 : 0.7, () => part(['MINUS {', inner(), '}'])],
        [
          depth > 1 ? 0 : 1,
          () => part(['GRAPH', random.chance(0.6) ? '?g' : `<${random.pick(graphNames)}>`, '{', inner(), '}']),
        ],
        [
          1,
          () =>
            part(
              `VALUES ${this.variable()} { ${random.some(1, 2, () => (random.chance(0.7) ? this.ground() : this.node())).join(' ')} }`,
            ),
        ],
        [1, () => part(`BIND(${this.made()} AS ?v${random.below(1000)})`)],
        [depth > 1 ? 0 : 0.5, () => part(['{ SELECT DISTINCT ?a ?t {', inner(), '} }'])],
      ]),
    );
    return [...parts, ...more];
  }

  query(): Text {
    return this.random.either<Text>([
      [6, () => ['SELECT * {', this.group(), '}']],
      [1, () => ['SELECT DISTINCT ?a ?t {', this.group(), '}']],
      [1, () => ['SELECT ?t (COUNT(*) AS ?n) {', this.group(), '} GROUP BY ?t']],
      [1, () => ['SELECT (MIN(?t) AS ?least) (COUNT(DISTINCT ?t) AS ?n) {', this.group(), '}']],
      [1, () => ['ASK {', this.group(), '}']],
      [
        1,
        () => [`CONSTRUCT { ?a :made ${this.tripleExpression()} . ?b :p ?c ~ _:r {| :q ?t |} } {`, this.group(), '}'],
      ],
    ]);
  }
}

export const tripleTermQuery = (random: Random): Text => new Queries(random).query();
