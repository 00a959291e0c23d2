/** `<resource-metadata>`: the linkset of a resource as a form or as JSON. */
import './text.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page, scrollTable, submitted } from '../frame/page.js';
import { vocabulary } from '../search/vocabulary.js';
import { usualTypes } from '../shapes/usual.js';
import { messageOf, succeed } from '../storage/api.js';
import { iriName, labelled, labels } from '../storage/labels.js';
import * as linkset from '../storage/linkset.js';
import { wordsOf } from '../storage/words.js';
import { Draft, saveRow, type Version } from './draft.js';

/** Relations of the IANA registry that are offered in words. */
const usualRelations: Readonly<Record<string, string>> = {
  license: 'License',
  author: 'Author',
  'cite-as': 'Cite as',
  describedby: 'Described by',
  derivedfrom: 'Derived from',
  about: 'About',
  related: 'Related to',
  collection: 'Part of the collection',
  preview: 'Preview',
  original: 'Original',
  alternate: 'Other form',
  'version-history': 'Version history',
};
const other = 'other';

/** Name of a relation or type. Those of the IANA registry are names already. */
const named = (name: string) => iriName(name, usualRelations[name] ?? labelled(name));
const namedType = (iri: string) => iriName(iri, labels.of(iri) ?? wordsOf(iri));

/** Choices in words. The last one leads to a field for an IRI. */
const choices = (offered: Readonly<Record<string, string>>): TemplateResult => html`
  <option value="">Choose …</option>
  ${Object.entries(offered).map(([value, text]) => html`<option value=${value}>${text}</option>`)}
  <option value=${other}>Other (IRI) …</option>`;

const unsaved = html`<small class="state unsaved">not saved</small>`;

async function readVersion(iri: string): Promise<Version> {
  const response = await succeed('GET', iri, { headers: { Accept: 'application/linkset+json' } });
  return { text: linkset.isReadableLink(await response.text()), etag: response.headers.get('ETag') ?? '' };
}

@customElement('resource-metadata')
export class ResourceMetadata extends Page {
  /** URL of the linkset. */
  @property() iri = '';
  @property({ type: Boolean }) readonly = false;
  @state() private draft: Draft | undefined;
  @state() private asJson = false;
  @state() private classes: readonly string[] = [];
  /** Fields in which an IRI is typed instead of a choice. */
  @state() private typed: Readonly<Partial<Record<'type' | 'relation', boolean>>> = {};

  get hasChanges(): boolean {
    return this.draft?.isDirty ?? false;
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    this.follow(labels);
    if (changed.has('iri')) void this.read();
  }

  private async read(): Promise<void> {
    const { iri } = this;
    await this.reading(async () => {
      const version = await readVersion(iri);
      const source = { iri, mediaType: 'application/linkset+json', reread: () => readVersion(iri) };
      this.draft = new Draft(source, version);
      this.draft.addEventListener('change', () => {
        this.requestUpdate();
        this.dispatchEvent(new CustomEvent('draft', { bubbles: true }));
      });
    });
    // Suggestions only. Types can be typed in full.
    this.classes = await vocabulary.classes().catch(() => []);
  }

  protected override render(): TemplateResult {
    const { draft } = this;
    if (!draft)
      return this.failure
        ? html`<p class="problem" role="alert">${this.failure}</p>`
        : html`<p class="soft" role="status">Reading …</p>`;
    const view = this.viewNow(draft);
    // Two versions are compared as text, and so is an invalid linkset.
    const asJson = this.asJson || draft.theirs !== undefined || typeof view === 'string';
    return html`
      <div class="row">
        <p class="grow">Types say what this item is, and links what belongs to it, such as a license or its author. The search finds both.</p>
        <div role="group" aria-label="Show the metadata as">
        <button type="button" aria-pressed=${!asJson} ?disabled=${asJson && (typeof view === 'string' || draft.theirs !== undefined)} @click=${() => this.show(false)}>Form</button>
        <button type="button" aria-pressed=${asJson} @click=${() => this.show(true)}>JSON</button></div>
      </div>
      ${asJson || typeof view === 'string' ? this.json(draft, view) : this.form(draft, view)}`;
  }

  private viewNow(draft: Draft): linkset.LinksetView | string {
    try {
      return linkset.linksetView(draft.text);
    } catch (error) {
      return messageOf(error);
    }
  }

  private show(asJson: boolean): void {
    this.asJson = asJson;
  }

  private json(draft: Draft, view: linkset.LinksetView | string): TemplateResult {
    return html`${typeof view === 'string' ? html`<p class="soft">The form is available once this can be parsed: ${view}</p>` : nothing}
      <resource-text .draft=${draft} language="json" label="Linkset" .readonly=${this.readonly}></resource-text>`;
  }

  private form(draft: Draft, view: linkset.LinksetView): TemplateResult {
    const actions = { save: () => void draft.save(), revert: () => draft.revert() };
    const saved = linkset.linksetView(draft.saved);
    return html`
      ${draft.failure ? html`<p class="problem" role="alert">${draft.failure}</p>` : nothing}
      <fieldset class="bare" ?disabled=${this.readonly}><section class="card"><h2>Types</h2>${this.types(view.types, saved.types)}</section>
      <section class="card"><h2>Links</h2>${this.relations(view.relations, saved.relations)}</section></fieldset>
      ${this.readonly ? nothing : html`<div class="saving">${saveRow(draft, actions)}</div>`}
      <details><summary>Set by the server</summary>
        <dl class="facts">${view.types.filter(linkset.isServerType).map((type) => html`<dt>type</dt><dd>${named(type)}</dd>`)}${view.given.map(({ name, target }) => html`<dt>${named(name)}</dt><dd>${named(target?.href ?? '')}</dd>`)}</dl>
      </details>`;
  }

  /** Choice of a name in words, or a field for an IRI with suggestions. */
  private choice(name: 'type' | 'relation', label: string, offered: Readonly<Record<string, string>>): TemplateResult {
    const chosen = ({ target }: Event): void => {
      if ((target as HTMLSelectElement).value !== other) return;
      this.typed = { ...this.typed, [name]: true };
      void this.updateComplete.then(() => this.querySelector<HTMLElement>(`[name=${name}]`)?.focus());
    };
    if (!this.typed[name])
      return html`<label class="grow">${label} <select class="wide" name=${name} required @change=${chosen}>${choices(offered)}</select></label>`;
    const suggested = name === 'type' ? this.classes : [];
    return html`<label class="grow">${label} (IRI) <input class="wide" name=${name} list=${`${name}s`} required autocomplete="off" spellcheck="false" /></label>
      <datalist id=${`${name}s`}>${suggested.map((iri) => html`<option value=${iri}></option>`)}</datalist>`;
  }

  private types(all: readonly string[], saved: readonly string[]): TemplateResult {
    const types = all.filter((type) => !linkset.isServerType(type));
    return html`
      ${types.length === 0 ? html`<p class="soft">No types yet. With one, people find this item by what it is.</p>` : nothing}
      <ul class="plain">
        ${types.map(
          (type) =>
            html`<li class="row"><span class="grow">${namedType(type)} ${saved.includes(type) ? nothing : unsaved}</span>
              <button type="button" aria-label=${`Remove the type ${type}`} @click=${(event: Event) => this.leaveOut(event, (text) => linkset.removeType(text, type))}>Remove</button></li>`,
        )}
      </ul>
      <form class="row" @submit=${this.addType}>
        ${this.choice('type', 'New type', Object.fromEntries(usualTypes.map((iri) => [iri, wordsOf(iri)])))}
        <button type="submit">Add type</button>
      </form>`;
  }

  private relations(relations: readonly linkset.Relation[], saved: readonly linkset.Relation[]): TemplateResult {
    const keyOf = ({ name, target, literal }: linkset.Relation): string => JSON.stringify([name, target, literal]);
    const known = new Set(saved.map(keyOf));
    return html`
      ${
        relations.length === 0
          ? html`<p class="soft">No links yet. Add links to a description of this item, its author or its license.</p>`
          : scrollTable(
              'Links of this item',
              ['Relation', 'Target', 'Title', html`<span class="visually-hidden">Remove</span>`],
              relations.map((relation) => this.relation(relation, known.has(keyOf(relation)))),
            )
      }
      <form class="row" @submit=${this.addRelation}>
        ${this.choice('relation', 'Relation', usualRelations)}
        <label class="grow">Target (IRI) <input class="wide" name="href" placeholder="https://…" required autocomplete="off" spellcheck="false" /></label>
        <label class="grow">Title (optional) <input class="wide" name="title" placeholder="CC BY 4.0" autocomplete="off" /></label>
        <button type="submit">Add link</button>
      </form>`;
  }

  private relation(relation: linkset.Relation, isSaved: boolean): TemplateResult {
    const { name, target, literal } = relation;
    const field = (part: 'href' | 'title', label: string): TemplateResult => html`<input
      class="wide" aria-label=${`${label} of ${name}`} spellcheck="false" .value=${target?.[part] ?? ''}
      @input=${({ target: input }: Event) => this.change((text) => linkset.changeTarget(text, relation, { [part]: (input as HTMLInputElement).value }))}
    />`;
    return html`<tr>
      <th scope="row">${named(name)} ${isSaved ? nothing : unsaved}</th>
      ${target ? html`<td>${field('href', 'Target')}</td><td>${field('title', 'Title')}</td>` : html`<td colspan="2"><code>${JSON.stringify(literal)}</code></td>`}
      <td><button type="button" aria-label=${`Remove ${name} ${target?.href ?? ''}`} @click=${(event: Event) => this.leaveOut(event, (text) => linkset.removeRelation(text, relation))}>Remove</button></td>
    </tr>`;
  }

  private change(work: (text: string) => string): boolean {
    const { draft } = this;
    if (!draft) return false;
    try {
      draft.failure = '';
      draft.text = work(draft.text);
      return true;
    } catch (error) {
      draft.failure = messageOf(error);
      this.requestUpdate();
      return false;
    }
  }

  private leaveOut(event: Event, work: (text: string) => string): void {
    // The button is removed with its line.
    (event.currentTarget as HTMLElement).closest('section')?.querySelector<HTMLElement>('form [name]')?.focus();
    this.change(work);
  }

  private readonly addType = (event: SubmitEvent): void => {
    const { form, text } = submitted(event);
    const href = text('type');
    if (!this.change((before) => linkset.addTarget(linkset.removeType(before, href), 'type', { href }))) return;
    form.reset();
    this.typed = { ...this.typed, type: false };
  };

  private readonly addRelation = (event: SubmitEvent): void => {
    const { form, text } = submitted(event);
    const [name, href, title] = [text('relation'), text('href'), text('title')];
    const isDone = this.change((before) => {
      if (linkset.isServerRelation(name)) throw new SyntaxError(`“${name}” is managed by the server.`);
      return linkset.addTarget(before, name, { href, ...(title ? { title } : {}) });
    });
    if (!isDone) return;
    form.reset();
    this.typed = { ...this.typed, relation: false };
  };
}
