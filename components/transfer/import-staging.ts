/** What staging a block comes to, and how it ends early. It must not know threads. */
import { hash } from 'node:crypto';
import { LwsError } from '../../lib/errors.js';
import type { BlockItem, Told } from './blocks.js';
import { isStored, type Verdict } from './import-state.js';
import { TransferError } from './member.js';

export interface Staged {
  readonly verdicts: readonly Verdict[];
  /** Indices of the items that the reading thread writes. */
  readonly written: readonly number[];
  /** What is not taken over of items that are. */
  readonly lost: Told[];
}

/** What a dry run undoes its transactions with. */
export class DryRun extends Error {
  constructor(readonly staged: Staged) {
    super('A dry run stores nothing.');
  }
}

export class NeedsKeys extends Error {
  constructor(readonly items: readonly number[]) {
    super('All keys of some graphs are wanted.');
  }
}

/** Short, since one is kept for each resource. */
export const nameOf = (iri: string): string => hash('sha256', iri, 'base64url').slice(0, 12);

export const named = (source: string, error: unknown): unknown =>
  error instanceof LwsError ? new TransferError(`${source}: ${error.message}`) : error;

/** The indices of the graphs. */
export const graphsOf = (items: readonly BlockItem[]): number[] =>
  [...items.keys()].filter((index) => items[index]!.content?.kind === 'rdf');

/** The indices of what is stored. */
export const acceptedOf = (items: readonly BlockItem[], { verdicts }: Pick<Staged, 'verdicts'>): number[] =>
  items.flatMap((_, index) => (isStored(verdicts[index]!) ? [index] : []));

/** Of what was to be stored, not of the moment. */
export const isRefusal = (error: unknown): error is LwsError =>
  error instanceof LwsError && !['quota-exceeded', 'storage-full', 'too-busy'].includes(error.code);
