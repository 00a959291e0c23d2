/**
 * The lexical rules that HTTP fields share: tokens, quoted strings, parameters and lists (RFC 9110 5.6).
 * It must not know what any field means, nor who asks.
 */

/** A piece of text read from a field, and the index after it. */
export interface Piece {
  readonly text: string;
  readonly end: number;
}

/** A `name` or `name=value` read from a field, and the index after it; the name is lower-case. */
export interface Pair {
  readonly name: string;
  readonly value: string;
  readonly end: number;
}

/** In what a field departs from the parameters of RFC 9110 5.6.6. */
export interface PairRules {
  /** Whether a name may stand without a value, and white space around the `=`. */
  readonly loose: boolean;
  /** The index after the unquoted value that starts at `start`. */
  readonly valueEnd: (field: string, start: number) => number;
  /** Names that may be repeated: their values are joined by line feeds, which no value has. Of others the first wins. */
  readonly repeats?: (name: string) => boolean;
}

const tab = 0x09;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const semicolon = 0x3b;
const equals = 0x3d;
const backslash = 0x5c;

/** What a value without parameters carries; shared, so that the common case allocates nothing. */
export const noParameters: ReadonlyMap<string, string> = new Map();

/** The parameters of RFC 9110 5.6.6 as they are: a value is required, white space around `=` is an error. */
export const strictPairs: PairRules = { loose: false, valueEnd: tokenEnd };

// A table is read some times faster than a regular expression starts, and cannot backtrack.
const tokenCodes = new Uint8Array(128);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  tokenCodes[character.charCodeAt(0)] = 1;

/** The index after the token that starts at `start`; `start` itself when there is none (RFC 9110 5.6.2). */
export function tokenEnd(field: string, start: number): number {
  let at = start;
  while (at < field.length && tokenCodes[field.charCodeAt(at)] === 1) at++;
  return at;
}

/** The index after the optional white space at `start` (RFC 9110 5.6.3). */
export function skipSpace(field: string, start: number): number {
  let at = start;
  for (; at < field.length; at++) {
    const code = field.charCodeAt(at);
    if (code !== space && code !== tab) break;
  }
  return at;
}

/** The quoted string whose opening quote is at `start`, unescaped; undefined when malformed (RFC 9110 5.6.4). */
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

/** The `name=value` at `start`, with a token or a quoted string as its value; undefined when malformed (RFC 9110 5.6.6). */
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
 * All `; name=value` from `start` on, and the index after them and the white space that follows; undefined when
 * malformed. Empty parameters are skipped; the first of a repeated name wins (RFC 9110 5.6.6).
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

/** The parameters but for the one of that lower-case name, which has a meaning of its own in the field. */
export function without(parameters: ReadonlyMap<string, string>, name: string): ReadonlyMap<string, string> {
  if (!parameters.has(name)) return parameters;
  if (parameters.size === 1) return noParameters;
  const rest = new Map(parameters);
  rest.delete(name);
  return rest;
}

/**
 * The members of a list, cut at the commas outside of quoted strings; empty and untrimmed members are kept for
 * the caller to judge (RFC 9110 5.6.1). A quoted string without an end swallows the rest of the field.
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

/** Whether a character may stand in a quoted string, escaped if need be; a field holds octets, so none is above 0xFF. */
function isText(code: number): boolean {
  return code === tab || (code >= space && code <= 0xff && code !== 0x7f);
}
