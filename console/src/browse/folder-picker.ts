/** `<folder-picker>`: folders to choose from, and files. Fires `pick` with the IRI of the folder that is opened, or of the file. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { readContainer } from '../storage/container.js';
import { decoded, isContainer, parentIri, shortName } from '../storage/names.js';
import { itemIcon } from './icon.js';

/** Trash, which is not listed: its items are restored, not chosen. */
const trash = `${storageUri}.trash/`;
/** Maximum count of pages of a container that are searched for folders. */
const maxPages = 5;

@customElement('folder-picker')
export class FolderPicker extends Page {
  /** Open folder. */
  @property() at = storageUri;
  @property() legend = 'Folder:';
  /** True to list files, too. */
  @property({ type: Boolean }) hasFiles = false;
  @state() private items: readonly string[] | undefined;
  @state() private isCut = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('at')) void this.list();
  }

  private list(): Promise<void> {
    const { at } = this;
    this.items = undefined;
    return this.reading(async () => {
      const found: string[] = [];
      let rest = 1;
      for (let page = 1; page <= maxPages && rest > 0; page++) {
        const { members, total = 0 } = await readContainer(`${at}?page=${page}`, new AbortController().signal);
        if (at !== this.at) return;
        if (page === 1) rest = total;
        rest -= Math.max(1, members.length);
        const isOffered = (iri: string): boolean => iri !== trash && (this.hasFiles || isContainer(iri));
        found.push(...members.map(({ iri }) => iri).filter(isOffered));
      }
      this.items = found.sort((a, b) => Number(isContainer(b)) - Number(isContainer(a)));
      this.isCut = rest > 0;
    });
  }

  private pick(iri: string): void {
    if (isContainer(iri)) this.at = iri;
    this.dispatchEvent(new CustomEvent('pick', { detail: iri }));
  }

  protected override render(): TemplateResult {
    const { at, items } = this;
    const none = this.hasFiles ? 'This folder is empty.' : 'No folders here.';
    const name = at === storageUri ? 'the storage' : `/${decoded(at.slice(storageUri.length))}`;
    return html`<fieldset><legend>${this.legend} <strong>${name}</strong></legend>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : ''}
      <ul class="folders">
        ${at === storageUri ? '' : html`<li><button type="button" @click=${() => this.pick(parentIri(at))}>↑ Folder above</button></li>`}
        ${(items ?? []).map((iri) => html`<li><button type="button" @click=${() => this.pick(iri)}>${itemIcon(iri)}${shortName(iri)}</button></li>`)}
        ${items === undefined ? html`<li class="soft">Loading …</li>` : items.length === 0 ? html`<li class="soft">${none}</li>` : ''}
      </ul>
      ${this.isCut ? html`<p class="soft">There are more items. Type the path of others.</p>` : ''}
    </fieldset>`;
  }
}
