/** `<resource-text>`: a draft in the editor, what the server said of it, and both sides when somebody else was faster. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { Language } from '../editor/quad-editor.js';
import { Page } from '../frame/page.js';
import { vocabulary } from '../search/vocabulary.js';
import { type Draft, saveRow, type Theirs } from './draft.js';

@customElement('resource-text')
export class ResourceText extends Page {
  @property({ attribute: false }) draft!: Draft;
  @property() language: Language = 'text';
  /** What is edited, for its accessible name. */
  @property() label = 'Text';
  @property({ type: Boolean }) readonly = false;
  /** What to do with an empty text. */
  @property() hint = '';
  @state() private isReady = false;

  protected override load(): Promise<void> {
    return this.reading(async () => {
      await import('../editor/quad-editor.js');
      this.isReady = true;
    }, 'Reload the page.');
  }

  protected override willUpdate(): void {
    this.follow(this.draft);
  }

  protected override render(): TemplateResult {
    const { draft } = this;
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    const theirs = draft.theirs;
    return html`
      ${draft.failure ? html`<p class="problem" role="alert">${draft.failure}</p>` : nothing}
      ${theirs === undefined ? this.actions() : this.conflict(theirs)}
      ${draft.text === '' && draft.saved === '' && this.hint ? html`<p class="soft">${this.hint}</p>` : nothing}
      <div class=${theirs === undefined ? '' : 'sides'} @keydown=${this.keys}>
        <section aria-label=${theirs === undefined ? nothing : 'Your version'}>
          ${theirs === undefined ? nothing : html`<h2>Your version</h2>`}
          ${this.editor()}
        </section>
        ${theirs === undefined ? nothing : html`<section aria-label="Their version"><h2>Their version</h2>${this.theirs(theirs)}</section>`}
      </div>`;
  }

  private editor(): TemplateResult {
    if (!this.isReady) return html`<p class="soft" role="status">Loading the editor …</p>`;
    return html`<quad-editor
      .language=${this.language}
      .label=${this.label}
      .readonly=${this.readonly}
      .completions=${vocabulary}
      .value=${this.draft.text}
      @change=${(event: CustomEvent<string>) => {
        this.draft.text = event.detail;
      }}
      @submit=${this.save}
    ></quad-editor>`;
  }

  private actions(): TemplateResult {
    if (this.readonly) return html`<p class="soft">You can read this; it is not changed here.</p>`;
    return saveRow(this.draft, { save: this.save, revert: this.revert });
  }

  private conflict(theirs: Theirs): TemplateResult {
    const { draft } = this;
    const isGone = theirs === 'gone';
    const said = isGone
      ? 'Somebody deleted this in the meantime. Your version is kept here until you decide.'
      : 'Somebody else saved this in the meantime. Your version is kept here until you decide.';
    const canSave = isGone || 'etag' in theirs;
    return html`<div class="problem decide" role="alert" tabindex="-1">${said}</div>
      <div class="row">
        ${canSave ? html`<button type="button" class="primary" ?disabled=${draft.isSaving} @click=${this.overwrite}>${isGone ? 'Save mine again' : 'Save mine over it'}</button>` : nothing}
        ${canSave && !isGone ? html`<button type="button" ?disabled=${draft.isSaving} @click=${this.takeTheirs}>Take theirs</button>` : nothing}
      </div>`;
  }

  private theirs(theirs: Theirs): TemplateResult {
    if (theirs === 'gone') return html`<p class="empty">There is none any more.</p>`;
    if (!('etag' in theirs))
      return html`<p class="empty">${theirs.other} Copy what you need of yours, then open the resource again.</p>`;
    if (!this.isReady) return html``;
    return html`<quad-editor .language=${this.language} label="Their version" readonly .value=${theirs.text}></quad-editor>`;
  }

  private readonly keys = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void this.save();
  };

  private readonly save = async (): Promise<void> => {
    // Two sides are decided by their own buttons.
    if (this.readonly || this.draft.theirs !== undefined || !this.draft.isDirty) return;
    const isSaved = await this.draft.save();
    await this.updateComplete;
    // The button that was pressed made way for the two sides.
    if (!isSaved && document.activeElement === document.body) this.querySelector<HTMLElement>('.decide')?.focus();
  };

  private readonly overwrite = async (): Promise<void> => {
    if (await this.draft.overwrite()) this.refocus();
  };

  private readonly takeTheirs = (): void => {
    this.draft.takeTheirs();
    this.refocus();
  };

  private readonly revert = (): void => {
    this.draft.revert();
    this.refocus();
  };

  /** The button that had the focus is gone. */
  private refocus(): void {
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('quad-editor')?.focus());
  }
}
