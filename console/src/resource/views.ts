/** Views with unsaved input. They are kept until the input is saved or discarded, also across navigation and a new sign-in. */
import { onSession, subjectNow } from '../session/session.js';

export interface Keepable {
  readonly hasChanges: boolean;
}

const kept = new Map<string, Keepable & HTMLElement>();

/** Returns the view of a resource: the kept view with unsaved input, or a new one. */
export function viewOf<View extends Keepable & HTMLElement>(iri: string, make: () => View): View {
  dropClean(iri);
  const view = (kept.get(iri) as View | undefined) ?? make();
  kept.set(iri, view);
  return view;
}

/** Drops views without unsaved input, so that their resources are read again. */
export function dropClean(except?: string): void {
  for (const [iri, view] of kept) if (iri !== except && !view.hasChanges) kept.delete(iri);
}

export const forgetView = (iri: string): void => void kept.delete(iri);

/** Returns the IRIs of resources with unsaved input. */
export const changedResources = (): string[] => [...kept].filter(([, view]) => view.hasChanges).map(([iri]) => iri);

addEventListener('beforeunload', (event) => {
  if (changedResources().length > 0) event.preventDefault();
});

let subject = subjectNow();
onSession(() => {
  // If the same user signs in again, the input is kept. Other users must not see it.
  if (subjectNow() === subject) return;
  subject = subjectNow();
  kept.clear();
});
