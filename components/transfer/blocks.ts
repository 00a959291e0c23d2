/** What the thread that reads an import and the one that decides about it tell each other. */

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
  /** Not zero: to end. */
  readonly ended: Int32Array;
}

export type Operation = readonly [key: string, value: string | null];

export type ToReader =
  /** Some operations of the next batch: sending all at once would keep requests waiting. */
  | { readonly operations: readonly Operation[] }
  /** Write the block: its accepted items (by their index) that are `written` here, and the operations. */
  | {
      readonly write: number;
      readonly accepted: readonly number[];
      readonly written: readonly number[];
    }
  /** Send all keys of these items. */
  | { readonly keysOf: number; readonly items: readonly number[] }
  /** It has nothing to write of the block, whose blobs go but for those of `kept` items. */
  | { readonly drop: number; readonly kept: readonly number[] }
  /** Look whether to end. */
  | { readonly end: true }
  /** Nobody is going to say what becomes of the blocks. */
  | { readonly abandon: true };

export type FromReader =
  | { readonly total: number | undefined }
  /** Some items of the next block: receiving all at once would keep requests waiting. */
  | { readonly items: readonly BlockItem[] }
  | { readonly block: Omit<ImportBlock, 'items'> }
  | { readonly written: number }
  | { readonly refused: number; readonly message: string }
  | { readonly keysOf: number; readonly keys: readonly (readonly string[])[] }
  | { readonly done: true }
  /** The source cannot be read any further. The message is for people, unless it is a fault. */
  | { readonly broken: string; readonly isFault: boolean };
