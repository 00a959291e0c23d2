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

/** Licenses that are offered by name. */
const usualLicenses: Readonly<Record<string, string>> = {
  'https://creativecommons.org/licenses/by/4.0/': 'CC BY 4.0',
  'https://creativecommons.org/licenses/by-sa/4.0/': 'CC BY-SA 4.0',
  'https://creativecommons.org/licenses/by-nc/4.0/': 'CC BY-NC 4.0',
  'https://creativecommons.org/publicdomain/zero/1.0/': 'CC0 1.0 (public domain)',
  'https://opendatacommons.org/licenses/odbl/1-0/': 'ODbL 1.0',
  'https://opensource.org/license/mit': 'MIT',
};

type Choice = 'type' | 'relation' | 'license';

/** Returns the name of a relation or type in words. A relation of the IANA registry without a title is shown by name. */
const named = (name: string) => iriName(name, usualRelations[name] ?? labelled(name));
const namedType = (iri: string) => iriName(iri, labels.of(iri) ?? wordsOf(iri));

/** Renders options in words. The last one opens a field for an IRI. */
const choices = (offered: Readonly<Record<string, string>>): TemplateResult => html`
  <option value="">Choose …</option>
  ${Object.entries(offered).map(([value, text]) => html`<option value=${value}>${text}</option>`)}
  <option value=${other}>Other (web address) …</option>`;

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
  /** True for fields in which the user types an IRI instead of choosing. */
  @state() private typed: Readonly<Partial<Record<Choice, boolean>>> = {};
  /** True if the list of all links is shown. */
  @state() private isAdvanced = false;

  private saving: Promise<boolean> = Promise.resolve(true);

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
    // Types to suggest. The user can type other types.
    this.classes = await vocabulary.classes().catch(() => []);
  }

  protected override render(): TemplateResult {
    const { draft } = this;
    if (!draft)
      return this.failure
        ? html`<p class="problem" role="alert">${this.failure}</p>`
        : html`<p class="soft" role="status">Reading …</p>`;
    const view = this.viewNow(draft);
    // After a conflict, both versions are shown as text. An invalid linkset is shown as text, too.
    const asJson = this.asJson || draft.theirs !== undefined || typeof view === 'string';
    return html`
      <p class="soft">What is known about the file itself. The search finds files by it.</p>
      ${asJson || typeof view === 'string' ? this.json(draft, view) : this.form(draft, view)}`;
  }

  /** Renders buttons to switch between the form and JSON. */
  private views(asJson: boolean, isFormless = false): TemplateResult {
    return html`<div class="row" role="group" aria-label="Show the metadata as">
      <button type="button" aria-pressed=${!asJson} ?disabled=${isFormless} @click=${() => this.show(false)}>Form</button>
      <button type="button" aria-pressed=${asJson} @click=${() => this.show(true)}>JSON</button></div>`;
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
    return html`${this.views(true, typeof view === 'string' || draft.theirs !== undefined)}
      ${typeof view === 'string' ? html`<p class="soft">The form is available once this can be parsed: ${view}</p>` : nothing}
      <resource-text .draft=${draft} language="json" label="Linkset" .readonly=${this.readonly}></resource-text>`;
  }

  private form(draft: Draft, view: linkset.LinksetView): TemplateResult {
    const actions = { save: () => void draft.save(), revert: () => draft.revert() };
    const saved = linkset.linksetView(draft.saved);
    const isChanged = draft.isDirty || draft.wasSaved;
    return html`
      ${draft.failure ? html`<p class="problem" role="alert">${draft.failure}</p>` : nothing}
      <fieldset class="bare card folds" ?disabled=${this.readonly}>
        <section><h2>License</h2><div>${this.targets(view, saved, 'license')}${this.readonly ? nothing : this.licenseForm()}</div></section>
        <section><h2>Author</h2><div>${this.targets(view, saved, 'author')}${this.readonly ? nothing : this.authorForm()}</div></section>
        <section><h2>Type of the file</h2><div>${this.types(view.types, saved.types)}</div></section>
      </fieldset>
      ${this.readonly || !isChanged ? nothing : html`<div class="saving">${draft.isDirty ? saveRow(draft, actions) : html`<span class="state saved" role="status">Saved. No unsaved changes</span>`}</div>`}
      <details class="card" ?open=${this.isAdvanced} @toggle=${this.toggled}><summary>Advanced</summary>
        ${this.views(false)}
        <fieldset class="bare" ?disabled=${this.readonly}><h2>All links</h2>${this.relations(view.relations, saved.relations)}</fieldset>
        <h2>Set by the server</h2>
        <dl class="facts">${view.types.filter(linkset.isServerType).map((type) => html`<dt>type</dt><dd>${named(type)}</dd>`)}${view.given.map(({ name, target }) => html`<dt>${named(name)}</dt><dd>${named(target?.href ?? '')}</dd>`)}</dl>
      </details>`;
  }

  private readonly toggled = ({ target }: Event): void => {
    this.isAdvanced = (target as HTMLDetailsElement).open;
  };

  /** Renders the targets of a relation by title. */
  private targets(view: linkset.LinksetView, saved: linkset.LinksetView, name: 'license' | 'author'): TemplateResult {
    const of = view.relations.filter((each) => each.name === name && each.target);
    const isSaved = (href: string): boolean =>
      saved.relations.some((each) => each.name === name && each.target?.href === href);
    if (of.length === 0)
      return html`<p class="soft">${name === 'license' ? 'No license yet. Without one, others may not know how they can use it.' : 'No author yet.'}</p>`;
    return html`<ul class="plain">${of.map((relation) => {
      const { href, title } = relation.target!;
      return html`<li class="row"><span class="grow">${iriName(href, title || usualLicenses[href] || labelled(href))} ${isSaved(href) ? nothing : unsaved}</span>
        ${this.removal(`Remove the ${name} ${href}`, (text) => linkset.removeRelation(text, relation))}</li>`;
    })}</ul>`;
  }

  private removal(label: string, work: (text: string) => string): TemplateResult | typeof nothing {
    if (this.readonly) return nothing;
    return html`<button type="button" class="quiet" aria-label=${label} title="Remove" @click=${(event: Event) => this.leaveOut(event, work)}>×</button>`;
  }

  private licenseForm(): TemplateResult {
    return html`<form class="row" @submit=${(event: SubmitEvent) => this.addTarget(event, 'license')}>
      ${this.choice('license', 'New license', usualLicenses)}<button type="submit">Add license</button></form>`;
  }

  private authorForm(): TemplateResult {
    return html`<form class="row" @submit=${(event: SubmitEvent) => this.addTarget(event, 'author')}>
      <label class="grow">Name <input class="wide" name="author-name" autocomplete="off"></label>
      <label class="grow">Web address <input class="wide" name="author" placeholder="https://orcid.org/…" required autocomplete="off" spellcheck="false"></label>
      <button type="submit">Add author</button></form>`;
  }

  /** Renders a field to choose a name in words, or to type an IRI with suggestions. */
  private choice(name: Choice, label: string, offered: Readonly<Record<string, string>>): TemplateResult {
    const chosen = ({ target }: Event): void => {
      if ((target as HTMLSelectElement).value !== other) return;
      this.typed = { ...this.typed, [name]: true };
      void this.updateComplete.then(() => this.querySelector<HTMLElement>(`[name=${name}]`)?.focus());
    };
    if (!this.typed[name])
      return html`<label class="grow">${label} <select class="wide" name=${name} required @change=${chosen}>${choices(offered)}</select></label>`;
    const suggested = name === 'type' ? this.classes : [];
    return html`<label class="grow">${label} (web address) <input class="wide" name=${name} list=${`${name}s`} required autocomplete="off" spellcheck="false" /></label>
      <datalist id=${`${name}s`}>${suggested.map((iri) => html`<option value=${iri}></option>`)}</datalist>`;
  }

  private types(all: readonly string[], saved: readonly string[]): TemplateResult {
    const types = all.filter((type) => !linkset.isServerType(type));
    return html`
      <p class="soft">What the file is, not what it describes: a file about a person can be a dataset.</p>
      ${
        types.length === 0
          ? nothing
          : html`<ul class="plain">
        ${types.map(
          (type) =>
            html`<li class="row"><span class="grow">${namedType(type)} ${saved.includes(type) ? nothing : unsaved}</span>
              ${this.removal(`Remove the type ${type}`, (text) => linkset.removeType(text, type))}</li>`,
        )}
      </ul>`
      }
      ${
        this.readonly
          ? nothing
          : html`<form class="row" @submit=${this.addType}>
        ${this.choice('type', 'New type', Object.fromEntries(usualTypes.map((iri) => [iri, wordsOf(iri)])))}
        <button type="submit">Add type</button>
      </form>`
      }`;
  }

  private relations(relations: readonly linkset.Relation[], saved: readonly linkset.Relation[]): TemplateResult {
    const keyOf = ({ name, target, literal }: linkset.Relation): string => JSON.stringify([name, target, literal]);
    const known = new Set(saved.map(keyOf));
    return html`
      ${
        relations.length === 0
          ? html`<p class="soft">No links yet.</p>`
          : scrollTable(
              'Links of this item',
              ['Relation', 'Web address', 'Title', html`<span class="visually-hidden">Remove</span>`],
              relations.map((relation) => this.relation(relation, known.has(keyOf(relation)))),
            )
      }
      <form class="row" @submit=${this.addRelation}>
        ${this.choice('relation', 'Relation', usualRelations)}
        <label class="grow">Web address <input class="wide" name="href" placeholder="https://…" required autocomplete="off" spellcheck="false" /></label>
        <label class="grow">Title (optional) <input class="wide" name="title" autocomplete="off" /></label>
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
      ${target ? html`<td>${field('href', 'Web address')}</td><td>${field('title', 'Title')}</td>` : html`<td colspan="2"><code>${JSON.stringify(literal)}</code></td>`}
      <td>${this.removal(`Remove ${name} ${target?.href ?? ''}`, (text) => linkset.removeRelation(text, relation))}</td>
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
    // The focus moves before the button is removed with its line.
    (event.currentTarget as HTMLElement)
      .closest('section, fieldset')
      ?.querySelector<HTMLElement>('form [name]')
      ?.focus();
    this.changeAndSave(work);
  }

  /** Saves a change at once. If saving fails, the user can save or undo the change. @returns false for an invalid change */
  private changeAndSave(work: (text: string) => string): boolean {
    if (!this.change(work)) return false;
    // If a save is running, it does not contain the change.
    this.saving = this.saving.then(() => (this.draft?.isDirty ? this.draft.save() : true));
    return true;
  }

  private addTarget(event: SubmitEvent, name: 'license' | 'author'): void {
    const { form, text } = submitted(event);
    const [href, title] = [text(name), usualLicenses[text(name)] ?? text('author-name')];
    const isKnown = (before: string): boolean =>
      linkset.linksetView(before).relations.some((each) => each.name === name && each.target?.href === href);
    const add = (before: string): string =>
      isKnown(before) ? before : linkset.addTarget(before, name, { href, ...(title ? { title } : {}) });
    if (!this.changeAndSave(add)) return;
    form.reset();
    this.typed = { ...this.typed, license: false };
  }

  private readonly addType = (event: SubmitEvent): void => {
    const { form, text } = submitted(event);
    const href = text('type');
    if (!this.changeAndSave((before) => linkset.addTarget(linkset.removeType(before, href), 'type', { href }))) return;
    form.reset();
    this.typed = { ...this.typed, type: false };
  };

  private readonly addRelation = (event: SubmitEvent): void => {
    const { form, text } = submitted(event);
    const [name, href, title] = [text('relation'), text('href'), text('title')];
    const isDone = this.changeAndSave((before) => {
      if (linkset.isServerRelation(name)) throw new SyntaxError(`“${name}” is managed by the server.`);
      return linkset.addTarget(before, name, { href, ...(title ? { title } : {}) });
    });
    if (!isDone) return;
    form.reset();
    this.typed = { ...this.typed, relation: false };
  };
}
