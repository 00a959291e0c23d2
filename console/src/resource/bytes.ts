/** Bodies of answers: no more of them than a page can hold. */

/** Larger resources are not opened: they are offered as files. */
export const downloadLimit = 5_000_000;

/** A whole body, or `undefined` as soon as it is longer than `most`. */
export async function takeUpTo(response: Response, most: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (Number(response.headers.get('Content-Length') ?? 0) > most) {
    await response.body?.cancel();
    return undefined;
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const reader = response.body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > most) {
      await reader.cancel();
      return undefined;
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}
