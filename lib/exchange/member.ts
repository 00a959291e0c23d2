/** Members: the unit of exchange between format readers, imports, exports and format writers. */
import type { Quad } from '@rdfjs/types';
import type { ClientLinks } from '../resources/linkset.js';
import type { Rewrite } from '../storage/keys/iri-rewriting.js';
import { CommandError } from '../tools/errors.js';

interface Common {
  /**
   * The path below the target or exported container, with percent-encoded segments as in an IRI: `a/b%20c.ttl`. Containers end
   * with a slash. The empty path is the container itself.
   */
  readonly path: string;
  /** The position in the source, for messages: `data/a.ttl` or `dump.nq:1731`. */
  readonly source: string;
  /** The client-managed metadata, including declared types as `type`. IRIs are absolute. */
  readonly links?: ClientLinks;
  readonly acl?: AccessList;
  /** Creation time in milliseconds since the epoch. */
  readonly created?: number;
  readonly modified?: number;
  /** The owner's IRI, if the format has one. */
  readonly owner?: string;
}

/** The resource's own Web Access Control list. IRIs are absolute. */
export type AccessList = Pick<GraphMember, 'quads' | 'prefixes'>;

/** A container, which may already exist. */
export interface ContainerMember extends Common {
  readonly kind: 'container';
}

/** An RDF resource, or a part of one: later parts are added to it. */
export interface GraphMember extends Common {
  readonly kind: 'rdf';
  /** Triples. The graph component is ignored. IRIs are absolute, resolved against the future IRI of the resource. */
  readonly quads: readonly Quad[];
  /** Their GSPO keys, if they come from the store. */
  readonly keys?: readonly string[];
  readonly prefixes: Readonly<Record<string, string>>;
  /** The next member is another part of the same graph. Parts are limited to about ten thousand triples. */
  readonly hasMore?: boolean;
}

/** A JSON or binary resource. */
export interface BytesMember extends Common {
  readonly kind: 'bytes';
  /** The media type, with its parameters. */
  readonly mediaType: string;
  /** Size in bytes, if known. */
  readonly size?: number;
  /** SHA-256 in base64, if known. */
  readonly sha256?: string;
  /** Returns the content. Must be called at most once, before the next member is requested. */
  open(): AsyncIterable<Uint8Array>;
}

/** A skipped item of the source, for the report. */
export interface LeftOut {
  readonly kind: 'left-out';
  readonly source: string;
  /** The reason, as a sentence. */
  readonly why: string;
}

/**
 * State of a component, such as a grant or a subscription. Only Quadpod's own archive has it. The value is the stored one. Keys
 * and values contain IRIs of the exported storage.
 */
export interface StateMember {
  readonly kind: 'state';
  readonly source: string;
  readonly key: string;
  readonly value: string;
}

/** Key spaces of component state created by clients. */
export const stateSpaces = ['access-grants', 'access-requests', 'subscriptions'];

export type ResourceMember = ContainerMember | GraphMember | BytesMember;
export type Member = ResourceMember | StateMember;

/** Members of the given kinds. */
export type MemberOf<Kind extends Member['kind']> = Extract<Member, { readonly kind: Kind }>;

/** A member with the cursor after it, for continuing an import after a crash. Cursors are opaque to all but the reader. */
export interface ReadStep {
  readonly member: Member | LeftOut;
  /** The argument of `read` for continuing after this member. Must be requested before the step after the next one. */
  readonly cursor: string;
  /** Bytes of the source read so far, for the progress. */
  readonly bytes: number;
}

/** Options of an import that readers need. */
export interface MemberOptions {
  /** The IRI of the target container, with a trailing slash. */
  readonly into: string;
  /** Rewrites of IRIs in graphs, graph names, links and access lists. The first match applies. */
  readonly rewrite: readonly Rewrite[];
  /** Continue after the member whose step had this cursor. */
  readonly cursor?: string;
}

/** Reads one format. */
export interface MemberReader {
  /** Size of the source in bytes, if known in advance. */
  readonly total: number | undefined;
  /** Yields the members. Containers precede their members, but may be absent. @throws TransferError with the file and the line */
  read(options: MemberOptions): AsyncIterable<ReadStep>;
  close(): Promise<void>;
}

/** Writes one format. Members are written in the order of their IRIs, containers before their members. */
export interface Writer {
  /** Writes a member. Returns when the next one may be written (backpressure). */
  write(member: Member): Promise<void>;
  /** Writes the end. Without it, the output is incomplete. */
  end(): Promise<void>;
}

/** Reading the source or writing the target failed. Earlier members are complete. The message is for the user. */
export class TransferError extends CommandError {
  override readonly name = 'TransferError';
}

/** A syntax error, at the line in the message. All members before it are complete. */
export class SyntaxFault extends TransferError {}
