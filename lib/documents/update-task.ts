/** Runs SPARQL updates in a worker thread. Loaded at the first update, because loading the query engine takes long. */
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
  /** LevelDB directory of the graph. Without it, the update may contain only triples without variables. */
  readonly folder?: string;
}

/** Loads the SPARQL parser and the query engine. */
export const loadEngine = (): Promise<unknown> => Promise.all([loadParser(), loadQueryEngine()]);

/** Evaluates an update. @throws LwsError `update-timeout`, and as `evaluateUpdate` */
export async function update({ timeoutMs, folder, ...task }: UpdateTask): Promise<PackedDelta | undefined> {
  // The update must stop before its thread is ended.
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
