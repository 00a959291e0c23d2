/** Random queries of SPARQL 1.1 over the datasets of `sparql-data`: all kinds of patterns, nested. Independent of the engines. */
import { graphNames } from '../lib/query/engine-dataset.js';
import { nodeNames, predicateNames } from './sparql-data.js';
import { aggregate, condition, number, value, type Words } from './sparql-expressions.js';
import { part, type Random, type Text } from './sparql-random.js';
import { ordered, sampled, sliced, type Variation } from './sparql-variations.js';

export interface RandomQuery {
  readonly text: Text;
  /** Query to send instead, checked against the result of the text. */
  readonly variation?: Variation | undefined;
}

export const prologue = 'PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>';

const literals = ['1', '2', '1.5', '"2.5"^^xsd:double', '"a"', '"a"@en', 'true', '"12"', '9007199254740993'];
/** Literals in a non-canonical form, or ill-typed. */
const oddLiterals = [...literals, '02', '2.0', '2.5E0', '"12"^^xsd:byte', '"abc"^^xsd:integer'];
const names = ['?a', '?b', '?c', '?d', '?e'];

/** Returns a random query. @param isLarge true for connected patterns, because products of thousands of rows test nothing new */
export function randomQuery(random: Random, isLarge: boolean, isOdd: boolean): RandomQuery {
  return new Writer(random, isLarge, isOdd ? oddLiterals : literals).query();
}

class Writer {
  private fresh = 0;

  constructor(
    private readonly random: Random,
    private readonly isLarge: boolean,
    private readonly literals: readonly string[],
  ) {}

  query(): RandomQuery {
    const { random } = this;
    const where = this.group(this.isLarge ? 1 : 2);
    const from = random.chance(0.1) ? this.from() : '';
    const body: Text = [from, 'WHERE {', where, '}'];
    const variables = random.some(1, 3, () => random.pick(names)).filter((name, at, all) => all.indexOf(name) === at);
    return random.either<RandomQuery>([
      [4, () => ({ text: ['SELECT *', body] })],
      [2, () => ({ text: ['SELECT', random.pick(['', 'DISTINCT']), ...variables, body] })],
      [2, () => ({ text: ['SELECT', ...variables, ...this.columns(() => number(this.words())), body] })],
      [3, () => ({ text: this.grouped(variables, body, () => aggregate(this.words())) })],
      [2, () => ({ text: ['ASK', body] })],
      [2, () => ({ text: ['CONSTRUCT {', ...random.some(1, 2, () => this.templateTriple()), '}', body] })],
      [1, () => this.part(['SELECT', random.pick(['', 'DISTINCT']), ...variables, body])],
      [1, () => this.inOrder(variables, body)],
      [1, () => this.sample(variables, body)],
    ]);
  }

  private part(text: Text): RandomQuery {
    return { text, variation: sliced(this.random.below(4), this.random.below(6)) };
  }

  private inOrder(variables: readonly string[], body: Text): RandomQuery {
    const { random } = this;
    const key = this.newVariable();
    const keys = random.chance(0.4) ? [key] : [variables[0]!, key];
    const text = [
      'SELECT',
      ...variables,
      '(',
      random.either([
        [1, () => number(this.words())],
        [1, () => value(this.words())],
      ]),
      'AS',
      key,
      ')',
      body,
    ];
    const directions = keys.map((name) => ({ name: name.slice(1), isDescending: random.chance(0.4) }));
    return { text, variation: ordered(directions, random.chance(0.5) ? random.below(6) : undefined) };
  }

  private sample(variables: readonly string[], body: Text): RandomQuery {
    const [keys, of] = [variables.slice(1), this.variable()];
    const name = this.newVariable();
    // The beginning is replaced, so it must not contain removable parts.
    const head = `SELECT DISTINCT ${keys.join(' ')} (${of} AS ${name})`;
    const asked = `SELECT ${keys.join(' ')} (SAMPLE(${of}) AS ${name})`;
    return { text: [head, body], variation: sampled({ head, asked, keys }) };
  }

  private from(): Text {
    const clause = (): Text => part([this.random.pick(['FROM', 'FROM NAMED']), this.graphName()]);
    return this.random.some(1, 3, clause);
  }

  private readonly graphName = (): string => `<${this.random.pick(graphNames)}>`;
  private readonly variable = (): string =>
    this.random.pick(this.random.chance(0.1) ? [`?x${this.fresh}`, '?g'] : names);
  private newVariable(): string {
    this.fresh++;
    return `?x${this.fresh}`;
  }

  private words(depth = -1): Words {
    const group = depth >= 0 ? () => this.group(Math.min(depth, 1), true) : undefined;
    return { random: this.random, variable: this.variable, group };
  }

  private columns(make: () => Text): Text[] {
    return this.random.some(1, 2, () => part(['(', make(), 'AS', this.newVariable(), ')']));
  }

  private grouped(variables: readonly string[], body: Text, make: () => Text): Text {
    const { random } = this;
    const keys = random.chance(0.7) ? variables : [];
    const by = random.chance(0.2) ? [`(STRLEN(STR(${this.variable()})) AS ${this.newVariable()})`] : [];
    const having = random.chance(0.3) ? part(['HAVING (', make(), random.pick(['>', '<', '=']), '1', ')']) : '';
    const groupBy = keys.length + by.length > 0 ? ['GROUP BY', ...keys, ...by] : [];
    return [
      'SELECT',
      ...keys,
      ...random.some(1, 2, () => ['(', make(), 'AS', this.newVariable(), ')']),
      body,
      ...groupBy,
      having,
    ];
  }

  private templateTriple(): Text {
    const { random } = this;
    const subject = random.pick([...names, '?g', ':a', '_:new']);
    return part([subject, random.pick([':p', ':q', '?c']), random.pick([...names, '"k"', '_:new', ':b']), '.']);
  }

  /** Returns a random group. @param isAsked true within EXISTS. The subqueries of such a group do not see outer variables */
  group(depth: number, isAsked = false): Text {
    const { random } = this;
    const first = random.chance(this.isLarge ? 1 : 0.85) ? [part(this.triples())] : [];
    const rest = random.some(0, depth === 0 ? 1 : 3, () => part(this.element(depth, isAsked)));
    return [...first, ...rest];
  }

  private element(depth: number, isAsked: boolean): Text {
    const { random } = this;
    const inner = (): Text => this.group(Math.max(0, depth - 1), isAsked);
    const nested = depth > 0 ? 1 : 0;
    return random.either<Text>([
      [4, () => this.triples()],
      [4, () => ['FILTER', '(', condition(this.words(depth - 1)), ')']],
      [
        4 * nested,
        () => ['OPTIONAL {', inner(), random.chance(0.3) ? part(['FILTER (', condition(this.words()), ')']) : '', '}'],
      ],
      [3 * nested, () => ['{', inner(), '} UNION {', inner(), '}']],
      [2 * nested, () => ['MINUS {', inner(), '}']],
      [3 * nested, () => ['FILTER', random.pick(['EXISTS', 'NOT EXISTS']), '{', this.group(depth - 1, true), '}']],
      [2, () => ['BIND (', value(this.words()), 'AS', this.newVariable(), ')']],
      [
        nested,
        () => ['GRAPH ?g {', part(inner()), 'BIND (', random.pick([this.graphName(), this.variable()]), 'AS ?g ) }'],
      ],
      [1, () => this.values()],
      [2 * nested, () => ['GRAPH', random.pick(['?g', '?g', '?h', this.graphName(), '?a']), '{', inner(), '}']],
      [nested, () => ['{', inner(), '}']],
      [2 * nested, () => ['{', this.subSelect(depth), '}']],
    ]);
  }

  private subSelect(depth: number): Text {
    const { random } = this;
    const body: Text = ['WHERE {', this.group(depth - 1), '}'];
    const variables = random.some(1, 2, () => random.pick(names)).filter((name, at, all) => all.indexOf(name) === at);
    return random.either<Text>([
      [2, () => ['SELECT', random.pick(['', 'DISTINCT']), ...variables, body]],
      [1, () => ['SELECT *', body]],
      [1, () => ['SELECT', ...variables, ...this.columns(() => value(this.words())), body]],
      [
        2,
        () =>
          this.grouped(variables, body, () =>
            random.pick([
              `COUNT(${this.variable()})`,
              'COUNT(*)',
              `MAX(STR(${this.variable()}))`,
              `SUM(STRLEN(STR(${this.variable()})))`,
            ]),
          ),
      ],
    ]);
  }

  private values(): Text {
    const { random } = this;
    const term = (): string =>
      random.pick([':a', ':b', ':p', '1', '"a"', '<graphs/a>'.replace('<', '<http://example.org/'), 'UNDEF']);
    if (random.chance(0.5)) return ['VALUES', this.variable(), '{', ...random.some(1, 3, () => part(term())), '}'];
    const [one, two] = [random.pick(names.slice(0, 2)), random.pick(names.slice(2))];
    return ['VALUES (', one, two, ') {', ...random.some(1, 3, () => part(['(', term(), term(), ')'])), '}'];
  }

  private triples(): Text {
    const { random } = this;
    // A blank node label occurs in one basic graph pattern only.
    const blank = `_:n${++this.fresh}`;
    let last = this.isLarge ? random.pick(names.slice(0, 2)) : '';
    const subject = (): string =>
      this.isLarge
        ? last
        : random.either([
            [7, this.variable],
            [2, () => `:${random.pick(nodeNames.slice(0, 6))}`],
            [1, () => blank],
          ]);
    const object = (): string => {
      last = random.either([
        [7, this.variable],
        [1, () => `:${random.pick(nodeNames.slice(0, 6))}`],
        [1, () => random.pick(this.literals)],
        [1, () => blank],
      ]);
      const object = last;
      if (!last.startsWith('?')) last = random.pick(names.slice(0, 2));
      return object;
    };
    return random.some(1, this.isLarge ? 2 : 3, () => part([subject(), this.predicate(), object(), '.']));
  }

  private predicate(): Text {
    const { random } = this;
    return random.either<Text>([
      [6, () => `:${random.pick(predicateNames)}`],
      [this.isLarge ? 0 : 2, this.variable],
      [3, () => this.path(2)],
    ]);
  }

  private path(depth: number): Text {
    const { random } = this;
    const inner = (): Text => this.path(depth - 1);
    const name = (): string => `:${random.pick(predicateNames)}`;
    if (depth === 0) return name();
    return random.either<Text>([
      [1, name],
      // Oxigraph cannot be interrupted, and would follow paths between all pairs of nodes.
      [this.isLarge ? 0 : 3, () => ['(', inner(), ')', random.pick(['*', '+', '?'])]],
      [2, () => ['(', inner(), '/', inner(), ')']],
      [2, () => ['(', inner(), '|', inner(), ')']],
      [1, () => ['^ (', inner(), ')']],
      [this.isLarge ? 0 : 1, () => ['!(', random.some(1, 2, name).join('|'), ')']],
      [this.isLarge ? 0 : 1, () => ['!(', name(), '|', '^', name(), ')']],
    ]);
  }
}
