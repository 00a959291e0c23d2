/** The database below the store, for threads and commands that have it open by themselves. */
export { atOnce } from '../storage/level/at-once.js';
export { breathe } from '../storage/transactions/batch-filling.js';
export { CommitInDoubtError } from '../storage/level/commit-in-doubt.js';
export {
  type BatchWriter,
  entryBlocks,
  keyBlocks,
  type Level,
  type LevelSnapshot,
  openLevel,
  PreparedBatch,
  putSynced,
  StoreUnavailableError,
  writeBatch,
} from '../storage/level/durable-level.js';
export { ListStream, type SortedStream } from '../storage/level/entry-cursor.js';
export { type IriRange, only, RangeStream, subtree, unionOfRanges } from '../storage/keys/iri-ranges.js';
export { makeFolder, syncPath, writeWhole } from '../storage/level/synced-files.js';
export { Orders } from '../storage/keys/orders.js';
export { countRecords, recordBlocks } from '../storage/level/all-records.js';
export { IriRewriting, isQuad, type Rewrite } from '../storage/keys/iri-rewriting.js';
export { completeIndex, indexStateKey, ownedBy, ownedSpace } from '../storage/level/owned-entries.js';
export {
  type Entry,
  entryOf,
  isSection,
  putEntry,
  sectionLine,
  stateLines,
} from '../storage/graphs/state-blocks.js';
