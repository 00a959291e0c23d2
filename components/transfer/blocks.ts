/** The messages between the thread that reads an import and the HTTP thread, which decides what is stored. */

import type { LeftOut, Member } from '../../lib/exchange/member.js';
import type { BulkItem } from '../../lib/resources/bulk.js';
import type { BlobLocation } from '../../lib/storage/blobs/blobs.js';

/** Some resources that are stored in one transaction. */
export interface ImportBlock {
  readonly number: number;
  readonly items: readonly BlockItem[];
  readonly states: readonly BlockState[];
  readonly leftOut: readonly ReportEntry[];
  /** The agents that access lists name. */
  readonly access: readonly ReportEntry[];
  /** Where reading continues after this block. */
  readonly cursor: string;
  /** Bytes of the source that have been read so far. */
  readonly bytes: number;
  /** Quads in this block. */
  readonly quads: number;
  /** Bytes of the GSPO keys of its quads, about. */
  readonly keyBytes: number;
}

export interface BlockItem extends BulkItem {
  readonly source: string;
}

/** State of a component, from our own archive. */
export type BlockState = Omit<Extract<Member, { kind: 'state' }>, 'kind'>;

/** A sentence for the report about a part of the source, such as why it was left out. */
export type ReportEntry = Omit<LeftOut, 'kind'>;

export interface ImportTask {
  /** The file or folder. */
  readonly source: string;
  /** The name of the source in messages, with its extension. */
  readonly name: string;
  readonly format?: string | undefined;
  /** Modules of formats. */
  readonly formats: readonly string[];
  readonly mediaType?: string | undefined;
  readonly into: string;
  readonly rewrite: readonly { readonly from: string; readonly to: string }[];
  readonly cursor?: string | undefined;
  readonly dryRun: boolean;
  /** Access lists are imported. */
  readonly acls: boolean;
  /** The reading thread writes the batches, since it has most of their content. */
  readonly writes: boolean;
  /** The seed of labels of blank nodes: different for each import, the same when an import continues. */
  readonly seed: string;
  /** The folder of LevelDB. */
  readonly level: string;
  readonly blobs: BlobLocation;
}

export type Operation = readonly [key: string, value: string | null];

/** Items of a block by their index. */
export interface BlockPart {
  readonly block: number;
  readonly items: readonly number[];
}

/** A batch that the thread writes. */
export interface BlockWrite {
  readonly block: number;
  /** Indexes of items whose blobs are kept, and of items whose quads are written. */
  readonly accepted: readonly number[];
  readonly written: readonly number[];
  /** Which orders the quads are put in (`Orders.text`). */
  readonly orders: string;
  /** The last operations of the batch. */
  readonly operations: readonly Operation[];
}

/** What the thread sends while it reads. */
export type ReadPart =
  /** Bytes of the source, and how many quads it has, about, where that is known. */
  | { readonly total: number | undefined; readonly quads: number }
  /** Some items of the next block: to deserialize all at once would block the HTTP thread. */
  | { readonly items: readonly BlockItem[] }
  | { readonly block: Omit<ImportBlock, 'items'> };
