/** A form to create or edit an RDF resource: of the shapes that apply to it, or of all its properties. */
import '../frame/access-denied.js';
import '../shapes/add-property.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { keyed } from 'lit/directives/keyed.js';
import { repeat } from 'lit/directives/repeat.js';
import { memberIri, suggestedName } from '../browse/create.js';
import type { QuadEditor } from '../editor/quad-editor.js';
import { notify } from '../frame/notice.js';
import { crumbs, headingOf, openHref, Page, placeHref, submitted } from '../frame/page.js';
import { iriOf, type ParsedDocument, parseRdf, rdfType, type Term } from '../rdf/document.js';
import { type Opened as Resource, readResource } from '../resource/read.js';
import {
  type DraftEntry,
  type DraftRow,
  type DraftSection,
  draftOf,
  draftText,
  emptyDraftRow,
  type FormDraft,
  newDraft,
  readShapes,
} from '../shapes/draft.js';
import { type Field, type FormShapes, literalOfField, type ValueKind } from '../shapes/fields.js';
import { freeDraft, freeEntry } from '../shapes/free.js';
import { shapesInForce, type Violation } from '../shapes/links.js';
import { violationsEndpoint } from '../shapes/offered.js';
import { fieldLabel, labelInForm, mainRecord, recordNames } from '../shapes/records.js';
import { withUsual } from '../shapes/usual.js';
import { type ValueRow, valueDetails, valueRow } from '../shapes/value-row.js';
import { messageOf, Refusal, succeed } from '../storage/api.js';
import { compact, labelled, labels } from '../storage/labels.js';
import { isContainer, shortName } from '../storage/names.js';

/** What the form is about. */
interface Opened {
  readonly at: string;
  /** Entity tag of an existing resource. */
  readonly etag: string;
  readonly shapes: FormShapes;
  readonly prefixes: Readonly<Record<string, string>>;
  /** The storage has shapes. */
  readonly offersShapes: boolean;
}

/** Form of the shapes that apply to a document, or of all its properties. @param base IRI of the document, or empty for a new one */
function formOf(shapes: FormShapes, document: ParsedDocument, base: string): FormDraft {
  const draft = draftOf(shapes, document);
  return draft.sections.length > 0 ? draft : freeDraft(shapes, document, base);
}

@customElement('page-form')
export class FormPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private opened: Opened | undefined;
  @state() private draft: FormDraft | undefined;
  /** Error of reading. */
  @state() private why: unknown;
  @state() private violations: readonly Violation[] = [];
  @state() private isSaving = false;
  /** Turtle that is edited instead of the form. */
  @state() private turtle: string | undefined;
  /** Index of the subject that is shown. */
  @state() private shown = 0;
  private isDirty = false;
  /** IRI that the last attempt to save named. */
  private target = '';

  constructor() {
    super();
    addEventListener('beforeunload', (event) => {
      if (this.isDirty && this.isConnected) event.preventDefault();
    });
  }

  private get at(): string {
    return this.parameters.get('at') ?? '';
  }

  protected override willUpdate(): void {
    this.follow(labels);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    // Input is kept while another page is shown.
    if (changed.has('parameters') && this.at !== '' && !(this.isDirty && this.opened?.at === this.at)) void this.read();
  }

  private async read(): Promise<void> {
    const { at } = this;
    this.opened = this.draft = this.why = undefined;
    this.violations = [];
    this.failure = '';
    this.isDirty = false;
    this.turtle = undefined;
    this.shown = 0;
    try {
      const { shapes, prefixes } = await readShapes(await shapesInForce(at));
      const isNew = isContainer(at);
      const { etag, kind, text, reason }: Partial<Resource> = isNew
        ? { kind: 'rdf', text: '' }
        : await readResource(at);
      if (kind !== 'rdf' || text === undefined) throw new Error(reason ?? 'Only RDF has a form.');
      const document = parseRdf(text, at);
      const offersShapes = (await violationsEndpoint()) !== undefined;
      if (at !== this.at) return;
      this.opened = { at, etag: etag ?? '', shapes, prefixes, offersShapes };
      const [first] = shapes.nodes;
      this.draft = isNew && first ? newDraft(shapes, first, prefixes) : formOf(shapes, document, isNew ? '' : at);
      this.shown = mainRecord(this.draft.sections);
    } catch (error) {
      if (at === this.at) this.why = error;
    }
  }

  private readonly discard = (): void => {
    this.isDirty = false;
  };

  protected override render(): TemplateResult {
    const { at, opened, draft } = this;
    const isNew = isContainer(at);
    return html`${crumbs(at)}
      <h1>${isNew ? 'New item in' : 'Edit'} ${headingOf(at)}</h1>
      ${
        this.why
          ? html`<quad-refused .iri=${at} .why=${this.why}></quad-refused>`
          : !opened
            ? html`<p class="soft" role="status">Loading …</p>`
            : draft
              ? this.form(opened, draft)
              : nothing
      }`;
  }

  /** Explains that no shape applies, and how shapes help. */
  private noShape({ at, shapes, offersShapes }: Opened): TemplateResult {
    const why =
      shapes.nodes.length > 0 && !isContainer(at)
        ? 'The shapes that apply here are for things of other types, so that every property has a field.'
        : 'Fill in what you know, and add more properties below.';
    return html`<p class="soft">${why} ${offersShapes ? html`A <a href=${placeHref('shapes', { at })}>file with shapes</a> makes a form with your own fields, and checks what is entered.` : nothing}</p>`;
  }

  private form(opened: Opened, draft: FormDraft): TemplateResult {
    const isNew = isContainer(opened.at);
    const section = draft.sections[this.shown] ?? draft.sections[0]!;
    const known = new Set(
      section.entries.flatMap(({ field }) => [
        ...this.of(section, field),
        ...field.nested.flatMap((each) => this.of(section, each, field.path)),
      ]),
    );
    const others = this.violations.filter((each) => !known.has(each));
    return html`<form @submit=${this.save}>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      ${others.length > 0 ? html`<div class="problem" role="alert">${others.map(({ message }) => html`<p>${message}</p>`)}</div>` : nothing}
      ${isNew ? html`${this.choice(opened)}<label>Name of the item <input class="wide" name="name" required maxlength="200" autocomplete="off" .value=${this.parameters.get('name') ?? ''}></label>` : nothing}
      ${this.turtle === undefined ? html`${draft.sections.length > 1 ? this.subjects(draft) : nothing}${keyed(section, this.section(section))}` : this.text(this.turtle)}
      <div class="row"><button class="primary" ?disabled=${this.isSaving}>${isNew ? 'Create' : 'Save'}</button>
        <button type="button" @click=${this.toggleText}>${this.turtle === undefined ? 'Continue as Turtle' : 'Back to the form'}</button>
        <a class="button" href=${openHref(opened.at)} @click=${this.discard}>Cancel</a></div>
    </form>`;
  }

  private text(turtle: string): TemplateResult {
    return html`<p class="soft">The address of the item is the base: <code>&lt;#it&gt;</code> is a thing in it.</p>
      <quad-editor class="form-text" language="turtle" label="Turtle" .value=${turtle} @change=${(event: Event) => {
        this.turtle = (event.target as QuadEditor).value;
        this.isDirty = true;
      }}></quad-editor>`;
  }

  /** Continues with what was entered, as Turtle or in the form. */
  private readonly toggleText = (): Promise<boolean> =>
    this.attempt(async () => {
      const { turtle, draft, opened } = this;
      if (!draft || !opened) return;
      if (turtle === undefined) {
        const text = draftText(draft);
        await import('../editor/quad-editor.js');
        this.turtle = text;
        return;
      }
      // Without a base, references to things of a new resource stay relative.
      const base = isContainer(opened.at) ? '' : opened.at;
      this.draft = formOf(opened.shapes, parseRdf(turtle, base), base);
      this.shown = mainRecord(this.draft.sections);
      this.turtle = undefined;
    });

  /** Selects one of several shapes. */
  private choice({ shapes, prefixes }: Opened): TemplateResult | typeof nothing {
    if (shapes.nodes.length < 2) return nothing;
    const name = (shape: Term): string => this.name(shapes.classesOf(shape)[0] ?? shape.value);
    return html`<label>Shape <select @change=${(event: Event) => {
      this.draft = newDraft(shapes, shapes.nodes[(event.target as HTMLSelectElement).selectedIndex]!, prefixes);
      this.violations = [];
    }}>${shapes.nodes.map((shape) => html`<option>${name(shape)}</option>`)}</select></label>`;
  }

  private get prefixes(): ParsedDocument['prefixes'] {
    return { ...this.opened?.prefixes, ...this.draft?.document.prefixes };
  }

  private name(iri: string): string {
    return labelled(iri, this.prefixes);
  }

  /** Selects one of several subjects. All of them are saved. */
  private subjects({ sections }: FormDraft): TemplateResult {
    const name = ({ value }: Term): string =>
      value.startsWith(`${this.at}#`) ? value.slice(this.at.length) : this.name(value);
    return html`<label>Record <select @change=${(event: Event) => {
      this.shown = (event.target as HTMLSelectElement).selectedIndex;
    }}>${recordNames(sections, name).map((each, at) => html`<option ?selected=${at === this.shown}>${each}</option>`)}</select></label>`;
  }

  private section(section: DraftSection): TemplateResult {
    const { entries, uncovered } = section;
    return html`${section.isFree && this.opened ? this.noShape(this.opened) : nothing}<section class="card">
      ${entries.map((entry, at) => this.entry(section, entry, `field-${at}`))}
      ${section.isFree ? html`<add-property .prefixes=${this.draft?.document.prefixes ?? {}} @add-property=${({ detail }: CustomEvent<string>) => this.addProperty(section, detail)}></add-property>` : nothing}
      ${uncovered > 0 ? html`<p class="soft">${uncovered === 1 ? '1 property of the shape has no field.' : `${uncovered} properties of the shape have no field.`} Continue as Turtle to enter ${uncovered === 1 ? 'it' : 'them'}.</p>` : nothing}
    </section>`;
  }

  /** @param parent predicate that leads to the blank node of a nested field */
  private entry(section: DraftSection, entry: DraftEntry, id: string, parent = ''): TemplateResult {
    const { field, rows } = entry;
    // All values are removed. The entry remains, so that they are deleted.
    if (rows.length === 0) return html``;
    const label = fieldLabel(section.entries, field, this.prefixed(field.path));
    const violations = this.of(section, field, parent);
    const about = [...(field.hint ? [`${id}-hint`] : []), ...(violations.length > 0 ? [`${id}-problem`] : [])].join(
      ' ',
    );
    const name = (at: number): string => (rows.length > 1 ? `${label} ${at + 1}` : label);
    return html`<fieldset class="field" data-field=${id} aria-describedby=${about || nothing}>
      <legend title=${field.path}>${label} ${this.origin(field)}<span class="soft">${countText(field)}</span></legend>
      ${field.hint ? html`<p class="soft" id=${`${id}-hint`}>${field.hint}</p>` : nothing}
      ${violations.length > 0 ? html`<div class="problem" role="alert" id=${`${id}-problem`}>${violations.map(({ message }) => html`<p>${message}</p>`)}</div>` : nothing}
      ${repeat(
        rows,
        (row) => row,
        (
          row,
          at,
        ) => html`<div class=${row.nested.length > 0 ? 'node' : 'row'}>${row.nested.length > 0 ? this.node(section, entry, row, `${id}-${at}`) : valueRow(this.value(field, row, name(at)))}
          ${row.nested.length > 0 ? nothing : valueDetails(this.value(field, row, name(at)))}
          ${!field.isFree && field.kinds.length > 1 && !['BlankNode', 'Quad'].includes(row.stored?.termType ?? '') ? this.kind(entry, row, name(at)) : nothing}
          ${rows.length > (field.isFree ? 0 : Math.max(1, field.min)) ? html`<button type="button" aria-label=${`Remove ${name(at)}`} @click=${(event: Event) => this.leaveOut(event, entry, row)}>Remove</button>` : nothing}</div>`,
      )}
      ${rows.length < field.max ? html`<button type="button" aria-label=${`Add another ${label}`} @click=${() => this.add(entry)}>${field.isFree ? 'Add another' : 'Add'}</button>` : nothing}
    </fieldset>`;
  }

  private prefixed(iri: string): string {
    return compact(iri, this.prefixes);
  }

  /** Name of a property in its vocabulary, beside its words. */
  private origin({ name, path }: Field): TemplateResult | typeof nothing {
    return name === '' ? html`<small class="soft">${this.prefixed(path)}</small> ` : nothing;
  }

  /** Fields of a blank node. */
  private node(section: DraftSection, { field }: DraftEntry, { nested }: DraftRow, id: string): TemplateResult {
    return html`${nested.map((each, at) => this.entry(section, each, `${id}-${at}`, field.path))}`;
  }

  /** Selects the kind of a value. The text of a literal or an IRI is kept. */
  private kind(entry: DraftEntry, row: DraftRow, name: string): TemplateResult {
    const now: ValueKind = row.term.termType === 'NamedNode' ? 'iri' : row.nested.length > 0 ? 'node' : 'literal';
    const change = ({ target }: Event): void => {
      const kind = entry.field.kinds[(target as HTMLSelectElement).selectedIndex]!;
      const { value } = row.term;
      const empty = emptyDraftRow(entry.field, kind);
      if (now === 'node' || kind === 'node') entry.rows = entry.rows.map((each) => (each === row ? empty : each));
      else row.term = kind === 'iri' ? iriOf(value) : literalOfField(value, '');
      this.isDirty = true;
      this.requestUpdate();
    };
    return html`<select aria-label=${`Kind of ${name}`} @change=${change}>
      ${entry.field.kinds.map((kind) => html`<option ?selected=${kind === now}>${kindNames[kind]}</option>`)}</select>`;
  }

  private value(field: Field, row: DraftRow, name: string): ValueRow {
    const set = (term: Term): void => this.set(row, term, field);
    const labelOf = (iri: string): string | undefined => labelInForm(this.draft?.sections ?? [], iri) ?? labels.of(iri);
    return { field, term: row.term, name, set, nameOf: (iri) => this.name(iri), labelOf, prefixes: this.prefixes };
  }

  private set(row: DraftRow, term: Term, { path, isFree }: Field): void {
    row.term = term;
    this.isDirty = true;
    const section = this.draft?.sections[this.shown];
    if (section && isFree && path === rdfType && isContainer(this.at))
      section.entries = withUsual(section.entries, term.value);
    this.requestUpdate();
  }

  private add(entry: DraftEntry): void {
    entry.rows = [...entry.rows, emptyDraftRow(entry.field)];
    this.requestUpdate();
  }

  /** A property that has a field gets another value. */
  private addProperty(section: DraftSection, path: string): void {
    const known = section.entries.find(({ field }) => field.path === path);
    if (known) this.add(known);
    else section.entries = [...section.entries, freeEntry(path)];
    this.requestUpdate();
    const at = known ? section.entries.indexOf(known) : section.entries.length - 1;
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
    this.isDirty = true;
    this.requestUpdate();
    void this.updateComplete.then(() => {
      fieldset?.querySelector<HTMLElement>('input, select, textarea, button')?.focus();
      return this.keepFocus();
    });
  }

  /** Violations of a field. */
  private of({ subject }: DraftSection, { path }: Field, parent = ''): readonly Violation[] {
    // The IRI of a new subject depends on the name of the resource.
    const focus = subject.value.startsWith('#') ? this.target + subject.value : subject.value;
    const named = parent === '' ? `<${path}>` : `(<${parent}>/<${path}>)`;
    return this.violations.filter((each) => each.focus === focus && each.path === named);
  }

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    const { text } = submitted(event);
    const { opened, draft } = this;
    if (!opened || !draft || this.isSaving) return;
    this.isSaving = true;
    this.violations = [];
    this.failure = '';
    try {
      const isNew = isContainer(opened.at);
      this.target = isNew ? memberIri(opened.at, suggestedName('turtle', text('name'))) : opened.at;
      await succeed('PUT', this.target, {
        headers: { 'Content-Type': 'text/turtle', ...(isNew ? { 'If-None-Match': '*' } : { 'If-Match': opened.etag }) },
        body: this.turtle ?? draftText(draft),
      });
      this.isDirty = false;
      this.opened = undefined;
      notify(`${shortName(this.target)} is saved.`);
      location.hash = openHref(this.target);
    } catch (error) {
      this.refused(error);
    } finally {
      this.isSaving = false;
    }
  };

  private refused(error: unknown): void {
    this.failure = messageOf(error);
    if (!(error instanceof Refusal)) return;
    if (error.status === 412)
      this.failure = isContainer(this.at)
        ? `“${shortName(this.target)}” already exists. Choose another name.`
        : 'Another user changed this item since you opened it. Cancel discards your input: copy what you need, and open the form again.';
    this.violations = (error.problem['violations'] ?? []) as readonly Violation[];
    if (this.violations.length > 0) this.failure = 'Nothing is saved: the values violate the shapes that apply here.';
    void this.updateComplete.then(() =>
      this.querySelector<HTMLElement>('.problem')?.scrollIntoView({ block: 'center' }),
    );
  }
}

/** Number of values that a shape allows. One value has one field, which says it. */
const countText = ({ min, max }: Field): string =>
  [min > 1 ? `at least ${min}` : min === 1 ? 'required' : '', max > 1 && Number.isFinite(max) ? `at most ${max}` : '']
    .filter(Boolean)
    .join(', ');

const kindNames: Readonly<Record<ValueKind, string>> = { literal: 'Text', iri: 'IRI', node: 'Details here' };
