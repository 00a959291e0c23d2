/** `<record-fields>`: fields for the values of a record. Fires `edit` on each change of a value. */
import './add-property.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { Page } from '../frame/page.js';
import { iriOf, type ParsedDocument, rdfType, type Term } from '../rdf/document.js';
import { compact, labelled, labels } from '../storage/labels.js';
import { isContainer } from '../storage/names.js';
import { type DraftEntry, type DraftRow, type DraftSection, emptyDraftRow, type FormDraft } from './draft.js';
import { type Field, literalOfField, type ValueKind } from './fields.js';
import type { Violation } from './links.js';
import { fieldLabel, labelInForm, nameEntry } from './records.js';
import { usualEntry, withUsual } from './usual.js';
import { valueMenu } from './value-menu.js';
import { languageList, languageName, type ValueRow, valueOptions, valueRow } from './value-row.js';

/** Violations that the server reported for the last save. */
export interface Rejection {
  readonly violations: readonly Violation[];
  /** IRI of the resource that was to be saved. */
  readonly target: string;
}

/** Returns the violations of a field. @param parent predicate that leads to the blank node of a nested field */
export function violationsAt({ violations, target }: Rejection, focus: Term, path: string, parent = '') {
  // For a new resource, the focus is relative: its IRI depends on the name of the resource.
  const subject = focus.value.startsWith('#') ? target + focus.value : focus.value;
  const named = parent === '' ? `<${path}>` : `(<${parent}>/<${path}>)`;
  return violations.filter((each) => each.focus === subject && each.path === named);
}

/** Returns a label for use in a sentence. Abbreviations keep their capitals. */
const inSentence = (label: string): string =>
  /^\p{Lu}\p{Ll}/u.test(label) ? label[0]!.toLowerCase() + label.slice(1) : label;

@customElement('record-fields')
export class RecordFields extends Page {
  /** IRI of the resource, or of the container of a new resource. */
  @property() at = '';
  @property({ attribute: false }) draft!: FormDraft;
  @property({ attribute: false }) section!: DraftSection;
  @property({ attribute: false }) rejection: Rejection = { violations: [], target: '' };
  @property({ attribute: false }) prefixes: ParsedDocument['prefixes'] = {};
  /** Field for the file name of a new record. */
  @property({ attribute: false }) fileName: TemplateResult | undefined;

  protected override willUpdate(): void {
    this.follow(labels);
  }

  protected override render(): TemplateResult {
    const { entries, uncovered, isFree } = this.section;
    const named = nameEntry(entries);
    return html`<section class="card">
      ${named ? nothing : this.fileName}
      ${entries.map((entry, at) => html`${this.entry(entry, `field-${at}`, '', entry === named)}${entry === named ? this.fileName : nothing}`)}
      ${isFree ? html`<add-property .prefixes=${this.draft.document.prefixes} @add-property=${({ detail }: CustomEvent<string>) => this.addProperty(detail)}></add-property>` : nothing}
      ${uncovered > 0 ? html`<p class="soft">${uncovered === 1 ? '1 property of the shape has no field.' : `${uncovered} properties of the shape have no field.`} Continue as Turtle to enter ${uncovered === 1 ? 'it' : 'them'}.</p>` : nothing}
      ${languageList()}
    </section>`;
  }

  /** @param parent predicate that leads to the blank node of a nested field @param isName true if the values name the record */
  private entry(entry: DraftEntry, id: string, parent = '', isName = false): TemplateResult {
    const { field, rows } = entry;
    // All values were removed. The entry remains, so that saving deletes the statements.
    if (rows.length === 0) return html``;
    const label = fieldLabel(this.section.entries, field, compact(field.path, this.prefixes));
    const violations = violationsAt(this.rejection, this.section.subject, field.path, parent);
    const about = [...(field.hint ? [`${id}-hint`] : []), ...(violations.length > 0 ? [`${id}-problem`] : [])].join(
      ' ',
    );
    return html`<fieldset class="field" data-field=${id} ?data-names=${isName} aria-describedby=${about || nothing}>
      <legend title=${field.path}>${label} ${this.origin(field)}${countText(field)}</legend>
      ${field.hint ? html`<p class="soft" id=${`${id}-hint`}>${field.hint}</p>` : nothing}
      ${violations.length > 0 ? html`<div class="problem" role="alert" id=${`${id}-problem`}>${violations.map(({ message }) => html`<p>${message}</p>`)}</div>` : nothing}
      ${repeat(
        rows,
        (row) => row,
        (row, at) => {
          const name = rows.length > 1 ? `${label} ${at + 1}` : label;
          return row.nested.length > 0
            ? this.node(entry, row, `${id}-${at}`, name)
            : html`<div class="value-row">${this.value(entry, row, name)}</div>`;
        },
      )}
      ${isSeveral(entry) ? html`<button type="button" class="quiet more" aria-label=${`Add another ${inSentence(label)}`} @click=${() => this.add(entry)}><span aria-hidden="true">+</span> Add another ${rows[0]!.nested.length > 0 ? inSentence(label) : nothing}</button>` : nothing}
    </fieldset>`;
  }

  /** Renders the prefixed name of a property, shown next to its label. */
  private origin({ name, path }: Field): TemplateResult | typeof nothing {
    return name === '' ? html`<small class="soft">${compact(path, this.prefixes)}</small> ` : nothing;
  }

  /** Renders the fields of a blank node. */
  private node(entry: DraftEntry, row: DraftRow, id: string, name: string): TemplateResult {
    const isOnly = entry.rows.length === 1;
    const label = inSentence(fieldLabel(this.section.entries, entry.field, compact(entry.field.path, this.prefixes)));
    const kind = this.kind(entry, row, name);
    const remove = html`<button type="button" class="quiet" aria-label=${isOnly ? nothing : `Remove this ${label}: ${name}`} @click=${(event: Event) => this.leaveOut(event, entry, row)}>Remove this ${label}</button>`;
    return html`<div class="node">${row.nested.map((each, at) => this.entry(each, `${id}-${at}`, entry.field.path))}
      <div class="row">${canRemove(entry, row) ? remove : nothing}${kind}</div></div>`;
  }

  /** Renders the input and the menu of a value. */
  private value(entry: DraftEntry, row: DraftRow, name: string): TemplateResult {
    const { field, rows } = entry;
    const set = (term: Term): void => this.set(row, term, field);
    const labelOf = (iri: string): string | undefined => labelInForm(this.draft.sections, iri) ?? labels.of(iri);
    const nameOf = (iri: string): string => labelled(iri, this.prefixes);
    const value: ValueRow = { field, term: row.term, name, set, nameOf, labelOf, prefixes: this.prefixes };
    const label = rows.length > 1 ? name.replace(/ \d+$/, '') : name;
    const add = html`<button type="button" aria-label=${`Add another ${inSentence(label)}`} @click=${() => this.add(entry)}>Add another</button>`;
    const remove = html`<button type="button" class="danger" aria-label=${`Remove ${name}`} @click=${(event: Event) => this.leaveOut(event, entry, row)}>Remove</button>`;
    const content = [
      ...valueOptions(value),
      this.kind(entry, row, name),
      rows.length < field.max && !isSeveral(entry) && row.term.value !== '' ? add : nothing,
      canRemove(entry, row) ? remove : nothing,
    ].filter((each) => each !== nothing);
    return html`${valueRow(value)}${content.length > 0 ? valueMenu(name, languageName(row.term), content) : nothing}`;
  }

  /** Renders a field to select the kind of a value of a shape. A new kind keeps the text. */
  private kind(entry: DraftEntry, row: DraftRow, name: string): TemplateResult | typeof nothing {
    const { isFree, kinds, options } = entry.field;
    const isNode = row.nested.length > 0;
    if (
      isFree ||
      options.length > 0 ||
      kinds.length < 2 ||
      (!isNode && ['BlankNode', 'Quad'].includes(row.stored?.termType ?? ''))
    )
      return nothing;
    const now: ValueKind = row.term.termType === 'NamedNode' ? 'iri' : isNode ? 'node' : 'literal';
    const change = ({ target }: Event): void => {
      const kind = kinds[(target as HTMLSelectElement).selectedIndex]!;
      const { value } = row.term;
      const empty = emptyDraftRow(entry.field, kind);
      if (now === 'node' || kind === 'node') entry.rows = entry.rows.map((each) => (each === row ? empty : each));
      else row.term = kind === 'iri' ? iriOf(value) : literalOfField(value, '');
      this.edited();
    };
    return html`<label><span>Type</span> <select aria-label=${`Type of ${name}`} @change=${change}>
      ${kinds.map((kind) => html`<option ?selected=${kind === now}>${kindNames[kind]}</option>`)}</select></label>`;
  }

  private edited(): void {
    this.requestUpdate();
    this.dispatchEvent(new CustomEvent('edit'));
  }

  private set(row: DraftRow, term: Term, { path, isFree }: Field): void {
    row.term = term;
    const { section } = this;
    if (isFree && path === rdfType && isContainer(this.at)) section.entries = withUsual(section.entries, term.value);
    this.edited();
  }

  private add(entry: DraftEntry): void {
    entry.rows = [...entry.rows, emptyDraftRow(entry.field)];
    this.requestUpdate();
    this.focusLast(this.section.entries.indexOf(entry));
  }

  /** Adds a property. If the property has a field, adds a value to the field. */
  private addProperty(path: string): void {
    const { section } = this;
    const known = section.entries.find(({ field, rows }) => field.path === path && rows.length > 0);
    if (known) {
      this.add(known);
      return;
    }
    section.entries = [...section.entries.filter(({ field }) => field.path !== path), usualEntry(path)];
    this.requestUpdate();
    this.focusLast(section.entries.length - 1);
  }

  /** Moves the focus to the last value of an entry of the record. */
  private focusLast(at: number): void {
    void this.updateComplete.then(() => {
      const inputs = this.querySelectorAll<HTMLElement>(
        `[data-field="field-${at}"] :is(input.grow, textarea, select.grow)`,
      );
      [...inputs].at(-1)?.focus();
    });
  }

  private leaveOut(event: Event, entry: DraftEntry, row: DraftRow): void {
    const fieldset = (event.currentTarget as HTMLElement).closest('fieldset');
    entry.rows = entry.rows.filter((each) => each !== row);
    this.edited();
    void this.updateComplete.then(() => {
      const near = fieldset?.isConnected ? fieldset : this;
      near.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
    });
  }
}

/** True if a button below the values adds a value. Otherwise, the menu of the value has the button. */
const isSeveral = ({ field, rows }: DraftEntry): boolean =>
  rows.length < field.max && (rows.length > 1 || rows[0]!.nested.length > 0 || (field.max > 1 && field.max < 10));

/** True if a value can be removed. A single empty value has no statement, so it need not be removed. */
const canRemove = ({ field, rows }: DraftEntry, { term, stored }: DraftRow): boolean =>
  field.isFree ? rows.length > 1 || stored !== undefined || term.value !== '' : rows.length > Math.max(1, field.min);

/** Renders the count of values that a shape allows, if it allows several. */
function countText({ min, max }: Field): TemplateResult {
  const most = max > 1 && Number.isFinite(max) ? `at most ${max}` : '';
  const least = min > 1 ? `at least ${min}` : '';
  const text = [least, most].filter(Boolean).join(', ');
  return html`${min === 1 ? html`<span class="needed">required</span> ` : nothing}${text ? html`<span class="soft">${text}</span>` : nothing}`;
}

const kindNames: Readonly<Record<ValueKind, string>> = { literal: 'Text', iri: 'Link', node: 'Details' };
