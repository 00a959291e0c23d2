/** Implements the constraint components of SHACL Core (section 4). Values are compared as in SPARQL. */
import { isBlank, isIri, isTriple, literalParts, type TermKey } from '../../lib/query/access/terms.js';
import { isAtMost, isLess } from '../../lib/query/expressions/comparison.js';
import { isPartType, partFieldsOf } from '../../lib/query/expressions/dates.js';
import { monthsAndSeconds } from '../../lib/query/expressions/durations.js';
import { compileRegex } from '../../lib/query/expressions/patterns.js';
import { datatypeOf, toValue, type Value } from '../../lib/query/expressions/values.js';
import { xsd } from '../../lib/rdf/vocabulary.js';
import { addCount } from '../../lib/tools/collections.js';
import type { Check, FoundViolation, Shape, Shapes, ValidationRun } from './model.js';
import { isTrueLiteral } from './token-graph.js';
import { sh, UnusableShapes } from './vocabulary.js';

/** Parameters that can have at most one value. */
export const singleValued: ReadonlySet<string> = new Set([
  ...['datatype', 'nodeKind', 'minCount', 'maxCount', 'minExclusive', 'minInclusive', 'maxExclusive', 'maxInclusive'],
  ...['minLength', 'maxLength', 'pattern', 'flags', 'languageIn', 'uniqueLang', 'closed', 'ignoredProperties', 'in'],
  ...['qualifiedValueShape', 'qualifiedMinCount', 'qualifiedMaxCount', 'qualifiedValueShapesDisjoint', 'deactivated'],
]);

const textOf = (token: TermKey): string => (isIri(token) ? token : literalParts(token).text);
const languageOf = (token: TermKey): string | undefined => toValue(token).language?.toLowerCase();
const valuesText = (count: number): string => (count === 1 ? '1 value' : `${count} values`);

/** Value of a parameter of a shape. */
export class Parameter {
  /** Local name, such as `minCount`. */
  readonly name: string;
  readonly value: TermKey;

  constructor(
    readonly shapes: Shapes,
    readonly shape: Shape,
    given: readonly [name: string, value: TermKey],
  ) {
    [this.name, this.value] = given;
  }

  /** Value as text for a message. */
  get text(): string {
    return this.shapes.text(this.value);
  }

  /** Returns the first value of another property of the shape. */
  other(name: string): TermKey | undefined {
    return this.shapes.graph.objects(this.shape.node, sh + name)[0];
  }

  wrong(why: string): UnusableShapes {
    return new UnusableShapes(`sh:${this.name} of the shape ${this.shapes.text(this.shape.node)} ${why}.`);
  }

  count(): number {
    const { number, numberType } = toValue(this.value);
    if (numberType !== 'integer' || number === undefined || number < 0) throw this.wrong('is not a natural number');
    return number;
  }

  list(head = this.value): readonly TermKey[] {
    const members = this.shapes.graph.list(head);
    if (!members) throw this.wrong('is not a well-formed list');
    return members;
  }

  report(run: ValidationRun, found: Omit<FoundViolation, 'component'>): void {
    const { name } = this;
    const component = `${sh}${name.slice(0, 1).toUpperCase()}${name.slice(1)}ConstraintComponent`;
    run.report(this.shape, { component, ...found });
  }

  /** Returns a check of each value node. @param holds returns true, false, or a more specific message than `must` */
  each(must: string, holds: (value: TermKey, run: ValidationRun, focus: TermKey) => boolean | string): Check {
    return (run, focus, values) => {
      for (const value of values) {
        const found = holds(value, run, focus);
        if (found !== true) this.report(run, { focus, value, must: typeof found === 'string' ? found : must });
      }
    };
  }

  /** Returns a check of the count of some value nodes. */
  counted(words: string, kind: string, countOf: (run: ValidationRun, values: readonly TermKey[]) => number): Check {
    const limit = this.count();
    const isLeast = words === 'at least';
    return (run, focus, values) => {
      const count = countOf(run, values);
      const must = `must have ${words} ${valuesText(limit)}${kind}, but has ${count}`;
      if (isLeast ? count < limit : count > limit) this.report(run, { focus, must });
    };
  }
}

type Build = (parameter: Parameter) => Check | undefined;

const kindOf = (token: TermKey): string =>
  isIri(token) ? 'IRI' : isBlank(token) ? 'BlankNode' : isTriple(token) ? 'TripleTerm' : 'Literal';
const hasText = (token: TermKey): boolean => !isBlank(token) && !isTriple(token);
const nodeKinds = new Map([
  [`${sh}IRI`, 'an IRI'],
  [`${sh}BlankNode`, 'a blank node'],
  [`${sh}Literal`, 'a literal'],
  [`${sh}BlankNodeOrIRI`, 'an IRI or a blank node'],
  [`${sh}BlankNodeOrLiteral`, 'a blank node or a literal'],
  [`${sh}IRIOrLiteral`, 'an IRI or a literal'],
]);

/** Lexical forms of datatypes for which the expression evaluator has no values. */
const forms = new Map(
  Object.entries({
    hexBinary: '(?:[\\da-fA-F]{2})*',
    base64Binary: '[A-Za-z0-9+/\\s]*(?:=\\s?){0,2}',
  }).map(([name, form]) => [xsd.namespace + name, new RegExp(`^${form}$`)]),
);

function hasType(token: TermKey, type: string): boolean {
  const value = toValue(token);
  if (datatypeOf(value) !== type) return false;
  const { kind, text, number } = value;
  if (kind === 'duration') return monthsAndSeconds(text) !== undefined;
  if (isPartType(type)) return partFieldsOf(type, text) !== undefined;
  if (kind === 'other') return forms.get(type)?.test(text) ?? true;
  return kind === 'string' || kind === 'lang' || number !== undefined;
}

type Order = (a: Value, b: Value) => boolean | undefined;
const hasZone = ({ text }: Value): boolean => /(?:Z|[+-]\d\d:\d\d)$/.test(text);

/** Maximum time zone offset from UTC, in milliseconds. */
const zoneMs = 14 * 3_600_000;

/**
 * True if two values are in the given order. A time with a time zone and a time without are comparable only if the order is the
 * same for every time zone, up to 14 hours from UTC (XML Schema 2, 3.2.7.4).
 */
function inOrder(order: Order, a: TermKey, b: TermKey): boolean {
  const [left, right] = [toValue(a), toValue(b)];
  const isInstant = left.kind === 'dateTime' || left.kind === 'date' || left.kind === 'time';
  const isNear = Math.abs((left.number ?? 0) - (right.number ?? 0)) <= zoneMs;
  return !(isInstant && isNear && hasZone(left) !== hasZone(right)) && order(left, right) === true;
}

const range =
  (words: string, order: Order): Build =>
  (p) =>
    p.each(`must be ${words} ${p.text}`, (value) => inOrder(order, value, p.value));

const pairs =
  (words: string, order: Order): Build =>
  (p) =>
  (run, focus, values) => {
    const must = `must be ${words} every value of ${p.text}`;
    const others = run.data.objects(focus, p.value);
    for (const value of values)
      for (const other of others) if (!inOrder(order, value, other)) p.report(run, { focus, value, must });
  };

const length =
  (words: string, fits: (length: number, limit: number) => boolean): Build =>
  (p) => {
    const limit = p.count();
    const must = `must have ${words} ${limit} characters`;
    return p.each(must, (value) => hasText(value) && fits([...textOf(value)].length, limit));
  };

const conforms = (run: ValidationRun, shape: Shape, value: TermKey): boolean =>
  run.failureOf(shape, value) === undefined;

const qualified =
  (words: string): Build =>
  (p) => {
    const node = p.other('qualifiedValueShape');
    if (node === undefined) return undefined;
    const wanted = p.shapes.shape(node);
    const siblings = isTrueLiteral(p.other('qualifiedValueShapesDisjoint')) ? siblingsOf(p, node) : [];
    const isCounted = (run: ValidationRun, value: TermKey): boolean =>
      conforms(run, wanted, value) && !siblings.some((sibling) => conforms(run, sibling, value));
    const kind = ` of the shape ${p.shapes.text(node)}`;
    return p.counted(words, kind, (run, values) => values.filter((value) => isCounted(run, value)).length);
  };

/** Returns the qualified shapes of the other properties of the same parent shapes (SHACL 4.7.3). */
function siblingsOf({ shapes, shape }: Parameter, own: TermKey): Shape[] {
  const nodes = shapes.graph
    .subjects(`${sh}property`, shape.node)
    .flatMap((parent) => shapes.graph.objects(parent, `${sh}property`))
    .flatMap((property) => shapes.graph.objects(property, `${sh}qualifiedValueShape`));
  return [...new Set(nodes)].filter((node) => node !== own).map((node) => shapes.shape(node));
}

/** Unique languages (SHACL 4.4.5): one result for each language that is used more than once. */
const uniqueLang: Build = (p) => {
  if (!isTrueLiteral(p.value)) return undefined;
  return (run, focus, values) => {
    const counts = new Map<string, number>();
    for (const language of values.flatMap((value) => languageOf(value) ?? [])) addCount(counts, language, 1);
    for (const [language, count] of counts)
      if (count > 1)
        p.report(run, { focus, must: `must have one value in the language ${language}, but has ${count}` });
  };
};

const closed: Build = (p) => {
  if (!isTrueLiteral(p.value)) return undefined;
  const { graph } = p.shapes;
  const ignored = p.other('ignoredProperties');
  const properties = graph.objects(p.shape.node, `${sh}property`);
  const allowed = new Set(properties.flatMap((property) => graph.objects(property, `${sh}path`)));
  for (const iri of ignored === undefined ? [] : p.list(ignored)) allowed.add(iri);
  const must = 'is not allowed, because the shape is closed';
  return (run, _focus, values) => {
    for (const focus of values)
      for (const [iri, objects] of run.data.properties(focus) ?? [])
        for (const value of allowed.has(iri) ? [] : objects)
          p.report(run, { focus, value, must, path: { kind: 'predicate', iri } });
  };
};

const pattern: Build = (p) => {
  const flags = p.other('flags');
  const isText = kindOf(p.value) === 'Literal' && (flags === undefined || kindOf(flags) === 'Literal');
  const expression = isText ? compileRegex(textOf(p.value), flags === undefined ? '' : textOf(flags)) : undefined;
  if (!expression) throw p.wrong('is not a regular expression, or its sh:flags are not valid');
  return p.each(`must match the pattern ${p.text}`, (value) => hasText(value) && expression.test(textOf(value)));
};

const languageIn: Build = (p) => {
  const ranges = p.list().map((token) => textOf(token).toLowerCase());
  return p.each(`must be a text in one of the languages ${ranges.join(', ')}`, (value) => {
    const language = languageOf(value);
    const isIn = (each: string): boolean => each === '*' || language === each || language!.startsWith(`${each}-`);
    return language !== undefined && ranges.some(isIn);
  });
};

const nodeKind: Build = (p) => {
  const words = nodeKinds.get(p.value);
  if (words === undefined) throw p.wrong('is not a node kind');
  const allowed = p.value.slice(sh.length);
  return p.each(`must be ${words}`, (value) => allowed.includes(kindOf(value)));
};

/** Returns a constraint on how many shapes of a list a value conforms to. */
const listed =
  (words: string, fits: (count: number, all: number) => boolean): Build =>
  (p) => {
    const all = p.list().map((node) => p.shapes.shape(node));
    const must = `must conform to ${words} of ${all.length} shapes`;
    return p.each(must, (value, run) => {
      const failures = all.flatMap((shape) => run.failureOf(shape, value) ?? []);
      if (fits(all.length - failures.length, all.length)) return true;
      return failures.length === 0 ? must : `${must}: ${failures[0]}`;
    });
  };

export const constraints: ReadonlyMap<string, Build> = new Map<string, Build>(
  Object.entries({
    class: (p) => p.each(`must be an instance of ${p.text}`, (value, run) => run.isInstance(value, p.value)),
    datatype: (p) => p.each(`must be a valid literal of type ${p.text}`, (value) => hasType(value, p.value)),
    nodeKind,
    minCount: (p) => p.counted('at least', '', (_run, values) => values.length),
    maxCount: (p) => p.counted('at most', '', (_run, values) => values.length),
    minExclusive: range('greater than', (value, limit) => isLess(limit, value)),
    minInclusive: range('at least', (value, limit) => isAtMost(limit, value)),
    maxExclusive: range('less than', isLess),
    maxInclusive: range('at most', isAtMost),
    minLength: length('at least', (count, limit) => count >= limit),
    maxLength: length('at most', (count, limit) => count <= limit),
    pattern,
    languageIn,
    uniqueLang,
    equals: (p) => (run, focus, values) => {
      const wanted = new Set(run.data.objects(focus, p.value));
      const found = new Set(values);
      const differing = [
        ...values.filter((value) => !wanted.has(value)),
        ...[...wanted].filter((value) => !found.has(value)),
      ];
      for (const value of differing) p.report(run, { focus, value, must: `must have the same values as ${p.text}` });
    },
    disjoint: (p) => (run, focus, values) => {
      const others = new Set(run.data.objects(focus, p.value));
      for (const value of values)
        if (others.has(value)) p.report(run, { focus, value, must: `must not be a value of ${p.text} too` });
    },
    lessThan: pairs('less than', isLess),
    lessThanOrEquals: pairs('at most', isAtMost),
    not: (p) => {
      const shape = p.shapes.shape(p.value);
      return p.each(`must not conform to the shape ${p.text}`, (value, run) => !conforms(run, shape, value));
    },
    and: listed('all', (count, all) => count === all),
    or: listed('at least one', (count) => count > 0),
    xone: listed('exactly one', (count) => count === 1),
    node: (p) => {
      const shape = p.shapes.shape(p.value);
      const must = `must conform to the shape ${p.text}`;
      return p.each(must, (value, run) => {
        const failure = run.failureOf(shape, value);
        return failure === undefined || `${must}: ${failure}`;
      });
    },
    property: (p) => {
      const property = p.shapes.shape(p.value);
      if (!property.path) throw new UnusableShapes(`The property shape ${p.text} has no sh:path.`);
      return (run, _focus, values) => {
        for (const value of values) run.check(property, value);
      };
    },
    qualifiedMinCount: qualified('at least'),
    qualifiedMaxCount: qualified('at most'),
    closed,
    hasValue: (p) => (run, focus, values) => {
      if (!values.includes(p.value)) p.report(run, { focus, must: `must have the value ${p.text}` });
    },
    in: (p) => {
      const allowed = new Set(p.list());
      const shown = [...allowed].slice(0, 20).map((token) => p.shapes.text(token));
      return p.each(`must be one of ${shown.join(', ')}`, (value) => allowed.has(value));
    },
  } satisfies Readonly<Record<string, Build>>),
);
