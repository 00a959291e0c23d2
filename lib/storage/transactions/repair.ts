/** Problems that `quadpod check` finds, with their repairs, and the comparison of entries with their digests. */

import { slices } from '../../tools/collections.js';
import { storeFormat } from '../graphs/format.js';
import { digestIn, withDigest } from '../graphs/graph-digests.js';
import { KeyDigest } from '../keys/key-digest.js';
import { graphRange } from '../keys/quad-keys.js';
import { allRecords, iriOfRecordKey, metaKey, readRecord, writeRecord } from '../keys/records.js';
import {
  entryBlocks,
  keyBlocks,
  type Level,
  type LevelSnapshot,
  putSynced,
  writeEntries,
} from '../level/durable-level.js';
import {
  differenceOf,
  digestEntry,
  digestedSpaces,
  digestOfEntries,
  returnedEntriesOf,
} from '../level/entry-digests.js';
import { printed } from './returned-data.js';

/** Keys with their new values; `null` to delete the key. */
export type Changes = readonly (readonly [key: string, value: string | null])[];

export interface StorageFault {
  /** Sentence for the operator. */
  readonly text: string;
  /** Changes that remove exactly the superfluous data. */
  readonly changes?: Changes;
  /** Changes that adapt counters and digests to the data. Applied only if no fault has `changes`. */
  readonly later?: Changes;
  /** Name of the component whose index differs from the data. */
  readonly rebuilds?: string;
}

/** Maximum characters of an entry in a message, and keys of a batch. */
const [shown, changesAtATime] = [300, 10_000];

/** Yields faults for returned and lost entries of digested spaces. @param except space that the caller compares */
export async function* entryFaults(
  level: Level,
  snapshot: LevelSnapshot,
  except?: string,
): AsyncGenerator<StorageFault> {
  for (const [space, name] of digestedSpaces) {
    if (space === except) continue;
    const difference = await differenceOf(level, space, snapshot);
    if (!difference) continue;
    const named = await returnedEntriesOf(level, space, difference);
    for (const [key, value] of named ?? []) {
      const text = `A deleted ${name} returned: ${printed(key)} ${value}`.slice(0, shown);
      yield { text: `${text}.`, changes: [[key, null]] };
    }
    if (named) continue;
    const used = space === 'records' ? '' : ' The server uses none of the kind.';
    yield {
      text: `One of the ${name}s is not the last one written, or is lost, and it is unknown which.${used} "check --repair" accepts those that exist: review them before.`,
      later: [digestEntry(space, await digestOfEntries(level, space, snapshot))],
    };
  }
}

/** Writes the repairs of faults. @returns the repaired faults */
export async function repair(level: Level, faults: readonly StorageFault[]): Promise<readonly StorageFault[]> {
  const kind = faults.some(({ changes }) => changes) ? 'changes' : 'later';
  const repaired = faults.filter((fault) => fault[kind]);
  const changes = repaired.flatMap((fault) => fault[kind]!);
  for (const some of slices(changes, changesAtATime))
    await writeEntries(level, some, [metaKey('version'), storeFormat]);
  return repaired;
}

/** Adds digests to records of earlier versions if the count of triples is right. @returns the count of added digests */
export async function addDigests(level: Level): Promise<number> {
  let added = 0;
  for await (const entries of entryBlocks(level, allRecords()))
    for (const [key, value] of entries) {
      const record = readRecord(iriOfRecordKey(key), value);
      if (record.kind !== 'rdf' || digestIn(record)) continue;
      const digest = new KeyDigest();
      let count = 0;
      for await (const keys of keyBlocks(level, graphRange(record.iri))) {
        digest.toggle(keys);
        count += keys.length;
      }
      if (count !== (record.triples ?? 0)) continue;
      await putSynced(level, key, writeRecord(withDigest(record, digest)));
      added++;
    }
  return added;
}
