/**
 * The formats that are read and written, by their names. Each is a line of the table, and knows nothing of the others. It must not
 * know the store.
 */
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import type { FileTree, TreeSink } from '../file-tree.js';
import { openFolderSink } from '../folder-sink.js';
import { openFileTree, openFolderTree } from '../folder-tree.js';
import { type MemberReader, TransferError, type Writer } from '../member.js';
import { ZipSink } from '../zip-sink.js';
import { openZipTree } from '../zip-tree.js';
import { archiveReader, isArchive } from './archive-reader.js';
import { archiveWriter } from './archive-writer.js';
import { bagReader, isBag } from './bagit-reader.js';
import { BagWriter } from './bagit-writer.js';
import { fileSource } from './byte-source.js';
import { cssReader, isCss } from './css-reader.js';
import { CssWriter } from './css-writer.js';
import { dumpKind, dumpReader } from './dump-reader.js';
import { DumpWriter } from './dump-writer.js';
import { folderReader } from './folder-reader.js';
import { FolderWriter } from './folder-writer.js';
import { documentTypeOf, isPage, mediaTypeOf, rdfTypeOf } from './media-types.js';
import { crateReader, isCrate } from './ro-crate-reader.js';
import { CrateWriter } from './ro-crate-writer.js';
import { TriGWriter } from './trig-writer.js';

/** What is imported: a file or a folder of this machine. */
export interface Source {
  readonly path: string;
  /** What a file is called, where its path does not say it, since it was uploaded: `dump.nq.gz`. */
  readonly name?: string;
  /** Where somebody has said it. */
  readonly mediaType?: string;
}

/** What is exported to: a folder of this machine, which is empty, or a stream, which the end of the export ends. */
export type WrittenTo = { readonly folder: string } | { readonly stream: Writable };

export interface WriteOptions {
  /** The IRI of the container that is exported, with a slash at its end. */
  readonly of: string;
  /** By gzip, where the format is a single text. */
  readonly isGzip?: boolean;
  /** The IRI of the storage, where it is not the container. */
  readonly storage?: string;
}

interface Format {
  read?(source: Source): Promise<MemberReader>;
  write?(target: WrittenTo, options: WriteOptions): Promise<Writer>;
  /** Whether a tree of files is surely of this format. */
  fits?(tree: FileTree): Promise<boolean>;
  /** What it is when it is sent. */
  readonly mediaType?: string;
  /** Of its file, where it is a single text, which can also be sent by gzip. */
  readonly textExtension?: string;
}

/** The first that fits a tree is taken where none is named. */
const formats: Readonly<Record<string, Format>> = {
  nquads: {
    read: (source) => readDump(source, false),
    write: async (target, { of, isGzip = false }) => new DumpWriter(streamOf(target), of, { isGzip }),
    mediaType: 'application/n-quads',
    textExtension: 'nq',
  },
  trig: {
    read: (source) => readDump(source, true),
    write: async (target, { of, isGzip = false }) => new TriGWriter(streamOf(target), of, { isGzip }),
    mediaType: 'application/trig',
    textExtension: 'trig',
  },
  zip: {
    read: async (source) => folderReader(await treeOf(source)),
    write: async (target, { of }) => new FolderWriter(new ZipSink(streamOf(target)), of),
    mediaType: 'application/zip',
  },
  folder: {
    read: async (source) => folderReader(await treeOf(source)),
    write: async (target, { of }) => new FolderWriter(await sinkOf(target), of),
  },
  archive: {
    read: async (source) => archiveReader(await treeOf(source)),
    write: async (target, { of, storage = of }) =>
      archiveWriter(await sinkOf(target), { storage, container: of, made: new Date().toISOString() }),
    fits: isArchive,
    mediaType: 'application/zip',
  },
  bagit: {
    read: async (source) => bagReader(await treeOf(source)),
    write: async (target, { of }) => new BagWriter(await sinkOf(target), of, new Date()),
    fits: isBag,
    mediaType: 'application/zip',
  },
  css: {
    read: async (source) => cssReader(await treeOf(source)),
    write: async (target, { of }) => new CssWriter(await sinkOf(target), of),
    fits: isCss,
    mediaType: 'application/zip',
  },
  'ro-crate': {
    read: async (source) => crateReader(await treeOf(source)),
    write: async (target, { of }) => new CrateWriter(await sinkOf(target), of, new Date()),
    fits: isCrate,
    mediaType: 'application/zip',
  },
  // A single resource.
  file: { read: async (source) => folderReader(await openFileTree(source.path, basename(nameOf(source))), true) },
};

const namesOf = (what: 'read' | 'write'): string[] => Object.keys(formats).filter((name) => formats[name]![what]);
/** The names of the formats that can be read. */
export const readFormats: readonly string[] = namesOf('read');
/** The names of the formats that can be written. */
export const writeFormats: readonly string[] = namesOf('write');

/** The media type of what a format writes to a stream; `undefined` where it is written to a folder alone. */
export const mediaTypeOfFormat = (name: string): string | undefined =>
  Object.hasOwn(formats, name) ? formats[name]!.mediaType : undefined;

/** The extension of the file of a format that is a single text; `undefined` for those that are made of files. */
export const textExtensionOf = (name: string): string | undefined =>
  Object.hasOwn(formats, name) ? formats[name]!.textExtension : undefined;

/** The format of a file that is a single text, by its name: `dump.nq.gz`; `undefined` for all others. */
export function textFormatOf(file: string, mediaType?: string): string | undefined {
  const dump = dumpKind(file, mediaType);
  return dump && (dump.isTriG ? 'trig' : 'nquads');
}

/**
 * Opens a source.
 * @param format its name; found out from the name and the content where it is missing
 * @throws TransferError for a source that is not there, or of no format that is known
 */
export async function openReader(source: Source, format?: string): Promise<MemberReader> {
  const name = format ?? (await detectFormat(source));
  const read = Object.hasOwn(formats, name) ? formats[name]!.read : undefined;
  if (!read) throw new TransferError(`"${name}" is no format that can be read; there are ${readFormats.join(', ')}.`);
  return read(source);
}

/** Opens a target. @throws TransferError for a format that cannot be written, or not there */
export async function openWriter(format: string, target: WrittenTo, options: WriteOptions): Promise<Writer> {
  const write = Object.hasOwn(formats, format) ? formats[format]!.write : undefined;
  if (!write)
    throw new TransferError(`"${format}" is no format that can be written; there are ${writeFormats.join(', ')}.`);
  return write(target, options);
}

/** The name of the format of a source. @throws TransferError where it is none of those that are known */
export async function detectFormat(source: Source): Promise<string> {
  const text = textFormatOf(nameOf(source), source.mediaType);
  const isFolder = await isFolderAt(source.path);
  if (text !== undefined && !isFolder) return text;
  if (!isFolder && !(await isZip(source.path))) {
    const type = mediaTypeOf(nameOf(source));
    // Whether a page is meant as such, or for what it says, somebody has to say.
    if (rdfTypeOf(type) || (documentTypeOf(type) && !isPage(type))) return 'file';
    throw new TransferError(
      `${nameOf(source)} is neither a folder, a ZIP, a dump (.nq, .trig) nor another file of RDF; name its format: ${readFormats.join(', ')}.`,
    );
  }
  const tree = await treeOf(source);
  try {
    for (const [name, { fits }] of Object.entries(formats)) if (await fits?.(tree)) return name;
  } finally {
    await tree.close();
  }
  return isFolder ? 'folder' : 'zip';
}

async function readDump(source: Source, isTriG: boolean): Promise<MemberReader> {
  const { path, mediaType } = source;
  const file = await fileSource(path, mediaType);
  const isGzip = /^(?:1f8b)/.test(await startOf(path));
  return dumpReader({ ...file, name: nameOf(source) }, { isTriG, isGzip });
}

const nameOf = ({ path, name }: Source): string => name ?? basename(path);

/** The tree of a folder, or of a ZIP. */
export const treeOf = async ({ path }: Source): Promise<FileTree> =>
  (await isFolderAt(path)) ? openFolderTree(path) : openZipTree(path);

/** Files in a folder, or in a ZIP that is sent. */
export const sinkOf = async (target: WrittenTo): Promise<TreeSink> =>
  'folder' in target ? openFolderSink(target.folder) : new ZipSink(target.stream);

function streamOf(target: WrittenTo): Writable {
  if ('stream' in target) return target.stream;
  throw new TransferError('This format is a single file; name a file, not a folder.');
}

async function isFolderAt(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (cause) {
    throw new TransferError(`${path} cannot be read (${(cause as NodeJS.ErrnoException).code}).`, { cause });
  }
}

/** Whether a file begins as ZIPs do; one without files has only its end. */
const isZip = async (path: string): Promise<boolean> => /^504b(?:0304|0506)/.test(await startOf(path));

/** The first four bytes (hexadecimal). */
async function startOf(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead).toString('hex');
  } finally {
    await file.close();
  }
}
