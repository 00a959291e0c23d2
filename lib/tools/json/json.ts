/** JSON parser for untrusted input: limits depth and number of values, and reports positions. */
import { LwsError } from '../errors.js';

const maximumDepth = 64;
/** Default maximum number of values: each takes about 80 bytes of memory for two bytes of text. */
export const usualValues = 2_000_000;

/**
 * Parses a JSON text.
 * @param most maximum number of values
 * @throws LwsError `malformed-body` if it is not JSON or is nested deeper than 64 levels (rule 1.9), `too-large` for too many
 * values
 */
export function parseJson(text: string, most = usualValues): unknown {
  assertBounded(text, most);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `The body is not JSON: ${withLine(text, (cause as Error).message)}.`;
    throw new LwsError('malformed-body', message, { cause });
  }
}

/** Parses a JSON text from a trusted or small source. @returns `undefined` if it is not JSON */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Creates the error for nesting deeper than 64 levels. */
export const tooDeep = (): LwsError =>
  new LwsError('malformed-body', `The JSON is nested deeper than ${maximumDepth} levels.`);

/** Replaces the character offset in V8's message by line and column. */
function withLine(text: string, message: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  if (position === undefined) return message;
  const lines = text.slice(0, Number(position)).split(/\r\n|\r|\n/);
  return `${message.replace(/ \(line[^()]*\)$/, '')}, that is line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
}

/** Returns the error for a document with too many values. @param most limit of `lws.json.max-values` */
export const tooManyValues = (most: number): LwsError =>
  new LwsError(
    'too-large',
    `The JSON has more than ${most} values (lws.json.max-values). Split it into several resources.`,
  );

/**
 * Counts brackets and commas outside strings before a parser allocates anything: a value follows each comma and each opening
 * bracket, except in empty arrays and objects.
 * @throws LwsError `malformed-body` for nesting deeper than 64 levels, `too-large` for too many values
 */
export function assertBounded(text: string, most = usualValues): void {
  let depth = 0;
  let values = 1;
  let isEmpty = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 0x20) continue;
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maximumDepth) throw tooDeep();
      values++;
    } else if (code === 0x5d || code === 0x7d) {
      depth--;
      if (isEmpty) values--;
    } else if (code === 0x2c) values++;
    // If the array or object is empty, its closing bracket subtracts this value again.
    if (values > most + 1) throw tooManyValues(most);
    isEmpty = code === 0x5b || code === 0x7b;
  }
  if (values > most) throw tooManyValues(most);
}

/** Returns the index of the closing quote of the string at `start`, or the length of the text. */
export function endOfString(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (end > 0 && isEscaped(text, end));
  return end < 0 ? text.length : end;
}

/** Returns true if an odd count of backslashes precedes an index. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === 0x5c) first--;
  return (at - first) % 2 === 1;
}

/** Decodes UTF-8. @throws LwsError `malformed-body` for invalid bytes */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new LwsError('malformed-body', 'The body is not UTF-8.', { cause });
  }
}
const decoder = new TextDecoder('utf-8', { fatal: true });
