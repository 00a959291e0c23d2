/**
 * What travels between the readers of formats, the import and the export, and the writers of formats. It must not know any format,
 * nor the store.
 */
import type { Quad } from '@rdfjs/types';

interface Common {
  /**
   * Where it lies below the container that is imported into or exported, as in an IRI, its segments percent-encoded: `a/b%20c.ttl`.
   * Containers end with a slash; the empty path is that container itself.
   */
  readonly path: string;
  /** Where it was read, for people: `data/a.ttl` or `dump.nq:1731`. */
  readonly source: string;
  /** Links of the linkset that clients manage, as JSON (RFC 9264, one context without its anchor). */
  readonly links?: Readonly<Record<string, unknown>>;
  /** Its access control list: triples that are relative to the resource. */
  readonly acl?: readonly Quad[];
  /** Milliseconds since the epoch. */
  readonly created?: number;
  readonly modified?: number;
  /** Who owns it, where the format says so. */
  readonly owner?: string;
}

/** A container, which may have been there already. */
export interface ContainerMember extends Common {
  readonly kind: 'container';
}

/** An RDF resource, or a part of one: parts of one graph that come later are added to it. */
export interface GraphMember extends Common {
  readonly kind: 'rdf';
  /** In the default graph; IRIs absolute, against the IRI that the resource will have. */
  readonly quads: readonly Quad[];
  readonly prefixes: Readonly<Record<string, string>>;
}

/** A JSON or binary resource. */
export interface BytesMember extends Common {
  readonly kind: 'bytes';
  readonly mediaType: string;
  /** Bytes, where it is known. */
  readonly size?: number;
  /** The content; to be asked for once, before the next member is. */
  open(): AsyncIterable<Uint8Array>;
}

/** Something that a reader leaves out, and tells of in the report. */
export interface LeftOut {
  readonly kind: 'left-out';
  readonly source: string;
  /** A sentence for people. */
  readonly why: string;
}

export type Member = ContainerMember | GraphMember | BytesMember;

/** Where a reader is, so that reading can go on behind it after a crash: opaque to all but the reader. */
export interface ReadStep {
  readonly member: Member | LeftOut;
  /** What `read` is given to go on behind this member. */
  readonly cursor: string;
  /** Bytes of the source that were read so far, for the progress. */
  readonly bytes: number;
}

/** What a reader needs to know of the import. */
export interface ReadOptions {
  /** The IRI of the container that is imported into, with a slash at its end. */
  readonly into: string;
  /** IRIs that begin with `from` begin with `to` instead: in graphs, names of graphs, links and lists. */
  readonly rewrite: readonly { readonly from: string; readonly to: string }[];
  /** Go on behind the member whose step had this cursor. */
  readonly cursor?: string;
}

/** Reads one format. Its errors name the file and the line, and are for people. */
export interface Reader {
  /** Bytes of the source, where it can be said beforehand. */
  readonly total: number | undefined;
  read(options: ReadOptions): AsyncIterable<ReadStep>;
  close(): Promise<void>;
}

/** The source cannot be read any further; what came before is whole. */
export class TransferError extends Error {}
