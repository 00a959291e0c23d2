/** Shapes of a resource or container: links to their documents, and resources that violate them. */
import '../browse/folder-picker.js';
import '../frame/access-denied.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { crumbs, headingOf, nameInText, openHref, Page, placeHref, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
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
import { json, Refusal, select } from '../storage/api.js';
import { rightsOn } from '../storage/controller.js';
import { addTarget, removeRelation } from '../storage/linkset.js';
import { decoded, isContainer } from '../storage/names.js';

interface Shown {
  /** Documents in force. */
  readonly shapes: readonly string[];
  readonly links: ShapeLinks | undefined;
  readonly isWritable: boolean;
  /** URL of the first page of violations. */
  readonly violations: string;
}

interface Change {
  readonly proceed: string;
  /** The linkset after the change. @throws SyntaxError, TypeError */
  readonly text: () => string;
}

/** Violations shown of a resource. */
const most = 5;
const aboutShapes = 'https://github.com/quadpod/quadpod/blob/main/docs/shapes.md';
const shapeFiles = 'SELECT DISTINCT ?file { GRAPH ?file { ?shape a <http://www.w3.org/ns/shacl#NodeShape> } } LIMIT 50';

/** Suggestions only: none if they take more than two seconds. */
async function filesWithShapes(): Promise<readonly string[]> {
  const rows = (await select(shapeFiles, undefined, 2).catch(() => [])) ?? [];
  return rows.map(({ file }) => String(file?.value)).filter((iri) => iri.startsWith(storageUri));
}

const pathOf = (iri: string): string =>
  iri === storageUri ? headingOf(iri) : `/${decoded(iri.slice(storageUri.length))}`;
const link = (iri: string): TemplateResult => html`<a href=${openHref(iri)} title=${iri}>${pathOf(iri)}</a>`;

@customElement('page-shapes')
export class ShapesPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private shown: Shown | undefined;
  /** Error of reading. */
  @state() private why: unknown;
  /** Change of the links that existing resources would violate, with the server's message. */
  @state() private conflict: { readonly change: Change; readonly error: Refusal } | undefined;
  /** Files with shapes that the user can read. */
  @state() private offered: readonly string[] = [];
  @state() private listed: ViolationsPage | undefined;
  @state() private isListing = false;

  private get at(): string {
    return this.parameters.get('at') ?? storageUri;
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('parameters')) void this.read();
  }

  private async read(): Promise<void> {
    const { at } = this;
    if (this.shown?.links?.iri !== at) this.shown = undefined;
    this.conflict = this.why = this.listed = undefined;
    try {
      const endpoint = await violationsEndpoint();
      if (endpoint === undefined) throw new Error('This storage has no shapes (lws.shapes.enabled is off).');
      const [shapes, links, { write = false }] = await Promise.all([shapesInForce(at), readLinks(at), rightsOn(at)]);
      const violations = `${endpoint}?${new URLSearchParams({ of: at })}`;
      if (at === this.at) this.shown = { shapes, links, isWritable: write, violations };
      if (write) this.offered = await filesWithShapes();
    } catch (error) {
      if (at === this.at) this.why = error;
    }
  }

  protected override render(): TemplateResult {
    const { at, shown } = this;
    return html`${crumbs(at, 'shapes')}
      <h1>Forms and rules of ${nameInText(at)}</h1>
      ${this.why ? html`<quad-refused .iri=${at} .why=${this.why}></quad-refused>` : shown ? this.renderParts(shown) : html`<p class="soft" role="status">Loading …</p>`}`;
  }

  private renderParts(shown: Shown): TemplateResult {
    const { at } = this;
    return html`<div class="row"><a class="button" href=${openHref(at)}>Open ${nameInText(at)}</a>
        ${shown.shapes.length > 0 && isContainer(at) ? html`<a class="button" href=${placeHref('form', { at })}>New with a form</a>` : nothing}</div>
      <p class="soft">A shape (SHACL) says which properties a thing has, and with which values. Once a file with shapes is linked, data that violates them is rejected, and
        people can enter data in forms. <a href=${aboutShapes} target="_blank" rel="noreferrer noopener">An example, step by step</a></p>
      <section class="card"><h2>Files with shapes</h2>${this.documents(shown)}${shown.isWritable && shown.links ? this.linkForm(shown.links) : nothing}</section>
      ${shown.shapes.length > 0 ? html`<section class="card"><h2>Violations</h2>${this.violations(shown)}</section>` : nothing}`;
  }

  private documents({ shapes, links, isWritable }: Shown): TemplateResult {
    const own = links?.own ?? [];
    const all = [...new Set([...own.map((each) => each.shapes), ...shapes])];
    if (all.length === 0)
      return html`<p class="empty">No shapes apply here. ${!isWritable ? 'An owner can link a file with shapes.' : this.offered.length > 0 ? 'Choose a file with shapes, and link it.' : html`First <a href=${placeHref('browse')}>add a file with shapes</a> (Turtle) to the storage, then link it here.`}</p>`;
    return html`${own.length > 0 ? nothing : html`<p>A folder above is linked to these. Links of ${headingOf(this.at)} replace them.</p>`}
      <ul class="plain">${all.map((iri) => {
        const of = own.find((each) => each.shapes === iri);
        return html`<li class="row"><span class="grow">${link(iri)}</span>
          ${links && of && isWritable ? html`<button type="button" aria-label=${`Unlink ${pathOf(iri)}`} @click=${() => this.change(links, { proceed: 'Unlink anyway', text: () => removeRelation(links.text, of) })}>Unlink</button>` : nothing}</li>`;
      })}</ul>`;
  }

  private linkForm(links: ShapeLinks): TemplateResult {
    const { conflict } = this;
    const violating = (conflict?.error.problem['resources'] ?? []) as readonly ViolatingResource[];
    const offered = this.offered.filter((iri) => links.own.every(({ shapes }) => shapes !== iri));
    return html`<form @submit=${(event: SubmitEvent) => this.link(links, event)}>
        ${offered.length > 0 ? html`<fieldset><legend>Files with shapes in this storage</legend><ul class="folders">${offered.map((iri) => html`<li><button type="button" @click=${() => this.choose(iri)}>${pathOf(iri)}</button></li>`)}</ul></fieldset>` : nothing}
        <details class="pick" ?open=${offered.length === 0}><summary>Look in the folders</summary>
          <folder-picker legend="You are in:" hasFiles @pick=${({ detail }: CustomEvent<string>) => this.choose(detail)}></folder-picker></details>
        <div class="row"><label class="grow">Chosen file, or another address <input class="wide" name="shapes" required autocomplete="off" spellcheck="false"></label>
          <button class="primary">Link</button></div>
      </form>
      ${
        conflict
          ? html`<p class="problem" role="alert">${conflict.error.message}</p>${this.resources(violating)}
            <div class="row"><button type="button" @click=${() => this.change(links, conflict.change, true)}>${conflict.change.proceed}</button></div>`
          : nothing
      }`;
  }

  private choose(iri: string): void {
    if (isContainer(iri)) return;
    const field = this.querySelector<HTMLInputElement>('[name=shapes]')!;
    field.value = pathOf(iri);
    field.focus();
  }

  private violations({ violations }: Shown): TemplateResult {
    const { listed, isListing } = this;
    const next = listed ? listed.next : violations;
    return html`
      ${(listed?.problems ?? []).map((problem) => html`<p class="problem">${problem}</p>`)}
      ${
        listed?.items.length === 0 && !next
          ? html`<p class="empty" role="status">No violations among the items that you may read.</p>`
          : listed
            ? html`<p role="status">Items with violations${next ? ' so far' : ''}: ${listed.items.length.toLocaleString()}</p>${this.resources(listed.items)}`
            : html`<p class="soft">Items stored before the link was made can violate the shapes.</p>`
      }
      ${next ? html`<div class="row"><button type="button" ?disabled=${isListing} @click=${() => this.list(next)}>${listed ? 'List more' : 'List violations'}</button></div>` : nothing}`;
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
    const { form, text } = submitted(event);
    // A path begins at the storage.
    const href = (): string => new URL(text('shapes').replace(/^\//, ''), storageUri).href;
    const change = { proceed: 'Link anyway', text: () => addTarget(links.text, constrainedBy, { href: href() }) };
    if (await this.change(links, change)) form.reset();
  }

  /** @returns true if it is done */
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
