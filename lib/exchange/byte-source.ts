/** A single file as a source of bytes. */
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TransferError } from './member.js';

export interface ByteSource {
  /** The file name, for messages and for its extension: `dump.nq.gz`. */
  readonly name: string;
  /** The size in bytes, if known. */
  readonly size?: number;
  /** The media type given by the caller, if any. It takes precedence over the extension. */
  readonly mediaType?: string;
  /** Returns the bytes. A source can be opened again. */
  open(): AsyncIterable<Uint8Array>;
}

/** A file on this machine. */
export interface FileSource extends ByteSource {
  readonly path: string;
  readonly isGzip: boolean;
}

/** A piece of a source, with the number of bytes of the source read so far. */
export interface FilePiece {
  readonly bytes: Buffer;
  readonly read: number;
}

/** Limits against decompression bombs: a gzip file is rejected if its text is more than `maxRatio` times longer and longer than `short`. */
const [maxRatio, short] = [1_000, 1 << 20];

/** Yields the text of a source, as bytes. @throws TransferError if decompression fails or the text exceeds the limits */
export async function* textOf(source: ByteSource, isGzip: boolean): AsyncGenerator<FilePiece> {
  if (!isGzip) {
    let read = 0;
    for await (const bytes of source.open()) {
      read += bytes.length;
      yield { bytes: bufferOf(bytes), read };
    }
    return;
  }
  let [read, length] = [0, 0];
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      read += chunk.length;
      done(null, chunk);
    },
  });
  const inflate = createGunzip({ chunkSize: 128 << 10 });
  // Errors are passed to the reader of `inflated`.
  const inflated: Readable = pipeline(source.open(), counted, inflate, () => {});
  try {
    for await (const bytes of inflated as AsyncIterable<Buffer>) {
      length += bytes.length;
      if (length > short + read * maxRatio)
        throw new TransferError(`${source.name} is rejected: ${read} bytes of it decompress to more than ${length}.`);
      yield { bytes, read };
    }
  } catch (cause) {
    if (cause instanceof TransferError || (cause as NodeJS.ErrnoException).code?.startsWith('Z_') !== true) throw cause;
    throw new TransferError(`${source.name} is damaged or not gzip: ${(cause as Error).message}.`, { cause });
  }
}

/** Returns the first bytes, and all pieces including them. */
export async function withStart(
  pieces: AsyncGenerator<FilePiece>,
): Promise<readonly [start: Uint8Array, pieces: AsyncIterable<FilePiece>]> {
  const first = await pieces.next();
  const all = async function* (): AsyncGenerator<FilePiece> {
    if (first.done) return;
    try {
      yield first.value;
      yield* pieces;
    } finally {
      await pieces.return(undefined);
    }
  };
  return [first.done ? Buffer.alloc(0) : first.value.bytes, all()];
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
