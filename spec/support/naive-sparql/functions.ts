/** Functions and operators of SPARQL 1.1, 17.3 to 17.5, on evaluated arguments. */
import { createHash, randomUUID } from 'node:crypto';
import type { Literal, Term } from '@rdfjs/types';
import { castTo } from './casts.js';
import { dateOf, zoneMinutes } from './dates.js';
import {
  arithmetic,
  integer,
  literalOf,
  type Numeric,
  negate,
  numericOf,
  parseDecimal,
  roundTo,
  toDouble,
} from './numbers.js';
import { areEqual, compareValues, effectiveBoolean, isString } from './operators.js';
import { patternOf, replaced } from './regular-expressions.js';
import { resolveReference } from './syntax.js';
import {
  blank,
  boolean,
  ExpressionError,
  iri,
  plain,
  rdf,
  sameTerm,
  tagged,
  tagOf,
  termsIn,
  triple,
  typed,
  xsd,
} from './terms.js';

export interface CallScope {
  /** Base IRI of the query. */
  readonly base: string;
}
type Call = (args: readonly Term[], scope: CallScope) => Term;

/** Calls a function. @throws ExpressionError, also for an unknown function (17.6) */
export function callFunction(name: string, args: readonly Term[], scope: CallScope): Term {
  if (name.startsWith(xsd)) return castTo(name.slice(xsd.length), args);
  const call = functions[name] ?? functions[`${args.length}${name}`];
  if (!call) throw new ExpressionError(`Unknown function: ${name}`);
  return call(args, scope);
}

function fail(reason: string): never {
  throw new ExpressionError(reason);
}

const literal = (term: Term | undefined): Literal => (term?.termType === 'Literal' ? term : fail('Not a literal.'));
const number = (term: Term | undefined): Numeric => numericOf(term!) ?? fail('Not a number.');

/** A string literal (17.4.3.1.1): simple, xsd:string, or with a language tag. */
const string = (term: Term | undefined): Literal => {
  const { value } = literal(term).datatype;
  const types = [`${xsd}string`, `${rdf}langString`, `${rdf}dirLangString`];
  return types.includes(value) ? literal(term) : fail('Not a string.');
};
export const stringOf = (term: Term): string =>
  term.termType === 'NamedNode' || term.termType === 'Literal' ? term.value : fail('Neither an IRI nor a literal.');

/** Returns a string with the language of another one. */
const like = (of: Literal, value: string): Literal => (of.language ? tagged(value, tagOf(of)) : plain(value));

/** 17.4.3.1.2. */
function compatible(first: Term | undefined, second: Term | undefined): readonly [Literal, Literal] {
  const [a, b] = [string(first), string(second)];
  return !b.language || tagOf(a).toLowerCase() === tagOf(b).toLowerCase() ? [a, b] : fail('Incompatible strings.');
}

const test =
  (of: (a: string, b: string) => boolean): Call =>
  ([a, b]) => {
    const [left, right] = compatible(a, b);
    return boolean(of(left.value, right.value));
  };
const compare =
  (of: (order: number) => boolean): Call =>
  ([a, b]) =>
    boolean(of(compareValues(a!, b!)));
const calculate =
  (operator: string): Call =>
  ([a, b]) =>
    literalOf(arithmetic(operator, number(a), number(b)));
const round =
  (how: 'abs' | 'round' | 'ceil' | 'floor'): Call =>
  ([of]) =>
    literalOf(roundTo(how, number(of)));
const hash =
  (algorithm: string): Call =>
  ([of]) =>
    plain(
      createHash(algorithm)
        .update(isString(of!) ? of.value : fail('Not a simple literal.'))
        .digest('hex'),
    );
const changed =
  (how: (text: string) => string): Call =>
  ([of]) =>
    like(string(of), how(string(of).value));
const kindOf =
  (...types: readonly string[]): Call =>
  ([of]) =>
    boolean(types.includes(of!.termType));
const part =
  (of: (date: NonNullable<ReturnType<typeof dateOf>>) => Term): Call =>
  ([term]) => {
    const date = dateOf(term!);
    return date?.kind === 'dateTime' ? of(date) : fail('Not a dateTime.');
  };

/** fn:substring with XPath positions, by code points. */
const substring: Call = ([text, from, length]) => {
  const start = toDouble(roundTo('round', number(from)));
  const end = length === undefined ? Infinity : start + toDouble(roundTo('round', number(length)));
  const kept = [...string(text).value].filter((_, at) => at + 1 >= start && at + 1 < end);
  return like(string(text), kept.join(''));
};

const before: Call = ([a, b]) => {
  const [text, mark] = compatible(a, b);
  const at = text.value.indexOf(mark.value);
  return at < 0 ? plain('') : like(text, text.value.slice(0, at));
};
const after: Call = ([a, b]) => {
  const [text, mark] = compatible(a, b);
  const at = text.value.indexOf(mark.value);
  return at < 0 ? plain('') : like(text, text.value.slice(at + mark.value.length));
};

const concat: Call = (args) => {
  const all = args.map(string);
  const text = all.map(({ value }) => value).join('');
  const [first] = all;
  return first && all.every((each) => tagOf(each) === tagOf(first)) ? like(first, text) : plain(text);
};

/** RFC 4647 basic filtering. */
const langMatches: Call = ([of, range]) => {
  const [tag, wanted] = [literal(of).value.toLowerCase(), literal(range).value.toLowerCase()];
  return boolean(wanted === '*' ? tag !== '' : tag === wanted || tag.startsWith(`${wanted}-`));
};

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

const zone = (written: string): string => {
  const minutes = Math.abs(zoneMinutes(written));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const size = `${hours ? `${hours}H` : ''}${rest ? `${rest}M` : ''}` || '0S';
  return `${written.startsWith('-') ? '-' : ''}PT${size}`;
};

const toIri: Call = ([of], { base }) => {
  if (of!.termType === 'NamedNode') return of!;
  return isString(of!) ? iri(resolveReference(of.value, base)) : fail('Not a simple literal.');
};

const functions: Readonly<Record<string, Call>> = {
  '=': ([a, b]) => boolean(areEqual(a!, b!)),
  '!=': ([a, b]) => boolean(!areEqual(a!, b!)),
  '<': compare((order) => order < 0),
  '>': compare((order) => order > 0),
  '<=': compare((order) => order <= 0),
  '>=': compare((order) => order >= 0),
  '*': calculate('*'),
  '/': calculate('/'),
  '2+': calculate('+'),
  '2-': calculate('-'),
  uplus: ([of]) => literalOf(number(of)),
  uminus: ([of]) => literalOf(negate(number(of))),
  '!': ([of]) => boolean(!effectiveBoolean(of!)),
  sameterm: ([a, b]) => boolean(sameTerm(a!, b!)),
  isiri: kindOf('NamedNode'),
  isuri: kindOf('NamedNode'),
  isblank: kindOf('BlankNode'),
  isliteral: kindOf('Literal'),
  isnumeric: ([of]) => boolean(numericOf(of!) !== undefined),
  str: ([of]) => plain(stringOf(of!)),
  lang: ([of]) => plain(literal(of).language),
  datatype: ([of]) => iri(literal(of).datatype.value),
  iri: toIri,
  uri: toIri,
  '0bnode': () => blank(`new${randomUUID()}`),
  strdt: ([text, type]) =>
    isString(text!) && type!.termType === 'NamedNode' ? typed(text!.value, type!.value) : fail('Not a simple literal.'),
  strlang: ([text, language]) =>
    isString(text!) && isString(language!) && language.value
      ? tagged(text!.value, language!.value)
      : fail('Not a simple literal.'),
  strlangdir: ([text, language, direction]) =>
    isString(text!) &&
    isString(language!) &&
    language.value &&
    isString(direction!) &&
    /^(?:ltr|rtl)$/.test(direction.value)
      ? tagged(text.value, `${language.value}--${direction.value}`)
      : fail('Not a direction.'),
  langdir: ([of]) => plain(literal(of).direction || ''),
  haslang: ([of]) => boolean(of!.termType === 'Literal' && of!.language !== ''),
  haslangdir: ([of]) => boolean(of!.termType === 'Literal' && Boolean(of!.direction)),
  istriple: kindOf('Quad'),
  triple: ([subject, predicate, object]) =>
    /^(?:NamedNode|BlankNode)$/.test(subject!.termType) && predicate!.termType === 'NamedNode'
      ? triple(subject!, predicate!, object!)
      : fail('Not a triple of RDF.'),
  subject: ([of]) => termsIn(of!)[0] ?? fail('Not a triple term.'),
  predicate: ([of]) => termsIn(of!)[1] ?? fail('Not a triple term.'),
  object: ([of]) => termsIn(of!)[2] ?? fail('Not a triple term.'),
  uuid: () => iri(`urn:uuid:${randomUUID()}`),
  struuid: () => plain(randomUUID()),
  strlen: ([of]) => literalOf(integer([...string(of).value].length)),
  substr: substring,
  ucase: changed((text) => text.toUpperCase()),
  lcase: changed((text) => text.toLowerCase()),
  strstarts: test((a, b) => a.startsWith(b)),
  strends: test((a, b) => a.endsWith(b)),
  contains: test((a, b) => a.includes(b)),
  strbefore: before,
  strafter: after,
  encode_for_uri: ([of]) => plain(escaped(string(of).value)),
  concat,
  langmatches: langMatches,
  regex: ([text, pattern, flags]) =>
    boolean(patternOf(literal(pattern).value, flags ? literal(flags).value : '').test(string(text).value)),
  replace: ([text, pattern, replacement, flags]) =>
    like(
      string(text),
      replaced(string(text).value, {
        pattern: patternOf(literal(pattern).value, flags ? literal(flags).value : ''),
        replacement: literal(replacement).value,
      }),
    ),
  abs: round('abs'),
  round: round('round'),
  ceil: round('ceil'),
  floor: round('floor'),
  rand: () => literalOf({ type: 'double', value: Math.random() }),
  now: () => typed(new Date().toISOString(), `${xsd}dateTime`),
  year: part(({ year }) => literalOf(integer(year))),
  month: part(({ month }) => literalOf(integer(month))),
  day: part(({ day }) => literalOf(integer(day))),
  hours: part(({ hours }) => literalOf(integer(hours))),
  minutes: part(({ minutes }) => literalOf(integer(minutes))),
  seconds: part(({ seconds }) => literalOf({ type: 'decimal', exact: parseDecimal(seconds)! })),
  timezone: part((date) => (date.zone ? typed(zone(date.zone), `${xsd}dayTimeDuration`) : fail('No timezone.'))),
  tz: part((date) => plain(date.zone)),
  md5: hash('md5'),
  sha1: hash('sha1'),
  sha256: hash('sha256'),
  sha384: hash('sha384'),
  sha512: hash('sha512'),
};
