/** Source of the bytes of a single file. */
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TransferError } from './member.js';

export interface ByteSource {
  /** File name for messages. Its extension shows the format: `dump.nq.gz`. */
  readonly name: string;
  /** Size in bytes, if known. */
  readonly size?: number;
  /** Media type given by the caller, if any. It takes precedence over the extension. */
  readonly mediaType?: string;
  /** Returns the bytes. Can be called again, to read from the start. */
  open(): AsyncIterable<Uint8Array>;
}

/** File on this machine. */
export interface FileSource extends ByteSource {
  readonly path: string;
  readonly isGzip: boolean;
}

/** Piece of the decompressed text, and count of source bytes that were read so far. */
export interface FilePiece {
  readonly bytes: Buffer;
  readonly read: number;
}

/** A gzip file is rejected if its text is longer than `short`, and more than `maxRatio` times longer than the file. */
const [maxRatio, short] = [1_000, 1 << 20];

/** Yields the decompressed bytes of a source. @throws TransferError if decompression fails or the text exceeds the limits */
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
  // The loop over `inflated` throws the errors.
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

/** Returns the first bytes, and an iterable of all pieces including the first. */
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
