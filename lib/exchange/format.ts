/** The interface of an exchange format. It reads and writes members, and does not know the storage. */
import type { Writable } from 'node:stream';
import type { FileSource } from './byte-source.js';
import type { FileTree, TreeSink } from './file-tree.js';
import type { GraphMember, MemberReader, Writer } from './member.js';

export interface WriteOptions {
  /** The IRI of the container that is exported, with a slash at its end. */
  readonly of: string;
  /** The IRI of the storage. */
  readonly storage: string;
  /** The output is compressed by gzip; only for a format that is a single text. */
  readonly isGzip: boolean;
}

/** A document that is parsed as a whole. */
export interface Document {
  readonly bytes: Uint8Array;
  /** The media type, without parameters. */
  readonly type: string;
  /** What relative references resolve against. */
  readonly base: string;
}

/** @throws TransferError whose message says why it cannot be read */
export type ParseDocument = (document: Document) => Promise<Pick<GraphMember, 'quads' | 'prefixes'>>;

export interface Format {
  /** A description for messages: `the data folder of a Community Solid Server`. */
  readonly about: string;
  /** The media type when it is sent; absent: it can only be written to a folder. */
  readonly mediaType?: string;
  /** For a format that is a single text: the extensions of its file, before an optional `.gz`. Written files have the first. */
  readonly endings?: readonly string[];
  /** Whether a folder or a ZIP is certainly of this format. */
  fits?(tree: FileTree): Promise<boolean>;
  /** Reads a folder or a ZIP. */
  read?(tree: FileTree): MemberReader;
  /** Reads a single file. @param parserOf of other formats, see `documents` */
  readFile?(file: FileSource, parserOf: (type: string) => ParseDocument | undefined): Promise<MemberReader>;
  /** Writes files into a folder, or a ZIP that is sent. */
  write?(sink: TreeSink, options: WriteOptions): Writer;
  /** Writes a single text, and ends the stream. */
  writeText?(out: Writable, options: WriteOptions): Writer;
  /** Types of documents that are read as RDF when a single one is imported. */
  readonly documents?: { readonly types: readonly string[]; readonly parse: ParseDocument };
}

/** The exports of a module whose URL a component provides: formats by their names for `--format`. */
export interface FormatModule {
  readonly formats: Readonly<Record<string, Format>>;
}
