/**
 * Random expressions. Computed decimals and doubles, serialized differently by engines, become neither strings nor join terms.
 * Results left to the engine, such as the order of different literal types, are not requested.
 */
import { part, type Random, type Text } from './sparql-random.js';

const constants = [
  ...['0', '1', '2', '-3', '1.5', '0.1', '90071992547409.93', '"1"^^xsd:double', '"2.5"^^xsd:double', 'true', 'false'],
  ...['"a"', '"b"', '"ab c"', '"a"@en', ':a', ':p', '"1.5"^^xsd:float'],
  '"2020-01-01T00:00:00Z"^^xsd:dateTime',
];
const comparisons = ['=', '!=', '<', '>', '<=', '>='];
const tests = ['isIRI', 'isBlank', 'isLiteral', 'isNumeric'];

export interface Words {
  readonly random: Random;
  /** Returns a variable, with its question mark. */
  variable(): string;
  /** Returns a group for EXISTS. Undefined: no EXISTS. */
  readonly group?: (() => Text) | undefined;
}

const call = (name: string, ...args: readonly Text[]): Text => [
  `${name}(`,
  ...args.flatMap((arg, at) => (at === 0 ? [arg] : [',', arg])),
  ')',
];

const term = ({ random, variable }: Words): Text => (random.chance(0.7) ? variable() : random.pick(constants));

/** Returns a numeric expression, for comparisons and projections. */
export const number = (words: Words, depth = 2): Text => {
  const { random } = words;
  const inner = (): Text => number(words, depth - 1);
  if (depth === 0 || random.chance(0.3)) return term(words);
  return random.either<Text>([
    [4, () => ['(', inner(), random.pick(['+', '-', '*', '/']), inner(), ')']],
    [1, () => call(random.pick(['ABS', 'CEIL', 'FLOOR', 'ROUND', '-', '+']), inner())],
    [1, () => call('STRLEN', text(words, depth - 1))],
    [1, () => call('YEAR', term(words))],
    [1, () => call('COALESCE', inner(), inner())],
    [1, () => call('IF', condition(words, depth - 1), inner(), inner())],
    [1, () => call(random.pick(['xsd:integer', 'xsd:decimal', 'xsd:double']), term(words))],
  ]);
};

export const text = (words: Words, depth = 2): Text => {
  const { random } = words;
  const inner = (): Text => (depth === 0 ? call('STR', term(words)) : text(words, depth - 1));
  return random.either<Text>([
    [3, () => call('STR', term(words))],
    [1, () => call('LANG', term(words))],
    [1, () => call(random.pick(['UCASE', 'LCASE', 'ENCODE_FOR_URI']), inner())],
    [1, () => call('CONCAT', inner(), inner())],
    [1, () => call('SUBSTR', inner(), random.pick(['1', '2', '3']))],
    [1, () => call(random.pick(['STRBEFORE', 'STRAFTER']), inner(), '"a"')],
    [1, () => call('REPLACE', inner(), '"[ab]"', '"z"')],
    [1, () => term(words)],
  ]);
};

/** Returns an expression with the same term in every engine. */
export const value = (words: Words): Text => {
  const { random } = words;
  return random.either<Text>([
    [3, () => words.variable()],
    [2, () => text(words)],
    [1, () => call('STRLEN', text(words))],
    [1, () => random.pick(constants.slice(11))],
    [1, () => call('COALESCE', term(words), '"-"')],
    [1, () => call('IF', condition(words, 1), term(words), '"-"')],
    [1, () => call('DATATYPE', term(words))],
    [1, () => call('IRI', call('STR', words.variable()))],
    [1, () => condition(words, 1)],
    [1, () => call('STRLANG', text(words, 0), '"en"')],
  ]);
};

export const condition = (words: Words, depth = 2): Text => {
  const { random, variable, group } = words;
  const inner = (): Text => condition(words, depth - 1);
  const simple: [number, () => Text][] = [
    [5, () => ['(', number(words, depth), random.pick(comparisons), number(words, 1), ')']],
    [3, () => ['(', term(words), random.pick(comparisons), term(words), ')']],
    [2, () => call('BOUND', variable())],
    [2, () => call(random.pick(tests), term(words))],
    [1, () => call('sameTerm', term(words), term(words))],
    [1, () => ['(', term(words), random.pick(['IN', 'NOT IN']), '(', term(words), ',', term(words), ')', ')']],
    [1, () => call(random.pick(['STRSTARTS', 'STRENDS', 'CONTAINS']), text(words, 1), '"a"')],
    [1, () => call('REGEX', text(words, 1), random.pick(['"^a"', '"[a-b]$"', '"."']))],
    [1, () => call('LANGMATCHES', call('LANG', variable()), random.pick(['"*"', '"de"']))],
    [1, () => ['(', call('DATATYPE', term(words)), '=', 'xsd:integer', ')']],
    [1, () => variable()],
  ];
  if (depth === 0) return random.either(simple);
  return random.either<Text>([
    [6, () => random.either(simple)],
    [2, () => ['(', inner(), random.pick(['&&', '||']), inner(), ')']],
    [2, () => ['(', '!', inner(), ')']],
    [1, () => call('COALESCE', inner(), random.pick(['true', 'false']))],
    [1, () => call('IF', inner(), inner(), inner())],
    [group ? 3 : 0, () => [random.pick(['EXISTS', 'NOT EXISTS']), '{', group!(), '}']],
  ]);
};

/** Returns an aggregate with the same value in every engine. */
export const aggregate = (words: Words): Text => {
  const { random } = words;
  const distinct = (): Text => (random.chance(0.4) ? part('DISTINCT') : '');
  const length = (): Text => call('STRLEN', call('STR', words.variable()));
  return random.either<Text>([
    [3, () => ['COUNT(', distinct(), words.variable(), ')']],
    [1, () => 'COUNT(*)'],
    [1, () => ['COUNT(', part('DISTINCT'), '*)']],
    [2, () => [random.pick(['SUM', 'AVG']), '(', random.chance(0.5) ? number(words, 1) : length(), ')']],
    [1, () => ['SUM( DISTINCT', length(), ')']],
    [2, () => [random.pick(['MIN', 'MAX']), '(', call('STR', words.variable()), ')']],
    [1, () => [random.pick(['MIN', 'MAX']), '(', length(), ')']],
    [1, () => [random.pick(['MIN', 'MAX']), '(', call('COALESCE', call('STR', words.variable()), '"-"'), ')']],
    [
      1,
      () => [
        'STRLEN(GROUP_CONCAT(',
        distinct(),
        call('STR', words.variable()),
        random.pick(['', '; SEPARATOR="||"']),
        '))',
      ],
    ],
    [1, () => ['isLiteral(SAMPLE(', call('COALESCE', call('STR', words.variable()), '"-"'), '))']],
  ]);
};
