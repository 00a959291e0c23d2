/** Edited text, which is saved only over the version that was read. No response of the server discards the input. */

import { html, nothing, type TemplateResult } from 'lit';
import { messageOf, Refusal, request, succeed } from '../storage/api.js';

export interface Version {
  readonly text: string;
  readonly etag: string;
}

/** Version that another user saved, or `gone` after a deletion. */
export type Theirs = Version | 'gone' | { readonly other: string };

export interface DraftSource {
  readonly iri: string;
  readonly mediaType: string;
  /** Reads the current version from the server. */
  readonly reread: () => Promise<Theirs>;
}

/** Fires `change` on every change of the draft. */
export class Draft extends EventTarget {
  private typed: string;
  /** Version that was last read or saved. */
  private base: Version;
  theirs: Theirs | undefined;
  failure = '';
  isSaving = false;
  /** True if the text was saved since it was opened. */
  wasSaved = false;

  constructor(
    readonly source: DraftSource,
    version: Version,
  ) {
    super();
    this.base = version;
    this.typed = version.text;
  }

  get text(): string {
    return this.typed;
  }
  set text(text: string) {
    if (text === this.typed) return;
    this.typed = text;
    this.changed();
  }
  get saved(): string {
    return this.base.text;
  }
  get etag(): string {
    return this.base.etag;
  }
  get isDirty(): boolean {
    return this.typed !== this.base.text || this.theirs !== undefined;
  }

  /** Saves the text if the resource still has the version that was read. @returns true if saved */
  save(): Promise<boolean> {
    return this.write({ 'If-Match': this.base.etag });
  }

  /** Saves the text and replaces the version of another user. */
  overwrite(): Promise<boolean> {
    const { theirs } = this;
    if (theirs === undefined) return this.save();
    if (theirs === 'gone') return this.write({ 'If-None-Match': '*' });
    return 'etag' in theirs ? this.write({ 'If-Match': theirs.etag }) : Promise.resolve(false);
  }

  /** Discards the input and uses the version of another user. */
  takeTheirs(): void {
    const { theirs } = this;
    if (theirs === undefined || theirs === 'gone' || !('etag' in theirs)) return;
    this.base = theirs;
    this.typed = theirs.text;
    this.theirs = undefined;
    this.failure = '';
    this.changed();
  }

  /** Discards the input and uses the version that was read. */
  revert(): void {
    this.typed = this.base.text;
    this.failure = '';
    this.changed();
  }

  private async write(condition: Readonly<Record<string, string>>): Promise<boolean> {
    if (this.isSaving) return false;
    const { iri, mediaType } = this.source;
    const text = this.typed;
    this.isSaving = true;
    this.failure = '';
    this.changed();
    try {
      const response = await succeed('PUT', iri, {
        headers: { 'Content-Type': mediaType, ...condition },
        body: new Blob([text]),
      });
      const tagged = response.headers.has('ETag') ? response : await request('HEAD', iri);
      this.base = { text, etag: tagged.headers.get('ETag') ?? '' };
      this.theirs = undefined;
      this.wasSaved = true;
      return true;
    } catch (error) {
      await this.refused(error);
      return false;
    } finally {
      this.isSaving = false;
      this.changed();
    }
  }

  private async refused(error: unknown): Promise<void> {
    this.failure = messageOf(error);
    if (!(error instanceof Refusal) || error.status !== 412) return;
    try {
      this.theirs = await this.source.reread();
      this.failure = '';
    } catch (again) {
      if (again instanceof Refusal && again.status === 404) this.theirs = 'gone';
      else this.failure = `${this.failure} ${messageOf(again)}`;
    }
  }

  private changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

export function saveRow(draft: Draft, { save, revert }: Record<'save' | 'revert', () => void>): TemplateResult {
  const unchanged = draft.wasSaved ? 'Saved. No unsaved changes' : 'No unsaved changes';
  const state = draft.isSaving ? 'Saving …' : draft.isDirty ? 'Unsaved changes' : unchanged;
  return html`<div class="row">
    <button type="button" class="primary" ?disabled=${draft.isSaving || !draft.isDirty} @click=${save}>Save</button>
    ${draft.isDirty ? html`<button type="button" @click=${revert}>Undo all changes</button>` : nothing}
    <span class=${`state ${draft.isDirty ? 'unsaved' : draft.wasSaved ? 'saved' : 'soft'}`} role="status">${state}</span>
  </div>`;
}
