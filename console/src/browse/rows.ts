/** Table of members that renders visible rows only, so that 100 000 scroll as fast as ten. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { openHref, Page } from '../frame/page.js';
import type { Member } from '../storage/container.js';
import { dateText, isContainer, shortName, sizeText } from '../storage/names.js';
import type { Listing } from './listing.js';

/** Pixels, as in the style sheet. */
const rowHeight = 40;
const spare = 12;

@customElement('quad-rows')
export class Rows extends Page {
  @property({ attribute: false }) listing!: Listing;
  @property({ attribute: false }) selected: ReadonlySet<string> = new Set();
  @state() private first = 0;
  @state() private last = 40;

  protected override willUpdate(): void {
    if (!this.follow(this.listing) || !this.isConnected) return;
    this.first = 0;
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
    return html`<div class="scroll listing" tabindex="0" role="region" aria-label="Members" @scroll=${this.scrolled}>
      <table aria-rowcount=${length + 1}>
        <thead>
          <tr>
            <th scope="col"><span class="visually-hidden">Select</span></th>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col" class="number">Size</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          <tr class="spacer" aria-hidden="true"></tr>
          ${indexes.map((index) => this.row(index))}
          <tr class="spacer" aria-hidden="true"></tr>
        </tbody>
      </table>
    </div>`;
  }

  private row(index: number): TemplateResult {
    const member = this.listing.row(index);
    if (!member) return html`<tr aria-rowindex=${index + 2}><td></td><td class="soft" colspan="4">…</td></tr>`;
    const name = shortName(member.iri);
    return html`<tr aria-rowindex=${index + 2}>
      <td>
        <input
          type="checkbox"
          aria-label=${`Select ${name}`}
          .checked=${this.selected.has(member.iri)}
          @change=${(event: Event) => this.select(member, (event.target as HTMLInputElement).checked)}
        />
      </td>
      <td>
        <a href=${openHref(member.iri)} title=${name}
          >${name}${isContainer(member.iri) ? '/' : ''}</a
        >
      </td>
      <td>${typeText(member)}</td>
      <td class="number">${member.size === undefined || isContainer(member.iri) ? nothing : sizeText(member.size)}</td>
      <td>${member.modified ? dateText(member.modified) : nothing}</td>
    </tr>`;
  }

  private select(member: Member, on: boolean): void {
    this.dispatchEvent(new CustomEvent('select-member', { detail: { member, on } }));
  }
}

/** Kind of a member: its own types before its media type. */
function typeText({ iri, types, mediaType }: Member): string {
  const own = types.filter((type) => !/^(?:Container|DataResource)$/.test(type)).map(shortName);
  const kind = isContainer(iri) ? 'Container' : (mediaType ?? '').replace(/;.*/, '');
  return own.length > 0 ? `${own.slice(0, 3).join(', ')} (${kind})` : kind;
}
