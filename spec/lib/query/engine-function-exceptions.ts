/** Differences of Comunica from SPARQL 1.1 and XPath. The cases of the other specs have the correct results. */
import type { Term } from '@rdfjs/types';

/** Function with arguments and both results: a term as a string, or `error`. */
export interface Cell {
  readonly call: string;
  readonly args: readonly (Term | undefined)[];
  readonly found: string;
  readonly other: string;
}

const typeOf = (term: Term | undefined): string =>
  term?.termType === 'Literal' ? term.datatype.value.replace(/.*#/, '') : (term?.termType ?? '');
const textOf = (term: Term | undefined): string => term?.value ?? '';
const isInteger = (term: Term | undefined): boolean => /integer|byte/.test(typeOf(term));
const isText = (term: Term | undefined): boolean => /^(?:string|token|langString)$/.test(typeOf(term));
const isDated = (term: Term | undefined): boolean => /^(?:dateTime|date|time)$/.test(typeOf(term));
const isWell = (range: string): boolean => /^(?:\*|[A-Za-z0-9-]+)$/.test(range);

export const exceptions: readonly { readonly why: string; readonly covers: (cell: Cell) => boolean }[] = [
  {
    why: 'accepts xsd:anyURI as a string, which XPath allows and SPARQL does not',
    covers: ({ args, found }) => found === 'error' && args.some((arg) => typeOf(arg) === 'anyURI'),
  },
  {
    why: 'parses integers and decimals with an exponent, and converts large ones to INF',
    covers: ({ args, found }) =>
      found === 'error' && args.some((arg) => /integer|decimal/.test(typeOf(arg)) && /e/.test(textOf(arg))),
  },
  {
    why: 'stores integers as doubles, and serializes large numbers with an exponent',
    covers: ({ args, other }) =>
      args.some((arg) => isInteger(arg) && textOf(arg).length > 15) || /^"[^"]*(?:e\+|INF\.0)/.test(other),
  },
  { why: 'has no negative zero', covers: ({ found }) => /^"-0(?:\.0E0)?"/.test(found) },
  {
    why: 'escapes only characters that are not allowed in a URI',
    covers: ({ call, found, other }) =>
      call.startsWith('ENCODE_FOR_URI') && decodeURIComponent(found) === decodeURIComponent(other),
  },
  {
    why: 'assumes 24 hours per day',
    covers: ({ args, call }) => args.some((arg) => /24:00:00/.test(textOf(arg))) && !/\?b/.test(call),
  },
  {
    why: 'returns the seconds of a time as an integer',
    covers: ({ call, args }) => /SECONDS/.test(call) && typeOf(args[0]) === 'time',
  },
  { why: 'changes an IRI', covers: ({ call, args }) => call === 'IRI(?a)' && typeOf(args[0]) === 'NamedNode' },
  {
    why: 'creates invalid IRIs',
    covers: ({ call, found, other }) => call === 'IRI(?a)' && found === 'error' && /[ ']|^<\d/.test(other),
  },
  {
    why: 'creates invalid language tags',
    covers: ({ call, found, other }) =>
      call.startsWith('STRLANG') && found === 'error' && !/@[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/.test(other),
  },
  {
    why: 'does not cast strings with a sign or surrounding white space to numbers, and casts the empty string to zero',
    covers: ({ call, args }) =>
      /^xsd:(?:integer|decimal|double|float)/.test(call) && isText(args[0]) && /^$|^-| /.test(textOf(args[0])),
  },
  {
    why: 'casts ill-typed literals to strings',
    covers: ({ call, args, found }) => call === 'xsd:string(?a)' && found === 'error' && !isText(args[0]),
  },
  {
    why: 'does not canonicalize durations',
    covers: ({ call, args }) => call === 'xsd:duration(?a)' && /Duration$/.test(typeOf(args[0])),
  },
  {
    why: 'drops the language if the result is empty',
    covers: ({ call, found }) => /^STR(?:BEFORE|AFTER)/.test(call) && /^""@/.test(found),
  },
  {
    why: 'does not check the compatibility of strings of derived types, and keeps the type',
    covers: ({ call, args }) => /^STR(?:BEFORE|AFTER)/.test(call) && typeOf(args[0]) === 'token',
  },
  {
    why: 'matches languages with another algorithm that treats ranges as patterns',
    covers: ({ call, args }) =>
      call.startsWith('LANGMATCHES') && args.some((arg) => !isWell(textOf(arg)) || textOf(arg) === '*'),
  },
  {
    why: 'counts from the end of a string, or accepts integers only',
    covers: ({ call, args }) =>
      call.startsWith('SUBSTR') &&
      args.slice(call.includes('(?a') ? 1 : 0).some((arg) => Number(textOf(arg)) < 1 || !isInteger(arg)),
  },
  {
    why: 'adds months to times, which have none',
    covers: ({ args: [a, b] }) => typeOf(a) === 'time' && typeOf(b) === 'yearMonthDuration',
  },
  {
    why: 'overflows dates when it adds years to a leap day or to the end of a day',
    covers: ({ args: [a, b] }) => /-02-29|24:00/.test(textOf(a)) && typeOf(b) === 'yearMonthDuration',
  },
  {
    why: 'returns negative durations that are too long by a day, an hour and a minute, with seconds in thousands',
    covers: ({ call, args: [a, b] }) => call === '?a-?b' && isDated(a) && isDated(b),
  },
];
