/** Interface of exchange formats. A format reads and writes members, and has no access to the storage. */
import type { Writable } from 'node:stream';
import type { Quad } from '@rdfjs/types';
import type { Rewrite } from '../storage/keys/iri-rewriting.js';
import type { FileSource } from './byte-source.js';
import type { FileTree, TreeFile, TreeSink } from './file-tree.js';
import type { GraphMember, MemberReader, ResourceMember, Writer } from './member.js';

/** Client-managed links of a resource: members of its link context object (RFC 9264 4.2). */
export type Links = NonNullable<ResourceMember['links']>;

/** Part of a graph in a file: at most about ten thousand triples. */
export interface FilePart extends Pick<GraphMember, 'quads' | 'prefixes'> {
  /** True if the file has further parts. */
  readonly hasMore: boolean;
  /** True if the next part belongs to the same graph. */
  readonly isOpen: boolean;
  /** Count of triples in this part and all earlier parts. */
  readonly count: number;
  /** Text that can be passed to `rdfParts` to continue after this part. */
  readonly known: string;
}

/** Functions of the server that formats share. They are parameters, so that format modules import no module of the server. */
export interface FormatTools {
  /** Reads a directory or a ZIP file: RDF files as graphs, other files as bytes. */
  readFolder(tree: FileTree): MemberReader;
  /**
   * Parses an RDF file in parts, and rewrites its IRIs.
   * @param known value of `known` of an earlier part, to continue after it
   * @throws SyntaxFault with file and line, TransferError if the earlier parts of the file have changed
   */
  rdfParts(
    file: {
      readonly file: TreeFile;
      readonly type: string;
      readonly base: string;
      readonly rewrite: readonly Rewrite[];
    },
    known?: string,
  ): AsyncIterable<FilePart>;
  /** Returns a function that applies the first matching rewrite rule to an IRI. */
  rewriter(rules: readonly Rewrite[]): (iri: string) => string;
  /** Resolves an IRI reference (RFC 3986 5.2). */
  resolveIri(reference: string, base: string): string;
  readonly links: {
    /** Validates a link context object. Drops relations that the server manages. @throws Error if the object is not valid */
    read(object: unknown, iri: string): Links;
    types(links: Links): readonly string[];
    values(
      links: Links,
      iri: string,
    ): readonly (readonly [relation: string, value: { readonly href?: string; readonly literal?: string }])[];
    quads(links: Links, iri: string): Quad[];
  };
}

/** Functions of the server with which formats write files. */
export interface WriteTools extends FormatTools {
  /** Returns a writer for files that `readFolder` can read. @param of IRI of the exported container */
  folderWriter(sink: TreeSink, of: string): Writer;
  /** Returns a writer of Turtle files. Parts of a graph become one file. @param of IRI of the exported container */
  turtleFiles(
    sink: TreeSink,
    of: string,
  ): { write(member: GraphMember, fileOf: (first: GraphMember) => string): Promise<void> };
  writeTurtle(
    quads: readonly Quad[],
    options: { readonly base: string; readonly prefixes: GraphMember['prefixes'] },
  ): string;
}

export interface WriteOptions {
  /** IRI of the exported container, with a trailing slash. */
  readonly of: string;
  /** IRI of the storage. */
  readonly storage: string;
  /** True if the output is compressed with gzip (only for formats with a single text). */
  readonly isGzip: boolean;
}

/** Document that is parsed at once. */
export interface Document {
  readonly bytes: Uint8Array;
  /** Media type, without parameters. */
  readonly type: string;
  /** Base IRI for relative references. */
  readonly base: string;
}

/** Parses a document. @throws TransferError with the reason as message */
export type ParseDocument = (document: Document) => Promise<Pick<GraphMember, 'quads' | 'prefixes'>>;

export interface Format {
  /** Description for messages: `the data directory of a Community Solid Server`. */
  readonly about: string;
  /** Media type of responses. Absent if the format can only be written to a directory. */
  readonly mediaType?: string;
  /** File extensions of a format with a single text, before an optional `.gz`. Written files have the first extension. */
  readonly endings?: readonly string[];
  /** True if a written ZIP file contains one directory with the name of the ZIP file, and everything else in it. */
  readonly hasFolder?: boolean;
  /** Returns true if a directory or a ZIP file is certainly in this format. */
  fits?(tree: FileTree): Promise<boolean>;
  /** Reads a directory or a ZIP file. */
  read?(tree: FileTree, tools: FormatTools): MemberReader;
  /** Reads a single file. @param parserOf returns the parser for a media type of another format, see `documents` */
  readFile?(file: FileSource, parserOf: (type: string) => ParseDocument | undefined): Promise<MemberReader>;
  /** Writes to a directory, or to a ZIP file in a response. */
  write?(sink: TreeSink, options: WriteOptions, tools: WriteTools): Writer;
  /** Writes a single text, and ends the stream. */
  writeText?(out: Writable, options: WriteOptions): Writer;
  /** Media types of documents that the format can parse as RDF when a single file is imported. */
  readonly documents?: { readonly types: readonly string[]; readonly parse: ParseDocument };
}

/** Exports of a format module, which is loaded from the URL that a component returns: formats by their names in `--format`. */
export interface FormatModule {
  readonly formats: Readonly<Record<string, Format>>;
}
