/** The functions of terms and texts that are compiled. It must not know rows, plans or queries. */
import type { Term } from '@rdfjs/types';
import { type Node, NotCompiledError } from './compile-scope.js';
import type { Evaluate } from './plan.js';
import { datatypeOf, iriValue, isLiteral, numberValue, textValue, truth, type Value } from './values.js';

type Make = (args: readonly Evaluate[], nodes: readonly Node[]) => Evaluate;

const unary =
  (apply: (value: Value) => Value | undefined): Make =>
  ([arg]) =>
  (row) => {
    const value = arg!(row);
    return value && apply(value);
  };

const isText = ({ kind }: Value): boolean => kind === 'string' || kind === 'lang';
/** A function of a text that keeps its language. */
const ofText = (apply: (value: Value) => Value): Make => unary((value) => (isText(value) ? apply(value) : undefined));

/** A test of two texts: the second is plain, or has the language of the first. */
const ofTexts =
  (test: (text: string, other: string) => boolean): Make =>
  ([first, second]) =>
  (row) => {
    const [a, b] = [first!(row), second!(row)];
    if (!a || !b || !isText(a) || !isText(b)) return undefined;
    if (b.kind === 'lang' && a.language !== b.language) return undefined;
    return truth(test(a.text, b.text));
  };

export const termFunctions: Readonly<Record<string, Make>> = {
  str: unary((value) => (value.kind === 'blank' ? undefined : textValue(value.text))),
  lang: unary((value) => (isLiteral(value) ? textValue(value.language ?? '') : undefined)),
  datatype: unary((value) => (isLiteral(value) ? iriValue(datatypeOf(value)!) : undefined)),
  isiri: unary(({ kind }) => truth(kind === 'iri')),
  isuri: unary(({ kind }) => truth(kind === 'iri')),
  isblank: unary(({ kind }) => truth(kind === 'blank')),
  isliteral: unary((value) => truth(isLiteral(value))),
  isnumeric: unary((value) => truth(value.kind === 'number' && value.number !== undefined)),
  strlen: ofText(({ text }) => numberValue([...text].length, 'integer')),
  lcase: ofText(({ text, language }) => textValue(text.toLowerCase(), language)),
  ucase: ofText(({ text, language }) => textValue(text.toUpperCase(), language)),
  contains: ofTexts((text, other) => text.includes(other)),
  strstarts: ofTexts((text, other) => text.startsWith(other)),
  strends: ofTexts((text, other) => text.endsWith(other)),
  langmatches: ([tag], [, rangeNode]) => langMatches(tag!, constantText(rangeNode!)),
  regex: ([text], [, pattern, flags]) => regex(text!, constantText(pattern!), flags ? constantText(flags) : ''),
};

/** Patterns and ranges that are no constants are left to Comunica. */
function constantText(node: Node): string {
  const term = node['term'] as Term | undefined;
  if (term?.termType !== 'Literal' || term.language || !term.datatype.value.endsWith('#string'))
    throw new NotCompiledError('not a constant text');
  return term.value;
}

/** Basic filtering (RFC 4647 3.3.1). Extended ranges are left to Comunica. */
function langMatches(tag: Evaluate, range: string): Evaluate {
  if (!/^(?:\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)$/.test(range))
    throw new NotCompiledError(`language range ${range}`);
  const wanted = range.toLowerCase();
  return (row) => {
    const value = tag(row);
    if (value?.kind !== 'string') return undefined;
    const found = value.text.toLowerCase();
    return truth(found !== '' && (wanted === '*' || found === wanted || found.startsWith(`${wanted}-`)));
  };
}

function regex(text: Evaluate, pattern: string, flags: string): Evaluate {
  if (!/^(?!.*(.).*\1)[ims]*$/.test(flags)) throw new NotCompiledError(`flags ${flags}`);
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, `${flags}u`);
  } catch {
    throw new NotCompiledError(`pattern ${pattern}`);
  }
  return (row) => {
    const value = text(row);
    return value && isText(value) ? truth(expression.test(value.text)) : undefined;
  };
}
