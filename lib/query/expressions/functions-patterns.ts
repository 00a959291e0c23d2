/** REGEX and REPLACE (SPARQL 1.1 17.4.3.14, 17.4.3.15). */

import type { Evaluate, Row } from './evaluate.js';
import { isText, type Makes } from './function-forms.js';
import { compileRegex } from './patterns.js';
import { maxCharacters, textValue, tooLong, truth } from './values.js';

/** Maximum count of cached patterns, because patterns may differ between rows. */
const maxPatterns = 256;

/** Caches results by pattern and flags. The last result is found without the map, because patterns are mostly constant. */
function remembering<T>(make: (pattern: string, flags: string) => T): (pattern: string, flags: string) => T {
  const known = new Map<string, T>();
  let last: { readonly pattern: string; readonly flags: string; readonly made: T } | undefined;
  return (pattern, flags) => {
    if (last?.pattern === pattern && last.flags === flags) return last.made;
    const key = `${flags}/${pattern}`;
    if (!known.has(key)) {
      if (known.size >= maxPatterns) known.clear();
      known.set(key, make(pattern, flags));
    }
    const made = known.get(key) as T;
    last = { pattern, flags, made };
    return made;
  };
}

/** Returns the text of a string without a language, or `undefined` for other values. An absent argument (flags) is empty. */
function stringOf(arg: Evaluate | undefined, row: Row): string | undefined {
  if (!arg) return '';
  const value = arg(row);
  return value?.kind === 'string' ? value.text : undefined;
}

interface Replacer {
  readonly expression: RegExp;
  /** Count of groups, at most 99: JavaScript's references have two digits. */
  readonly groups: number;
  readonly isQuoted: boolean;
}

/** Returns the replacer of a pattern. `undefined` if the pattern matches the empty string, which is an error (err:FORX0003). */
function makeReplacer(pattern: string, flags: string): Replacer | undefined {
  const expression = compileRegex(pattern, flags, true);
  if (!expression || ''.search(expression) === 0) return undefined;
  const alternative = new RegExp(`${expression.source}|`, expression.flags);
  return { expression, groups: Math.min(alternative.exec('')!.length - 1, 99), isQuoted: flags.includes('q') };
}

/** Converts an XPath replacement to JavaScript. Returns `undefined` for a `$` without digits or an invalid escape. */
function templateOf(replacement: string, { groups, isQuoted }: Replacer): string | undefined {
  if (isQuoted) return replacement.replaceAll('$', '$$$$');
  if (!/[$\\]/.test(replacement)) return replacement;
  if (!/^(?:[^$\\]|\\[$\\]|\$\d)*$/u.test(replacement)) return undefined;
  return replacement.replace(/\\(.)|\$(\d+)/g, (_all, escaped: string | undefined, digits: string) => {
    if (escaped !== undefined) return escaped === '$' ? '$$' : escaped;
    let length = digits.length;
    let number = Number(digits);
    while (number > groups && number > 9) number = Number(digits.slice(0, --length));
    const group = number === 0 ? '$&' : number > groups ? '' : `$${String(number).padStart(2, '0')}`;
    return group + digits.slice(length);
  });
}

/** Asserts the length of a result before replacing, by an upper bound. @throws LwsError `query-limit` */
function assertLength(text: string, expression: RegExp, template: string): void {
  if (text.length * template.length < maxCharacters) return;
  let matches = 0;
  text.replace(expression, () => String(++matches).slice(0, 0));
  const references = template.split('$').length - 1;
  if (text.length * (1 + references) + matches * template.length > 16 * maxCharacters) throw tooLong();
}

export const patternFunctions: Makes = {
  regex: ([text, pattern, flags]) => {
    const patternOf = remembering((source, mode) => compileRegex(source, mode));
    return (row) => {
      const value = text!(row);
      if (!value || !isText(value)) return undefined;
      const source = stringOf(pattern, row);
      const mode = stringOf(flags, row);
      const expression = source === undefined || mode === undefined ? undefined : patternOf(source, mode);
      return expression && truth(expression.test(value.text));
    };
  },
  replace: ([text, pattern, replacement, flags]) => {
    const replacerOf = remembering((source, mode) => makeReplacer(source, mode));
    let last: { readonly by: string; readonly replacer: Replacer; readonly template: string | undefined } | undefined;
    return (row) => {
      const value = text!(row);
      if (!value || !isText(value)) return undefined;
      const source = stringOf(pattern, row);
      const by = stringOf(replacement, row);
      const mode = stringOf(flags, row);
      if (source === undefined || by === undefined || mode === undefined) return undefined;
      const replacer = replacerOf(source, mode);
      if (!replacer) return undefined;
      if (last?.by !== by || last.replacer !== replacer) last = { by, replacer, template: templateOf(by, replacer) };
      if (last.template === undefined) return undefined;
      assertLength(value.text, replacer.expression, last.template);
      return textValue(value.text.replace(replacer.expression, last.template), value.language);
    };
  },
};
