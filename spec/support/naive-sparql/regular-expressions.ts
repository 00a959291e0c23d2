/** XPath regular expressions of REGEX and REPLACE (SPARQL 1.1, 17.4.3.14 and 17.4.3.15), mapped to JavaScript. */
import { ExpressionError } from './terms.js';

/** Compiles a pattern. @throws ExpressionError for an invalid pattern or unknown flags */
export function patternOf(pattern: string, flags: string): RegExp {
  if (!/^[smixq]*$/.test(flags)) throw new ExpressionError(`Unknown flags: ${flags}`);
  const literally = flags.includes('q') ? pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') : pattern;
  const source = flags.includes('x') && !flags.includes('q') ? literally.replace(/\s/g, '') : literally;
  try {
    return new RegExp(source, `gu${flags.replace(/[xq]/g, '')}`);
  } catch {
    throw new ExpressionError(`Not a regular expression: ${pattern}`);
  }
}

export interface Replacement {
  readonly pattern: RegExp;
  readonly replacement: string;
}

/** fn:replace. @throws ExpressionError for a pattern that matches the empty string */
export function replaced(text: string, { pattern, replacement }: Replacement): string {
  if (''.search(pattern) >= 0) throw new ExpressionError('The pattern matches the empty string.');
  if (/\\(?![\\$])|(?<!\\)\$(?!\d)/.test(replacement.replace(/\\\\/g, '')))
    throw new ExpressionError('Not a replacement.');
  return text.replace(pattern, (...found: unknown[]) =>
    replacement.replace(
      /\\(.)|\$(\d)/g,
      (_, escaped: string | undefined, group: string) => escaped ?? String(found[Number(group)] ?? ''),
    ),
  );
}
