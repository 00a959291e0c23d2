/** Finds formats of all components by name, and opens the sources of imports. */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FileSource } from '../../../../lib/exchange/byte-source.js';
import type { FileTree } from '../../../../lib/exchange/file-tree.js';
import type { Format, FormatModule, ParseDocument } from '../../../../lib/exchange/format.js';
import { isPage, mediaTypeOf, rdfTypeOf, typeWithout } from '../../../../lib/exchange/media-types.js';
import { type MemberOptions, type MemberReader, TransferError } from '../../../../lib/exchange/member.js';
import { formatTools } from '../../exchange/format-tools.js';
import { openFolderTree } from '../trees/folder-tree.js';
import { openZipTree } from '../trees/zip-tree.js';

/** Source of an import: a file or directory on this machine. */
export interface Source {
  readonly path: string;
  /** Original name of an uploaded file, such as `dump.nq.gz`. The path has another name. */
  readonly name?: string;
  /** The media type given by the caller, if any. */
  readonly mediaType?: string;
  /** Target of the import, and rewrites of IRIs. Absent: a file in a single-text format is always read in that format. */
  readonly target?: Pick<MemberOptions, 'into' | 'rewrite'>;
}

export class Formats {
  private constructor(private readonly all: ReadonlyMap<string, Format>) {}

  /** Loads the formats of all components. @param modules the URLs of format modules, see `Platform` */
  static async of(modules: readonly string[]): Promise<Formats> {
    const loaded = (await Promise.all(modules.map((module) => import(module)))) as FormatModule[];
    return new Formats(new Map(loaded.flatMap(({ formats }) => Object.entries(formats))));
  }

  private names(can: (format: Format) => unknown): string[] {
    return [...this.all].filter(([, format]) => can(format)).map(([name]) => name);
  }

  /** Names of the readable formats. */
  get read(): readonly string[] {
    return this.names((format) => format.read ?? format.readFile);
  }

  /** Names of the writable formats. */
  get written(): readonly string[] {
    return this.names((format) => format.write ?? format.writeText);
  }

  find(name: string): Format | undefined {
    return this.all.get(name);
  }

  /** Returns a line with the description of each format. */
  explained(names: readonly string[]): string {
    return names.map((name) => `\n  ${name.padEnd(9)} ${this.all.get(name)?.about}`).join('');
  }

  /** Returns the single-text format of a file by its name (`dump.nq.gz`), or `undefined` for other files. */
  textFormatOf(file: string, mediaType = ''): string | undefined {
    const ending = /\.([^./]+)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase() ?? '';
    const texts = [...this.all].filter(([, { endings }]) => endings);
    const typed = texts.find(([, format]) => format.mediaType === typeWithout(mediaType));
    return (typed ?? texts.find(([, { endings }]) => endings!.includes(ending)))?.[0];
  }

  /**
   * Opens a source. @param format name of the format. If absent, it is detected from the file name and the content @throws
   * TransferError if the source does not exist or has an unknown format
   */
  async openReader(source: Source, format?: string): Promise<MemberReader> {
    const name = format ?? (await this.detect(source));
    const found = this.all.get(name);
    if (found?.read) return found.read(await treeOf(source), formatTools);
    if (found?.readFile) return found.readFile(await fileOf(source), (type) => this.parserOf(type));
    throw new TransferError(`"${name}" is not a readable format. Formats: ${this.read.join(', ')}.`);
  }

  /**
   * Returns true if a dump has a graph below the target container, as dumps of a storage do. Otherwise it is imported like other
   * files (rule 17.10). Rewrites imply a dump.
   */
  private async isText({ target, ...source }: Source, format: string): Promise<boolean> {
    if (!target || target.rewrite.length > 0 || !rdfTypeOf(mediaTypeOf(nameOf(source)))) return true;
    const reader = await this.openReader(source, format);
    try {
      for await (const { member } of reader.read(target)) if (member.kind !== 'left-out') return true;
      return false;
    } catch (error) {
      // The error is reported when the source is read.
      if (error instanceof TransferError) return true;
      throw error;
    } finally {
      await reader.close();
    }
  }

  private parserOf(type: string): ParseDocument | undefined {
    return [...this.all.values()].find(({ documents }) => documents?.types.includes(type))?.documents?.parse;
  }

  /** Returns the name of the format of a source. @throws TransferError if it is unknown */
  async detect(source: Source): Promise<string> {
    const text = this.textFormatOf(nameOf(source), source.mediaType);
    const isFolder = await isFolderAt(source.path);
    if (text !== undefined && !isFolder) return (await this.isText(source, text)) ? text : 'file';
    if (!isFolder && !(await isZip(source.path))) {
      const type = mediaTypeOf(nameOf(source));
      // A page can be imported as bytes, or for its RDF, so the caller must select a format.
      if (rdfTypeOf(type) || (this.parserOf(type) && !isPage(type))) return 'file';
      throw new TransferError(
        `${nameOf(source)} is not a directory, a ZIP, a dump (.nq, .trig) or another RDF file. Specify its format: ${this.read.join(', ')}.`,
      );
    }
    const tree = await treeOf(source);
    try {
      for (const [name, { fits }] of this.all) if (await fits?.(tree)) return name;
    } finally {
      await tree.close();
    }
    return isFolder ? 'folder' : 'zip';
  }
}

const nameOf = ({ path, name }: Source): string => name ?? basename(path);

/** Opens the tree of a folder or ZIP. */
const treeOf = async ({ path }: Source): Promise<FileTree> =>
  (await isFolderAt(path)) ? openFolderTree(path) : openZipTree(path);

async function fileOf(source: Source): Promise<FileSource> {
  const { path } = source;
  const facts = await stat(path).catch(unreadable(path));
  if (!facts.isFile()) throw new TransferError(`${path} is not a file.`);
  const isGzip = /^(?:1f8b)/.test(await startOf(path));
  const file = { ...source, name: nameOf(source), size: facts.size, isGzip };
  return { ...file, open: () => createReadStream(path, { highWaterMark: 128 << 10 }) };
}

const isFolderAt = async (path: string): Promise<boolean> => (await stat(path).catch(unreadable(path))).isDirectory();

/** Returns whether a file starts like a ZIP. An empty ZIP starts with its end record (`0506`). */
const isZip = async (path: string): Promise<boolean> => /^504b(?:0304|0506)/.test(await startOf(path));

/** Returns the first four bytes (hexadecimal). */
async function startOf(path: string): Promise<string> {
  const file = await open(path, 'r').catch(unreadable(path));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead).toString('hex');
  } finally {
    await file.close();
  }
}

const unreadable =
  (path: string) =>
  (cause: NodeJS.ErrnoException): never => {
    throw new TransferError(`${path} is not readable (${cause.code}).`, { cause });
  };
