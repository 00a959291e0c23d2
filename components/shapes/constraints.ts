/** The constraint components of SHACL Core (section 4), as checks. Values are compared as in SPARQL. */
import { isBlank, isIri, literalParts, type TermKey } from '../../lib/query/access/terms.js';
import { isAtMost, isLess } from '../../lib/query/expressions/comparison.js';
import { monthsAndSeconds } from '../../lib/query/expressions/durations.js';
import { compileRegex } from '../../lib/query/expressions/patterns.js';
import { datatypeOf, toValue, type Value } from '../../lib/query/expressions/values.js';
import { xsd } from '../../lib/rdf/vocabulary.js';
import type { Check, Run, Shape, Shapes } from './model.js';
import { isTrue } from './token-graph.js';
import { sh, UnusableShapes } from './vocabulary.js';

/** One value of a parameter of a shape. */
interface Parameter {
  readonly shapes: Shapes;
  readonly shape: Shape;
  /** Local name, such as `minCount`. */
  readonly name: string;
  readonly value: TermKey;
}
type Build = (parameter: Parameter) => Check | undefined;

/** Parameters with one value at most. */
export const singleValued: ReadonlySet<string> = new Set([
  ...['datatype', 'nodeKind', 'minCount', 'maxCount', 'minExclusive', 'minInclusive', 'maxExclusive', 'maxInclusive'],
  ...['minLength', 'maxLength', 'pattern', 'flags', 'languageIn', 'uniqueLang', 'closed', 'ignoredProperties', 'in'],
  ...['qualifiedValueShape', 'qualifiedMinCount', 'qualifiedMaxCount', 'qualifiedValueShapesDisjoint', 'deactivated'],
]);

const componentOf = ({ name }: Parameter): string =>
  `${sh}${name.slice(0, 1).toUpperCase()}${name.slice(1)}ConstraintComponent`;

/** @param holds tests one value node; if it returns a text, the value is rejected for that reason */
const each =
  (parameter: Parameter, must: string, holds: (value: TermKey, run: Run, focus: TermKey) => boolean | string): Check =>
  (run, focus, values) => {
    for (const value of values) {
      const found = holds(value, run, focus);
      if (found !== true) report(run, parameter, { focus, must: typeof found === 'string' ? found : must, value });
    }
  };

const report = (
  run: Run,
  parameter: Parameter,
  found: { readonly focus: TermKey; readonly must: string; readonly value?: TermKey },
): void => run.report(parameter.shape, { component: componentOf(parameter), ...found });

const wrong = ({ shapes, shape, name }: Parameter, why: string): UnusableShapes =>
  new UnusableShapes(`sh:${name} of the shape ${shapes.text(shape.node)} ${why}.`);

function countOf(parameter: Parameter): number {
  const { number, numberType } = toValue(parameter.value);
  if (numberType !== 'integer' || number === undefined || number < 0) throw wrong(parameter, 'is not a natural number');
  return number;
}

function listOf(parameter: Parameter, head = parameter.value): readonly TermKey[] {
  const members = parameter.shapes.graph.list(head);
  if (!members) throw wrong(parameter, 'is not a well-formed list');
  return members;
}

const textsOf = ({ shapes }: Parameter, tokens: Iterable<TermKey>): string =>
  [...tokens]
    .slice(0, 20)
    .map((token) => shapes.text(token))
    .join(', ');

const values = (count: number): string => (count === 1 ? '1 value' : `${count} values`);

const kindOf = (token: TermKey): string => (isIri(token) ? 'IRI' : isBlank(token) ? 'BlankNode' : 'Literal');
const nodeKinds: Readonly<Record<string, string>> = {
  IRI: 'an IRI',
  BlankNode: 'a blank node',
  Literal: 'a literal',
  BlankNodeOrIRI: 'an IRI or a blank node',
  BlankNodeOrLiteral: 'a blank node or a literal',
  IRIOrLiteral: 'an IRI or a literal',
};

/** Types that expressions do not compute with. */
const forms: Readonly<Record<string, RegExp>> = {
  gYear: /^-?(?:[1-9]\d{3,}|0\d{3})(?:Z|[+-]\d\d:\d\d)?$/,
  gYearMonth: /^-?(?:[1-9]\d{3,}|0\d{3})-(?:0[1-9]|1[0-2])(?:Z|[+-]\d\d:\d\d)?$/,
  gMonthDay: /^--(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:Z|[+-]\d\d:\d\d)?$/,
  gDay: /^---(?:0[1-9]|[12]\d|3[01])(?:Z|[+-]\d\d:\d\d)?$/,
  gMonth: /^--(?:0[1-9]|1[0-2])(?:Z|[+-]\d\d:\d\d)?$/,
  hexBinary: /^(?:[\da-fA-F]{2})*$/,
  base64Binary: /^[A-Za-z0-9+/\s]*(?:=\s?)*$/,
};

function hasType(token: TermKey, type: string): boolean {
  const value = toValue(token);
  if (datatypeOf(value) !== type) return false;
  const { kind, text, number } = value;
  if (kind === 'duration') return monthsAndSeconds(text) !== undefined;
  if (kind === 'other')
    return (type.startsWith(xsd.namespace) ? forms[type.slice(xsd.namespace.length)] : undefined)?.test(text) ?? true;
  return kind === 'string' || kind === 'lang' || number !== undefined;
}

const hasZone = ({ text }: Value): boolean => /(?:Z|[+-]\d\d:\d\d)$/.test(text);
/** An instant with a time zone and one without cannot be compared. */
const areComparable = (a: Value, b: Value): boolean =>
  (a.kind !== 'dateTime' && a.kind !== 'date' && a.kind !== 'time') || hasZone(a) === hasZone(b);
type Order = (a: Value, b: Value) => boolean | undefined;
const inOrder = (order: Order, a: TermKey, b: TermKey): boolean => {
  const [left, right] = [toValue(a), toValue(b)];
  return areComparable(left, right) && order(left, right) === true;
};

const range =
  (words: string, order: Order): Build =>
  (parameter) =>
    each(parameter, `must be ${words} ${parameter.shapes.text(parameter.value)}`, (value) =>
      inOrder(order, value, parameter.value),
    );

const pairs =
  (words: string, order: Order): Build =>
  (parameter) =>
  (run, focus, values) => {
    const must = `must be ${words} ${parameter.shapes.text(parameter.value)}`;
    for (const value of values)
      for (const other of run.data.objects(focus, parameter.value))
        if (!inOrder(order, value, other)) report(run, parameter, { focus, must, value });
  };

const textOf = (token: TermKey): string => (isIri(token) ? token : literalParts(token).text);

const length =
  (words: string, fits: (length: number, limit: number) => boolean): Build =>
  (parameter) => {
    const limit = countOf(parameter);
    return each(
      parameter,
      `must have ${words} ${limit} characters`,
      (value) => !isBlank(value) && fits([...textOf(value)].length, limit),
    );
  };

const cardinality =
  (words: string, fits: (count: number, limit: number) => boolean): Build =>
  (parameter) => {
    const limit = countOf(parameter);
    return (run, focus, found) => {
      const must = `must have ${words} ${values(limit)}, but has ${found.length}`;
      if (!fits(found.length, limit)) report(run, parameter, { focus, must });
    };
  };

const members = (parameter: Parameter): readonly Shape[] =>
  listOf(parameter).map((node) => parameter.shapes.shape(node));

const conforms = (run: Run, shape: Shape, value: TermKey): boolean => run.failureOf(shape, value) === undefined;

const qualified =
  (words: string, fits: (count: number, limit: number) => boolean): Build =>
  (parameter) => {
    const { shapes, shape } = parameter;
    const [node] = shapes.graph.objects(shape.node, `${sh}qualifiedValueShape`);
    if (node === undefined) return undefined;
    const limit = countOf(parameter);
    const wanted = shapes.shape(node);
    const isDisjoint = isTrue(shapes.graph.objects(shape.node, `${sh}qualifiedValueShapesDisjoint`)[0]);
    const siblings = !isDisjoint ? [] : siblingsOf(parameter, node);
    return (run, focus, found) => {
      const count = found.filter(
        (value) => conforms(run, wanted, value) && !siblings.some((sibling) => conforms(run, sibling, value)),
      ).length;
      const must = `must have ${words} ${values(limit)} of the shape ${shapes.text(node)}, but has ${count}`;
      if (!fits(count, limit)) report(run, parameter, { focus, must });
    };
  };

/** SHACL 4.7.3: qualified shapes of the other properties of the same parent shapes. */
function siblingsOf({ shapes, shape }: Parameter, own: TermKey): Shape[] {
  const nodes = shapes.graph
    .subjects(`${sh}property`, shape.node)
    .flatMap((parent) => shapes.graph.objects(parent, `${sh}property`))
    .flatMap((property) => shapes.graph.objects(property, `${sh}qualifiedValueShape`));
  return [...new Set(nodes)].filter((node) => node !== own).map((node) => shapes.shape(node));
}

/** SHACL 4.4.5: one result per language that is used more than once. */
const uniqueLang: Build = (parameter) => {
  if (!isTrue(parameter.value)) return undefined;
  return (run, focus, found) => {
    const counts = new Map<string, number>();
    for (const value of found) {
      const language = toValue(value).language?.toLowerCase();
      if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
    }
    for (const [language, count] of counts)
      if (count > 1)
        report(run, parameter, { focus, must: `must have one value in the language ${language}, but has ${count}` });
  };
};

const closed: Build = (parameter) => {
  const { shapes, shape } = parameter;
  if (!isTrue(parameter.value)) return undefined;
  const [ignored] = shapes.graph.objects(shape.node, `${sh}ignoredProperties`);
  const allowed = new Set(ignored === undefined ? [] : listOf(parameter, ignored));
  for (const property of shapes.graph.objects(shape.node, `${sh}property`))
    for (const path of shapes.graph.objects(property, `${sh}path`)) allowed.add(path);
  return (run, _focus, values) => {
    for (const focus of values)
      for (const [iri, objects] of run.data.properties(focus) ?? [])
        for (const value of allowed.has(iri) ? [] : objects)
          run.report(shape, {
            ...{ focus, value, component: componentOf(parameter), path: { kind: 'predicate', iri } },
            must: 'is not allowed, because the shape is closed',
          });
  };
};

const pattern: Build = (parameter) => {
  const { shapes, shape, value: source } = parameter;
  const [flags] = shapes.graph.objects(shape.node, `${sh}flags`);
  const expression = compileRegex(textOf(source), flags === undefined ? '' : textOf(flags));
  if (!expression) throw wrong(parameter, 'is not a regular expression, or its sh:flags are not valid');
  return each(
    parameter,
    `must match the pattern ${shapes.text(source)}`,
    (value) => !isBlank(value) && expression.test(textOf(value)),
  );
};

const languageIn: Build = (parameter) => {
  const ranges = listOf(parameter).map((token) => textOf(token).toLowerCase());
  return each(parameter, `must be a text in one of the languages ${ranges.join(', ')}`, (value) => {
    const language = toValue(value).language?.toLowerCase();
    return (
      language !== undefined &&
      ranges.some((each) => each === '*' || language === each || language.startsWith(`${each}-`))
    );
  });
};

const nodeKind: Build = (parameter) => {
  const allowed = parameter.value.startsWith(sh) ? parameter.value.slice(sh.length) : '';
  const words = Object.hasOwn(nodeKinds, allowed) ? nodeKinds[allowed] : undefined;
  if (words === undefined) throw wrong(parameter, 'is not a node kind');
  return each(parameter, `must be ${words}`, (value) => allowed.includes(kindOf(value)));
};

export const constraints: Readonly<Record<string, Build>> = {
  class: (parameter) =>
    each(parameter, `must be an instance of ${parameter.shapes.text(parameter.value)}`, (value, run) =>
      run.isInstance(value, parameter.value),
    ),
  datatype: (parameter) =>
    each(parameter, `must be a valid literal of type ${parameter.shapes.text(parameter.value)}`, (value) =>
      hasType(value, parameter.value),
    ),
  nodeKind,
  minCount: cardinality('at least', (count, limit) => count >= limit),
  maxCount: cardinality('at most', (count, limit) => count <= limit),
  minExclusive: range('greater than', (value, limit) => isLess(limit, value)),
  minInclusive: range('at least', (value, limit) => isAtMost(limit, value)),
  maxExclusive: range('less than', isLess),
  maxInclusive: range('at most', isAtMost),
  minLength: length('at least', (count, limit) => count >= limit),
  maxLength: length('at most', (count, limit) => count <= limit),
  pattern,
  languageIn,
  uniqueLang,
  equals: (parameter) => (run, focus, found) => {
    const must = `must have the same values as ${parameter.shapes.text(parameter.value)}`;
    const wanted = run.data.objects(focus, parameter.value);
    const lacks = (those: readonly TermKey[]) => (value: TermKey) => !those.includes(value);
    const differing = [...found.filter(lacks(wanted)), ...wanted.filter(lacks(found))];
    for (const value of differing) report(run, parameter, { focus, must, value });
  },
  disjoint: (parameter) =>
    each(
      parameter,
      `must not be a value of ${parameter.shapes.text(parameter.value)} too`,
      (value, run, focus) => !run.data.objects(focus, parameter.value).includes(value),
    ),
  lessThan: pairs('less than every value of', isLess),
  lessThanOrEquals: pairs('at most every value of', isAtMost),
  not: (parameter) => {
    const shape = parameter.shapes.shape(parameter.value);
    return each(
      parameter,
      `must not conform to the shape ${parameter.shapes.text(parameter.value)}`,
      (value, run) => !conforms(run, shape, value),
    );
  },
  and: (parameter) => {
    const all = members(parameter);
    return each(parameter, 'must conform to all shapes of a list', (value, run) => {
      const failure = all.map((shape) => run.failureOf(shape, value)).find((each) => each !== undefined);
      return failure === undefined || `must conform to all shapes of a list: ${failure}`;
    });
  },
  or: (parameter) => {
    const all = members(parameter);
    return each(parameter, `must conform to at least one of ${all.length} shapes`, (value, run) =>
      all.some((shape) => conforms(run, shape, value)),
    );
  },
  xone: (parameter) => {
    const all = members(parameter);
    return each(
      parameter,
      `must conform to exactly one of ${all.length} shapes`,
      (value, run) => all.filter((shape) => conforms(run, shape, value)).length === 1,
    );
  },
  node: (parameter) => {
    const shape = parameter.shapes.shape(parameter.value);
    const must = `must conform to the shape ${parameter.shapes.text(parameter.value)}`;
    return each(parameter, must, (value, run) => {
      const failure = run.failureOf(shape, value);
      return failure === undefined || `${must}: ${failure}`;
    });
  },
  property: ({ shapes, value: node }) => {
    const property = shapes.shape(node);
    if (!property.path) throw new UnusableShapes(`The property shape ${shapes.text(node)} has no sh:path.`);
    return (run, _focus, values) => {
      for (const value of values) run.check(property, value);
    };
  },
  qualifiedMinCount: qualified('at least', (count, limit) => count >= limit),
  qualifiedMaxCount: qualified('at most', (count, limit) => count <= limit),
  closed,
  hasValue: (parameter) => (run, focus, found) => {
    const must = `must have the value ${parameter.shapes.text(parameter.value)}`;
    if (!found.includes(parameter.value)) report(run, parameter, { focus, must });
  },
  in: (parameter) => {
    const allowed = new Set(listOf(parameter));
    return each(parameter, `must be one of ${textsOf(parameter, allowed)}`, (value) => allowed.has(value));
  },
};
