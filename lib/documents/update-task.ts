/** SPARQL updates in a worker thread. Loaded with the first update: the query engine takes longer to load than all other tasks. */
import { evaluateUpdate, type TargetedUpdate } from '../query/evaluate-update.js';
import { checkOf } from '../query/limits.js';
import { loadParser } from '../query/parse/sparql-parser.js';
import { loadQueryEngine } from '../query/query-engine.js';
import { packKeys } from '../storage/keys/graph-keys.js';
import { openShared } from '../storage/level/shared-level.js';
import { acquire, assertWanted, release } from '../tools/threads/worker-host.js';
import { endedUpdate, type PackedDelta } from './document-tasks.js';

export interface UpdateTask extends TargetedUpdate {
  readonly timeoutMs: number;
  /** Directory of the LevelDB with the graph. Without it, the update may only contain triples without variables. */
  readonly folder?: string;
}

/** Loads the parser and the engine. */
export const loadEngine = (): Promise<unknown> => Promise.all([loadParser(), loadQueryEngine()]);

/** Evaluates an update. @throws LwsError `update-timeout`, and as `evaluateUpdate` */
export async function update({ timeoutMs, folder, ...task }: UpdateTask): Promise<PackedDelta | undefined> {
  // Stops an update before its thread must be killed.
  const check = checkOf({ timeoutMs, timeout: endedUpdate, outOfMemory: endedUpdate });
  const assertTime = (): void => {
    assertWanted();
    check();
  };
  const level = folder === undefined ? undefined : await acquire(() => openShared(folder));
  try {
    const delta = await evaluateUpdate(task, level && { level, snapshot: level.snapshot() }, assertTime);
    return delta && { ...delta, added: packKeys(delta.added), removed: packKeys(delta.removed) };
  } finally {
    if (level) await release(level);
  }
}
