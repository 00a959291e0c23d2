/** `<form-builder>`: creates or changes a form for a kind of record. Fires `closed`, and `made` with the IRI of its file. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { openHref, Page, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { messageOf, Refusal, succeed } from '../storage/api.js';
import { parentIri, shortName } from '../storage/names.js';
import { wordsOf } from '../storage/words.js';
import { propertyIri } from './add-property.js';
import {
  type BuiltField,
  type BuiltForm,
  type BuiltKind,
  builtText,
  emptyField,
  kindTitles,
  propertyOf,
  typeOf,
} from './built-form.js';
import { plainName, usualProperties, usualTypes } from './usual.js';
import { nameToType } from './value-row.js';

/** Existing form, and its file. */
export interface Built {
  readonly form: BuiltForm;
  readonly file: string;
  readonly etag: string;
}

const first: BuiltForm = { name: '', type: '', fields: [{ ...emptyField, label: 'Name', isRequired: true }] };

/** Returns the choices of a field, from a text with commas. */
const choicesIn = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean),
  ),
];

@customElement('form-builder')
export class FormBuilder extends Page {
  /** IRI of the folder or item that the form is for. */
  @property() at = '';
  /** Returns the IRI of a new file in a container. @throws Error for a name that is not valid */
  @property({ attribute: false }) fileIn!: (container: string, name: string) => string;
  /** Form to change. */
  @property({ attribute: false }) built: Built | undefined;
  @state() private form: BuiltForm = first;
  @state() private isSaving = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('built') && this.built) this.form = this.built.form;
  }

  /** Container of the form's file: the parent of the folder, so that the form does not apply to its own file. */
  private get place(): string {
    return this.at === storageUri ? storageUri : parentIri(this.at);
  }

  private get usualFile(): string {
    return this.at === storageUri ? 'form.ttl' : `${shortName(this.at).replace(/\.[^.]*$/, '')}-form.ttl`;
  }

  private change(change: Partial<BuiltForm>): void {
    this.form = { ...this.form, ...change };
  }

  private changeField(field: BuiltField, change: Partial<BuiltField>): void {
    this.change({ fields: this.form.fields.map((each) => (each === field ? { ...each, ...change } : each)) });
  }

  private readonly addField = (): void => {
    this.change({ fields: [...this.form.fields, emptyField].map((each) => ({ ...each })) });
    void this.updateComplete.then(() =>
      [...this.querySelectorAll<HTMLElement>('.built-field')].at(-1)?.querySelector('input')?.focus(),
    );
  };

  private removeField(field: BuiltField): void {
    this.change({ fields: this.form.fields.filter((each) => each !== field) });
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('button.more')?.focus());
  }

  protected override render(): TemplateResult {
    const { form, built } = this;
    const typed = ({ target }: Event): void => this.change({ name: (target as HTMLInputElement).value });
    return html`<form class="card" @submit=${this.save}>
      <h2>${built ? 'Change the form' : 'New form'}</h2>
      <label>Kind of record <input class="wide" name="kind" list="builder-kinds" placeholder="Person, station, sample …" autocomplete="off" .value=${form.name} @input=${typed}></label>
      <label class="technical-name">Type (address) <input class="wide" spellcheck="false" placeholder=${form.name ? nameToType(typeOf(form, ''), {}) : ''} .value=${form.type} @change=${({ target }: Event) => this.change({ type: (target as HTMLInputElement).value.trim() })}></label>
      <datalist id="builder-kinds">${usualTypes.map((iri) => html`<option>${wordsOf(iri)}</option>`)}</datalist>
      <datalist id="builder-fields">${usualProperties.map((iri) => html`<option>${plainName(iri)}</option>`)}</datalist>
      <h3>Fields</h3>
      ${form.fields.map((field, at) => this.field(field, at + 1))}
      <button type="button" class="quiet more" @click=${this.addField}><span aria-hidden="true">+</span> Add a field</button>
      ${built ? html`<p class="soft">Stored in <a href=${openHref(built.file)}>${shortName(built.file)}</a>.</p>` : this.fileField()}
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      <div class="row foot"><button class="primary" ?disabled=${this.isSaving}>${built ? 'Save the form' : 'Use this form'}</button>
        <button type="button" @click=${this.close}>Cancel</button><span class="grow"></span>
        <label class="inline soft"><input type="checkbox" class="technical"> Technical names</label></div>
    </form>`;
  }

  private fileField(): TemplateResult {
    return html`<label>File name <input class="wide" name="file" required maxlength="200" autocomplete="off" spellcheck="false" .defaultValue=${this.usualFile}></label>
      <p class="soft hint">The form is a file beside the folder, which other programs can read, too.</p>`;
  }

  private field(field: BuiltField, number: number): TemplateResult {
    const { label, kind, choices, isRequired, isSeveral, property: own } = field;
    const set = (change: (target: HTMLInputElement) => Partial<BuiltField>) => (event: Event) =>
      this.changeField(field, change(event.target as HTMLInputElement));
    return html`<fieldset class="built-field"><legend class="visually-hidden">Field ${number}</legend>
      <label class="named"><span>Name of the field</span> <input list="builder-fields" autocomplete="off" .value=${label} @change=${set(({ value }) => ({ label: value.trim() }))}></label>
      <label><span>Kind</span> <select @change=${set(({ value }) => ({ kind: value as BuiltKind }))}>
        ${Object.entries(kindTitles).map(([each, title]) => html`<option value=${each} ?selected=${each === kind}>${title}</option>`)}</select></label>
      <label class="inline"><input type="checkbox" .checked=${isRequired} @change=${set(({ checked }) => ({ isRequired: checked }))}> Required</label>
      <label class="inline"><input type="checkbox" .checked=${isSeveral} @change=${set(({ checked }) => ({ isSeveral: checked }))}> Several</label>
      <button type="button" class="quiet" aria-label=${`Remove field ${number}`} title="Remove" @click=${() => this.removeField(field)}>×</button>
      ${kind === 'choice' ? html`<label class="whole">Choices, with commas between them <input class="wide" autocomplete="off" .value=${choices.join(', ')} @change=${set(({ value }) => ({ choices: choicesIn(value) }))}></label>` : nothing}
      <label class="whole technical-name">Property (address) <input class="wide" spellcheck="false" placeholder=${label ? nameToType(propertyOf(field, ''), {}) : ''} .value=${own} @change=${set(({ value }) => ({ property: value.trim() }))}></label>
    </fieldset>`;
  }

  /** Form with the full IRIs of the typed type and properties. @throws Error for invalid input */
  private get resolved(): BuiltForm {
    const address = (text: string, what: string): string => {
      const iri = text === '' ? '' : propertyIri(text);
      if (iri === undefined)
        throw new Error(`“${text}” is not the address of a ${what}. Enter one such as schema:name.`);
      return iri;
    };
    const { name, type, fields } = this.form;
    return {
      name: name.trim(),
      type: address(type, 'type'),
      fields: fields.map((field) => ({ ...field, property: address(field.property, 'property') })),
    };
  }

  private readonly save = async (event: SubmitEvent): Promise<void> => {
    const { text } = submitted(event);
    const { built } = this;
    this.isSaving = true;
    this.failure = '';
    try {
      const file = built?.file ?? this.fileIn(this.place, text('file'));
      const condition: Record<string, string> = built ? { 'If-Match': built.etag } : { 'If-None-Match': '*' };
      const headers = { 'Content-Type': 'text/turtle', ...condition };
      await succeed('PUT', file, { headers, body: builtText(this.resolved, file) });
      this.dispatchEvent(new CustomEvent<string>('made', { detail: file }));
    } catch (error) {
      const isTaken = error instanceof Refusal && error.status === 412;
      const taken = built
        ? 'Another user changed this form since you opened it. Open it again.'
        : `“${text('file')}” already exists. Choose another file name.`;
      this.failure = isTaken ? taken : messageOf(error);
    } finally {
      this.isSaving = false;
    }
  };

  private readonly close = (): void => void this.dispatchEvent(new CustomEvent('closed'));
}
