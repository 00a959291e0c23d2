/** What the thread that reads an import and the one that decides about it give each other. */

import type { BlobLocation } from '../../lib/component/blobs.js';
import type { BulkItem } from '../../lib/component/resources.js';

export interface RdfBounds {
  /** Bytes of a JSON document; longer ones are kept as bytes that nobody reads. */
  readonly jsonBytes: number;
}

/** Some resources that are stored in one transaction. */
export interface ImportBlock {
  readonly number: number;
  readonly items: readonly BlockItem[];
  readonly states: readonly BlockState[];
  readonly leftOut: readonly Told[];
  /** Each agent that lists of access name. */
  readonly access: readonly Told[];
  /** Where reading continues after this block. */
  readonly cursor: string;
  /** Of the source, so far. */
  readonly bytes: number;
  /** In this block. */
  readonly quads: number;
  /** Of what the thread writes, about. */
  readonly batchBytes: number;
}

export interface BlockItem extends BulkItem {
  readonly source: string;
}

/** State of a component, from our own archive. */
export interface BlockState {
  readonly source: string;
  readonly key: string;
  readonly value: string;
}

/** Something that was not taken over, and why: a sentence for people. */
export interface Told {
  readonly source: string;
  readonly why: string;
}

export interface ImportTask {
  /** The file or folder. */
  readonly source: string;
  /** What people call it, its extension included. */
  readonly name: string;
  readonly format?: string | undefined;
  /** Modules of formats. */
  readonly formats: readonly string[];
  readonly mediaType?: string | undefined;
  readonly into: string;
  readonly rewrite: readonly { readonly from: string; readonly to: string }[];
  readonly cursor?: string | undefined;
  readonly dryRun: boolean;
  /** Lists of access are taken. */
  readonly acls: boolean;
  /** The thread writes the batches, or the greater part of each. */
  readonly writes: boolean;
  /** Makes labels of blank nodes that no other import has, and the same again when it continues. */
  readonly seed: string;
  /** The folder of LevelDB. */
  readonly level: string;
  readonly blobs: BlobLocation;
  readonly bounds: RdfBounds;
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
  /** Items whose blobs stay, and those whose quads are written. */
  readonly accepted: readonly number[];
  readonly written: readonly number[];
  /** The last operations of the batch. */
  readonly operations: readonly Operation[];
}

/** What the thread sends while it reads. */
export type ReadPart =
  /** Bytes of the source, where they are known. */
  | { readonly total: number | undefined }
  /** Some items of the next block: receiving all at once would keep requests waiting. */
  | { readonly items: readonly BlockItem[] }
  | { readonly block: Omit<ImportBlock, 'items'> };
