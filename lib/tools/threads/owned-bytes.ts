/** Prepares bytes for transfer to another thread. */

/**
 * Returns bytes that can be transferred to a thread. Copies them, because the memory of a Buffer may be shared, and belongs to
 * the caller unless `isTaken`.
 */
export const owned = (bytes: Uint8Array, isTaken = false): Uint8Array<ArrayBuffer> =>
  isTaken && isWhole(bytes) ? bytes : new Uint8Array(bytes);

const isWhole = (bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
