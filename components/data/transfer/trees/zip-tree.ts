/** Reads the tree of files in a ZIP. Names, sizes and the number of files in its central directory are not trusted. */
import type { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import type { FileTree, RefusedFile, TreeFile } from '../../../../lib/exchange/file-tree.js';
import { TransferError } from '../../../../lib/exchange/member.js';
import { faultOfPath, longestTreePath, nameInCodePage437, nameOfBytes, shownPath } from './tree-names.js';

/** Maximum number of entries and bytes in a ZIP. */
export interface ZipBounds {
  readonly entries: number;
  /** Total size of all files in bytes. */
  readonly bytes: number;
}
const usualBounds: ZipBounds = { entries: 1_000_000, bytes: 2 ** 40 };

/**
 * Limits against ZIP bombs: a file is rejected if it is longer than `short` and more than `maxRatio` times longer than its
 * compressed bytes.
 */
const [maxRatio, short] = [1_000, 1 << 20];

/** Facts about an entry that are kept in memory. */
interface Kept {
  readonly path: string;
  readonly modified: number;
  readonly size: number;
  readonly compressed: number;
  readonly isDeflated: boolean;
  readonly checksum: number;
  readonly relativeOffsetOfLocalHeader: number;
}

/**
 * Opens the tree of a ZIP, and reads and validates the list of its entries.
 * @throws TransferError if the file is not a ZIP, exceeds the limits, or has more entries or bytes than its size allows
 */
export async function openZipTree(file: string, bounds: ZipBounds = usualBounds): Promise<FileTree> {
  const zip = await openPromise(file, { autoClose: false, decodeStrings: false }).catch(unreadable(file));
  try {
    if (zip.entryCount > bounds.entries)
      throw new TransferError(`${file} has ${zip.entryCount} entries; the limit is ${bounds.entries}.`);
    const { kept, refused } = await entriesOf(zip).catch(unreadable(file));
    const total = [...kept.values()].reduce((sum, { size }) => sum + size, 0);
    // The sum is checked as well: many entries may share the same compressed bytes.
    if (total > bounds.bytes || total > short + zip.fileSize * maxRatio)
      throw new TransferError(`${file} is rejected: its ${zip.fileSize} bytes would become ${total}.`);
    return new ZipTree(zip, { kept, refused, total });
  } catch (error) {
    zip.close();
    throw error;
  }
}

interface Entries {
  readonly kept: ReadonlyMap<string, Kept>;
  readonly refused: readonly RefusedFile[];
}

async function entriesOf(zip: ZipFile): Promise<Entries> {
  const kept = new Map<string, Kept>();
  const refused: RefusedFile[] = [];
  let last = '';
  for await (const entry of zip.eachEntry()) {
    const bytes = entry.fileName as unknown as Uint8Array;
    const path = nameOf(entry);
    const fault = path === undefined ? 'its name is not UTF-8' : faultOf(entry, path, kept);
    if (fault === undefined) {
      kept.set(path!, keptOf(entry, path!));
      last = path!;
    } else refused.push({ path: shown(path ?? shownPath(bytes), last), refused: `It is rejected: ${fault}.` });
  }
  // Reject a file whose path is also that of a directory.
  for (const path of [...kept.keys()])
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      if (kept.delete(path.slice(0, at)))
        refused.push({ path: path.slice(0, at), refused: 'It is rejected: it is also a directory.' });
  return { kept, refused };
}

/** Flag of entries whose name is in UTF-8 (APPNOTE 4.4.4, D.2), and ID of the Unicode Path field (4.6.9). */
const [utf8Flag, unicodePath] = [0x800, 0x7075];

/**
 * Returns the name of an entry, or `undefined` if the name is invalid. With the flag, the name is UTF-8. Without the flag, it
 * is the Unicode Path field if that belongs to the name, UTF-8 if recognized as such, or code page 437.
 */
function nameOf(entry: Entry): string | undefined {
  const bytes = entry.fileName as unknown as Uint8Array;
  if ((entry.generalPurposeBitFlag & utf8Flag) !== 0) return nameOfBytes(bytes);
  for (const { id, data } of entry.extraFields) {
    // The field has a version, the CRC-32 of the name in the header, and a name. With another CRC-32, the name is outdated.
    if (id !== unicodePath || data.length < 6 || data[0] !== 1 || data.readUInt32LE(1) !== crc32(bytes)) continue;
    return nameOfBytes(data.subarray(5));
  }
  return nameOfBytes(bytes) ?? nameInCodePage437(bytes);
}

const shown = (path: string, last: string): string => path.slice(0, 200) || `(without a name, after ${last})`;

/** Returns the reason why an entry is skipped, as the end of a sentence, or `undefined` if the entry is not skipped. */
function faultOf(entry: Entry, path: string, kept: ReadonlyMap<string, Kept>): string | undefined {
  if (path.includes('\\')) return 'its name contains a backslash, a separator on some systems';
  if (/^[A-Za-z]:\//.test(path)) return 'its name is absolute';
  const fault = path.length > longestTreePath ? 'its path is too long' : faultOfPath(path);
  if (fault !== undefined) return fault;
  // The upper half of the attributes contains the file mode if the ZIP was made on Unix. 0o120000 is a symbolic link.
  const mode = entry.externalFileAttributes >>> 16;
  if ((mode & 0o170000) === 0o120000) return 'it is a symbolic link; these are not followed';
  if (![0, 0o100000, 0o040000].includes(mode & 0o170000)) return 'it is neither a file nor a directory';
  if (entry.isEncrypted()) return 'it is encrypted';
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    return `it is compressed with method ${entry.compressionMethod}; supported methods are 0 (none) and 8 (deflate)`;
  if (kept.has(path)) return 'another entry has the same name';
  if (path.endsWith('/') && entry.uncompressedSize > 0) return 'it is a directory with content';
  if (entry.uncompressedSize > short && entry.uncompressedSize > entry.compressedSize * maxRatio)
    return `${entry.compressedSize} bytes would become ${entry.uncompressedSize}`;
  return undefined;
}

const keptOf = (entry: Entry, path: string): Kept => ({
  path,
  modified: entry.getLastModDate().getTime(),
  size: entry.uncompressedSize,
  compressed: entry.compressedSize,
  isDeflated: entry.compressionMethod === 8,
  checksum: entry.crc32,
  relativeOffsetOfLocalHeader: entry.relativeOffsetOfLocalHeader,
});

class ZipTree implements FileTree {
  readonly total: number;
  private readonly kept: ReadonlyMap<string, Kept>;
  private readonly all: readonly (Kept | RefusedFile)[];

  constructor(
    private readonly zip: ZipFile,
    { kept, refused, total }: Entries & { readonly total: number },
  ) {
    this.kept = kept;
    this.total = total;
    this.all = [...kept.values(), ...refused].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  }

  /** Yields files and directories, including directories that have files but no entry in the ZIP. */
  async *files(after?: string): AsyncGenerator<TreeFile | RefusedFile> {
    let folder = '';
    for (const entry of this.all) {
      const isRefused = 'refused' in entry;
      if (!isRefused)
        for (const missing of foldersBetween(folder, entry.path)) {
          folder = missing;
          if (missing !== entry.path && (after === undefined || missing > after)) yield emptyFolder(missing);
        }
      if (after === undefined || entry.path > after) yield isRefused ? entry : this.treeFile(entry);
    }
  }

  async file(path: string): Promise<TreeFile | undefined> {
    const entry = path.endsWith('/') ? undefined : this.kept.get(path);
    return entry && this.treeFile(entry);
  }

  async close(): Promise<void> {
    this.zip.close();
  }

  private treeFile(entry: Kept): TreeFile {
    const { path, size, modified } = entry;
    return { path, size, modified, open: () => this.contentOf(entry) };
  }

  /** Returns the compressed bytes. Uses a callback: yauzl's promise version of this method calls another method. */
  private rawOf(start: number, length: number): Promise<Readable> {
    return new Promise((resolve, reject) => {
      this.zip.openReadStreamLowLevel(start, length, 0, length, false, null, (error, stream) =>
        error ? reject(error) : resolve(stream),
      );
    });
  }

  private async *contentOf(entry: Kept): AsyncGenerator<Uint8Array> {
    const { path, size, compressed, checksum } = entry;
    let [length, sum] = [0, 0];
    if (!this.zip.isOpen) throw new TransferError(`${path} was requested after its ZIP was closed.`);
    try {
      const { fileDataStart } = await this.zip.readLocalFileHeaderPromise(entry as unknown as Entry, { minimal: true });
      const raw = await this.rawOf(fileDataStart, compressed);
      for await (const chunk of entry.isDeflated ? inflated(raw) : (raw as AsyncIterable<Buffer>)) {
        length += chunk.length;
        if (length > size) break;
        sum = crc32(chunk, sum);
        yield chunk;
      }
    } catch (cause) {
      throw new TransferError(`${path} in the ZIP is damaged: ${(cause as Error).message}.`, { cause });
    }
    if (length !== size)
      throw new TransferError(`${path} in the ZIP has ${length > size ? 'more' : 'fewer'} bytes than its ${size}.`);
    if (sum !== checksum) throw new TransferError(`${path} in the ZIP is damaged: its CRC-32 differs.`);
  }
}

async function* inflated(raw: Readable): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw();
  raw.on('error', (error) => inflate.destroy(error));
  try {
    yield* raw.pipe(inflate) as AsyncIterable<Buffer>;
  } finally {
    raw.unpipe(inflate);
    inflate.destroy();
    raw.destroy();
  }
}

/** Yields the directories on a path, including the path if it is one, except directories on the path of `folder`. */
function* foldersBetween(folder: string, path: string): Generator<string> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const each = path.slice(0, at + 1);
    if (!folder.startsWith(each)) yield each;
  }
}

const emptyFolder = (path: string): TreeFile => ({ path, size: 0, open: async function* () {} });

const unreadable =
  (file: string) =>
  (cause: Error): never => {
    if (cause instanceof TransferError) throw cause;
    throw new TransferError(`${file} is not a valid ZIP: ${cause.message}`, { cause });
  };
