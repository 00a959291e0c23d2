/** The row above what is edited: save, give up, and what state it is in. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Draft } from './draft.js';

export interface SaveActions {
  readonly save: () => void;
  readonly revert: () => void;
}

export function saveRow(draft: Draft, { save, revert }: SaveActions): TemplateResult {
  const state = draft.isSaving ? 'Saving …' : draft.isDirty ? 'Unsaved changes' : 'No unsaved changes';
  return html`<div class="row">
    <button type="button" class="primary" ?disabled=${draft.isSaving} @click=${save}>Save</button>
    ${draft.isDirty ? html`<button type="button" @click=${revert}>Undo all changes</button>` : nothing}
    <span class=${draft.isDirty ? 'state unsaved' : 'state soft'} role="status">${state}</span>
  </div>`;
}
