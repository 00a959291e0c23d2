/** A single file as a source of bytes. */
import { pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TransferError } from './member.js';

export interface ByteSource {
  /** The name, for messages and for its extension: `dump.nq.gz`. */
  readonly name: string;
  /** Bytes, where it is known. */
  readonly size?: number;
  /** The media type, if the caller has given one; it takes precedence over the extension. */
  readonly mediaType?: string;
  /** The bytes; a source may be opened again. */
  open(): AsyncIterable<Uint8Array>;
}

/** A file of this machine. */
export interface FileSource extends ByteSource {
  readonly path: string;
  readonly isGzip: boolean;
}

/** A piece of a source, with the number of bytes of the source that were read so far. */
export interface FilePiece {
  readonly bytes: Buffer;
  readonly read: number;
}

/** A gzip whose text is more than `maxRatio` times longer, and longer than `short`, is refused as a decompression bomb. */
const [maxRatio, short] = [1_000, 1 << 20];

/**
 * The text of a source, as bytes.
 * @throws TransferError for what cannot be inflated, or becomes too long by that
 */
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
  // Errors go to the reader of `inflated`.
  const inflated: Readable = pipeline(source.open(), counted, inflate, () => {});
  try {
    for await (const bytes of inflated as AsyncIterable<Buffer>) {
      length += bytes.length;
      if (length > short + read * maxRatio)
        throw new TransferError(`${source.name} is refused: ${read} bytes of it become more than ${length}.`);
      yield { bytes, read };
    }
  } catch (cause) {
    if (cause instanceof TransferError || (cause as NodeJS.ErrnoException).code?.startsWith('Z_') !== true) throw cause;
    throw new TransferError(`${source.name} is damaged, or no gzip: ${(cause as Error).message}.`, { cause });
  }
}

/** The first bytes, and all pieces with them. */
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
