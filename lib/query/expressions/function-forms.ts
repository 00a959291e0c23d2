/** Creates SPARQL functions from functions of values. */
import type { Evaluate, Facts } from './evaluate.js';
import { truth, type Value } from './values.js';

export type Make = (args: readonly Evaluate[], facts: Facts) => Evaluate;
export type Makes = Readonly<Record<string, Make>>;

export const unary =
  (apply: (value: Value) => Value | undefined): Make =>
  ([arg]) =>
  (row) => {
    const value = arg!(row);
    return value && apply(value);
  };

export const binary =
  (apply: (a: Value, b: Value) => Value | undefined): Make =>
  ([first, second]) =>
  (row) => {
    const a = first!(row);
    if (!a) return undefined;
    const b = second!(row);
    return b && apply(a, b);
  };

/** Returns true for a string with or without a language. */
export const isText = ({ kind }: Value): boolean => kind === 'string' || kind === 'lang';

/** Creates a function of a string with or without a language. */
export const ofText = (apply: (value: Value) => Value): Make =>
  unary((value) => (isText(value) ? apply(value) : undefined));

/** Creates a function of a string without a language. */
export const ofString = (apply: (text: string) => Value | undefined): Make =>
  unary((value) => (value.kind === 'string' ? apply(value.text) : undefined));

/** Creates a function of two strings. The second has no language, or the language of the first (SPARQL 1.1 17.4.3.1.2). */
export const ofTexts = (apply: (first: Value, second: Value) => Value): Make =>
  binary((a, b) => {
    if (!isText(a) || !isText(b) || (b.kind === 'lang' && a.language !== b.language)) return undefined;
    return apply(a, b);
  });

export const ofTextTest = (test: (text: string, other: string) => boolean): Make =>
  ofTexts((a, b) => truth(test(a.text, b.text)));
