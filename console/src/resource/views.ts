/**
 * Views of resources that have something typed into them: kept while others are shown, until it is saved or given up, so that a way through
 * the console or a new sign-in loses nothing.
 */
import { onSession, subjectNow } from '../session/session.js';

export interface Keepable {
  readonly hasChanges: boolean;
}

const kept = new Map<string, Keepable & HTMLElement>();

/** The view of a resource: the one that was left with changes, or a new one. */
export function viewOf<View extends Keepable & HTMLElement>(iri: string, make: () => View): View {
  dropClean(iri);
  const view = (kept.get(iri) as View | undefined) ?? make();
  kept.set(iri, view);
  return view;
}

/** Lets go of views that hold nothing: shown again, their resources are read again. */
export function dropClean(except?: string): void {
  for (const [iri, view] of kept) if (iri !== except && !view.hasChanges) kept.delete(iri);
}

export const forgetView = (iri: string): void => void kept.delete(iri);

/** Resources with something typed and not saved. */
export const changedResources = (): string[] => [...kept].filter(([, view]) => view.hasChanges).map(([iri]) => iri);

addEventListener('beforeunload', (event) => {
  if (changedResources().length > 0) event.preventDefault();
});

let subject = subjectNow();
onSession(() => {
  // The same person with a new credential continues; nobody else sees what was typed.
  if (subjectNow() === subject) return;
  subject = subjectNow();
  kept.clear();
});
