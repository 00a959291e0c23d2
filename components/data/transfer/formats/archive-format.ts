/**
 * The format of Quadpod archives: a head, members as lines of JSON in parts, longer contents as separate files, and a trailer
 * with the names and digests of the parts.
 */

import type { Quad } from '@rdfjs/types';
import type { DataFactory } from 'rdf-data-factory';
import { type FileTree, objectOfFile, requiredFile } from '../../../../lib/exchange/file-tree.js';
import {
  type AccessList,
  type BytesMember,
  type ContainerMember,
  type GraphMember,
  type Member,
  type ResourceMember,
  TransferError,
} from '../../../../lib/exchange/member.js';
import { isAbsoluteIri } from '../../../../lib/rdf/iri.js';
import { boundedPrefixes } from '../../../../lib/rdf/prefixes.js';
import { readContextObject } from '../../../../lib/resources/linkset.js';
import { IriRewriting, type Rewrite } from '../../../../lib/storage/keys/iri-rewriting.js';
import { parseMediaType } from '../../../../lib/tools/fields/media-type.js';
import { isObject } from '../../../../lib/tools/json/exact-json.js';
import { quadLine, quadLines, readQuadLines } from '../../exchange/text-files.js';

/** The first file of an archive. */
export interface ArchiveHead {
  /** The IRI of the storage, with a trailing slash. */
  readonly storage: string;
  /** The exported container, with a trailing slash. */
  readonly container: string;
  /** Time of the export, in ISO 8601. */
  readonly made: string;
}

export interface ArchivePart {
  readonly bytes: number;
  /** SHA-256 of the part, in base64. */
  readonly sha256: string;
}

/** The last file of an archive: without it, the archive is incomplete. */
export interface ArchiveTrailer {
  readonly parts: readonly ArchivePart[];
  readonly members: number;
  readonly triples: number;
  /** Count of contents that are stored as separate files. */
  readonly files: number;
}

export const headFile = 'quadpod-archive.json';
export const trailerFile = 'quadpod-archive-end.json';
export const partFile = (index: number): string => `members/${String(index + 1).padStart(8, '0')}.jsonl`;
/** Returns the file name of a content. Each directory has a thousand files. */
export const blobFile = (index: number): string => `blobs/${Math.floor(index / 1_000)}/${index}`;

const version = 1;

/**
 * `fullPart`: bytes after which a written part ends at the next line. `longestPart`: maximum bytes of a part that is read.
 * `longestTriples`: maximum length of the triples in a line.
 */
export const [fullPart, longestPart, longestTriples] = [1 << 20, 96 << 20, 1 << 20];
/** Maximum size of content stored in its line, in bytes. Longer content is a separate file. */
export const longestInline = 8 << 10;
/** Maximum size of the head and of the trailer in bytes: enough for an archive of some hundred gigabytes. */
const [longestHead, longestTrailer] = [64 << 10, 64 << 20];

export const headBytes = ({ storage, container, made }: ArchiveHead): Buffer =>
  Buffer.from(`${JSON.stringify({ 'quadpod-archive': version, storage, container, made }, undefined, 2)}\n`);

export const trailerBytes = (trailer: ArchiveTrailer): Buffer => Buffer.from(`${JSON.stringify(trailer)}\n`);

/** Reads the head of an archive. @throws TransferError if the tree is not an archive, or one of a later version */
export async function readHead(tree: FileTree): Promise<ArchiveHead> {
  const head = await objectOfFile(await requiredFile(tree, headFile, 'this is not a Quadpod archive'), longestHead);
  const found = head['quadpod-archive'];
  if (typeof found === 'number' && found > version)
    throw new TransferError(`${headFile}: The archive has version ${found}; this Quadpod reads version ${version}.`);
  const { storage, container, made } = head;
  if (found !== version || !isBase(storage) || !isBase(container) || typeof made !== 'string')
    throw new TransferError(`${headFile}: It is not the head of a Quadpod archive.`);
  return { storage, container, made };
}

const isBase = (value: unknown): value is string =>
  typeof value === 'string' && isAbsoluteIri(value) && value.endsWith('/');

/** Returns the trailer after checking that all its parts exist. @throws TransferError */
export async function readTrailer(tree: FileTree): Promise<ArchiveTrailer> {
  const trailer = await objectOfFile(await requiredFile(tree, trailerFile, 'the archive is truncated'), longestTrailer);
  const { parts, members, triples, files } = trailer;
  if (!Array.isArray(parts) || !parts.every(isPart) || ![members, triples, files].every(isCount))
    throw new TransferError(`${trailerFile}: It is not the trailer of a Quadpod archive.`);
  for (const [index, { bytes }] of parts.entries()) {
    const file = await requiredFile(tree, partFile(index), 'the archive is incomplete');
    if (file.size !== bytes) throw new TransferError(`${file.path} has ${file.size} bytes instead of ${bytes}.`);
  }
  return trailer as unknown as ArchiveTrailer;
}

const isPart = (part: unknown): part is ArchivePart =>
  isObject(part) && isCount(part['bytes']) && typeof part['sha256'] === 'string';
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

export type Line = Readonly<Record<string, unknown>>;

/** Location of a content: in the line, as text or base64, or in a file. */
export type ArchivedContent = { readonly text: string } | { readonly base64: string } | { readonly file: string };

/** Returns the properties common to all lines of resources, or for a container the whole line. */
export const commonLine = ({ path, kind, links, acl, created, modified, owner }: ResourceMember): Line => ({
  path,
  kind,
  created,
  modified,
  owner,
  links,
  acl: acl && { prefixes: acl.prefixes, triples: quadLines(acl.quads) },
});

/** Yields the lines of a graph. No line is much longer than `longestTriples`. */
export function* graphLines(member: GraphMember): Generator<Line> {
  const { path, kind, quads, prefixes, hasMore } = member;
  let start: Line = { ...commonLine(member), prefixes };
  let triples = '';
  for (const quad of quads) {
    const line = quadLine(quad);
    if (triples !== '' && triples.length + line.length > longestTriples) {
      yield { ...start, triples, hasMore: true };
      start = { path, kind };
      triples = '';
    }
    triples += line;
  }
  yield { ...start, triples, hasMore };
}

export const bytesLine = (
  member: BytesMember,
  facts: { size: number; sha256: string },
  content: ArchivedContent,
): Line => ({ ...commonLine(member), mediaType: member.mediaType, ...facts, ...content });

/** A content of an archive: its facts, and a function that opens it. */
export interface OpenedContent {
  readonly size: number;
  readonly sha256: string;
  readonly content: ArchivedContent;
}

/** Reads lines, and rewrites every IRI to the target. */
export class LineReader {
  private readonly rewriting: IriRewriting;

  /** @param place `into` is the target of the import, `rewrites` are applied to IRIs, `factory` creates terms */
  constructor(
    private readonly place: {
      readonly into: string;
      readonly rewrites: readonly Rewrite[];
      readonly factory: DataFactory<Quad>;
    },
    private readonly open: (opened: OpenedContent) => AsyncIterable<Uint8Array>,
  ) {
    this.rewriting = new IriRewriting(place.rewrites);
  }

  /** Returns the member of a line. @throws Error for an invalid line or value. The message is the end of a sentence */
  member(line: Line, source: string): Member {
    if (line['kind'] === 'state') {
      const [key, value] = this.rewriting.entry(text(line, 'key'), text(line, 'value'));
      return { kind: 'state', source, key, value };
    }
    const path = text(line, 'path');
    const isContainer = path === '' || path.endsWith('/');
    const common = { ...this.common(line, path), path, source };
    const { kind } = line;
    if (kind === 'container' && isContainer) return { ...common, kind };
    if (kind === 'rdf' && !isContainer) return this.graph(line, { ...common, kind });
    if (kind === 'bytes' && !isContainer) return this.bytes(line, { ...common, kind });
    throw new Error(`${JSON.stringify(kind)?.slice(0, 100)} is not a valid kind of member for this path.`);
  }

  private common(line: Line, path: string): Omit<ContainerMember, 'kind' | 'path' | 'source'> {
    const { links, owner } = line;
    const common: Record<string, unknown> = {};
    if (links !== undefined) common['links'] = this.rewriting.value(readContextObject(links, this.place.into + path));
    if (line['acl'] !== undefined) {
      const acl = object(line, 'acl');
      common['acl'] = { quads: this.quads(acl), prefixes: this.prefixes(acl) } satisfies AccessList;
    }
    if (owner !== undefined) common['owner'] = this.rewriting.iri(text(line, 'owner'));
    for (const name of ['created', 'modified']) if (line[name] !== undefined) common[name] = count(line, name);
    return common;
  }

  private graph(line: Line, common: Omit<GraphMember, 'quads' | 'prefixes'>): GraphMember {
    const triples = text(line, 'triples');
    // `graphLines` limits the length of lines: a longer line would fill the memory of the thread before a block is full.
    if (triples.length > longestTriples && triples.indexOf('\n') < triples.length - 1)
      throw new Error(`Its triples have ${triples.length} characters; the limit of a line is ${longestTriples}.`);
    const hasMore = line['hasMore'] === true ? { hasMore: true } : {};
    return { ...common, quads: this.quads(line), prefixes: this.prefixes(line), ...hasMore };
  }

  private quads(line: Line): Quad[] {
    return readQuadLines(text(line, 'triples'), this.place.factory);
  }

  private prefixes(line: Line): Readonly<Record<string, string>> {
    if (line['prefixes'] === undefined) return {};
    const found = Object.entries(object(line, 'prefixes')).filter(([, iri]) => typeof iri === 'string');
    return boundedPrefixes(this.rewriting.value(Object.fromEntries(found) as Record<string, string>));
  }

  private bytes(line: Line, common: Omit<BytesMember, 'mediaType' | 'open'>): BytesMember {
    const mediaType = text(line, 'mediaType');
    if (!parseMediaType(mediaType)) throw new Error(`${JSON.stringify(mediaType.slice(0, 100))} is not a media type.`);
    const facts = { size: count(line, 'size'), sha256: text(line, 'sha256') };
    const opened = { ...facts, content: contentOf(line) };
    return { ...common, mediaType, ...facts, open: () => this.open(opened) };
  }
}

function contentOf(line: Line): ArchivedContent {
  if (line['text'] !== undefined) return { text: text(line, 'text') };
  if (line['base64'] !== undefined) return { base64: text(line, 'base64') };
  return { file: text(line, 'file') };
}

function text(line: Line, name: string): string {
  const value = line[name];
  if (typeof value !== 'string') throw new Error(`"${name}" is missing or not a string.`);
  return value;
}

function object(line: Line, name: string): Line {
  const value = line[name];
  if (!isObject(value)) throw new Error(`"${name}" is not an object.`);
  return value;
}

function count(line: Line, name: string): number {
  const value = line[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error(`"${name}" is not a valid number.`);
  return value as number;
}
