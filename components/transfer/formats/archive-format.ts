/**
 * The format of Quadpod's own archives: a head, members as lines of JSON in parts, longer contents as files of their own, and a trailer,
 * which names the parts and their digests.
 */

import { type FileTree, objectOfFile, requiredFile, TransferError } from '../../../lib/component/exchange.js';
import { isObject } from '../../../lib/component/fields.js';
import { isAbsoluteIri } from '../../../lib/component/vocabulary.js';

/** The first file of an archive. */
export interface ArchiveHead {
  /** The storage's IRI, with a slash at its end. */
  readonly storage: string;
  /** The container that was exported, likewise. */
  readonly container: string;
  /** ISO 8601. */
  readonly made: string;
}

export interface ArchivePart {
  readonly bytes: number;
  /** Base64. */
  readonly sha256: string;
}

/** The last file of an archive: without it the archive is incomplete. */
export interface ArchiveTrailer {
  readonly parts: readonly ArchivePart[];
  readonly members: number;
  readonly triples: number;
  /** Contents that are files of their own. */
  readonly files: number;
}

export const headFile = 'quadpod-archive.json';
export const trailerFile = 'quadpod-archive-end.json';
export const partFile = (index: number): string => `members/${String(index + 1).padStart(8, '0')}.jsonl`;
/** The file of a content: a thousand in each folder. */
export const blobFile = (index: number): string => `blobs/${Math.floor(index / 1_000)}/${index}`;

const version = 1;

/** The bytes after which a written part ends, at the next line; the most of a part that is read; the most of the triples in one line. */
export const [fullPart, longestPart, longestTriples] = [1 << 20, 96 << 20, 1 << 20];
/** Up to so many bytes, a content is in its line; a longer one is a file. */
export const longestInline = 8 << 10;
/** The most bytes of the head, and of the trailer: enough for an archive of some hundred gigabytes. */
const [longestHead, longestTrailer] = [64 << 10, 64 << 20];

export const headBytes = ({ storage, container, made }: ArchiveHead): Buffer =>
  Buffer.from(`${JSON.stringify({ 'quadpod-archive': version, storage, container, made }, undefined, 2)}\n`);

export const trailerBytes = (trailer: ArchiveTrailer): Buffer => Buffer.from(`${JSON.stringify(trailer)}\n`);

/** @throws TransferError for what is no archive, or one of a later version */
export async function readHead(tree: FileTree): Promise<ArchiveHead> {
  const head = await objectOfFile(await requiredFile(tree, headFile, 'this is no archive of Quadpod'), longestHead);
  const found = head['quadpod-archive'];
  if (typeof found === 'number' && found > version)
    throw new TransferError(`${headFile}: The archive is of version ${found}; this Quadpod reads version ${version}.`);
  const { storage, container, made } = head;
  if (found !== version || !isBase(storage) || !isBase(container) || typeof made !== 'string')
    throw new TransferError(`${headFile}: It is not the head of an archive of Quadpod.`);
  return { storage, container, made };
}

const isBase = (value: unknown): value is string =>
  typeof value === 'string' && isAbsoluteIri(value) && value.endsWith('/');

/**
 * The trailer, when all parts that it names are there.
 * @throws TransferError
 */
export async function readTrailer(tree: FileTree): Promise<ArchiveTrailer> {
  const trailer = await objectOfFile(await requiredFile(tree, trailerFile, 'the archive is cut off'), longestTrailer);
  const { parts, members, triples, files } = trailer;
  if (!Array.isArray(parts) || !parts.every(isPart) || ![members, triples, files].every(isCount))
    throw new TransferError(`${trailerFile}: It is not the end of an archive of Quadpod.`);
  for (const [index, { bytes }] of parts.entries()) {
    const file = await requiredFile(tree, partFile(index), 'the archive is not whole');
    if (file.size !== bytes) throw new TransferError(`${file.path} has ${file.size} bytes, but ${bytes} were written.`);
  }
  return trailer as unknown as ArchiveTrailer;
}

const isPart = (part: unknown): part is ArchivePart =>
  isObject(part) && isCount(part['bytes']) && typeof part['sha256'] === 'string';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
