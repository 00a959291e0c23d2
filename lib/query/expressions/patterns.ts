/**
 * Converts XPath patterns (XPath and XQuery Functions and Operators 5.6, XML Schema 2 F) to JavaScript regular expressions.
 * Also accepts JavaScript syntax that XPath lacks. Pure functions.
 */
import { nameCharacters } from '../../rdf/vocabulary.js';
import { blockRange } from './unicode-blocks.js';

/** Compiles a pattern. Returns `undefined` for an invalid pattern or flags. */
export function compileRegex(pattern: string, flags: string, isGlobal = false): RegExp | undefined {
  if (!/^[smixq]*$/.test(flags)) return undefined;
  try {
    const source = flags.includes('q') ? quote(pattern) : translate(pattern, flags);
    const modes = ['i', 's'].filter((flag) => flags.includes(flag)).join('');
    return new RegExp(source, `v${modes}${isGlobal ? 'g' : ''}`);
  } catch {
    return undefined;
  }
}

const quote = (text: string): string => [...text].map(literal).join('');

/** Returns the source text that matches a character literally. */
const literal = (character: string): string =>
  /[^A-Za-z0-9]/.test(character) && character < '\x80'
    ? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
    : character;

const nameInner = `.:${nameCharacters.inner.replace(/-$/, '\\-')}`;
/** Character class escapes whose meaning differs in JavaScript. */
const classes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    d: '\\p{Nd}',
    D: '\\P{Nd}',
    s: '[ \\t\\n\\r]',
    S: '[^ \\t\\n\\r]',
    w: '[^\\p{P}\\p{Z}\\p{C}]',
    W: '[\\p{P}\\p{Z}\\p{C}]',
    i: `[:_${nameCharacters.letters}]`,
    I: `[^:_${nameCharacters.letters}]`,
    c: `[${nameInner}]`,
    C: `[^${nameInner}]`,
  }).map(([letter, source]) => [`\\${letter}`, source]),
);

interface Tokens {
  readonly all: readonly string[];
  at: number;
}

function translate(pattern: string, flags: string): string {
  const text = flags.includes('x') ? withoutSpace(pattern) : pattern;
  const tokens: Tokens = { all: text.match(/\\[pP]\{[^}]*\}|\\[1-9]\d*|\\.|\(\?|./gsu) ?? [], at: 0 };
  const others = lineMarks(flags);
  let groups = 0;
  let source = '';
  while (tokens.at < tokens.all.length) {
    const token = tokens.all[tokens.at++]!;
    if (token === '(') groups++;
    if (token === '[') source += readClass(tokens);
    else if (/^\\[1-9]/.test(token)) source += backReference(token, groups);
    else source += token.startsWith('\\') ? escaped(token) : (others.get(token) ?? token);
  }
  return source;
}

/** Removes white space outside of character classes, for the flag `x`. */
function withoutSpace(pattern: string): string {
  let depth = 0;
  let kept = '';
  let isEscaped = false;
  for (const character of pattern) {
    if (depth === 0 && /[ \t\n\r]/.test(character)) continue;
    if (!isEscaped && character === '[') depth++;
    if (!isEscaped && character === ']') depth--;
    isEscaped = !isEscaped && character === '\\';
    kept += character;
  }
  return kept;
}

/** Returns translations of `.`, `^` and `$`, because JavaScript has more kinds of line breaks than XPath. */
const lineMarks = (flags: string): ReadonlyMap<string, string> =>
  new Map([
    ['.', flags.includes('s') ? '.' : '[^\\n\\r]'],
    ['^', flags.includes('m') ? '(?:^|(?<=\\n)(?!$))' : '^'],
    ['$', flags.includes('m') ? '(?=\\n|$)' : '$'],
  ]);

/** Translates a back-reference: the longest prefix that is the number of a preceding group. Further digits are literal. */
function backReference(token: string, groups: number): string {
  let length = token.length;
  while (length > 2 && Number(token.slice(1, length)) > groups) length--;
  return `(?:${token.slice(0, length)})${token.slice(length)}`;
}

const escaped = (token: string): string =>
  classes.get(token) ?? blockOf(token) ?? (/^\\[A-Za-z0-9]/.test(token) ? token : literal(token.slice(1)));

/** Translates a Unicode block `\p{IsGreek}`, or its complement with `\P`. @throws SyntaxError for an unknown name */
function blockOf(token: string): string | undefined {
  const [, sign, name] = /^\\([pP])\{Is(.+)\}$/s.exec(token) ?? [];
  return name === undefined ? undefined : `[${sign === 'P' ? '^' : ''}${blockRange(name)}]`;
}

/** Translates a character class, after its opening bracket. `-[...]` at its end is subtracted. */
function readClass(tokens: Tokens): string {
  const sign = tokens.all[tokens.at] === '^' ? '^' : '';
  tokens.at += sign.length;
  let source = '';
  /** Kind of the token before a hyphen, which determines the meaning of the hyphen. */
  let last = 'nothing' as 'nothing' | 'character' | 'hyphen';
  for (;;) {
    const token = tokens.all[tokens.at++];
    if (token === undefined || token === '[' || (token === ']' && source === ''))
      throw new SyntaxError('A character class is empty or has no end.');
    if (token === ']') return `[${sign}${source}]`;
    const next = tokens.all[tokens.at];
    if (token === '-' && next === '[' && source !== '') {
      tokens.at++;
      const taken = readClass(tokens);
      if (tokens.all[tokens.at++] !== ']') throw new SyntaxError('Unexpected text after a class subtraction.');
      return `[[${sign}${source}]--${taken}]`;
    }
    const isRange = token === '-' && last === 'character' && next !== ']';
    source += isRange ? '-' : token.startsWith('\\') ? escaped(token) : quote(token);
    const isMany = classes.has(token) || /^\\[pP]/.test(token);
    last = isRange ? 'hyphen' : last === 'hyphen' || isMany ? 'nothing' : 'character';
  }
}
