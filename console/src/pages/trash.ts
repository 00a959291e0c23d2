/** Trash: restores deleted resources, or deletes them permanently. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { blank } from '../frame/blank.js';
import { crumbs, headingOf, openHref, Page, placeHref, scrollTable } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { nameOfPerson } from '../sharing/people.js';
import { dateText, decoded, itemsText, memberNames, parentIri, sizeText } from '../storage/names.js';
import { deletePermanently, type ListedTrashItem, readTrash, restoreItem } from '../storage/trash.js';

/** Maximum time between two items of one deletion, in milliseconds. */
const gapMs = 2000;

/** Items that one action deleted: different items from one folder, by one user, at most `gapMs` apart. */
type Deletion = readonly [ListedTrashItem, ...ListedTrashItem[]];

function deletionsOf(items: readonly ListedTrashItem[]): readonly Deletion[] {
  const isNext = (a: ListedTrashItem, b: ListedTrashItem): boolean =>
    a.by === b.by &&
    parentIri(a.from) === parentIri(b.from) &&
    Math.abs(Date.parse(a.deleted) - Date.parse(b.deleted)) <= gapMs;
  const found: [ListedTrashItem, ...ListedTrashItem[]][] = [];
  for (const item of items) {
    const last = found.at(-1);
    if (last && isNext(last.at(-1)!, item) && last.every(({ from }) => from !== item.from)) last.push(item);
    else found.push([item]);
  }
  return found;
}

const pathOf = (iri: string): string => (iri === storageUri ? headingOf(iri) : decoded(iri.slice(storageUri.length)));
const namesOf = (deletion: Deletion): string => memberNames(deletion.map(({ from }) => from));

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
    return html`${crumbs(`${storageUri}Trash`)}<h1>Trash</h1>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.content()}`;
  }

  private content(): TemplateResult {
    const { items, days } = this;
    if (!items) return html`<p class="soft">Loading …</p>`;
    if (days === undefined)
      return blank({
        icon: 'trash',
        title: 'There is no trash',
        text: 'It is off (lws.trash.days), or you do not control this storage. Deletions are permanent.',
      });
    if (items.length === 0)
      return blank({
        icon: 'trash',
        title: 'The trash is empty',
        text: `What you delete stays here for ${days} days.`,
        actions: html`<a class="button" href=${placeHref('browse')}>Open the files</a>`,
      });
    const heads = ['Name', 'Size', 'Deleted', 'Kept until', 'Actions'];
    return html`<p class="soft">Only owners see the trash. Searches and queries do not find what is in it. It counts against the quota.</p>
      ${scrollTable(
        'Trash',
        heads,
        deletionsOf(items).map((deletion) => this.row(deletion)),
      )}
      ${this.next === undefined ? nothing : html`<div class="row"><button type="button" @click=${() => this.read(this.next)}>Show more</button></div>`}`;
  }

  private row(deletion: Deletion): TemplateResult {
    const [{ from, by, deleted, expires, members }] = deletion;
    const isOne = deletion.length === 1;
    const bytes = deletion.reduce((sum, { size = 0 }) => sum + size, 0);
    const count = isOne && members !== undefined ? itemsText(members) : bytes > 0 ? sizeText(bytes) : '';
    const path = isOne ? pathOf(from) : `${itemsText(deletion.length)} of ${pathOf(parentIri(from))}`;
    const list = html`<details><summary>${path}</summary><ul>${deletion.map((item) => html`<li title=${item.from}>${pathOf(item.from)}</li>`)}</ul></details>`;
    return html`<tr>
      <td title=${isOne ? from : nothing}>${isOne ? path : list}</td>
      <td class="number">${count}</td>
      <td>${dateText(deleted)}${by === undefined ? nothing : html` <span class="soft" title=${by}>by ${nameOfPerson(by)}</span>`}</td>
      <td><span class="soft only-small">kept until</span> ${dateText(expires)}</td>
      <td><div class="row">
        <button type="button" aria-label=${`Restore ${path}`} @click=${() => this.giveBack(deletion)}>Restore</button>
        <button type="button" class="danger" aria-label=${`Delete permanently ${path}`} @click=${() => this.erase(deletion)}>Delete permanently</button>
      </div></td>
    </tr>`;
  }

  private async giveBack(deletion: Deletion): Promise<void> {
    const restore = async (): Promise<void> => {
      for (const { id } of deletion) await restoreItem(id);
    };
    const [{ from }] = deletion;
    if (await this.attempt(restore, `${namesOf(deletion)} restored.`))
      location.hash = openHref(deletion.length === 1 ? from : parentIri(from));
    // After an error, some items may have been restored.
    else await this.read();
  }

  private async erase(deletion: Deletion): Promise<void> {
    const text = `${namesOf(deletion)} will be deleted with all content. This cannot be undone.`;
    const question = { title: 'Delete permanently', text, proceed: 'Delete permanently' };
    const erase = async (): Promise<void> => {
      for (const { id } of deletion) await deletePermanently(id);
    };
    const isDone = await this.attemptAfter(question, erase, `${namesOf(deletion)} deleted permanently.`);
    // After an error, some items may have been deleted.
    await this.read();
    if (isDone) await this.keepFocus();
  }
}
