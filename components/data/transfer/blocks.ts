/** Messages between the thread that reads an import and the HTTP thread, which authorizes each item. */
import type { LeftOut, Member } from '../../../lib/exchange/member.js';
import type { BulkItem } from '../../../lib/resources/bulk.js';
import type { BlobLocation } from '../../../lib/storage/blobs/blobs.js';

/** Resources stored in one transaction. */
export interface ImportBlock {
  readonly number: number;
  readonly items: readonly BlockItem[];
  readonly states: readonly BlockState[];
  readonly leftOut: readonly ReportEntry[];
  /** Agents named in ACLs. */
  readonly access: readonly ReportEntry[];
  /** Position in the source after this block. */
  readonly cursor: string;
  /** Bytes of the source read so far. */
  readonly bytes: number;
  /** Quads in this block. */
  readonly quads: number;
  /** Approximate size of the GSPO keys of the block's quads, in bytes. */
  readonly keyBytes: number;
}

export interface BlockItem extends BulkItem {
  readonly source: string;
}

/** State of a component, from a Quadpod archive. */
export type BlockState = Omit<Extract<Member, { kind: 'state' }>, 'kind'>;

/** Entry of the report on a part of the source, such as the reason for skipping it. */
export type ReportEntry = Omit<LeftOut, 'kind'>;

/** Maximum count of sentences in a report, because all are stored with each block. Further sentences are only counted. */
export const maxTold = 500;

export interface ImportTask {
  /** Path of the file or directory. */
  readonly source: string;
  /** Name of the source in messages, with its extension. */
  readonly name: string;
  readonly format?: string | undefined;
  /** URLs of format modules. */
  readonly formats: readonly string[];
  readonly mediaType?: string | undefined;
  readonly into: string;
  readonly rewrite: readonly { readonly from: string; readonly to: string }[];
  readonly cursor?: string | undefined;
  readonly dryRun: boolean;
  /** True to import ACLs. */
  readonly acls: boolean;
  /** True to send texts to the HTTP thread, for an index. */
  readonly texts: boolean;
  /** True if the reading thread writes the batches, because it has most of their content. */
  readonly writes: boolean;
  /** Seed of blank node labels: different for each import, the same after it was resumed. */
  readonly seed: string;
  /** Directory of LevelDB. */
  readonly level: string;
  readonly blobs: BlobLocation;
}

export type Operation = readonly [key: string, value: string | null];

/** Some items of a block, by index. */
export interface BlockPart {
  readonly block: number;
  readonly items: readonly number[];
}

/** Batch that the reading thread writes. */
export interface BlockWrite {
  readonly block: number;
  /** Indexes of items whose blobs are retained, and of items whose quads are written. */
  readonly accepted: readonly number[];
  readonly written: readonly number[];
  /** The last operations of the batch. */
  readonly operations: readonly Operation[];
}

/** Message of the thread while it reads. */
export type ReadPart =
  /** Size of the source in bytes, if it is known. */
  | { readonly total: number | undefined }
  /** Some items of the next block. Deserializing all at once would block the HTTP thread. */
  | { readonly items: readonly BlockItem[] }
  | { readonly block: Omit<ImportBlock, 'items'> };
