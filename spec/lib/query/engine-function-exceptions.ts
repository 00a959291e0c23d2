/** Where Comunica gives something else than SPARQL 1.1 and XPath say; the cases of the other specs hold what is right. */
import type { Term } from '@rdfjs/types';

/** A function with its arguments, and what the two give: a term as a string, or `error`. */
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
    why: 'takes xsd:anyURI for a text, which XPath does and SPARQL does not',
    covers: ({ args, found }) => found === 'error' && args.some((arg) => typeOf(arg) === 'anyURI'),
  },
  {
    why: 'reads integers and decimals with an exponent, and makes INF of large ones',
    covers: ({ args, found }) =>
      found === 'error' && args.some((arg) => /integer|decimal/.test(typeOf(arg)) && /e/.test(textOf(arg))),
  },
  {
    why: 'holds integers as doubles, and writes large numbers with an exponent',
    covers: ({ args, other }) =>
      args.some((arg) => isInteger(arg) && textOf(arg).length > 15) || /^"[^"]*(?:e\+|INF\.0)/.test(other),
  },
  { why: 'has no negative zero', covers: ({ found }) => /^"-0(?:\.0E0)?"/.test(found) },
  {
    why: 'escapes only what no URI has',
    covers: ({ call, found, other }) =>
      call.startsWith('ENCODE_FOR_URI') && decodeURIComponent(found) === decodeURIComponent(other),
  },
  {
    why: 'has 24 hours in a day',
    covers: ({ args, call }) => args.some((arg) => /24:00:00/.test(textOf(arg))) && !/\?b/.test(call),
  },
  {
    why: 'has seconds of a time as integers',
    covers: ({ call, args }) => /SECONDS/.test(call) && typeOf(args[0]) === 'time',
  },
  { why: 'changes an IRI', covers: ({ call, args }) => call === 'IRI(?a)' && typeOf(args[0]) === 'NamedNode' },
  {
    why: 'makes IRIs that are none',
    covers: ({ call, found, other }) => call === 'IRI(?a)' && found === 'error' && /[ ']|^<\d/.test(other),
  },
  {
    why: 'makes tags of languages that are none',
    covers: ({ call, found, other }) =>
      call.startsWith('STRLANG') && found === 'error' && !/@[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/.test(other),
  },
  {
    why: 'casts no text with a sign or with space around it to numbers, and the empty one to zero',
    covers: ({ call, args }) =>
      /^xsd:(?:integer|decimal|double|float)/.test(call) && isText(args[0]) && /^$|^-| /.test(textOf(args[0])),
  },
  {
    why: 'casts what is no value of its type to a text',
    covers: ({ call, args, found }) => call === 'xsd:string(?a)' && found === 'error' && !isText(args[0]),
  },
  {
    why: 'leaves durations as they are written',
    covers: ({ call, args }) => call === 'xsd:duration(?a)' && /Duration$/.test(typeOf(args[0])),
  },
  {
    why: 'forgets the language when nothing is before or behind what is found',
    covers: ({ call, found }) => /^STR(?:BEFORE|AFTER)/.test(call) && /^""@/.test(found),
  },
  {
    why: 'does not look whether a text of a derived type is compatible, and keeps that type',
    covers: ({ call, args }) => /^STR(?:BEFORE|AFTER)/.test(call) && typeOf(args[0]) === 'token',
  },
  {
    why: 'filters languages by another algorithm, with ranges as patterns',
    covers: ({ call, args }) =>
      call.startsWith('LANGMATCHES') && args.some((arg) => !isWell(textOf(arg)) || textOf(arg) === '*'),
  },
  {
    why: 'counts from the end of a text, or knows integers only',
    covers: ({ call, args }) =>
      call.startsWith('SUBSTR') &&
      args.slice(call.includes('(?a') ? 1 : 0).some((arg) => Number(textOf(arg)) < 1 || !isInteger(arg)),
  },
  {
    why: 'adds months to times, which have none',
    covers: ({ args: [a, b] }) => typeOf(a) === 'time' && typeOf(b) === 'yearMonthDuration',
  },
  {
    why: 'adds years to a leap day, or to the end of a day, that are then another one',
    covers: ({ args: [a, b] }) => /-02-29|24:00/.test(textOf(a)) && typeOf(b) === 'yearMonthDuration',
  },
  {
    why: 'has negative durations with a day, an hour and a minute too many, and seconds in thousands',
    covers: ({ call, args: [a, b] }) => call === '?a-?b' && isDated(a) && isDated(b),
  },
];
