/** What an exchange format is. Members travel between it and the storage, which it does not know. */
import type { Writable } from 'node:stream';
import type { Quad } from '@rdfjs/types';
import type { FileSource } from './byte-source.js';
import type { FileTree, TreeSink } from './file-tree.js';
import type { MemberReader, Writer } from './member.js';

export interface WriteOptions {
  /** The IRI of the container that is exported, with a slash at its end. */
  readonly of: string;
  /** The IRI of the storage. */
  readonly storage: string;
  /** By gzip, where the format is a single text. */
  readonly isGzip: boolean;
}

/** A document that is read at once. */
export interface Document {
  readonly bytes: Uint8Array;
  /** The media type, without parameters. */
  readonly type: string;
  /** What relative references resolve against. */
  readonly base: string;
}

/** @throws TransferError whose message says why it cannot be read */
export type ParseDocument = (document: Document) => Promise<{
  readonly quads: readonly Quad[];
  readonly prefixes: Readonly<Record<string, string>>;
}>;

export interface Format {
  /** What it is, for people: `the data folder of a Community Solid Server`. */
  readonly about: string;
  /** What it is when it is sent; absent: it is written to a folder alone. */
  readonly mediaType?: string;
  /** The endings of its file, where that is a single text, which may be one of gzip. The first is that of what is written. */
  readonly endings?: readonly string[];
  /** Whether a folder or a ZIP is surely of this format. */
  fits?(tree: FileTree): Promise<boolean>;
  /** Reads a folder or a ZIP. */
  read?(tree: FileTree): MemberReader;
  /** Reads a single file. @param parserOf of other formats, see `documents` */
  readFile?(file: FileSource, parserOf: (type: string) => ParseDocument | undefined): Promise<MemberReader>;
  /** Writes files into a folder, or a ZIP that is sent. */
  write?(sink: TreeSink, options: WriteOptions): Writer;
  /** Writes a single text, and ends the stream. */
  writeText?(out: Writable, options: WriteOptions): Writer;
  /** Documents that are read as RDF where one is imported by itself. */
  readonly documents?: { readonly types: readonly string[]; readonly parse: ParseDocument };
}

/** What a module exports whose URL a component gives: formats by the names that `--format` has for them. */
export interface FormatModule {
  readonly formats: Readonly<Record<string, Format>>;
}
