/** Shapes of a resource or container: links to shape documents, and resources that violate the shapes. */
import '../browse/folder-picker.js';
import '../frame/access-denied.js';
import '../shapes/form-builder.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { memberIri, suggestedName } from '../browse/create.js';
import { itemIcon } from '../browse/icon.js';
import { blank } from '../frame/blank.js';
import { notify } from '../frame/notice.js';
import { crumbs, headingOf, nameInText, openHref, Page, placeHref, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { readBuilt } from '../shapes/built-form.js';
import type { Built } from '../shapes/form-builder.js';
import {
  constrainedBy,
  readLinks,
  type ShapeLinks,
  saveLinks,
  shapesInForce,
  type ViolatingResource,
  type ViolationsPage,
} from '../shapes/links.js';
import { violationsEndpoint } from '../shapes/offered.js';
import { formStyles } from '../shapes/styles.js';
import { json, Refusal, select, succeed } from '../storage/api.js';
import { rightsOn } from '../storage/controller.js';
import { addTarget, removeRelation } from '../storage/linkset.js';
import { decoded, isContainer } from '../storage/names.js';

interface Shown {
  /** IRIs of the shape documents that apply. */
  readonly shapes: readonly string[];
  readonly links: ShapeLinks | undefined;
  readonly isWritable: boolean;
  /** URL of the first page of violations. */
  readonly violations: string;
}

interface Change {
  readonly proceed: string;
  /** Returns the text of the linkset after the change. @throws SyntaxError, TypeError */
  readonly text: () => string;
}

/** Maximum count of violations shown per resource. */
const most = 5;
const aboutShapes = 'https://github.com/quadpod/quadpod/blob/main/docs/shapes.md';
const shapeFiles = 'SELECT DISTINCT ?file { GRAPH ?file { ?shape a <http://www.w3.org/ns/shacl#NodeShape> } } LIMIT 50';

/** Returns files to suggest. Returns none if the query takes more than two seconds. */
async function filesWithShapes(): Promise<readonly string[]> {
  const rows = (await select(shapeFiles, undefined, 2).catch(() => [])) ?? [];
  return rows.map(({ file }) => String(file?.value)).filter((iri) => iri.startsWith(storageUri));
}

/** Returns forms by file. Files that the form builder did not write are omitted. */
async function builtForms(files: readonly string[]): Promise<ReadonlyMap<string, Built>> {
  const found = new Map<string, Built>();
  const read = async (file: string): Promise<void> => {
    const response = await succeed('GET', file, { headers: { Accept: 'text/turtle' } });
    const form = readBuilt(await response.text(), file);
    if (form) found.set(file, { form, file, etag: response.headers.get('ETag') ?? '' });
  };
  await Promise.allSettled(files.map(read));
  return found;
}

const fileIn = (container: string, name: string): string => memberIri(container, suggestedName('turtle', name));

/** Labels of the fields of a form, as text. */
const fieldsOf = ({ form }: Built): string =>
  form.fields.map(({ label, isRequired }) => (isRequired ? `${label} (required)` : label)).join(', ');

const pathOf = (iri: string): string =>
  iri === storageUri ? headingOf(iri) : `/${decoded(iri.slice(storageUri.length))}`;
const link = (iri: string): TemplateResult => html`<a href=${openHref(iri)} title=${iri}>${pathOf(iri)}</a>`;

@customElement('page-shapes')
export class ShapesPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private shown: Shown | undefined;
  /** Error that prevented reading. */
  @state() private why: unknown;
  /** Rejected change of the links, which existing resources would violate, with the server's error. */
  @state() private conflict: { readonly change: Change; readonly error: Refusal } | undefined;
  /** Files with shapes that the user can read. */
  @state() private offered: readonly string[] = [];
  @state() private listed: ViolationsPage | undefined;
  @state() private isListing = false;
  /** Forms made with the builder, by file. */
  @state() private built: ReadonlyMap<string, Built> = new Map();
  /** Form in the builder, or `new`. */
  @state() private edited: Built | 'new' | undefined;
  /** Path or address of the file to use. */
  @state() private chosen = '';

  private get at(): string {
    return this.parameters.get('at') ?? storageUri;
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('parameters')) void this.read();
  }

  private async read(): Promise<void> {
    const { at } = this;
    if (this.shown?.links?.iri !== at) this.shown = this.edited = undefined;
    this.conflict = this.why = this.listed = undefined;
    try {
      await formStyles;
      const endpoint = await violationsEndpoint();
      if (endpoint === undefined) throw new Error('This storage has no shapes (lws.shapes.enabled is off).');
      const [shapes, links, { write = false }] = await Promise.all([shapesInForce(at), readLinks(at), rightsOn(at)]);
      const violations = `${endpoint}?${new URLSearchParams({ of: at })}`;
      if (at === this.at) this.shown = { shapes, links, isWritable: write, violations };
      const forms = await builtForms([...shapes, ...(links?.own ?? []).map((each) => each.shapes)]);
      if (at === this.at) this.built = forms;
      if (write) this.offered = await filesWithShapes();
    } catch (error) {
      if (at === this.at) this.why = error;
    }
  }

  protected override render(): TemplateResult {
    const { at, shown } = this;
    return html`${crumbs(at, 'shapes')}
      <div class="title"><h1>${isContainer(at) ? 'Form for the records in' : 'Form for'} ${nameInText(at)}</h1>
        <div class="row"><a class="button" href=${openHref(at)}>Open</a></div></div>
      ${this.why ? html`<quad-refused .iri=${at} .why=${this.why}></quad-refused>` : shown ? this.renderParts(shown) : html`<p class="soft" role="status">Loading …</p>`}`;
  }

  private renderParts(shown: Shown): TemplateResult {
    const { at, edited } = this;
    const { shapes, links, isWritable } = shown;
    const isUsed = shapes.length > 0;
    const canMake = isWritable && links && !edited;
    const make = html`<button type="button" class=${isUsed ? '' : 'primary'} @click=${() => this.edit('new')}>${links?.own.length ? 'Make another form' : 'Make a form'}</button>`;
    if (canMake && !isUsed && links.own.length === 0)
      return html`${blank({
        icon: 'form',
        title: 'No form yet',
        text: isContainer(at)
          ? 'Choose which fields a record has and which are required. Records are checked when they are saved.'
          : 'Choose which fields this record has and which are required. It is checked when it is saved.',
        actions: make,
      })}${this.conflict ? this.renderConflict(links, this.conflict) : nothing}${this.linkForm(links)}`;
    return html`<div class="row">${isUsed && isContainer(at) ? html`<a class="button primary" href=${placeHref('form', { at })}>New record</a>` : nothing}
        ${canMake ? make : nothing}</div>
      ${edited && links ? html`<form-builder .at=${at} .fileIn=${fileIn} .built=${edited === 'new' ? undefined : edited} @made=${({ detail }: CustomEvent<string>) => this.made(links, detail)} @closed=${this.close}></form-builder>` : nothing}
      ${this.conflict && links ? this.renderConflict(links, this.conflict) : nothing}
      ${this.documents(shown)}
      ${isWritable && links && !edited ? this.linkForm(links) : nothing}
      ${isUsed ? html`<section class="card"><h2>Records that break the rules</h2>${this.violations(shown)}</section>` : nothing}`;
  }

  private documents({ shapes, links, isWritable }: Shown): TemplateResult | typeof nothing {
    const own = links?.own ?? [];
    const all = [...new Set([...own.map((each) => each.shapes), ...shapes])];
    if (all.length === 0)
      return isWritable ? nothing : html`<p class="empty">There is no form here yet. An owner can make one.</p>`;
    return html`<section class="card"><h2>${all.length === 1 ? 'Form in use' : 'Forms in use'}</h2>
      ${own.length > 0 ? nothing : html`<p>A folder above has this form. A form of ${headingOf(this.at)} replaces it.</p>`}
      <ul class="plain">${all.map((iri) => {
        const of = own.find((each) => each.shapes === iri);
        const built = this.built.get(iri);
        return html`<li class="row"><span class="grow">${built ? html`<strong>${built.form.name}</strong> <small class="soft">${fieldsOf(built)}</small><br>` : nothing}${link(iri)}</span>
          ${built && isWritable ? html`<button type="button" aria-label=${`Edit the form ${built.form.name}`} @click=${() => this.edit(built)}>Edit the form</button>` : nothing}
          ${links && of && isWritable ? html`<button type="button" aria-label=${`Stop using ${pathOf(iri)}`} @click=${() => this.change(links, { proceed: 'Stop using it anyway', text: () => removeRelation(links.text, of) })}>Stop using</button>` : nothing}</li>`;
      })}</ul></section>`;
  }

  private edit(edited: Built | 'new'): void {
    this.edited = edited;
    this.conflict = undefined;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('form-builder input')?.focus());
  }

  private readonly close = (): void => {
    this.edited = undefined;
    void this.keepFocus();
  };

  /** Applies a form that the builder stored. */
  private async made(links: ShapeLinks, file: string): Promise<void> {
    this.edited = undefined;
    const isUsed = links.own.some(({ shapes }) => shapes === file);
    const add = (): string => addTarget(links.text, constrainedBy, { href: file });
    if (isUsed) await this.attempt(() => this.read(), 'The form is saved.');
    else if (await this.change(links, { proceed: 'Use it anyway', text: add })) notify('The form is in use.');
  }

  private linkForm(links: ShapeLinks): TemplateResult {
    const { chosen } = this;
    const offered = this.offered.filter((iri) => links.own.every(({ shapes }) => shapes !== iri));
    const typed = ({ target }: Event): void => {
      this.chosen = (target as HTMLInputElement).value;
    };
    return html`<div class="card folds"><details ?open=${this.conflict !== undefined}><summary><h2>Advanced: use a SHACL file</h2> <span class="soft">for rules that a form cannot check</span></summary>
      <form @submit=${(event: SubmitEvent) => this.link(links, event)}>
        ${offered.length > 0 ? html`<fieldset><legend>Files with rules in this storage</legend><ul class="folders">${offered.map((iri) => html`<li><button type="button" @click=${() => this.choose(iri)}>${itemIcon(iri)} ${pathOf(iri)}</button></li>`)}</ul></fieldset>` : nothing}
        <details class="look"><summary>Look in the folders</summary>
          <folder-picker legend="You are in:" hasFiles @pick=${({ detail }: CustomEvent<string>) => this.choose(detail)}></folder-picker></details>
        <div class="row"><label class="grow">Chosen file, or another address <input class="wide" name="shapes" required autocomplete="off" spellcheck="false" .value=${chosen} @input=${typed}></label>
          <button ?disabled=${chosen.trim() === ''}>Use this file</button></div>
      </form>
      <p class="soft hint"><a href=${aboutShapes} target="_blank" rel="noreferrer noopener">An example, step by step</a></p></details></div>`;
  }

  /** Lists existing resources that the change would make invalid. */
  private renderConflict(links: ShapeLinks, { change, error }: { change: Change; error: Refusal }): TemplateResult {
    const violating = (error.problem['resources'] ?? []) as readonly ViolatingResource[];
    return html`<section class="card"><p class="problem" role="alert">${error.message}</p>${this.resources(violating)}
      <div class="row"><button type="button" @click=${() => this.change(links, change, true)}>${change.proceed}</button></div></section>`;
  }

  private choose(iri: string): void {
    if (isContainer(iri)) return;
    this.chosen = pathOf(iri);
    this.querySelector<HTMLInputElement>('[name=shapes]')!.focus();
  }

  private violations({ violations }: Shown): TemplateResult {
    const { listed, isListing } = this;
    const next = listed ? listed.next : violations;
    return html`
      ${(listed?.problems ?? []).map((problem) => html`<p class="problem">${problem}</p>`)}
      ${
        listed?.items.length === 0 && !next
          ? html`<p class="empty" role="status">All records that you may read follow the rules.</p>`
          : listed
            ? html`<p role="status">Records that break the rules${next ? ', so far' : ''}: ${listed.items.length.toLocaleString()}</p>${this.resources(listed.items)}`
            : html`<p class="soft">Records that are older than the form may break its rules.</p>`
      }
      ${next ? html`<div class="row"><button type="button" ?disabled=${isListing} @click=${() => this.list(next)}>${listed ? 'Check more' : 'Check the records'}</button></div>` : nothing}`;
  }

  private resources(items: readonly ViolatingResource[]): TemplateResult {
    return html`<ul>${items.map(
      ({ id, violations = [], isTooLarge }) => html`<li>${link(id)}
        <ul>${isTooLarge ? html`<li>The graph is too large to be validated.</li>` : nothing}
          ${violations.slice(0, most).map(({ message, severity }) => html`<li>${severity === 'Violation' ? '' : `${severity}: `}${message}</li>`)}
          ${violations.length > most ? html`<li>And ${violations.length - most} more.</li>` : nothing}</ul></li>`,
    )}</ul>`;
  }

  private async list(url: string): Promise<void> {
    const before = this.listed;
    this.isListing = true;
    await this.attempt(async () => {
      const page = await json<ViolationsPage>(url);
      const problems = [...new Set([...(before?.problems ?? []), ...page.problems])];
      if (this.listed === before) this.listed = { ...page, items: [...(before?.items ?? []), ...page.items], problems };
    });
    this.isListing = false;
    await this.keepFocus();
  }

  private async link(links: ShapeLinks, event: SubmitEvent): Promise<void> {
    const { text } = submitted(event);
    // A path is resolved against the storage.
    const href = (): string => new URL(text('shapes').replace(/^\//, ''), storageUri).href;
    const change = { proceed: 'Use it anyway', text: () => addTarget(links.text, constrainedBy, { href: href() }) };
    if (await this.change(links, change)) this.chosen = '';
  }

  /** Saves changed links. @returns true on success */
  private async change(links: ShapeLinks, change: Change, isLenient = false): Promise<boolean> {
    this.conflict = undefined;
    const isDone = await this.attempt(async () => {
      try {
        await saveLinks(links, change.text(), isLenient);
        await this.read();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.status === 412) await this.read();
        if (error.code !== 'conflict') throw error;
        this.conflict = { change, error };
      }
    });
    await this.keepFocus();
    return isDone && this.conflict === undefined;
  }
}
