/** Lexical rules shared by HTTP fields: tokens, quoted strings, parameters and lists (RFC 9110 5.6). */

/** A piece of text read from a field, and the index after it. */
export interface Piece {
  readonly text: string;
  readonly end: number;
}

/** A `name` or `name=value` with lower-case name, and the index after it. */
export interface Pair {
  readonly name: string;
  readonly value: string;
  readonly end: number;
}

/** Differences of a field from the parameters of RFC 9110 5.6.6. */
export interface PairRules {
  /** True to allow names without a value, and white space around `=`. */
  readonly loose: boolean;
  /** Returns the index after the unquoted value that starts at `start`. */
  readonly valueEnd: (field: string, start: number) => number;
  /**
   * Returns true for names that may be repeated. Their values are joined by line feeds, which values cannot contain. Otherwise
   * the first counts.
   */
  readonly repeats?: (name: string) => boolean;
}

const tab = 0x09;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const semicolon = 0x3b;
const equals = 0x3d;
const backslash = 0x5c;

/** Shared empty map, so that values without parameters allocate nothing. */
export const noParameters: ReadonlyMap<string, string> = new Map();

/** Parameters as in RFC 9110 5.6.6: a value is required, white space around `=` is an error. */
export const strictPairs: PairRules = { loose: false, valueEnd: tokenEnd };

// Table of the characters of tokens. A lookup is faster than a regular expression and cannot backtrack.
const tokenCodes = new Uint8Array(128);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  tokenCodes[character.charCodeAt(0)] = 1;

/** Returns the index after the token at `start`, or `start` if there is none (RFC 9110 5.6.2). */
export function tokenEnd(field: string, start: number): number {
  let at = start;
  while (at < field.length && tokenCodes[field.charCodeAt(at)] === 1) at++;
  return at;
}

/** Returns the index after optional white space at `start` (RFC 9110 5.6.3). */
export function skipSpace(field: string, start: number): number {
  let at = start;
  for (; at < field.length; at++) {
    const code = field.charCodeAt(at);
    if (code !== space && code !== tab) break;
  }
  return at;
}

/** Reads and unescapes the quoted string at `start`. Returns undefined if it is malformed (RFC 9110 5.6.4). */
export function readQuoted(field: string, start: number): Piece | undefined {
  let text = '';
  let from = start + 1;
  for (let at = from; at < field.length; at++) {
    const code = field.charCodeAt(at);
    if (code === quote) return { text: text + field.slice(from, at), end: at + 1 };
    if (code === backslash) {
      text += field.slice(from, at);
      at++;
      from = at;
    }
    if (!isText(field.charCodeAt(at))) return undefined;
  }
  return undefined;
}

/** Reads `name=value` at `start`; the value is a token or a quoted string. Returns undefined if it is malformed (RFC 9110 5.6.6). */
export function readPair(field: string, start: number, rules: PairRules): Pair | undefined {
  const nameEnd = tokenEnd(field, start);
  if (nameEnd === start) return undefined;
  const name = field.slice(start, nameEnd).toLowerCase();
  const sign = rules.loose ? skipSpace(field, nameEnd) : nameEnd;
  if (field.charCodeAt(sign) !== equals) return rules.loose ? { name, value: '', end: nameEnd } : undefined;
  const valueStart = rules.loose ? skipSpace(field, sign + 1) : sign + 1;
  if (field.charCodeAt(valueStart) === quote) {
    const piece = readQuoted(field, valueStart);
    return piece && { name, value: piece.text, end: piece.end };
  }
  const end = rules.valueEnd(field, valueStart);
  return end === valueStart ? undefined : { name, value: field.slice(valueStart, end), end };
}

/**
 * Reads all `; name=value` from `start`. Returns the parameters and the index after them and trailing white space, or undefined
 * if malformed. Skips empty parameters. The first of repeated names counts (RFC 9110 5.6.6).
 */
export function readParameters(
  field: string,
  start: number,
  rules: PairRules,
): { readonly parameters: ReadonlyMap<string, string>; readonly end: number } | undefined {
  let at = skipSpace(field, start);
  if (field.charCodeAt(at) !== semicolon) return { parameters: noParameters, end: at };
  const parameters = new Map<string, string>();
  while (field.charCodeAt(at) === semicolon) {
    at = skipSpace(field, at + 1);
    if (at === field.length || field.charCodeAt(at) === semicolon || field.charCodeAt(at) === comma) continue;
    const pair = readPair(field, at, rules);
    if (!pair) return undefined;
    const before = parameters.get(pair.name);
    if (before === undefined) parameters.set(pair.name, pair.value);
    else if (rules.repeats?.(pair.name)) parameters.set(pair.name, `${before}\n${pair.value}`);
    at = skipSpace(field, pair.end);
  }
  return { parameters, end: at };
}

/** Returns the parameters without the parameter of a lower-case name. */
export function without(parameters: ReadonlyMap<string, string>, name: string): ReadonlyMap<string, string> {
  if (!parameters.has(name)) return parameters;
  if (parameters.size === 1) return noParameters;
  const rest = new Map(parameters);
  rest.delete(name);
  return rest;
}

/**
 * Splits a list at commas outside quoted strings. Empty and untrimmed members are kept. An unterminated quoted string extends to
 * the end of the field (RFC 9110 5.6.1).
 */
export function splitList(field: string): readonly string[] {
  if (!field.includes('"')) return field.includes(',') ? field.split(',') : [field];
  const members: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < field.length; at++) {
    const code = field.charCodeAt(at);
    if (code === quote) quoted = !quoted;
    else if (code === backslash && quoted) at++;
    else if (code === comma && !quoted) {
      members.push(field.slice(from, at));
      from = at + 1;
    }
  }
  members.push(field.slice(from));
  return members;
}

/** Returns true if a character is allowed in a quoted string, possibly escaped. Fields contain octets: at most 0xFF. */
function isText(code: number): boolean {
  return code === tab || (code >= space && code <= 0xff && code !== 0x7f);
}
