/** Access to the trash (rule 26.2): only controllers of the storage can read and delete there, whatever ACLs and grants say. */
import { subtree, unionOfRanges, withoutRanges } from '../storage/keys/iri-ranges.js';
import type { Store } from '../storage/transactions/store.js';
import type { Authorizer, Decision, Question, ReadScope, View } from './authorizer.js';
import type { Access } from './principal.js';

/** Returns the IRI of the trash, the container of deleted resources. */
export const trashOf = (storage: string): string => `${storage}.trash/`;

const [allowed, refused] = [
  { allowed: true, rule: 'the trash: controls the storage' },
  { allowed: false, rule: 'the trash: does not control the storage' },
];
const readOnly: Decision = { allowed: false, rule: 'the trash: nothing is written there' };

/** Committed state, with the deleted subtrees. */
type Committed = View & Pick<Store, 'removedSubtrees'>;

export function withTrash(inner: Authorizer, storage: string, view: Committed): Authorizer {
  const trash = trashOf(storage);
  const judged = (decision: Decision): Decision => (decision.allowed ? allowed : refused);
  const decide = (question: Question): Decision | Promise<Decision> => {
    if (!question.iri.startsWith(trash)) return inner.decide(question);
    if (question.mode !== 'read' && question.mode !== 'delete') return readOnly;
    const decision = inner.decide({ view: question.view, access: question.access, mode: 'control', iri: storage });
    return decision instanceof Promise ? decision.then(judged) : judged(decision);
  };
  const controls = async (state: View, access: Access): Promise<boolean> =>
    inner.allows({ view: state, access, mode: 'control', iri: storage });
  return {
    ...inner,
    decide,
    allows(question) {
      const decision = decide(question);
      return decision instanceof Promise ? decision.then((found) => found.allowed) : decision.allowed;
    },
    /** Excludes the trash and deleted subtrees, like `readScope`. */
    finds: (question) =>
      !question.iri.startsWith(trash) &&
      !view.removedSubtrees.some((container) => question.iri.startsWith(container)) &&
      inner.finds(question),
    readsAllMembers(state, access, container) {
      if (container.startsWith(trash)) return controls(state, access);
      const all = inner.readsAllMembers(state, access, container);
      if (container !== storage || !state.record(trash)) return all;
      return controls(state, access).then(async (isController) => isController && all);
    },
    /** Excludes the trash for controllers too, so that searches and queries do not return deleted resources. */
    readScope: async (access, container) => {
      const scope = outside(await inner.readScope(access, container), storage, [
        ...(view.record(trash) ? [trash] : []),
        ...view.removedSubtrees,
      ]);
      const showsTrash = container !== undefined && (container === storage || container.startsWith(trash));
      if (scope === 'decide' || !showsTrash || !view.record(trash) || !(await controls(view, access))) return scope;
      const { ranges, ...owner } = rangesOf(scope, storage);
      return { ...owner, ranges: unionOfRanges([...ranges, subtree(trash)]) };
    },
  };
}

/** Returns a scope without the trash. If the scope is `decide`, `Authorizer.finds` excludes the trash. */
export const outsideTrash = (scope: ReadScope, storage: string, view: Pick<View, 'record'>): ReadScope =>
  view.record(trashOf(storage)) ? outside(scope, storage, [trashOf(storage)]) : scope;

function outside(scope: ReadScope, storage: string, containers: readonly string[]): ReadScope {
  if (scope === 'decide' || scope === 'nothing' || containers.length === 0) return scope;
  const { ranges, ...owner } = rangesOf(scope, storage);
  return { ...owner, ranges: withoutRanges(ranges, unionOfRanges(containers.map(subtree))) };
}

const rangesOf = (scope: Exclude<ReadScope, 'decide'>, storage: string): Extract<ReadScope, object> =>
  typeof scope === 'object' ? scope : { ranges: scope === 'everything' ? [subtree(storage)] : [] };
