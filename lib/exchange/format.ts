/** The interface of an exchange format. A format reads and writes members and does not know the storage. */
import type { Writable } from 'node:stream';
import type { Quad } from '@rdfjs/types';
import type { Rewrite } from '../storage/keys/iri-rewriting.js';
import type { FileSource } from './byte-source.js';
import type { FileTree, TreeFile, TreeSink } from './file-tree.js';
import type { GraphMember, MemberReader, ResourceMember, Writer } from './member.js';

/** Links of a resource: the members of its link context object (RFC 9264 4.2) that clients manage. */
export type Links = NonNullable<ResourceMember['links']>;

/** A part of the graphs of a file: at most about ten thousand triples. */
export interface FilePart extends Pick<GraphMember, 'quads' | 'prefixes'> {
  /** The file has further parts. */
  readonly hasMore: boolean;
  /** The next part belongs to the same graph. */
  readonly isOpen: boolean;
  /** Number of triples of this part and of all earlier parts. */
  readonly count: number;
  /** Continues after this part when it is passed to `rdfParts`. */
  readonly known: string;
}

/** Functions of the server that formats share. They are passed in, so that a format module loads nothing of the server. */
export interface FormatTools {
  /** Reads a directory or a ZIP: RDF files as graphs, everything else as bytes. */
  readFolder(tree: FileTree): MemberReader;
  /**
   * Parses an RDF file in parts and rewrites its IRIs.
   * @param known the `known` of an earlier part to continue after
   * @throws SyntaxFault with the file and the line, TransferError if the earlier parts have changed
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
    /** Validates a link context object. Drops relations that the server manages. @throws Error if it is not valid */
    read(object: unknown, iri: string): Links;
    types(links: Links): readonly string[];
    values(
      links: Links,
      iri: string,
    ): readonly (readonly [relation: string, value: { readonly href?: string; readonly literal?: string }])[];
    quads(links: Links, iri: string): Quad[];
  };
}

/** Functions of the server that formats share for writing. */
export interface WriteTools extends FormatTools {
  /** Writes the files that `readFolder` reads. @param of the IRI of the exported container */
  folderWriter(sink: TreeSink, of: string): Writer;
  /** Writes graphs as Turtle files. Parts of a graph become one file. @param of the IRI of the exported container */
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
  /** The IRI of the exported container, with a trailing slash. */
  readonly of: string;
  /** The IRI of the storage. */
  readonly storage: string;
  /** The output is compressed with gzip (single-text formats only). */
  readonly isGzip: boolean;
}

/** A document that is parsed as a whole. */
export interface Document {
  readonly bytes: Uint8Array;
  /** The media type, without parameters. */
  readonly type: string;
  /** The base IRI of relative references. */
  readonly base: string;
}

/** @throws TransferError with the reason in its message */
export type ParseDocument = (document: Document) => Promise<Pick<GraphMember, 'quads' | 'prefixes'>>;

export interface Format {
  /** A description for messages: `the data folder of a Community Solid Server`. */
  readonly about: string;
  /** The media type in responses. Absent: it can only be written to a directory. */
  readonly mediaType?: string;
  /** For single-text formats: the file extensions, before an optional `.gz`. Written files have the first. */
  readonly endings?: readonly string[];
  /** A written ZIP has one directory at its top, with the name of the ZIP, in which everything is. */
  readonly hasFolder?: boolean;
  /** Returns true if a directory or a ZIP is certainly of this format. */
  fits?(tree: FileTree): Promise<boolean>;
  /** Reads a directory or a ZIP. */
  read?(tree: FileTree, tools: FormatTools): MemberReader;
  /** Reads a single file. @param parserOf parsers of other formats, see `documents` */
  readFile?(file: FileSource, parserOf: (type: string) => ParseDocument | undefined): Promise<MemberReader>;
  /** Writes files to a directory, or to a ZIP in a response. */
  write?(sink: TreeSink, options: WriteOptions, tools: WriteTools): Writer;
  /** Writes a single text and ends the stream. */
  writeText?(out: Writable, options: WriteOptions): Writer;
  /** Types of documents that are read as RDF when a single file is imported. */
  readonly documents?: { readonly types: readonly string[]; readonly parse: ParseDocument };
}

/** The exports of a format module, loaded from a component's URL: formats by their names for `--format`. */
export interface FormatModule {
  readonly formats: Readonly<Record<string, Format>>;
}
