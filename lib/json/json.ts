/** Reading JSON from strangers: bounded in depth, with an error that says where. */
import { LwsError } from '../errors.js';

const maximumDepth = 64;

/**
 * Parses a JSON text.
 * @throws LwsError `malformed-body` when it is not JSON or nested deeper than 64 (rule 1.9)
 */
export function parseJson(text: string): unknown {
  assertShallow(text);
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

/**
 * Looks at brackets outside of strings alone, before a parser builds anything.
 * @throws LwsError `malformed-body` when they are nested deeper than 64
 */
export function assertShallow(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maximumDepth) throw tooDeep();
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
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
