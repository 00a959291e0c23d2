/** Trash: restores deleted resources, or deletes them permanently. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { openHref, Page, placeHref, scrollTable } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { nameOfPerson } from '../sharing/people.js';
import { dateText, decoded, itemsText, shortName, sizeText } from '../storage/names.js';
import { deletePermanently, type ListedTrashItem, readTrash, restoreItem } from '../storage/trash.js';

@customElement('page-trash')
export class TrashPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private items: readonly ListedTrashItem[] | undefined;
  @state() private days: number | undefined;
  @state() private next: string | undefined;

  protected override load(): Promise<void> {
    return this.read();
  }

  private read(before?: string): Promise<void> {
    return this.reading(async () => {
      const page = await readTrash(before);
      this.items = [...((before && this.items) || []), ...(page?.items ?? [])];
      [this.days, this.next] = [page?.days, page?.next];
    });
  }

  protected override render(): TemplateResult {
    return html`<h1>Trash</h1>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.content()}`;
  }

  private content(): TemplateResult {
    const { items, days } = this;
    if (!items) return html`<p class="soft">Loading …</p>`;
    if (days === undefined)
      return html`<p class="empty">There is no trash: it is off (lws.trash.days), or you do not control this storage. Deletions are permanent.</p>`;
    if (items.length === 0)
      return html`<p class="empty">The trash is empty. What you delete in <a href=${placeHref('browse')}>Browse</a> stays here for ${days} days.</p>`;
    const heads = ['Name', 'Size', 'Deleted', 'Deleted permanently', 'Actions'];
    return html`<p class="soft">Only owners see the trash. Searches and queries do not find what is in it. It counts against the quota.</p>
      ${scrollTable(
        'Trash',
        heads,
        items.map((item) => this.row(item)),
      )}
      ${this.next === undefined ? nothing : html`<div class="row"><button type="button" @click=${() => this.read(this.next)}>Show more</button></div>`}`;
  }

  private row(item: ListedTrashItem): TemplateResult {
    const { from, by, deleted, expires, members, size } = item;
    const path = decoded(from.slice(storageUri.length));
    const count = members === undefined ? (size === undefined ? '' : sizeText(size)) : itemsText(members);
    return html`<tr>
      <td title=${from}>${path}</td>
      <td class="number">${count}</td>
      <td>${dateText(deleted)}${by === undefined ? nothing : html` <span class="soft" title=${by}>by ${nameOfPerson(by)}</span>`}</td>
      <td>${dateText(expires)}</td>
      <td><div class="row">
        <button type="button" aria-label=${`Restore ${path}`} @click=${() => this.giveBack(item)}>Restore</button>
        <button type="button" class="danger" aria-label=${`Delete permanently ${path}`} @click=${() => this.erase(item)}>Delete permanently</button>
      </div></td>
    </tr>`;
  }

  private async giveBack({ id, from }: ListedTrashItem): Promise<void> {
    if (await this.attempt(() => restoreItem(id), `${shortName(from)} is restored.`)) location.hash = openHref(from);
  }

  private async erase({ id, from }: ListedTrashItem): Promise<void> {
    const text = `“${shortName(from)}” will be deleted with everything in it. This cannot be undone.`;
    const question = { title: 'Delete permanently', text, proceed: 'Delete permanently' };
    if (!(await this.attemptAfter(question, () => deletePermanently(id), `${shortName(from)} is deleted.`))) return;
    await this.read();
    await this.keepFocus();
  }
}
