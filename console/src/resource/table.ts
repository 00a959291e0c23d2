/** `<resource-table>`: triples of a document by subject. Links inside the storage stay in the console. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { openHref, Page, placeHref } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { messageOf } from '../storage/api.js';
import type { Group, Node } from './triples.js';

const rowsAtOnce = 500;
const longestText = 600;

@customElement('resource-table')
export class ResourceTable extends Page {
  @property() text = '';
  /** IRI of the document. */
  @property() base = '';
  /** Subject to scroll to. */
  @property() target = '';
  @state() private groups: readonly Group[] = [];
  @state() private shown = rowsAtOnce;
  @state() private isRead = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('text') || changed.has('base')) void this.read();
  }

  private async read(): Promise<void> {
    const { text, base } = this;
    try {
      const { groupsOf } = await import('./triples.js');
      if (text !== this.text) return;
      this.groups = groupsOf(text, base);
      this.failure = '';
    } catch (error) {
      this.groups = [];
      this.failure = messageOf(error);
    }
    this.isRead = true;
    if (this.target) this.jump(this.target);
  }

  protected override render(): TemplateResult {
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (!this.isRead) return html`<p class="soft" role="status">Reading …</p>`;
    if (this.groups.length === 0)
      return html`<p class="empty">There are no triples in this document yet. Add some in the tab “Text”.</p>`;
    const visible = this.visible();
    const total = this.groups.reduce((sum, { statements }) => sum + statements.length, 0);
    const left = this.groups.length - visible.length;
    return html`<p class="soft">${total} ${total === 1 ? 'triple' : 'triples'} about ${this.groups.length} ${this.groups.length === 1 ? 'subject' : 'subjects'}</p>
      <div class="scroll" role="region" aria-label="Triples" tabindex="0">
        <table class="triples">
          <thead><tr><th scope="col">Property</th><th scope="col">Value</th></tr></thead>
          ${visible.map((group) => this.group(group))}
        </table>
      </div>
      ${left > 0 ? html`<p><button type="button" @click=${this.more}>Show more (${left} subjects left)</button></p>` : nothing}`;
  }

  private visible(): Group[] {
    const found: Group[] = [];
    let rows = 0;
    for (const group of this.groups) {
      if (rows >= this.shown) break;
      found.push(group);
      rows += group.statements.length;
    }
    return found;
  }

  private group({ subject, statements }: Group): TemplateResult {
    return html`<tbody>
      <tr><th scope="rowgroup" colspan="2" class="subject" tabindex="-1" data-subject=${subject.value}>${this.node(subject)}</th></tr>
      ${statements.map(({ predicate, object }) => html`<tr><th scope="row">${this.node(predicate)}</th><td>${this.node(object)}</td></tr>`)}
    </tbody>`;
  }

  private node({ kind, value, label, note }: Node): TemplateResult {
    if (kind === 'literal') {
      const isLong = label.length > longestText;
      return html`${isLong ? `${label.slice(0, longestText)}…` : label}${isLong ? html` <span class="soft">(${label.length} characters)</span>` : nothing}${note ? html` <span class="soft">${note}</span>` : nothing}`;
    }
    const isHere = kind === 'blank' || value === this.base || value.startsWith(`${this.base}#`);
    if (isHere) {
      const known = this.groups.some(({ subject }) => subject.value === value);
      if (!known) return html`<span class="soft">${label}</span>`;
      const href = kind === 'blank' ? placeHref('resource', { at: this.base }) : placeHref('resource', { at: value });
      return html`<a href=${href} @click=${(event: Event) => this.go(event, value)}>${label}</a>`;
    }
    if (value.startsWith(storageUri)) return html`<a href=${openHref(value)} title=${value}>${label}</a>`;
    if (/^https?:/i.test(value))
      return html`<a href=${value} target="_blank" rel="noreferrer noopener" title=${value}>${label}</a>`;
    return html`<span title=${value}>${label}</span>`;
  }

  private go(event: Event, subject: string): void {
    event.preventDefault();
    this.jump(subject);
  }

  /** Scrolls to a subject. */
  jump(subject: string): void {
    const at = this.groups.findIndex((group) => group.subject.value === subject);
    if (at < 0) return;
    const rows = this.groups.slice(0, at + 1).reduce((sum, { statements }) => sum + statements.length, 0);
    this.shown = Math.max(this.shown, rows + 1);
    void this.updateComplete.then(() => {
      const row = [...this.querySelectorAll<HTMLElement>('[data-subject]')].find(
        ({ dataset }) => dataset['subject'] === subject,
      );
      row?.scrollIntoView({ block: 'center' });
      row?.focus();
    });
  }

  private readonly more = (): void => {
    this.shown += rowsAtOnce;
  };
}
