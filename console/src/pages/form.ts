/** Form to create or edit an RDF resource, from the shapes that apply or from all its properties. */
import '../frame/access-denied.js';
import '../shapes/record-fields.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { keyed } from 'lit/directives/keyed.js';
import { memberIri, suggestedName } from '../browse/create.js';
import type { QuadEditor } from '../editor/quad-editor.js';
import { notify } from '../frame/notice.js';
import { crumbs, headingOf, openHref, Page, placeHref, submitted } from '../frame/page.js';
import { type ParsedDocument, parseRdf, type Term } from '../rdf/document.js';
import { type Opened as Resource, readResource } from '../resource/read.js';
import { type DraftSection, draftOf, draftText, type FormDraft, newDraft, readShapes } from '../shapes/draft.js';
import type { FormShapes } from '../shapes/fields.js';
import { freeDraft } from '../shapes/free.js';
import { shapesInForce, type Violation } from '../shapes/links.js';
import { violationsEndpoint } from '../shapes/offered.js';
import { type Rejection, violationsAt } from '../shapes/record-fields.js';
import { mainRecord, recordNames } from '../shapes/records.js';
import { formStyles } from '../shapes/styles.js';
import { messageOf, Refusal, succeed } from '../storage/api.js';
import { labelled, labels } from '../storage/labels.js';
import { isContainer, parentIri, shortName } from '../storage/names.js';
import { fileNameOf } from '../storage/words.js';

/** Resource that the form creates or edits. */
interface Opened {
  readonly at: string;
  /** Entity tag of an existing resource. */
  readonly etag: string;
  readonly shapes: FormShapes;
  readonly prefixes: Readonly<Record<string, string>>;
  /** True if the storage has shapes. */
  readonly offersShapes: boolean;
}

/** Returns the form of the shapes that apply, or of all properties. @param base IRI of the document, or empty for a new one */
function formOf(shapes: FormShapes, document: ParsedDocument, base: string): FormDraft {
  const draft = draftOf(shapes, document);
  return draft.sections.length > 0 ? draft : freeDraft(shapes, document, base);
}

@customElement('page-form')
export class FormPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private opened: Opened | undefined;
  @state() private draft: FormDraft | undefined;
  /** Error that prevented reading. */
  @state() private why: unknown;
  @state() private rejection: Rejection = { violations: [], target: '' };
  @state() private isSaving = false;
  /** Turtle that is edited as text instead of the form. */
  @state() private turtle: string | undefined;
  /** Index of the subject that is shown. */
  @state() private shown = 0;
  /** File name of a new record. It follows the name of the record until the user types one. */
  @state() private fileName = '';
  private isFileNamed = false;
  private isDirty = false;

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
    // Unsaved input is kept if the user returns to the same resource.
    if (changed.has('parameters') && this.at !== '' && !(this.isDirty && this.opened?.at === this.at)) void this.read();
  }

  private async read(): Promise<void> {
    const { at } = this;
    this.opened = this.draft = this.why = undefined;
    this.rejection = { violations: [], target: '' };
    this.failure = '';
    this.isDirty = false;
    this.turtle = undefined;
    this.shown = 0;
    this.fileName = this.parameters.get('name') ?? '';
    this.isFileNamed = this.fileName !== '';
    try {
      await formStyles;
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
      <h1>${isNew ? 'New record in' : 'Edit'} ${headingOf(at)}</h1>
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

  /** Explains which shapes the fields follow from, and how to choose other shapes. */
  private about({ at, shapes, offersShapes }: Opened): TemplateResult | typeof nothing {
    const folder = isContainer(at) ? at : parentIri(at);
    const why =
      shapes.nodes.length > 0 && !isContainer(at)
        ? 'The form of this folder is for another type of record, so every property has a field here. '
        : '';
    if (!offersShapes) return nothing;
    return html`<p class="soft hint">${why}To choose the fields and check what is entered, <a href=${placeHref('shapes', { at: folder })}>give this folder a form</a>.</p>`;
  }

  private form(opened: Opened, draft: FormDraft): TemplateResult {
    const isNew = isContainer(opened.at);
    const section = draft.sections[this.shown] ?? draft.sections[0]!;
    const { rejection, turtle } = this;
    const known = new Set(
      section.entries.flatMap(({ field }) => [
        ...violationsAt(rejection, section.subject, field.path),
        ...field.nested.flatMap((each) => violationsAt(rejection, section.subject, each.path, field.path)),
      ]),
    );
    const others = rejection.violations.filter((each) => !known.has(each));
    const isText = turtle !== undefined;
    return html`<form @submit=${this.save} @input=${this.followName}>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      ${others.length > 0 ? html`<div class="problem" role="alert">${others.map(({ message }) => html`<p>${message}</p>`)}</div>` : nothing}
      ${isNew ? this.choice(opened) : nothing}
      ${isText ? html`${isNew ? this.fileField() : nothing}${this.text(turtle)}` : html`${draft.sections.length > 1 ? this.subjects(draft) : nothing}${this.section(opened, draft, section)}`}
      <div class="row foot"><button class="primary" ?disabled=${this.isSaving}>${isNew ? 'Create' : 'Save'}</button>
        <a class="button" href=${openHref(opened.at)} @click=${this.discard}>Cancel</a>
        <span class="grow"></span>
        ${isText ? nothing : html`<label class="inline soft"><input type="checkbox" class="technical"> Technical names</label>`}
        <button type="button" class="quiet" @click=${this.toggleText}>${isText ? 'Back to the form' : 'Continue as Turtle'}</button></div>
      ${section.isFree && !isText ? this.about(opened) : nothing}
    </form>`;
  }

  private section(opened: Opened, draft: FormDraft, section: DraftSection): TemplateResult {
    const checkedBy = section.checkedBy ?? [];
    return html`${checkedBy.length > 0 ? html`<p class="soft">Checked against the form ${checkedBy.map((name) => `“${name}”`).join(' and ')} when it is saved.</p>` : nothing}
      ${keyed(
        section,
        html`<record-fields .at=${opened.at} .draft=${draft} .section=${section} .rejection=${this.rejection} .prefixes=${this.prefixes}
          .fileName=${isContainer(opened.at) ? this.fileField() : undefined} @edit=${this.edited}></record-fields>`,
      )}`;
  }

  private readonly edited = (): void => {
    this.isDirty = true;
    this.requestUpdate();
  };

  private fileField(): TemplateResult {
    return html`<div class="field"><label for="file-name">File name</label>
      <input id="file-name" class="wide" name="name" required maxlength="200" autocomplete="off" spellcheck="false" aria-describedby="file-name-hint" .value=${this.fileName}>
      <p class="soft hint" id="file-name-hint">Filled in from the name of the record, such as “ada-okafor”. You can change it.</p></div>`;
  }

  /** Derives the file name from the record's name, until the user types a file name. */
  private readonly followName = ({ target }: Event): void => {
    const { name, value } = target as HTMLInputElement;
    if (name === 'name') [this.fileName, this.isFileNamed] = [value, value !== ''];
    else if (!this.isFileNamed && (target as HTMLElement).matches('[data-names] > .value-row > input'))
      this.fileName = fileNameOf(value);
  };

  private text(turtle: string): TemplateResult {
    return html`<p class="soft">The address of the file is the base: <code>&lt;#it&gt;</code> is a thing in it.</p>
      <quad-editor class="form-text" language="turtle" label="Turtle" .value=${turtle} @change=${(event: Event) => {
        this.turtle = (event.target as QuadEditor).value;
        this.isDirty = true;
      }}></quad-editor>`;
  }

  /** Switches between Turtle and form, with the entered values. */
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
      // Without a base, relative references in a new resource stay relative.
      const base = isContainer(opened.at) ? '' : opened.at;
      this.draft = formOf(opened.shapes, parseRdf(turtle, base), base);
      this.shown = mainRecord(this.draft.sections);
      this.turtle = undefined;
    });

  /** Renders a field to select one of several shapes. */
  private choice({ shapes, prefixes }: Opened): TemplateResult | typeof nothing {
    if (shapes.nodes.length < 2) return nothing;
    return html`<label class="inline">Kind of record <select @change=${(event: Event) => {
      this.draft = newDraft(shapes, shapes.nodes[(event.target as HTMLSelectElement).selectedIndex]!, prefixes);
      this.rejection = { violations: [], target: '' };
    }}>${shapes.nodes.map((shape) => html`<option>${shapes.nameOf(shape)}</option>`)}</select></label>`;
  }

  private get prefixes(): ParsedDocument['prefixes'] {
    return { ...this.opened?.prefixes, ...this.draft?.document.prefixes };
  }

  private name(iri: string): string {
    return labelled(iri, this.prefixes);
  }

  /** Renders a field to select one of several subjects. All subjects are saved. */
  private subjects({ sections }: FormDraft): TemplateResult {
    const name = ({ value }: Term): string =>
      value.startsWith(`${this.at}#`) ? value.slice(this.at.length) : this.name(value);
    return html`<label class="inline">Record <select @change=${(event: Event) => {
      this.shown = (event.target as HTMLSelectElement).selectedIndex;
    }}>${recordNames(sections, name).map((each, at) => html`<option ?selected=${at === this.shown}>${each}</option>`)}</select></label>`;
  }

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    const { text } = submitted(event);
    const { opened, draft } = this;
    if (!opened || !draft || this.isSaving) return;
    this.isSaving = true;
    this.rejection = { violations: [], target: '' };
    this.failure = '';
    let target = opened.at;
    try {
      const isNew = isContainer(opened.at);
      if (isNew) target = memberIri(opened.at, suggestedName('turtle', text('name')));
      await succeed('PUT', target, {
        headers: { 'Content-Type': 'text/turtle', ...(isNew ? { 'If-None-Match': '*' } : { 'If-Match': opened.etag }) },
        body: this.turtle ?? draftText(draft),
      });
      this.isDirty = false;
      this.opened = undefined;
      notify(`${shortName(target)} is saved.`);
      location.hash = openHref(target);
    } catch (error) {
      this.refused(error, target);
    } finally {
      this.isSaving = false;
    }
  };

  private refused(error: unknown, target: string): void {
    this.failure = messageOf(error);
    if (!(error instanceof Refusal)) return;
    if (error.status === 412)
      this.failure = isContainer(this.at)
        ? `“${shortName(target)}” already exists. Choose another name.`
        : 'Another user changed this item since you opened it. Cancel discards your input: copy what you need, and open the form again.';
    const violations = (error.problem['violations'] ?? []) as readonly Violation[];
    this.rejection = { violations, target };
    if (violations.length > 0) this.failure = 'Nothing is saved yet: some values break the rules of the form.';
    void this.updateComplete.then(() =>
      this.querySelector<HTMLElement>('.problem')?.scrollIntoView({ block: 'center' }),
    );
  }
}
