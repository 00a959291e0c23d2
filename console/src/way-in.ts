/** What whoever may not read something does next. */
import { html, type TemplateResult } from 'lit';
import { Refusal } from './api.js';
import { controls } from './controller.js';
import { placeHref } from './page.js';
import { who } from './session.js';

/**
 * Whether access is what is missing. Strangers are told the same of what is absent and of what they may not read: either
 * may be asked for. Who controls the storage is told the truth.
 */
export async function mayBeAsked(failure: unknown): Promise<boolean> {
  if (!(failure instanceof Refusal)) return false;
  if (failure.status !== 404) return failure.status === 401 || failure.status === 403;
  return !(await controls().catch(() => false));
}

/** Asks who controls the storage; nobody signs in first. */
export const wayIn = (iri: string): TemplateResult =>
  who().kind === 'anonymous'
    ? html`<a class="button primary" href=${placeHref('signin')}>Sign in</a>`
    : html`<a class="button" href=${placeHref('requests', { ask: iri })}>Ask for access</a>`;
