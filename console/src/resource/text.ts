/** `<resource-text>`: an edited text with the server's errors, and both versions after a conflict. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { EditorLanguage } from '../editor/quad-editor.js';
import { Page } from '../frame/page.js';
import { vocabulary } from '../search/vocabulary.js';
import { type Draft, saveRow, type Theirs } from './draft.js';

@customElement('resource-text')
export class ResourceText extends Page {
  @property({ attribute: false }) draft!: Draft;
  @property() language: EditorLanguage = 'text';
  /** Name of the text for screen readers. */
  @property() label = 'Text';
  @property({ type: Boolean }) readonly = false;
  /** Placeholder for an empty text. */
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
    if (this.readonly) return html`<p class="soft">Read-only: it cannot be changed here.</p>`;
    return saveRow(this.draft, { save: this.save, revert: this.revert });
  }

  private conflict(theirs: Theirs): TemplateResult {
    const { draft } = this;
    const isGone = theirs === 'gone';
    const said = isGone
      ? 'Another user deleted this item. Your version is kept here until you decide.'
      : 'Another user saved this item. Your version is kept here until you decide.';
    const canSave = isGone || 'etag' in theirs;
    return html`<div class="problem decide" role="alert" tabindex="-1">${said}</div>
      <div class="row">
        ${canSave ? html`<button type="button" class="primary" ?disabled=${draft.isSaving} @click=${this.overwrite}>${isGone ? 'Save mine again' : 'Save mine over it'}</button>` : nothing}
        ${canSave && !isGone ? html`<button type="button" ?disabled=${draft.isSaving} @click=${this.takeTheirs}>Use theirs</button>` : nothing}
      </div>`;
  }

  private theirs(theirs: Theirs): TemplateResult {
    if (theirs === 'gone') return html`<p class="empty">No more results.</p>`;
    if (!('etag' in theirs))
      return html`<p class="empty">${theirs.other} Copy what you need of yours, then open the item again.</p>`;
    if (!this.isReady) return html``;
    return html`<quad-editor .language=${this.language} label="Their version" readonly .value=${theirs.text}></quad-editor>`;
  }

  private readonly keys = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void this.save();
  };

  private readonly save = async (): Promise<void> => {
    // After a conflict, only the buttons of the two versions save.
    if (this.readonly || this.draft.theirs !== undefined || !this.draft.isDirty) return;
    const isSaved = await this.draft.save();
    await this.updateComplete;
    // The pressed button was replaced by the two versions, which get the focus.
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

  /** Moves the focus to the editor, since the focused button was removed. */
  private refocus(): void {
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('quad-editor')?.focus());
  }
}
