/** Table of members that renders visible rows only, so that 100 000 rows scroll as fast as ten. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { copyLink, linkIsCopied, openHref, Page, placeHref } from '../frame/page.js';
import { showMenu } from '../frame/row-menu.js';
import type { ListedMember } from '../storage/container.js';
import { download } from '../storage/download.js';
import { dateText, isContainer, shortName, sizeText } from '../storage/names.js';
import { itemIcon } from './icon.js';
import { type Column, type ContainerListing, hasThumbnail, typeText } from './listing.js';
import { dragType } from './move.js';

/** Height of a row in pixels, as in the style sheet: rows of phones have two lines. */
const rowHeight = matchMedia('(max-width: 45rem)').matches ? 60 : 40;
const spare = 12;

/** Members that were dropped on a container. */
export interface MovingRow {
  readonly iris: readonly string[];
  readonly place: string;
}

/** Action on the focused row: rename it, or delete it or the selected members. */
export interface RowKey {
  readonly key: 'F2' | 'Delete';
  readonly member: ListedMember | undefined;
  /** True if the action was chosen in the menu of the row. It then does not apply to other selected members. */
  readonly isAlone?: boolean;
}

export interface Selecting {
  readonly members: readonly ListedMember[];
  readonly isOn: boolean;
}

@customElement('quad-rows')
export class Rows extends Page {
  @property({ attribute: false }) listing!: ContainerListing;
  @property({ attribute: false }) selected: ReadonlySet<string> = new Set();
  @property({ type: Boolean }) isMovable = false;
  /** True if the user may share the members. */
  @property({ type: Boolean }) canShare = false;
  /** Member whose menu is open. */
  @state() private chosen: ListedMember | undefined;
  /** Container under the dragged members. */
  @state() private target = '';
  @state() private first = 0;
  @state() private last = 40;
  /** Index of the row of the last click. */
  private anchor: number | undefined;

  protected override willUpdate(): void {
    if (!this.follow(this.listing) || !this.isConnected) return;
    this.first = 0;
    this.anchor = undefined;
    this.querySelector('.listing')?.scrollTo(0, 0);
  }

  private readonly scrolled = (event: Event): void => {
    const { scrollTop, clientHeight } = event.target as HTMLElement;
    this.first = Math.max(0, Math.floor(scrollTop / rowHeight) - spare);
    this.last = Math.ceil((scrollTop + clientHeight) / rowHeight) + spare;
  };

  protected override updated(): void {
    const [before, after] = this.querySelectorAll<HTMLElement>('.spacer');
    const { length } = this.listing;
    if (before) before.style.height = `${Math.min(this.first, length) * rowHeight}px`;
    if (after) after.style.height = `${Math.max(0, length - this.last) * rowHeight}px`;
  }

  protected override render(): TemplateResult {
    const { listing } = this;
    const { length } = listing;
    const indexes: number[] = [];
    for (let index = this.first; index < Math.min(this.last, length); index++) indexes.push(index);
    return html`<div class="scroll listing" tabindex="0" role="region" aria-label="Items" aria-keyshortcuts="ArrowDown ArrowUp Enter F2 Delete /" @scroll=${this.scrolled} @keydown=${this.typed}>
      <table aria-rowcount=${length + 1}>
        <thead>
          <tr>
            <th scope="col"><input type="checkbox" aria-label="Select all" .checked=${length > 0 && this.selected.size >= length} @change=${this.selectAll} /></th>
            ${this.heading('name', 'Name')}${this.heading('type', 'Type')}${this.heading('size', 'Size')}${this.heading('modified', 'Changed')}
            <th scope="col"><span class="visually-hidden">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          <tr class="spacer" aria-hidden="true"></tr>
          ${indexes.map((index) => this.row(index))}
          <tr class="spacer" aria-hidden="true"></tr>
        </tbody>
      </table>
    </div>
    <div class="row-menu" popover aria-label="Actions" @click=${(event: Event) => (event.currentTarget as HTMLElement).hidePopover()}>${this.chosen ? this.menu(this.chosen) : nothing}</div>`;
  }

  private menu(member: ListedMember): TemplateResult {
    const { iri } = member;
    const pressed = (key: RowKey['key']) => (): void => {
      this.dispatchEvent(new CustomEvent<RowKey>('row-key', { detail: { key, member, isAlone: true } }));
    };
    return html`<a class="button" href=${openHref(iri)}>Open</a>
      <button type="button" @click=${() => this.attempt(() => copyLink(iri), linkIsCopied)}>Copy link</button>
      ${isContainer(iri) ? nothing : html`<button type="button" @click=${() => this.attempt(() => download(iri))}>Download</button>`}
      ${this.canShare ? html`<a class="button" href=${placeHref('sharing', { at: iri })}>Share</a>` : nothing}
      ${
        this.isMovable
          ? html`<button type="button" @click=${pressed('F2')}>Rename or move …</button>
            <button type="button" class="danger" @click=${pressed('Delete')}>Delete</button>`
          : nothing
      }`;
  }

  /** Opens the menu of a row. Measures the button first, because the update may move its row. */
  private async openMenu(member: ListedMember, { currentTarget }: Event): Promise<void> {
    const place = (currentTarget as HTMLElement).getBoundingClientRect();
    this.chosen = member;
    await this.updateComplete;
    showMenu(this.querySelector<HTMLElement>('.row-menu')!, place);
  }

  private heading(column: Column, title: string): TemplateResult {
    const { order } = this.listing;
    const isSorted = order.column === column;
    return html`<th scope="col" class=${column === 'size' ? 'number' : nothing} aria-sort=${isSorted ? (order.isUp ? 'ascending' : 'descending') : nothing}>
      <button type="button" class="sort" @click=${() => this.listing.sort(column)}>${title}${isSorted ? html`<span aria-hidden="true">${order.isUp ? ' ▲' : ' ▼'}</span>` : nothing}</button>
    </th>`;
  }

  private row(index: number): TemplateResult {
    const member = this.listing.row(index);
    if (!member) return html`<tr aria-rowindex=${index + 2}><td></td><td class="soft" colspan="5">…</td></tr>`;
    const name = shortName(member.iri);
    const isTarget = this.isMovable && isContainer(member.iri);
    return html`<tr
      aria-rowindex=${index + 2}
      class=${this.target === member.iri ? 'over' : nothing}
      draggable=${this.isMovable ? 'true' : nothing}
      @dragstart=${(event: DragEvent) => this.drag(member, event)}
      @dragover=${isTarget ? (event: DragEvent) => this.over(member.iri, event) : nothing}
      @dragleave=${() => {
        this.target = '';
      }}
      @drop=${isTarget ? (event: DragEvent) => this.drop(member.iri, event) : nothing}
    >
      <td>
        <input
          type="checkbox"
          aria-label=${`Select ${name}`}
          .checked=${this.selected.has(member.iri)}
          data-row=${index}
          @click=${(event: MouseEvent) => this.clicked(index, event)}
        />
      </td>
      <td>
        ${this.thumbnail(member)}<a href=${openHref(member.iri)} title=${name}
          >${name}</a
        ><small class="only-small soft">${factsOf(member)}</small>
      </td>
      <td>${typeText(member)}</td>
      <td class="number">${member.size === undefined || isContainer(member.iri) ? nothing : sizeText(member.size)}</td>
      <td>${member.modified ? dateText(member.modified) : nothing}</td>
      <td class="acts"><button type="button" class="quiet opens" aria-haspopup="true" aria-label=${`Actions for ${name}`} @click=${(event: Event) => this.openMenu(member, event)}>⋯</button></td>
    </tr>`;
  }

  private thumbnail(member: ListedMember): TemplateResult {
    if (!hasThumbnail(member)) return itemIcon(member.iri, member.mediaType);
    void import('./thumbnail.js');
    return html`<quad-thumbnail .member=${member}></quad-thumbnail>`;
  }

  private drag({ iri }: ListedMember, { dataTransfer }: DragEvent): void {
    const iris = this.selected.has(iri) ? [...this.selected] : [iri];
    dataTransfer?.setData(dragType, iris.join('\n'));
  }

  private over(iri: string, event: DragEvent): void {
    if (!event.dataTransfer?.types.includes(dragType)) return;
    event.preventDefault();
    event.stopPropagation();
    event.dataTransfer.dropEffect = 'move';
    this.target = iri;
  }

  private drop(place: string, event: DragEvent): void {
    const dragged = event.dataTransfer?.getData(dragType);
    if (!dragged) return;
    event.preventDefault();
    event.stopPropagation();
    this.target = '';
    const iris = dragged.split('\n').filter((iri) => iri !== place);
    this.dispatchEvent(new CustomEvent<MovingRow>('move-members', { detail: { iris, place } }));
  }

  private readonly selectAll = (event: Event): Promise<void> =>
    this.select(0, this.listing.length, (event.target as HTMLInputElement).checked);

  /** Selects a row, and with the Shift key also the rows since the last click. */
  private clicked(index: number, event: MouseEvent): void {
    const isOn = (event.target as HTMLInputElement).checked;
    const from = event.shiftKey ? (this.anchor ?? index) : index;
    this.anchor = index;
    void this.select(Math.min(from, index), Math.max(from, index) + 1, isOn);
  }

  /** Handles keys: arrows move between the rows, and with the Shift key select them. Enter opens a row. */
  private readonly typed = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    const row = target.closest('tr[aria-rowindex]')?.querySelector<HTMLElement>('[data-row]')?.dataset['row'];
    const index = row === undefined ? -1 : Number(row);
    const { key } = event;
    if (key === 'F2' || key === 'Delete') {
      event.preventDefault();
      const detail = { key, member: index < 0 ? undefined : this.listing.row(index) } as const;
      this.dispatchEvent(new CustomEvent<RowKey>('row-key', { detail }));
    } else if (key === 'Enter' && target.matches('input') && index >= 0) {
      event.preventDefault();
      const member = this.listing.row(index);
      if (member) location.hash = openHref(member.iri);
    } else this.step(index, event);
  };

  private step(index: number, event: KeyboardEvent): void {
    const next = index + (event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0);
    if (next === index || next < 0 || next >= this.listing.length) return;
    event.preventDefault();
    if (event.shiftKey && index >= 0) void this.select(Math.min(index, next), Math.max(index, next) + 1, true);
    this.anchor = next;
    this.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus();
  }

  private async select(from: number, to: number, isOn: boolean): Promise<void> {
    const members = await this.listing.rows(from, to);
    this.dispatchEvent(new CustomEvent<Selecting>('select-members', { detail: { members, isOn } }));
  }
}

/** Returns the second line of a row on a phone. */
const factsOf = ({ iri, size, modified }: ListedMember): string =>
  [size === undefined || isContainer(iri) ? '' : sizeText(size), modified ? dateText(modified) : '']
    .filter(Boolean)
    .join(' · ');
