/** State of an import, as stored and reported. */

import { plain } from '../../../lib/component/commands.js';
import type { ForeignState, Offer, Platform } from '../../../lib/component/contract.js';
import { TransferError } from '../../../lib/exchange/member.js';
import type { BulkVerdict } from '../../../lib/resources/bulk.js';
import type { Rewrite } from '../../../lib/storage/keys/iri-rewriting.js';
import { entryKey, entryRange } from '../../../lib/storage/keys/records.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../../lib/tools/errors.js';
import type { JobState } from '../jobs/job-runner.js';
import { type BlockItem, type ImportBlock, maxTold, type ReportEntry } from './blocks.js';

export const importSpace = 'import';
/** Space of entries with short names of the resources that an import has stored: one entry per block, until the import is done. */
export const seenSpace = 'import-seen';

export type Conflict = 'fail' | 'skip' | 'replace';
export const conflicts: readonly Conflict[] = ['fail', 'skip', 'replace'];

/** Parameters of an import. */
export interface ImportFacts {
  readonly id: string;
  /** File or folder on this machine. Relative if it is below `lws.data-dir`, which may be moved. */
  readonly source: string;
  /** Name of the source in messages. */
  readonly name: string;
  readonly format?: string;
  readonly mediaType?: string;
  readonly into: string;
  readonly rewrite: readonly Rewrite[];
  readonly conflict: Conflict;
  /** True to import grants, requests and subscriptions (`grants`), and ACLs (`acls`). Absent in states of earlier versions. */
  readonly grants?: boolean;
  readonly acls?: boolean;
  /** Start time, in milliseconds since the epoch. */
  readonly began: number;
}

export interface ImportState extends ImportFacts, JobState {
  /** Position in the source after the last stored block. Empty before the first block. */
  cursor: string;
  blocks: number;
  /** Bytes of the source read so far, and size of the source if known. */
  bytes: number;
  total?: number | undefined;
  quads: number;
  created: number;
  replaced: number;
  merged: number;
  skipped: number;
  leftOut: number;
  /** The first skipped resources with the reasons, at most `maxTold`. */
  told: readonly ReportEntry[];
  /** The first agents with access according to the source, even if its ACLs are not imported. */
  access: readonly ReportEntry[];
  status: JobState['status'];
  failure?: string;
}

/** Parses `OLD=NEW`, split at the first `=` before an absolute IRI. @throws LwsError `bad-request` */
export function readRewrite(text: string): Rewrite {
  const at = text.search(/=[a-zA-Z][a-zA-Z0-9+.-]*:/);
  if (at <= 0)
    throw new LwsError(
      'bad-request',
      '"rewrite" must be OLD=NEW, two IRI prefixes: https://old.example/=https://new.example/.',
    );
  return { from: text.slice(0, at), to: text.slice(at + 1) };
}

/** Parameters of an import, from the command line. */
export type WantedImport = Pick<ImportFacts, 'source' | 'into' | 'rewrite' | 'conflict'> & {
  readonly format: string | undefined;
} & Readonly<Record<'dryRun' | 'grants' | 'acls' | 'resume', boolean>>;

/** Shows the progress of an import. */
export type Show = (state: Pick<ImportState, 'bytes' | 'total' | 'quads' | 'created' | 'replaced' | 'began'>) => void;

export const newState = (facts: ImportFacts): ImportState => ({
  ...facts,
  ...{ cursor: '', blocks: 0, bytes: 0, quads: 0, created: 0, replaced: 0, merged: 0, skipped: 0 },
  ...{ leftOut: 0, told: [], access: [], status: 'running' },
});

/** Returns the stored states of all imports. */
export async function keptStates(store: Store): Promise<ImportState[]> {
  const states: ImportState[] = [];
  for await (const entries of store.entries(entryRange(importSpace)))
    for (const [, value] of entries) states.push(JSON.parse(value) as ImportState);
  return states;
}

/** Stores the state. If the import is done, deletes the entries for resuming it. */
export const keepState = (store: Store, state: ImportState): Promise<void> => writeState(store, state.id, state);

/** Deletes an import that is not running. */
export const forgetState = (store: Store, id: string): Promise<void> => writeState(store, id, undefined);

async function writeState(store: Store, id: string, state: ImportState | undefined): Promise<void> {
  const seen: string[] = [];
  if (!state || state.status === 'done')
    for await (const keys of store.keys(entryRange(seenSpace, id))) seen.push(...keys);
  const work = (tx: Transaction): void => {
    if (state) tx.putEntry(entryKey(importSpace, id), JSON.stringify(state));
    else tx.deleteEntry(entryKey(importSpace, id));
    for (const key of seen) tx.deleteEntry(key);
  };
  await store.transact(work, { frees: true });
}

/** Result for an item, or the reason for skipping it. */
export type Verdict = BulkVerdict | ReportEntry;

export const isStored = (verdict: Verdict): boolean =>
  verdict === 'created' || verdict === 'replaced' || verdict === 'merged';

/** Maximum length of a sentence of a report, in characters. */
const longestTold = 500;

const cut = (text: string): string => plain(text.length > longestTold ? `${text.slice(0, longestTold)}…` : text);

/** Results for a block. */
export interface ImportOutcome {
  readonly verdicts: readonly Verdict[];
  /** Parts of stored items, and component state, that were not imported. */
  readonly lost: ReportEntry[];
  /** Agents with access through imported component state. */
  readonly access: ReportEntry[];
}

/** Returns the state after a block. */
export function behind(state: ImportState, block: ImportBlock, { verdicts, lost, access }: ImportOutcome): ImportState {
  const count = (wanted: BulkVerdict): number => verdicts.filter((verdict) => verdict === wanted).length;
  const told = [...block.leftOut, ...verdicts.filter((verdict) => typeof verdict === 'object'), ...lost];
  return {
    ...state,
    cursor: block.cursor,
    blocks: state.blocks + 1,
    bytes: block.bytes,
    quads: state.quads + block.quads,
    created: state.created + count('created'),
    replaced: state.replaced + count('replaced'),
    merged: state.merged + count('merged'),
    skipped: state.skipped + count('skipped'),
    ...addReport(state, told),
    access: allNamed(state, [...block.access, ...access]),
  };
}

/**
 * Returns the agents in ACLs and grants, at least once each.
 * @throws TransferError if more than `maxTold` are imported: the operator could not review them
 */
function allNamed(
  { access: known = [], acls, grants }: ImportState,
  more: readonly ReportEntry[],
): readonly ReportEntry[] {
  const all = [...known, ...more];
  if (all.length <= maxTold) return longer(known, more);
  const distinct = [...new Map(all.map((told) => [told.why, told] as const).reverse()).values()].reverse();
  if (distinct.length > maxTold && (acls || grants))
    throw new TransferError(`It gives access in more than ${maxTold} ways, the limit of a report. Import parts of it.`);
  return longer([], distinct);
}

/** Returns a list with more entries, up to `maxTold`. */
const longer = (known: readonly ReportEntry[], more: readonly ReportEntry[]): readonly ReportEntry[] => [
  ...known,
  ...more.slice(0, maxTold - known.length).map(({ source, why }) => ({ source: cut(source), why: cut(why) })),
];

/** Returns the changed members of a report with additional entries. */
export const addReport = (
  state: Pick<ImportState, 'leftOut' | 'told'>,
  told: readonly ReportEntry[],
): Pick<ImportState, 'leftOut' | 'told'> => ({ leftOut: state.leftOut + told.length, told: longer(state.told, told) });

/** Returns a sentence on the part of a stored item that was not imported, if any. */
export function unsupportedFields(
  { acl, links }: BlockItem,
  verdict: BulkVerdict,
  keepsLists: boolean,
): string | undefined {
  if (verdict === 'kept' && (acl || links))
    return 'The container exists and keeps its links and access control list. Use --on-conflict replace to replace them.';
  if (acl && !keepsLists && verdict !== 'skipped')
    return 'Its access control list applies only with lws.access-control=wac.';
  return undefined;
}

/** Returns imported state as the component of the entry space reads it. @param id name of the entry in the space */
export const foreignState = (
  { offered }: Pick<Platform, 'offered'>,
  ...of: Parameters<Offer<'readState'>>
): ForeignState | undefined =>
  offered('readState')
    .map((readState) => readState(...of))
    .find(Boolean);
