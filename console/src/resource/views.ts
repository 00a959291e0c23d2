/** Views with unsaved input, kept until it is saved or discarded, so that navigation and a new sign-in lose nothing. */
import { onSession, subjectNow } from '../session/session.js';

export interface Keepable {
  readonly hasChanges: boolean;
}

const kept = new Map<string, Keepable & HTMLElement>();

/** View of a resource: one with unsaved input, or a new one. */
export function viewOf<View extends Keepable & HTMLElement>(iri: string, make: () => View): View {
  dropClean(iri);
  const view = (kept.get(iri) as View | undefined) ?? make();
  kept.set(iri, view);
  return view;
}

/** Drops views without unsaved input. Their resources are read again. */
export function dropClean(except?: string): void {
  for (const [iri, view] of kept) if (iri !== except && !view.hasChanges) kept.delete(iri);
}

export const forgetView = (iri: string): void => void kept.delete(iri);

/** Resources with unsaved input. */
export const changedResources = (): string[] => [...kept].filter(([, view]) => view.hasChanges).map(([iri]) => iri);

addEventListener('beforeunload', (event) => {
  if (changedResources().length > 0) event.preventDefault();
});

let subject = subjectNow();
onSession(() => {
  // The same user with a new credential continues. Other users must not see the input.
  if (subjectNow() === subject) return;
  subject = subjectNow();
  kept.clear();
});
