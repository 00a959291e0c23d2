/** What staging a block comes to, and how it ends early. */
import { type Access, attribute } from '../../lib/component/access.js';
import { LwsError, type Platform } from '../../lib/component/basics.js';
import { entryKey, partsOfEntry } from '../../lib/component/entries.js';
import { breathe } from '../../lib/component/level.js';
import type { BulkVerdict } from '../../lib/component/resources.js';
import type { Transaction } from '../../lib/component/store.js';
import type { BlockItem, ImportBlock, Told } from './blocks.js';
import { type ImportState, isStored, type Outcome, type Verdict, whatIsLost } from './import-state.js';
import { stateSpaces, TransferError } from './member.js';
import { type NameSet, nameInSet } from './name-set.js';

export interface Staged extends Outcome {
  /** Names of what is stored. */
  readonly stored: ReadonlySet<string>;
  /** Indices of the items that the reading thread writes. */
  readonly written: readonly number[];
}

export interface ImportOptions {
  readonly platform: Platform;
  /** Who asks, and owns what is created. */
  readonly access: Access;
  /** The operator may do everything. */
  readonly isOperator: boolean;
  readonly dryRun: boolean;
}

interface StagingOptions extends ImportOptions {
  readonly state: Pick<ImportState, 'conflict' | 'into' | 'grants'>;
  /** Names of what the import has stored. */
  readonly seen: Pick<NameSet, 'has'>;
}

const itemsAtATime = 64;

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

const named = (source: string, error: unknown): unknown =>
  error instanceof LwsError ? new TransferError(`${source}: ${error.message}`) : error;

/** What becomes of an item of which a dry run has seen another part, which it has not stored. */
const verdictAgain = ({ content }: BlockItem): BulkVerdict =>
  content ? (content.kind === 'rdf' ? 'merged' : 'skipped') : 'kept';

/** The indices of the graphs. */
export const graphsOf = (items: readonly BlockItem[]): number[] =>
  [...items.keys()].filter((index) => items[index]!.content?.kind === 'rdf');

/** The indices of what is stored. */
export const acceptedOf = (items: readonly BlockItem[], { verdicts }: Pick<Staged, 'verdicts'>): number[] =>
  items.flatMap((_, index) => (isStored(verdicts[index]!) ? [index] : []));

/** Of what was to be stored, not of the moment. */
export const isRefusal = (error: unknown): error is LwsError =>
  error instanceof LwsError && !['quota-exceeded', 'storage-full', 'too-busy'].includes(error.code);

/**
 * Stages items, and says what becomes of each.
 * @throws NeedsKeys when nothing may be stored yet, TransferError where the import has to end
 */
export async function stageItems(
  tx: Transaction,
  items: readonly BlockItem[],
  { platform, isOperator, dryRun, state: { conflict }, seen, ...options }: StagingOptions,
): Promise<Staged> {
  // Decisions are remembered with it, and may be others by now.
  const access = { ...options.access };
  attribute(tx, access);
  const staging = platform.bulk(tx, { access, isOperator });
  const [verdicts, lost]: [Verdict[], Told[]] = [[], []];
  const [incomplete, written]: [number[], number[]] = [[], []];
  const stored = new Set<string>();
  for (const [index, item] of items.entries()) {
    // The queue waits, and readers do not.
    if (index % itemsAtATime === itemsAtATime - 1) await breathe();
    const name = nameInSet(item.iri);
    const existing = seen.has(name) || stored.has(name) ? 'merge' : conflict;
    try {
      const isTold = dryRun && seen.has(name);
      const verdict = isTold ? verdictAgain(item) : await staging.stage(item, existing);
      verdicts.push(verdict);
      if (isStored(verdict)) stored.add(name);
      const why = whatIsLost(item, verdict, staging.keepsLists);
      if (why !== undefined) lost.push({ source: item.source, why });
      if (verdict === 'needs-keys') incomplete.push(index);
      if (verdict === 'created' && item.content?.kind === 'rdf' && !item.content.keys) written.push(index);
    } catch (error) {
      const isMeant = error instanceof LwsError && conflict === 'fail' && error.code === 'already-exists';
      // What lies in a container would be open to others without the list of the container.
      const isOpened = !item.content && item.acl && staging.keepsLists;
      if (!(error instanceof LwsError) || isMeant || isOpened) throw named(item.source, error);
      verdicts.push({ source: item.source, why: error.message });
    }
  }
  if (incomplete.length > 0) throw new NeedsKeys(incomplete);
  return { verdicts, stored, written, lost, access: [] };
}

/** Stages state of components, of which none is replaced, as that of whoever imports. Nothing else of the store can be written so. */
export function stageStates(
  tx: Transaction,
  { states }: ImportBlock,
  { platform, access, state: { into, grants }, staged }: Omit<StagingOptions, 'seen'> & { readonly staged: Outcome },
): void {
  const { subject } = access.principal ?? {};
  for (const { source, key, value } of states) {
    const [space = '', id = ''] = partsOfEntry(key);
    const isKnown = stateSpaces.includes(space) && /^[\w-]{1,100}$/.test(id) && key === entryKey(space, id);
    const found = isKnown ? platform.readState(space, id, readObject(value)) : undefined;
    const leaveOut = (why: string): unknown =>
      staged.lost.push({ source: `${source}: ${space}/${id}`, why: [why, ...(found?.gives ?? [])].join(' ') });
    if (!found) leaveOut('It is no state that components of this server keep.');
    else if (!grants) leaveOut('Only an import that asks for grants by name takes it (grants=yes, --grants).');
    else if (found.targets.length === 0 || !found.targets.every((target) => target.startsWith(into)))
      leaveOut('Something that it is about lies outside of what it is imported into.');
    else if (subject === undefined) leaveOut('Nobody controls the storage, whose it could be.');
    else if (tx.entry(key) === undefined) {
      tx.putEntry(key, JSON.stringify(found.keptBy(subject)));
      staged.access.push(...found.gives.map((why) => ({ source: found.targets.join(' '), why })));
    }
  }
}

function readObject(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
