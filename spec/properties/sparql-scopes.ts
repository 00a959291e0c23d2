/**
 * Small random queries about the scope of variables: filters on unbound variables, VALUES with UNDEF, paths and subqueries within
 * GRAPH, nested MINUS and EXISTS. Independent of the engines.
 */
import { nodeNames, predicateNames } from './sparql-data.js';
import { part, type Random, type Text } from './sparql-random.js';

const names = ['?a', '?b', '?c', '?v'];
/** Variable that occurs in no triple pattern. */
const misspelled = '?zz';

/** Returns a random query. @param graphs IRIs for GRAPH and FROM, including absent ones */
export function scopeQuery(random: Random, graphs: readonly string[]): Text {
  return new Writer(random, graphs).query();
}

class Writer {
  private fresh = 0;

  constructor(
    private readonly random: Random,
    private readonly graphs: readonly string[],
  ) {}

  query(): Text {
    const { random } = this;
    const from = random.chance(0.05) ? part(['FROM', this.graph(), 'FROM NAMED', this.graph()]) : '';
    const body: Text = [from, '{', this.group(2), '}'];
    const trailing = random.chance(0.1) ? part(this.values()) : '';
    return random.either<Text>([
      [6, () => ['SELECT *', body, trailing]],
      [2, () => ['SELECT', random.pick(['', 'DISTINCT']), ...this.some(), body, trailing]],
      [2, () => ['ASK', body]],
      [1, () => ['SELECT (COUNT(*) AS ?n)', body]],
      [2, () => this.grouped(body)],
      [1, () => ['CONSTRUCT {', random.pick(names), ':made', random.pick(names), '}', body]],
    ]);
  }

  private some(): string[] {
    return this.random
      .some(1, 3, () => this.random.pick([...names, '?g']))
      .filter((name, at, all) => all.indexOf(name) === at);
  }

  private grouped(body: Text): Text {
    const [key] = this.some();
    const count = this.random.pick(['COUNT(*)', `COUNT(${this.variable()})`, `COUNT(DISTINCT ${this.variable()})`]);
    const having = this.random.chance(0.3) ? part('HAVING (COUNT(*) > 1)') : '';
    if (this.random.chance(0.15)) return [`SELECT (${count} AS ?n)`, body, `GROUP BY (STR(${this.variable()}) AS ?k)`];
    return [`SELECT ${key} (${count} AS ?n)`, body, `GROUP BY ${key}`, having];
  }

  private readonly graph = (): string => `<${this.random.pick(this.graphs)}>`;
  private readonly variable = (): string => this.random.pick(this.random.chance(0.08) ? [misspelled, '?g'] : names);
  private readonly term = (): string => this.random.pick(nodeNames.slice(0, 6).map((name) => `:${name}`));

  group(depth: number): Text {
    const { random } = this;
    const first = random.chance(0.7) ? [part(this.triple())] : [];
    return [...first, ...random.some(depth === 0 ? 0 : 1, 2, () => part(this.element(depth)))];
  }

  private element(depth: number): Text {
    const { random } = this;
    const inner = (): Text => this.group(depth - 1);
    const nested = depth > 0 ? 1 : 0;
    return random.either<Text>([
      [3, () => this.triple()],
      [4, () => ['FILTER (', this.condition(), ')']],
      [2, () => this.values()],
      [1, () => ['BIND (', random.pick([this.term(), this.variable()]), 'AS', this.newVariable(), ')']],
      [4 * nested, () => ['{', inner(), '} UNION {', inner(), '}']],
      [3 * nested, () => ['OPTIONAL {', inner(), '}']],
      [2 * nested, () => ['MINUS {', inner(), '}']],
      [2 * nested, () => ['FILTER', random.pick(['EXISTS', 'NOT EXISTS']), '{', inner(), '}']],
      [4 * nested, () => ['GRAPH', random.pick(['?g', '?g', this.graph(), this.variable()]), '{', inner(), '}']],
      [3 * nested, () => ['{', this.subquery(depth), '}']],
      [nested, () => ['{', inner(), '}']],
    ]);
  }

  private newVariable(): string {
    this.fresh++;
    return `?x${this.fresh}`;
  }

  private subquery(depth: number): Text {
    const { random } = this;
    const body: Text = ['{', this.group(depth - 1), '}'];
    return random.either<Text>([
      [2, () => ['SELECT *', body]],
      [
        3,
        () => [
          'SELECT',
          random.pick(['', 'DISTINCT']),
          ...this.some(),
          body,
          random.chance(0.2) ? part(this.values()) : '',
        ],
      ],
      [1, () => [`SELECT (COUNT(*) AS ${this.newVariable()})`, body]],
      [1, () => this.groupedWithin(body)],
    ]);
  }

  private groupedWithin(body: Text): Text {
    const [key, count] = [this.variable(), this.newVariable()];
    const by = this.random.chance(0.3) ? `(STR(${this.variable()}) AS ${this.newVariable()})` : '';
    return [`SELECT ${key} (COUNT(*) AS ${count})`, body, `GROUP BY ${key} ${by}`];
  }

  private condition(): Text {
    const { random } = this;
    const term = (): string => random.pick([this.term(), this.term(), '1', '"a"']);
    return random.either<Text>([
      [5, () => [this.variable(), random.pick(['=', '=', '!=']), term()]],
      [2, () => [term(), '=', this.variable()]],
      [2, () => [this.variable(), random.pick(['=', '!=']), this.variable()]],
      [1, () => [random.pick(['BOUND(', '! BOUND(']), this.variable(), ')']],
      [1, () => [this.variable(), random.pick(['IN', 'NOT IN']), '(', term(), ',', term(), ')']],
      [1, () => ['sameTerm(', this.variable(), ',', term(), ')']],
      [1, () => [this.variable(), '=', term(), random.pick(['||', '&&']), this.variable(), '=', term()]],
    ]);
  }

  private values(): Text {
    const { random } = this;
    const term = (): string => random.pick([this.term(), this.term(), this.graph(), '1', 'UNDEF', 'UNDEF']);
    const one = this.variable();
    const other = random.pick(names.filter((name) => name !== one));
    if (random.chance(0.4)) return ['VALUES', one, '{', ...random.some(1, 2, () => part(term())), '}'];
    return ['VALUES (', one, other, ') {', ...random.some(1, 2, () => part(['(', term(), term(), ')'])), '}'];
  }

  private triple(): Text {
    const { random } = this;
    const end = (): string =>
      random.either([
        [8, this.variable],
        [2, this.term],
      ]);
    return [end(), this.predicate(), end(), '.'];
  }

  private predicate(): Text {
    const { random } = this;
    const name = (): string => `:${random.pick(predicateNames.slice(0, 3))}`;
    return random.either<Text>([
      [6, name],
      [1, this.variable],
      [3, () => [name(), random.pick(['*', '+', '?'])]],
      [1, () => ['(', name(), random.pick(['/', '|']), name(), ')', random.pick(['', '*', '+', '?'])]],
      [1, () => ['^', name()]],
      [1, () => ['!(', name(), '|', random.pick(['', '^']), name(), ')']],
    ]);
  }
}
