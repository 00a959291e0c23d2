/** The database below the store, for threads and commands that have it open by themselves. */
export { atOnce } from '../storage/engine/at-once.js';
export { breathe } from '../storage/engine/batch-filling.js';
export { CommitInDoubtError } from '../storage/engine/commit-in-doubt.js';
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
} from '../storage/engine/durable-level.js';
export { ListStream, type SortedStream } from '../storage/engine/entry-cursor.js';
export { type IriRange, only, RangeStream, subtree, unionOfRanges } from '../storage/engine/iri-ranges.js';
export { makeFolder, syncPath, writeWhole } from '../storage/engine/synced-files.js';
export { Orders } from '../storage/graphs/orders.js';
export { countRecords, recordBlocks } from '../storage/state/all-records.js';
export { IriRewriting, isQuad, type Rewrite } from '../storage/state/iri-rewriting.js';
export { completeIndex, indexStateKey, ownedBy, ownedSpace } from '../storage/state/owned-entries.js';
export {
  type Entry,
  entryOf,
  isSection,
  putEntry,
  sectionLine,
  stateLines,
} from '../storage/state/state-blocks.js';
