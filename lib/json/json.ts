/** Reading JSON from strangers: bounded in depth and in values, with an error that says where. */
import { LwsError } from '../errors.js';

const maximumDepth = 64;
/** Values of a document where no setting says how many; one of them takes some eighty bytes of memory, and two of its text. */
export const usualValues = 2_000_000;

/**
 * Parses a JSON text.
 * @param most values that it may have
 * @throws LwsError `malformed-body` when it is not JSON or nested deeper than 64 (rule 1.9), `too-large` for more values
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

/** The refusal of what is nested deeper than 64. */
export const tooDeep = (): LwsError =>
  new LwsError('malformed-body', `The JSON is nested deeper than ${maximumDepth} levels.`);

/** V8 says at which character; people look for a line. */
function withLine(text: string, message: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  if (position === undefined) return message;
  const lines = text.slice(0, Number(position)).split(/\r\n|\r|\n/);
  return `${message.replace(/ \(line[^()]*\)$/, '')}, that is line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
}

/** The refusal of more values than a document may have. */
export const tooManyValues = (most: number): LwsError =>
  new LwsError(
    'too-large',
    `The JSON has more than ${most} values (lws.json.max-values). Split it into several resources.`,
  );

/**
 * Looks at brackets and commas outside of strings alone, before a parser builds anything: a value follows each comma, and each bracket that
 * opens, but for empty arrays and objects.
 * @throws LwsError `malformed-body` when they are nested deeper than 64, `too-large` for more values
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
    // One more may be taken back by the next bracket.
    if (values > most + 1) throw tooManyValues(most);
    isEmpty = code === 0x5b || code === 0x7b;
  }
  if (values > most) throw tooManyValues(most);
}

/** Where a string ends that begins with the quotation mark at `start`: at the other one, or at the end of the text. */
export function endOfString(text: string, start: number): number {
  let end = start;
  do end = text.indexOf('"', end + 1);
  while (end > 0 && isEscaped(text, end));
  return end < 0 ? text.length : end;
}

/** Whether there is an odd number of backslashes before it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === 0x5c) first--;
  return (at - first) % 2 === 1;
}

/** Decodes UTF-8. @throws LwsError `malformed-body` when the bytes are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new LwsError('malformed-body', 'The body is not UTF-8.', { cause });
  }
}
const decoder = new TextDecoder('utf-8', { fatal: true });
