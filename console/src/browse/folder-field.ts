/** `<folder-field>`: form field for a folder. A button shows the folder, and opens a list of folders. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { Page } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { decoded } from '../storage/names.js';

@customElement('folder-field')
export class FolderField extends Page {
  /** Name of the field in the form. */
  @property() field = '';
  @property() label = '';
  /** True if files can be chosen, too. */
  @property({ type: Boolean }) hasFiles = false;
  @property() value = storageUri;
  @state() private isOpen = false;
  private form: HTMLFormElement | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.form = this.closest('form');
    this.form?.addEventListener('reset', this.clear);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.form?.removeEventListener('reset', this.clear);
  }

  private readonly clear = (): void => {
    [this.value, this.isOpen] = [storageUri, false];
    // Render again, because the form empties its fields after this event.
    setTimeout(() => this.requestUpdate());
  };

  private readonly toggle = (): void => {
    void import('./folder-picker.js');
    this.isOpen = !this.isOpen;
  };

  protected override render(): TemplateResult {
    const { field, label, value, isOpen } = this;
    const path = value.startsWith(storageUri) ? `/${decoded(value.slice(storageUri.length))}` : value;
    const shown = value === storageUri ? 'All of the storage' : path;
    return html`<div class="choice"><span>${label}</span>
        <button type="button" aria-label=${`${label}: ${shown}`} aria-expanded=${isOpen} @click=${this.toggle}>${shown}</button></div>
      ${
        isOpen
          ? html`<folder-picker legend="You are in:" ?hasFiles=${this.hasFiles} @pick=${({
              detail,
            }: CustomEvent<string>) => {
              this.value = detail;
            }}></folder-picker>`
          : nothing
      }
      <label ?hidden=${!isOpen}>Address <input name=${field} type="url" required .value=${live(value)} spellcheck="false" @change=${this.type}></label>`;
  }

  /** Sets the value to an IRI or to a path of the storage. A folded field is valid, because a browser cannot show its error. */
  private readonly type = ({ target }: Event): void => {
    const text = (target as HTMLInputElement).value.trim();
    this.value = URL.canParse(text) ? text : new URL(`./${text.replace(/^\/+/, '')}`, storageUri).href;
  };
}
