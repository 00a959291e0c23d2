/** Handles queries over an earlier state of the storage, in the HTTP thread (rule 27.8). */
import type { PastQueries } from '../../lib/component/installation.js';
import { formatHttpDate } from '../../lib/tools/fields/date.js';
import { msOfPosition } from './entries.js';
import { isIn } from './history.js';
import { CallerReach } from './permissions.js';
import { type Answering, positionAt, reachIn } from './replies.js';

const module = new URL('./as-of.js', import.meta.url).href;

export function pastQueries(answering: Answering): PastQueries {
  const { platform, switches } = answering;
  const { store, clock } = platform;
  return {
    asked(date) {
      if (date === undefined || !switches.isUsed()) return undefined;
      const position = positionAt(String(date));
      // A date in the future selects the present state.
      const ms = Math.min(msOfPosition(position), clock());
      return { task: { position, module }, fields: { 'Memento-Datetime': formatHttpDate(ms) } };
    },
    async admits(access, states) {
      const caller = new CallerReach(platform, access);
      const isController = await caller.controls();
      const answers: boolean[] = [];
      for (const { iri, ended, owner } of states) {
        const record = store.record(iri);
        if (isController || !record) answers.push(isController);
        else answers.push(isIn(await reachIn(answering, caller, record), { ended, record: { owner } }));
      }
      return answers;
    },
  };
}
