/** What other servers, and archives of others, say, such that people can be shown it. */

/** Bytes of an answer that is shown. */
const longestAnswer = 16 << 10;

/** Without what a terminal would obey. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');

/** The same, in a sentence. */
export const shown = (text: string): string => plain(text).slice(0, 500).trim();

/** What the server says in a problem document, or the start of its answer. */
export async function detailOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving ends the connection.
    if (size > longestAnswer) break;
  }
  if (answer.status < 400) return '';
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    const { detail, title } = JSON.parse(text) as { detail?: unknown; title?: unknown };
    return shown(String(detail ?? title ?? ''));
  } catch {
    // It need not be JSON.
    return shown(text.slice(0, 200));
  }
}

/** Why there is no answer, as the end of a sentence. */
export const reasonOf = (error: unknown): string =>
  ((error as Error).cause as Error | undefined)?.message || (error as Error).message;
