/** Worker thread of `documents.ts`. Runs one task at a time. Has no state, and no access to the store except for updates. */

import { type Caller, serve, threadData } from '../tools/threads/worker-host.js';
import { linesAtATime, type PackedDelta, type ParseTask, tasks } from './document-tasks.js';
import type { UpdateTask } from './update-task.js';

/** Lines that were received before the task to which they belong. */
let lines: string[] = [];

const allLines = (last: readonly string[]): readonly string[] => {
  const all = lines.concat(last);
  lines = [];
  return all;
};

type Tasks = typeof tasks;
type Given<Name extends keyof Tasks> = Parameters<Tasks[Name]>[0];
/** Caller to which a task sends lines of the result before the result. */
type Lines = Caller<unknown, readonly string[]>;

async function lastOf<T extends { readonly keys: readonly string[] }>(document: T, caller: Lines): Promise<T> {
  const { keys } = document;
  let at = 0;
  for (; keys.length - at > linesAtATime; at += linesAtATime) await caller.send(keys.slice(at, at + linesAtATime));
  return { ...document, keys: keys.slice(at) };
}

const updating = () => import('./update-task.js');

const functions = {
  lines(some: readonly string[]): void {
    for (const line of some) lines.push(line);
  },

  async parse(task: ParseTask, caller: Lines) {
    const parsed = await tasks.parseLarge(task);
    // A packed graph is transferred instead of copied.
    if ('packed' in parsed)
      for (const { lengths, text } of parsed.packed.chunks) caller.moves.push(lengths.buffer, text.buffer);
    return 'keys' in parsed ? lastOf(parsed, caller) : parsed;
  },

  async keepLabels(task: Given<'keepLabels'>, caller: Lines) {
    return lastOf(tasks.keepLabels({ ...task, lines: allLines(task.lines) }), caller);
  },

  render: (task: Given<'render'>) => tasks.render({ ...task, lines: allLines(task.lines) }),
  checkJson: tasks.checkJson,
  readsContent: tasks.readsContent,
  patchJson: tasks.patchJson,

  update: async (task: UpdateTask): Promise<PackedDelta | undefined> => (await updating()).update(task),
};

export type DocumentFunctions = typeof functions;

/** Only threads for updates load the query engine. They load it at start, so that loading does not count against a timeout. */
const { engine = false } = (threadData ?? {}) as { readonly engine?: boolean };
serve(functions, engine ? updating().then(({ loadEngine }) => loadEngine()) : undefined);
