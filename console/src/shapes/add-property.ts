/** `<add-property>`: a list of properties for a form. Fires `add-property` with the IRI of the chosen property. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { showMenu } from '../frame/row-menu.js';
import { rdfType } from '../rdf/document.js';
import { vocabulary } from '../search/vocabulary.js';
import { labels } from '../storage/labels.js';
import { plainName, usualProperties } from './usual.js';
import { expanded, nameToType } from './value-row.js';

const mostShown = 60;

/** Width of the list, in pixels. */
const width = 352;

/** Returns an absolute IRI, or `undefined`. Text with an unknown scheme is not an IRI, but a name with an unknown prefix. */
export function propertyIri(text: string, prefixes: Readonly<Record<string, string>> = {}): string | undefined {
  const iri = expanded(text, prefixes);
  const isAbsolute = /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(iri);
  return isAbsolute && (iri !== text || /^(?:https?|urn|tag|did|info):/i.test(iri)) ? iri : undefined;
}

@customElement('add-property')
export class AddProperty extends Page {
  /** Prefixes of the document. */
  @property({ attribute: false }) prefixes: Readonly<Record<string, string>> = {};
  /** Properties of the data in the storage. */
  @state() private known: readonly string[] = [];
  @state() private classes: readonly string[] = [];
  @state() private typed = '';

  protected override async load(): Promise<void> {
    // The lists are suggestions. The user can type any property.
    this.known = await vocabulary.predicates().catch(() => []);
    this.classes = await vocabulary.classes().catch(() => []);
  }

  protected override willUpdate(): void {
    this.follow(labels);
  }

  /** Properties whose name contains the typed text. Properties of the storage come first, then common properties. */
  private get found(): readonly string[] {
    const text = this.typed.trim().toLowerCase();
    const all = [...new Set([...this.known.filter((iri) => iri !== rdfType), ...usualProperties, rdfType])];
    return all.filter((iri) => `${plainName(iri)} ${nameToType(iri, this.prefixes)}`.toLowerCase().includes(text));
  }

  protected override render(): TemplateResult {
    const { found } = this;
    const shown = found.slice(0, mostShown);
    return html`<button type="button" class="quiet opens" aria-haspopup="true" @click=${this.open}><span aria-hidden="true">+</span> Add a field</button>
      <div class="row-menu property-menu" popover role="group" aria-label="Fields to add">
        <input class="wide" aria-label="Find a field" placeholder="Find a field" autocomplete="off" spellcheck="false" .value=${this.typed} @input=${this.find} @keydown=${this.keyed}>
        <ul class="folders">${shown.map((iri) => html`<li><button type="button" title=${iri} @click=${() => this.choose(iri)}>${plainName(iri)} <small class="soft">${nameToType(iri, this.prefixes)}</small></button></li>`)}
          ${found.length > shown.length ? html`<li class="soft">${found.length - shown.length} more. Type a part of the name.</li>` : nothing}
          ${found.length === 0 ? html`<li class="soft">No field has this name.</li>` : nothing}</ul>
        <p class="soft">Other: type the address of a property, such as <code>schema:email</code>, and press Enter.</p>
      </div>
      <datalist id="form-classes">${this.classes.map((iri) => html`<option value=${nameToType(iri, this.prefixes)}></option>`)}</datalist>`;
  }

  private readonly open = ({ currentTarget }: Event): void => {
    const { left, top, height } = (currentTarget as HTMLElement).getBoundingClientRect();
    this.typed = '';
    // A menu is aligned with the right edge of its button. The list is aligned with the left edge.
    const wide = Math.min(width, innerWidth - left - 8);
    showMenu(this.menu, new DOMRect(left, top, wide, height));
    this.menu.querySelector('input')?.focus();
  };

  private get menu(): HTMLElement {
    return this.querySelector<HTMLElement>('.property-menu')!;
  }

  private readonly find = ({ target }: Event): void => {
    this.typed = (target as HTMLInputElement).value;
  };

  /** Enter adds a property and does not save the form: the property with the typed name or address, or the first one. */
  private readonly keyed = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const text = this.typed.trim();
    const named = this.found.find((iri) => plainName(iri).toLowerCase() === text.toLowerCase());
    void this.attempt(async () => {
      const iri = named ?? propertyIri(text, this.prefixes) ?? (text === '' ? undefined : this.found[0]);
      if (iri === undefined)
        throw new Error(
          `“${text}” is not a property. Choose one of the list, or enter its address, such as schema:name.`,
        );
      this.choose(iri);
    });
  };

  private choose(iri: string): void {
    this.menu.togglePopover(false);
    this.dispatchEvent(new CustomEvent<string>('add-property', { detail: iri }));
  }
}
