/** Writes files to a ZIP while it is sent: only the directory at its end is kept in memory. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { TransferError, type TreeSink } from '../../lib/component/exchange.js';
import { faultOfPath } from './tree-names.js';

/** The most files that wait in memory, and their bytes: longer files are streamed. */
const [maxWaiting, maxBytes] = [64, 1 << 20];

/** The date of files that have none: a ZIP of the same content has the same bytes. */
const noDate = Date.UTC(1980, 0, 1);

/** A ZIP that is written to `out` with backpressure; its end ends `out`. */
export class ZipSink implements TreeSink {
  private readonly zip = new ZipFile();
  private readonly sent: Promise<void>;
  /** Rejects when `out` fails. */
  private readonly failed: Promise<never>;
  private readonly waiting = { files: 0, bytes: 0 };

  constructor(out: Writable) {
    this.sent = pipeline(this.zip.outputStream as Readable, out);
    this.failed = new Promise((_, reject) => {
      this.zip.on('error', reject);
      this.sent.catch(reject);
    });
    // `add` and `end` throw the failure; until then it must not count as unhandled.
    this.failed.catch(() => {});
  }

  async add(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { modified = noDate }: { modified?: number } = {},
  ): Promise<void> {
    const fault = pathFault(path);
    if (fault !== undefined) throw new TransferError(`${path.slice(0, 200)} cannot be in a ZIP: ${fault}.`);
    const facts = { mtime: new Date(Math.max(modified, noDate)), mode: path.endsWith('/') ? 0o40700 : 0o100600 };
    if (path.endsWith('/')) {
      this.zip.addEmptyDirectory(path, facts);
      this.waiting.files++;
      return;
    }
    if (content instanceof Uint8Array && this.hasRoom(content)) {
      this.zip.addBuffer(Buffer.from(content), path, facts);
      this.waiting.files++;
      this.waiting.bytes += content.length;
      return;
    }
    await Promise.race([this.stream(path, content, facts), this.failed]);
    Object.assign(this.waiting, { files: 0, bytes: 0 });
  }

  private hasRoom({ length }: Uint8Array): boolean {
    return this.waiting.files < maxWaiting && this.waiting.bytes + length < maxBytes;
  }

  /** Streams a file after all files before it have been sent. */
  private stream(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    facts: { mtime: Date; mode: number },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const chunks = content instanceof Uint8Array ? [content] : content;
      this.zip.addReadStreamLazy(path, facts, (start) => {
        const stream = Readable.from(chunks, { objectMode: false });
        stream.on('end', resolve);
        // The file stands half in the ZIP, which cannot be finished.
        stream.on('error', (error) => {
          reject(error);
          this.zip.emit('error', error);
          (this.zip.outputStream as Readable).destroy(error);
        });
        start(null, stream);
      });
    });
  }

  async end(): Promise<void> {
    this.zip.end();
    await Promise.race([this.sent, this.failed]);
  }
}

const pathFault = (path: string): string | undefined =>
  Buffer.byteLength(path) > 0xffff
    ? 'its name is too long'
    : path.includes('\\')
      ? 'its name has a backslash'
      : faultOfPath(path);
