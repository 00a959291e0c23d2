/** Decodes request bodies with a content coding (RFC 9110 8.4) while they are read (rule 10.10). */
import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Client } from '../authorization/client.js';
import { checkedChunks, type RequestBody, readBody, tooLarge } from '../resources/body.js';
import { LwsError, tooBusy } from '../tools/errors.js';

const decoders = { gzip: createGunzip, br: createBrotliDecompress, deflate: createInflate };
type Coding = keyof typeof decoders;

/** Maximum ratio of decoded to received bytes, and count of decoded bytes to which the ratio does not apply. */
const [maxRatio, freeBytes] = [100, 1 << 20];
/** Client that sends a body. */
export interface BodySender {
  /** Returns the caller class of the sender, and the client for which slots are counted. */
  caller(): Promise<Client>;
  /** Registers a function to call after the response. */
  onEnd(done: () => void): void;
}

/**
 * Returns a function that acquires one of `inAll` slots for a caller, and returns a function that releases it. Callers without
 * control of the storage can use three quarters of the slots.
 */
function sharesOf(inAll: number, perClient: number): (caller: Client) => () => void {
  const taken = new Set<Client>();
  return ({ client, callerClass }) => {
    const shares = [...taken];
    const own = shares.filter((share) => share.client === client);
    const ofOthers = shares.filter((share) => share.callerClass !== 'controller');
    const isFull = taken.size >= inAll || (callerClass !== 'controller' && ofOthers.length >= inAll * 0.75);
    if (isFull || own.length >= perClient)
      throw tooBusy('Too many compressed uploads are in progress. Retry in a few seconds.', 5);
    const share = { client, callerClass };
    taken.add(share);
    return () => void taken.delete(share);
  };
}

/** Acquires a slot to decode a body while it arrives. A Brotli decoder takes up to 16 MiB of memory. */
const takeDecoder = sharesOf(32, 8);
/** Acquires a slot for other bodies that decode to more than `freeBytes`, until the response: 64 MiB need few bytes. */
const takeLarge = sharesOf(8, 2);

/** Returns the coding of a request body, if any. @throws LwsError `unsupported-media-type` for an unknown coding or several */
export function codingOf({ headers }: IncomingMessage): Coding | undefined {
  const name =
    headers['content-encoding']
      ?.trim()
      .toLowerCase()
      .replace(/^x-(?=gzip$)/, '') || 'identity';
  if (name === 'identity') return undefined;
  if (Object.hasOwn(decoders, name)) return name as Coding;
  throw new LwsError(
    'unsupported-media-type',
    'The Content-Encoding is not supported. Use one of gzip, br and deflate, or send the content unencoded.',
    { fields: { 'Accept-Encoding': 'gzip, br, deflate' } },
  );
}

/** Returns the decoded body. Digests refer to the encoded bytes, and are verified before the last decoded bytes. */
export const decodedBody = (encoded: RequestBody, coding: Coding, sender: BodySender): RequestBody => ({
  ...encoded,
  length: encoded.length === 0 ? 0 : undefined,
  digests: new Map(),
  async *chunks() {
    const release = takeDecoder(await sender.caller());
    try {
      yield* decoded(encoded, coding);
    } finally {
      release();
    }
  },
  // The decoder is created when the body is complete, so that slow clients do not occupy a slot.
  async collect(limit, setting) {
    const bytes = await readBody(encoded, limit, setting);
    const chunks: Uint8Array[] = [];
    let size = 0;
    const whole = { ...encoded, digests: new Map(), chunks: () => Readable.from([bytes]) };
    for await (const chunk of decoded(whole, coding)) {
      if (size <= freeBytes && size + chunk.length > freeBytes) sender.onEnd(takeLarge(await sender.caller()));
      size += chunk.length;
      if (size > limit) throw tooLarge(limit, setting);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, size);
  },
});

/** Decodes a body in libuv's threads. @throws LwsError `malformed-body`, `too-large`, and errors of the encoded body */
async function* decoded(encoded: RequestBody, coding: Coding): AsyncGenerator<Uint8Array> {
  let [received, made, isComplete] = [0, 0, false];
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of checkedChunks(encoded)) {
      received += chunk.length;
      yield chunk;
    }
    isComplete = true;
  };
  const decoder = decoders[coding]();
  // The iterator of the decoder throws errors of both streams.
  pipeline(Readable.from(counted()), decoder, () => {});
  try {
    for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
      made += chunk.length;
      if (made > freeBytes && made > received * maxRatio)
        throw new LwsError('too-large', `The body expands to more than ${maxRatio} times its size. Send it unencoded.`);
      yield chunk;
    }
  } catch (error) {
    throw /^(?:Z_|ERR__)/.test((error as NodeJS.ErrnoException).code ?? '') ? malformed(coding) : error;
  } finally {
    decoder.destroy();
  }
  // An encoded body is never empty, but decoders accept empty input. They also ignore input after the end of the coded data.
  if (received === 0 || !isComplete || decoder.bytesWritten < received) throw malformed(coding);
}

const malformed = (coding: Coding): LwsError =>
  new LwsError('malformed-body', `The body is not complete and valid ${coding} data.`);
