/** `<folder-picker>`: folders to choose from. Fires `pick` with the IRI of the folder that is opened. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { readContainer } from '../storage/container.js';
import { decoded, isContainer, parentIri, shortName } from '../storage/names.js';

/** Pages of a container that are searched for folders. */
const maxPages = 5;

@customElement('folder-picker')
export class FolderPicker extends Page {
  /** Open folder. */
  @property() at = storageUri;
  @property() legend = 'Folder:';
  @state() private folders: readonly string[] | undefined;
  @state() private isCut = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('at')) void this.list();
  }

  private list(): Promise<void> {
    const { at } = this;
    this.folders = undefined;
    return this.reading(async () => {
      const folders: string[] = [];
      let rest = 1;
      for (let page = 1; page <= maxPages && rest > 0; page++) {
        const { members, total = 0 } = await readContainer(`${at}?page=${page}`, new AbortController().signal);
        if (at !== this.at) return;
        if (page === 1) rest = total;
        rest -= Math.max(1, members.length);
        folders.push(...members.map(({ iri }) => iri).filter(isContainer));
      }
      this.folders = folders;
      this.isCut = rest > 0;
    });
  }

  private pick(iri: string): void {
    this.at = iri;
    this.dispatchEvent(new CustomEvent('pick', { detail: iri }));
  }

  protected override render(): TemplateResult {
    const { at, folders } = this;
    const name = at === storageUri ? 'the storage' : `/${decoded(at.slice(storageUri.length))}`;
    return html`<fieldset><legend>${this.legend} <strong>${name}</strong></legend>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : ''}
      <ul class="folders">
        ${at === storageUri ? '' : html`<li><button type="button" @click=${() => this.pick(parentIri(at))}>↑ Folder above</button></li>`}
        ${(folders ?? []).map((iri) => html`<li><button type="button" @click=${() => this.pick(iri)}>${shortName(iri)}/</button></li>`)}
        ${folders === undefined ? html`<li class="soft">Loading …</li>` : folders.length === 0 ? html`<li class="soft">No folders here.</li>` : ''}
      </ul>
      ${this.isCut ? html`<p class="soft">There are more items. Type the path of other folders.</p>` : ''}
    </fieldset>`;
  }
}
