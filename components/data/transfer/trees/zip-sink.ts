/** Writes a ZIP, and copies a folder to a ZIP and back. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { FileTree, RefusedFile, TreeSink } from '../../../../lib/exchange/file-tree.js';
import { TransferError } from '../../../../lib/exchange/member.js';
import { openFolderSink } from './folder-sink.js';
import { openFolderTree } from './folder-tree.js';
import { faultOfPath } from './tree-names.js';
import { openZipTree } from './zip-tree.js';

/** Maximum number and size (bytes) of files held in memory. Longer files are streamed. */
const [maxWaiting, maxBytes] = [64, 1 << 20];

/** Date of files without a date. Fixed, so that ZIPs of the same content are identical. */
const noDate = Date.UTC(1980, 0, 1);

/** Writes a ZIP to `out` with backpressure, and ends `out`. */
export class ZipSink implements TreeSink {
  private readonly zip = new ZipFile();
  private readonly sent: Promise<void>;
  /** Rejects if `out` fails. */
  private readonly failed: Promise<never>;
  private readonly waiting = { files: 0, bytes: 0 };

  constructor(out: Writable) {
    this.sent = pipeline(this.zip.outputStream as Readable, out);
    this.failed = new Promise((_, reject) => {
      this.zip.on('error', reject);
      this.sent.catch(reject);
    });
    // `add` and `end` throw the error. Until then, the rejection must not be reported as unhandled.
    this.failed.catch(() => {});
  }

  async add(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    { modified = noDate }: { modified?: number } = {},
  ): Promise<void> {
    const fault = pathFault(path);
    if (fault !== undefined) throw new TransferError(`${path.slice(0, 200)} cannot be written to a ZIP: ${fault}.`);
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

  /** Streams a file after all earlier files have been sent. */
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
        // The ZIP already contains a part of the file, so it cannot be completed.
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
      ? 'its name contains a backslash'
      : faultOfPath(path);

/** Copies a tree. @param onRefused called for files not copied. May throw @throws TransferError for unreadable files */
async function copyTree(tree: FileTree, sink: TreeSink, onRefused: (refused: RefusedFile) => void): Promise<void> {
  try {
    for await (const file of tree.files())
      if ('refused' in file) onRefused(file);
      else await sink.add(file.path, file.open(), file.modified === undefined ? {} : { modified: file.modified });
    await sink.end();
  } finally {
    await tree.close();
  }
}

/** Sends a folder as a ZIP, and ends the stream. */
export const zipFolder = async (
  folder: string,
  out: Writable,
  onRefused: (refused: RefusedFile) => void,
): Promise<void> => copyTree(await openFolderTree(folder), new ZipSink(out), onRefused);

/** Writes the files of a ZIP to an empty or missing folder. @param isNested true to omit the top-level directory of the ZIP */
export async function unzipInto(file: string, folder: string, isNested: boolean): Promise<void> {
  const sink = await openFolderSink(folder);
  const nested: TreeSink = {
    add: async (path, ...rest) => {
      const below = path.slice(path.indexOf('/') + 1);
      if (below !== '') await sink.add(below, ...rest);
    },
    end: () => sink.end(),
  };
  await copyTree(await openZipTree(file), isNested ? nested : sink, ({ path, refused }) => {
    throw new TransferError(`${path}: ${refused}`);
  });
}
