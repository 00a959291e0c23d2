/** Members: resources and states, exchanged by format readers, imports, exports and format writers. */
import type { Quad } from '@rdfjs/types';
import type { ClientLinks } from '../resources/linkset.js';
import type { Rewrite } from '../storage/keys/iri-rewriting.js';
import { CommandError } from '../tools/errors.js';

interface Common {
  /**
   * Path below the target or the exported container, percent-encoded as in an IRI: `a/b%20c.ttl`. Containers end with a slash.
   * The path of the container itself is empty.
   */
  readonly path: string;
  /** Position in the source, for messages: `data/a.ttl` or `dump.nq:1731`. */
  readonly source: string;
  /** Client-managed links, including declared types as `type`. IRIs are absolute. */
  readonly links?: ClientLinks;
  readonly acl?: AccessList;
  /** Creation time in milliseconds since the epoch. */
  readonly created?: number;
  readonly modified?: number;
  /** IRI of the owner, if the format has owners. */
  readonly owner?: string;
}

/** Web Access Control list of the resource itself. IRIs are absolute. */
export type AccessList = Pick<GraphMember, 'quads' | 'prefixes'>;

/** Container, which may already exist. */
export interface ContainerMember extends Common {
  readonly kind: 'container';
}

/** RDF resource, or one of its parts. Later parts are added to the same graph. */
export interface GraphMember extends Common {
  readonly kind: 'rdf';
  /** Triples, whose graph is ignored. IRIs are absolute, resolved against the future IRI of the resource. */
  readonly quads: readonly Quad[];
  /** GSPO keys of the triples, if they come from the store. */
  readonly keys?: readonly string[];
  readonly prefixes: Readonly<Record<string, string>>;
  /** True if the next member is another part of the same graph. A part has at most about ten thousand triples. */
  readonly hasMore?: boolean;
}

/** JSON or binary resource. */
export interface BytesMember extends Common {
  readonly kind: 'bytes';
  /** Media type, with its parameters. */
  readonly mediaType: string;
  /** Size in bytes, if known. */
  readonly size?: number;
  /** SHA-256 in base64, if known. */
  readonly sha256?: string;
  /** Returns the content. Call it at most once, before the next member is requested. */
  open(): AsyncIterable<Uint8Array>;
}

/** Item of the source that was skipped, for the report. */
export interface LeftOut {
  readonly kind: 'left-out';
  readonly source: string;
  /** Reason why the item was skipped, as a sentence. */
  readonly why: string;
}

/**
 * State of a component, such as a grant or a subscription, as stored. Only Quadpod's own archive format contains such members.
 * Keys and values contain IRIs of the exported storage.
 */
export interface StateMember {
  readonly kind: 'state';
  readonly source: string;
  readonly key: string;
  readonly value: string;
}

/** Entry spaces with component state that clients create. */
export const stateSpaces = ['access-grants', 'access-requests', 'subscriptions'];

export type ResourceMember = ContainerMember | GraphMember | BytesMember;
export type Member = ResourceMember | StateMember;

/** Members of certain kinds. */
export type MemberOf<Kind extends Member['kind']> = Extract<Member, { readonly kind: Kind }>;

/** Member, and the cursor after it. After a crash, an import continues at the cursor, which only the reader interprets. */
export interface ReadStep {
  readonly member: Member | LeftOut;
  /** Cursor to continue after this member, passed to `read`. Must be read before the step after the next one is requested. */
  readonly cursor: string;
  /** Count of source bytes that were read so far, to show the progress. */
  readonly bytes: number;
}

/** Options of an import that concern the reader. */
export interface MemberOptions {
  /** IRI of the target container, with a trailing slash. */
  readonly into: string;
  /** Rewrite rules for IRIs in graphs, graph names, links and ACLs. The first matching rule applies. */
  readonly rewrite: readonly Rewrite[];
  /** Cursor of the member after which to continue. */
  readonly cursor?: string;
}

/** Reader of one format. */
export interface MemberReader {
  /** Size of the source in bytes, if known before reading. */
  readonly total: number | undefined;
  /** Yields the members. Containers come before their members, but may be missing. @throws TransferError with file and line */
  read(options: MemberOptions): AsyncIterable<ReadStep>;
  close(): Promise<void>;
}

/** Writer of one format. Members are written in the order of their IRIs, containers before their members. */
export interface Writer {
  /** Writes a member. Resolves when the next member can be written (backpressure). */
  write(member: Member): Promise<void>;
  /** Completes the output. */
  end(): Promise<void>;
}

/** The source could not be read, or the target could not be written. Earlier members are complete. The message is for users. */
export class TransferError extends CommandError {
  override readonly name = 'TransferError';
}

/** Syntax error, with the line in the message. All earlier members are complete. */
export class SyntaxFault extends TransferError {}
