/** Members: what readers of formats give to an import, and an export to writers of formats. */
import type { Quad } from '@rdfjs/types';
import { CommandError } from '../errors.js';
import type { ClientLinks } from '../resources/linkset.js';
import type { Rewrite } from '../storage/keys/iri-rewriting.js';

interface Common {
  /**
   * Its path below the container that is imported into or exported, as in an IRI, its segments percent-encoded: `a/b%20c.ttl`.
   * Containers end with a slash; the empty path is that container itself.
   */
  readonly path: string;
  /** The place where it was read, for messages: `data/a.ttl` or `dump.nq:1731`. */
  readonly source: string;
  /** The metadata that clients manage, declared types as `type` among it; IRIs are absolute. */
  readonly links?: ClientLinks;
  readonly acl?: AccessList;
  /** Milliseconds since the epoch. */
  readonly created?: number;
  readonly modified?: number;
  /** The subject that owns it, where the format says so. */
  readonly owner?: string;
}

/** A Web Access Control list of the resource's own; IRIs are absolute. */
export type AccessList = Pick<GraphMember, 'quads' | 'prefixes'>;

/** A container, which may have been there already. */
export interface ContainerMember extends Common {
  readonly kind: 'container';
}

/** An RDF resource, or a part of one: parts that come later are added to it. */
export interface GraphMember extends Common {
  readonly kind: 'rdf';
  /** Triples, whose graph component is ignored; IRIs are absolute, resolved against the IRI that the resource will have. */
  readonly quads: readonly Quad[];
  /** Their GSPO keys, where they come from the store. */
  readonly keys?: readonly string[];
  readonly prefixes: Readonly<Record<string, string>>;
  /** The next member is another part of the same graph: so that no part has more than some ten thousand triples. */
  readonly hasMore?: boolean;
}

/** A JSON or binary resource. */
export interface BytesMember extends Common {
  readonly kind: 'bytes';
  /** With its parameters. */
  readonly mediaType: string;
  /** Bytes, where it is known. */
  readonly size?: number;
  /** SHA-256 (base64), where it is known. */
  readonly sha256?: string;
  /** The content; to be asked for at most once, before the next member is. */
  open(): AsyncIterable<Uint8Array>;
}

/** Something that a reader leaves out, for the report. */
export interface LeftOut {
  readonly kind: 'left-out';
  readonly source: string;
  /** A sentence for people. */
  readonly why: string;
}

/**
 * State of a component, such as a grant or a subscription: only our own archive has it. The value is the stored one; keys and
 * values name IRIs of the storage that is exported.
 */
export interface StateMember {
  readonly kind: 'state';
  readonly source: string;
  readonly key: string;
  readonly value: string;
}

/** Spaces of entries with the state of components that clients have made. */
export const stateSpaces = ['access-grants', 'access-requests', 'subscriptions'];

export type ResourceMember = ContainerMember | GraphMember | BytesMember;
export type Member = ResourceMember | StateMember;

/** Members of the given kinds. */
export type MemberOf<Kind extends Member['kind']> = Extract<Member, { readonly kind: Kind }>;

/** A member with the cursor after it, by which an import continues after a crash; only the reader understands cursors. */
export interface ReadStep {
  readonly member: Member | LeftOut;
  /** What `read` is given to continue after this member; to be asked for before the step after the next one is. */
  readonly cursor: string;
  /** Bytes of the source that were read so far, for the progress. */
  readonly bytes: number;
}

/** What a reader needs to know of the import. */
export interface MemberOptions {
  /** The IRI of the container that is imported into, with a slash at its end. */
  readonly into: string;
  /** Rewrites of IRIs in graphs, names of graphs, links and access lists. The first that fits is taken. */
  readonly rewrite: readonly Rewrite[];
  /** Go on after the member whose step had this cursor. */
  readonly cursor?: string;
}

/** Reads one format. */
export interface MemberReader {
  /** Bytes of the source, where it can be said beforehand. */
  readonly total: number | undefined;
  /** How many quads it has, about, where that can be told from its length. */
  readonly quads?: number;
  /** Containers come before what is in them, but need not come at all. @throws TransferError which names the file and the line */
  read(options: MemberOptions): AsyncIterable<ReadStep>;
  close(): Promise<void>;
}

/** Writes one format. Members come in the order of their IRIs, containers before their members. */
export interface Writer {
  /** Writes a member. Returns when the next one may be written (backpressure). */
  write(member: Member): Promise<void>;
  /** Writes the end; the output is incomplete before. */
  end(): Promise<void>;
}

/** The source cannot be read any further, or the target cannot be written; earlier members are complete. The message is for the user. */
export class TransferError extends CommandError {
  override readonly name = 'TransferError';
}

/** A fault in a text, at the line that the message names. All members before it are complete. */
export class SyntaxFault extends TransferError {}
