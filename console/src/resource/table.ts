/** `<resource-table>`: triples of a document by subject, with a filter and pages. Users can change and delete statements. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { openHref, Page, placeHref, submitted } from '../frame/page.js';
import { rowMenu } from '../frame/row-menu.js';
import { storageUri } from '../session/session.js';
import { storedKey } from '../session/vault.js';
import { messageOf, Refusal, succeed } from '../storage/api.js';
import { compact, iriName, labels } from '../storage/labels.js';
import { wordsOf } from '../storage/words.js';
import type { Group, ParsedDocument, Property, Term } from './triples.js';

const rowsAtOnce = 500;
const longestText = 600;
/** Key of the choice to show names of vocabularies and of parts of the file beside the words. */
const technical = storedKey('technical names');

interface Statement {
  readonly subject: Term;
  readonly predicate: Term;
  readonly object: Term;
}

@customElement('resource-table')
export class ResourceTable extends Page {
  /** Turtle of the graph. `undefined` for a graph that is too large: its subjects are read with queries. */
  @property() text: string | undefined;
  /** IRI of the document. */
  @property() base = '';
  @property() etag = '';
  /** True if the user may change statements. */
  @property({ type: Boolean }) editable = false;
  /** Subject to scroll to. */
  @property() target = '';
  @state() private read: ParsedDocument | undefined;
  @state() private filter = '';
  @state() private page = 0;
  @state() private edited: Statement | undefined;
  /** Module with the parser, loaded on demand. */
  private lib!: typeof import('./triples.js');
  private groups: readonly Group[] = [];
  private pages: readonly (readonly Group[])[] = [];
  private readonly blanks = new Map<string, number>();
  /** Subject to scroll to when the document is read. */
  private goal = '';

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    this.follow(labels);
    if (changed.has('target')) this.goal = this.target;
    const sources = this.text === undefined ? ['base', 'etag', 'page', 'filter'] : ['text', 'base'];
    if (sources.some((name) => changed.has(name))) void this.parse();
    if (changed.has('read')) this.groups = this.read ? this.namedFirst(this.lib.groupsOf(this.read)) : [];
    if (changed.has('read') || changed.has('filter')) this.paginate();
  }

  private async parse(): Promise<void> {
    const { text, base, page, filter } = this;
    try {
      this.lib = await import('./triples.js');
      const read =
        text === undefined
          ? { quads: await this.lib.readSubjects(base, page, filter), prefixes: {} }
          : this.lib.parseRdf(text, base);
      if (text !== this.text || (text === undefined && (page !== this.page || filter !== this.filter))) return;
      this.read = read;
      this.failure = '';
    } catch (error) {
      if (text !== undefined) this.read = undefined;
      this.failure = messageOf(error);
    }
    this.blanks.clear();
    this.edited = undefined;
    const subject = this.goal;
    this.goal = '';
    if (subject) void this.updateComplete.then(() => this.jump(subject));
  }

  /** Orders groups: subjects with a label first, and blank nodes last. */
  private namedFirst(groups: readonly Group[]): readonly Group[] {
    const rank = ({ subject, properties }: Group): number =>
      subject.termType === 'BlankNode' ? 2 : this.lib.labelIn(properties) ? 0 : 1;
    return groups.toSorted((a, b) => rank(a) - rank(b));
  }

  /** Orders properties: types first, then names. */
  private typeFirst(properties: readonly Property[]): readonly Property[] {
    const { rdfType, labelPredicates } = this.lib;
    const rank = ({ predicate: { value } }: Property): number =>
      value === rdfType ? 0 : labelPredicates.includes(value) ? 1 : 2;
    return properties.toSorted((a, b) => rank(a) - rank(b));
  }

  /** Divides the subjects that match the filter into pages. */
  private paginate(): void {
    const pages: Group[][] = [[]];
    let rows = 0;
    const words = ({ termType, value }: Term): string => (termType === 'NamedNode' ? wordsOf(value) : '');
    const name = (term: Term): string => `${labels.peek(term.value)} ${words(term)} ${this.name(term)}`;
    const isRead = this.text === undefined || this.filter.trim() === '';
    for (const group of isRead ? this.groups : this.lib.filtered(this.groups, this.filter, name)) {
      if (rows > 0 && rows + group.count > rowsAtOnce) {
        pages.push([]);
        rows = 0;
      }
      pages.at(-1)!.push(group);
      rows += group.count;
    }
    this.pages = pages;
    if (this.text !== undefined) this.page = Math.min(this.page, pages.length - 1);
  }

  protected override render(): TemplateResult {
    const problem = this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing;
    if (!this.read && this.failure) return html`${problem}`;
    if (!this.read) return html`<p class="soft" role="status">Reading …</p>`;
    if (this.groups.length === 0 && this.text !== undefined)
      return html`<p class="empty">This file has no data yet. Add some with a form or in the tab “Source”.</p>`;
    const shown = this.pages.flat();
    const total = shown.reduce((sum, { count }) => sum + count, 0);
    const heads = ['Property', 'Value', ...(this.editable ? [html`<span class="visually-hidden">Change</span>`] : [])];
    return html`${problem}<div class="row">
        <label class="grow"><span class="visually-hidden">Filter</span> <input class="filter" type="search" .value=${this.filter} placeholder="Filter …" @input=${this.text === undefined ? nothing : this.onFilter} @change=${this.onFilter}></label>
        <span class="soft" role="status">${total} ${total === 1 ? 'fact' : 'facts'} about ${shown.length} ${shown.length === 1 ? 'thing' : 'things'}</span>
        <label class="inline soft"><input type="checkbox" class="technical" ?checked=${localStorage.getItem(technical) !== null} @change=${this.keepTechnical}> Technical names</label>
      </div>
      <div class="scroll" role="region" aria-label="Facts" tabindex="0">
        <table class="triples">
          <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
          ${shown.length === 0 ? html`<tbody><tr><td class="soft" colspan=${heads.length}>No fact contains this text. Change the filter.</td></tr></tbody>` : nothing}
          ${(this.text === undefined ? shown : this.pages[this.page]!).map((group) => this.group(group, heads.length))}
        </table>
      </div>
      ${this.pager()}`;
  }

  private readonly keepTechnical = ({ target }: Event): void => {
    if ((target as HTMLInputElement).checked) localStorage.setItem(technical, '');
    else localStorage.removeItem(technical);
  };

  private pager(): TemplateResult | typeof nothing {
    const { page, pages, text } = this;
    const isLast = text === undefined ? this.groups.length < this.lib.subjectsAtOnce : page === pages.length - 1;
    if (page === 0 && isLast) return nothing;
    const turn = (to: number): void => {
      this.page = to;
      void this.updateComplete.then(() => this.querySelector('.triples')?.scrollIntoView());
    };
    return html`<nav class="row" aria-label="Pages of the table">
      <button type="button" ?disabled=${page === 0} @click=${() => turn(page - 1)}>Previous</button>
      <span role="status">Page ${page + 1}${text === undefined ? nothing : ` of ${pages.length}`}</span>
      <button type="button" ?disabled=${isLast} @click=${() => turn(page + 1)}>Next</button>
    </nav>`;
  }

  private group({ subject, properties }: Group, columns: number): TemplateResult {
    const isBlank = subject.termType === 'BlankNode';
    const label = isBlank ? '' : labels.of(subject.value) || this.lib.labelIn(properties);
    const name = this.node(subject, this.name(subject));
    // IRIs inside the document do not help readers, so only the label is shown.
    const isLocal = isBlank || subject.value.startsWith(`${this.base}#`);
    const title = label ? html`<bdi>${label}</bdi> ` : isLocal ? html`<span class="soft">(no name)</span> ` : nothing;
    return html`<tbody>
      <tr><th scope="rowgroup" colspan=${columns} class="subject" tabindex="-1" data-subject=${subject.value}>${title}${title === nothing ? name : html`<small class=${label ? 'name' : nothing}>${name}</small>`}
        ${isBlank && this.editable ? html`<small class="soft">Edit blank nodes in the tab “Source”.</small>` : nothing}</th></tr>
      ${this.typeFirst(properties).map((each) => this.property(subject, each))}
    </tbody>`;
  }

  /** Renders the rows of a property. The names of the property and of types are shown in words. */
  private property(subject: Term, { predicate, objects }: Property): TemplateResult[] {
    const isType = predicate.value === this.lib.rdfType;
    return objects.map((object, at) => {
      const statement = { subject, predicate, object };
      const isEdited = this.edited?.object === object;
      return html`<tr>
        ${at === 0 ? html`<th scope="row" rowspan=${objects.length}>${this.node(predicate, this.words(predicate))}</th>` : nothing}
        <td>${isEdited ? this.form(statement) : html`${this.node(object, isType && object.termType === 'NamedNode' ? this.words(object) : this.labelled(object))}${this.small(this.note(object))}`}</td>
        ${this.editable ? html`<td class="acts">${isEdited ? nothing : this.acts(statement)}</td>` : nothing}
      </tr>`;
    });
  }

  /** @param kind `name` for a name that is hidden without “Technical names” */
  private small(note: string, kind = 'name'): TemplateResult | typeof nothing {
    return note ? html` <small class="soft ${kind}">${note}</small>` : nothing;
  }

  private note(term: Term): string {
    const note = this.lib.noteOf(term);
    return note.startsWith('@') ? note : compact(note, this.read?.prefixes);
  }

  private acts(statement: Statement): TemplateResult | typeof nothing {
    const { subject, predicate, object } = statement;
    if (subject.termType !== 'NamedNode' || this.hasBlank(object)) return nothing;
    const what = `${this.name(predicate)} ${this.name(object).slice(0, 60)}`;
    const text = `${this.name(subject)} ${what}`;
    const edit = html`<button type="button" aria-label=${`Edit ${what}`} @click=${() => this.edit(statement)}>Edit</button>`;
    const remove = html`<button type="button" aria-label=${`Delete ${what}`} @click=${() => this.change(statement, undefined, text)}>Delete</button>`;
    // A triple term has no edit button. The user can edit it as text.
    return rowMenu(`Actions for ${what}`, html`${object.termType === 'Quad' ? nothing : edit}${remove}`);
  }

  /** True for a term that contains a blank node: an update cannot refer to its statements. */
  private hasBlank(term: Term): boolean {
    return term.termType === 'BlankNode' || this.lib.termsIn(term).some((each) => this.hasBlank(each));
  }

  private form(statement: Statement): TemplateResult {
    const { termType, value, datatype } = statement.object;
    const language = this.lib.tagOf(statement.object);
    const isIri = termType === 'NamedNode';
    const isText = !isIri && /^(?:@|$)/.test(this.lib.noteOf(statement.object));
    const save = (event: SubmitEvent): void => {
      const { data, text } = submitted(event);
      const typed = String(data.get('value'));
      const kind = isText ? { language: text('language') } : datatype ? { datatype } : {};
      void this.change(statement, isIri ? this.lib.iriOf(typed.trim()) : { termType, value: typed, ...kind });
    };
    const keys = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') this.cancel();
    };
    return html`<form class="row" @submit=${save} @keydown=${keys}>
      ${value.includes('\n') ? html`<textarea class="grow" name="value" rows="4" aria-label="Value" .value=${value}></textarea>` : html`<input class="grow" name="value" aria-label="Value" autocomplete="off" .value=${value}>`}
      ${isText ? html`<input class="language" name="language" aria-label="Language" placeholder="language" autocomplete="off" .value=${language}>` : nothing}
      <button class="primary">Save</button> <button type="button" @click=${this.cancel}>Cancel</button>
    </form>`;
  }

  private edit(statement: Statement): void {
    this.edited = statement;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('[name=value]')?.focus());
  }

  private readonly cancel = (): void => {
    const subject = this.edited?.subject.value ?? '';
    this.edited = undefined;
    void this.updateComplete.then(() => this.jump(subject));
  };

  /** Replaces a statement, or deletes it if `by` is `undefined`. @param text statement for the confirmation dialog */
  private async change({ subject, predicate, object }: Statement, by: Term | undefined, text = ''): Promise<void> {
    const data = (value: Term): string => `DATA { ${this.lib.statementText({ subject, predicate, object: value })} }`;
    const work = async (): Promise<void> => {
      const headers = { 'Content-Type': 'application/sparql-update', 'If-Match': this.etag };
      const body = `DELETE ${data(object)}${by ? `;\nINSERT ${data(by)}` : ''}`;
      try {
        await succeed('PATCH', this.base, { headers, body });
      } catch (error) {
        if (!(error instanceof Refusal && error.status === 412)) throw error;
        this.reread(subject);
        throw new Error('Another user changed this item. The table shows its current state: repeat your change.');
      }
      this.reread(subject);
    };
    if (by) await this.attempt(work);
    else
      await this.attemptAfter(
        { title: 'Delete this statement?', text, proceed: 'Delete' },
        work,
        'The statement is deleted.',
      );
  }

  private reread({ value }: Term): void {
    this.goal = value;
    this.dispatchEvent(new CustomEvent('changed', { bubbles: true }));
  }

  /** Returns the name of a term, without its label. */
  private name(term: Term): string {
    const { termType, value } = term;
    if (termType === 'Quad')
      return `<<( ${this.lib
        .termsIn(term)
        .map((each) => this.name(each))
        .join(' ')} )>>`;
    if (termType === 'BlankNode') {
      const number = this.blanks.get(value) ?? this.blanks.size + 1;
      this.blanks.set(value, number);
      return `blank node ${number}`;
    }
    if (termType !== 'NamedNode') return value;
    if (value === this.base) return 'This file';
    return value.startsWith(`${this.base}#`) ? value.slice(this.base.length) : compact(value, this.read?.prefixes);
  }

  /** Renders the label of an IRI, or words from the IRI, with its name. */
  private words(term: Term): TemplateResult {
    const [words, name] = [labels.of(term.value) ?? wordsOf(term.value), this.name(term)];
    return html`${words}${words === name ? nothing : this.small(name)}`;
  }

  private labelled(term: Term): string {
    return (term.termType === 'NamedNode' && labels.of(term.value)) || this.name(term);
  }

  private node(term: Term, name: string | TemplateResult): TemplateResult {
    const { termType, value } = term;
    if (termType === 'Quad')
      return html`&lt;&lt;( ${this.lib.termsIn(term).map((each) => html`${this.node(each, this.labelled(each))}${this.small(this.note(each), '')} `)})&gt;&gt;`;
    if (termType === 'Literal') {
      const isLong = value.length > longestText;
      return html`${isLong ? html`${value.slice(0, longestText)}… <span class="soft">(${value.length} characters)</span>` : value}`;
    }
    const isBlank = termType === 'BlankNode';
    if (isBlank || value === this.base || value.startsWith(`${this.base}#`)) {
      const known = this.groups.some(({ subject }) => subject.value === value);
      if (!known) return html`<span class="soft">${name}</span>`;
      const href = placeHref('resource', { at: isBlank ? this.base : value });
      return html`<a href=${href} @click=${(event: Event) => this.go(event, value)}>${isBlank ? name : iriName(value, name)}</a>`;
    }
    if (value.startsWith(storageUri)) return html`<a href=${openHref(value)}>${iriName(value, name)}</a>`;
    if (/^https?:/i.test(value))
      return html`<a href=${value} target="_blank" rel="noreferrer noopener">${iriName(value, name)}</a>`;
    return iriName(value, name);
  }

  private go(event: Event, subject: string): void {
    event.preventDefault();
    this.jump(subject);
  }

  /** Scrolls to a subject. */
  jump(subject: string): void {
    if (!this.pages.flat().some((group) => group.subject.value === subject)) this.filter = '';
    void this.updateComplete.then(async () => {
      const page = this.pages.findIndex((groups) => groups.some((group) => group.subject.value === subject));
      if (page >= 0) this.page = page;
      await this.updateComplete;
      const row = [...this.querySelectorAll<HTMLElement>('[data-subject]')].find(
        ({ dataset }) => dataset['subject'] === subject,
      );
      row?.scrollIntoView({ block: 'center' });
      (row ?? this.querySelector<HTMLElement>('[type=search]'))?.focus();
    });
  }

  private onFilter(event: Event): void {
    this.filter = (event.target as HTMLInputElement).value;
    this.page = 0;
  }
}
