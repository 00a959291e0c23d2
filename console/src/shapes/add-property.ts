/** `<add-property>`: chooses a property for a form. Fires `add-property` with its IRI. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { rdfType } from '../rdf/document.js';
import { vocabulary } from '../search/vocabulary.js';
import { labels } from '../storage/labels.js';
import { expanded, nameToType } from './value-row.js';

/** Properties that most data has, offered before those of the storage. */
const common = 'schema:name schema:description dcterms:title dcterms:creator dcterms:license rdf:type'.split(' ');

@customElement('add-property')
export class AddProperty extends Page {
  /** Prefixes of the document. */
  @property({ attribute: false }) prefixes: Readonly<Record<string, string>> = {};
  @state() private properties: readonly string[] = [];
  @state() private classes: readonly string[] = [];

  protected override async load(): Promise<void> {
    // Suggestions only. Every property can be typed.
    this.properties = await vocabulary.predicates().catch(() => []);
    this.classes = await vocabulary.classes().catch(() => []);
  }

  protected override willUpdate(): void {
    this.follow(labels);
  }

  protected override render(): TemplateResult {
    const names = new Set([
      ...common,
      ...this.properties.filter((iri) => iri !== rdfType).map((iri) => nameToType(iri, this.prefixes)),
    ]);
    return html`<div class="row">
        <label class="grow">Property to add <input class="wide" name="property" list="form-properties" autocomplete="off" spellcheck="false" placeholder="schema:name" @keydown=${this.typed}></label>
        <button type="button" @click=${this.add}>Add property</button>
      </div>
      <datalist id="form-properties">${[...names].map((name) => html`<option value=${name}>${labels.of(expanded(name, this.prefixes)) ?? ''}</option>`)}</datalist>
      <datalist id="form-classes">${this.classes.map((iri) => html`<option value=${nameToType(iri, this.prefixes)}></option>`)}</datalist>`;
  }

  /** Enter adds the property instead of saving the form. */
  private readonly typed = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    void this.add();
  };

  private readonly add = (): Promise<boolean> =>
    this.attempt(async () => {
      const input = this.querySelector('input')!;
      const iri = expanded(input.value.trim(), this.prefixes);
      if (
        !/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(iri) ||
        (iri === input.value.trim() && !/^(?:https?|urn|tag|did|info):/i.test(iri))
      )
        throw new Error(
          `“${iri}” is not a property. Choose one of the list, or enter a name with a known prefix or an IRI, such as schema:name.`,
        );
      input.value = '';
      this.dispatchEvent(new CustomEvent<string>('add-property', { detail: iri }));
    });
}
