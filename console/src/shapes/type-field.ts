/** `<type-field>`: field to choose a type in words, or to enter its IRI. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { wordsOf } from '../storage/words.js';
import { usualTypes } from './usual.js';

@customElement('type-field')
export class TypeField extends Page {
  @property() value = '';
  /** Name of the field for screen readers. */
  @property() label = 'Type';
  /** Called with the type that the user chose or typed. */
  @property({ attribute: false }) set: (text: string) => void = () => {};
  @state() private isOther = false;

  protected override render(): TemplateResult {
    return this.isOther ? this.input() : this.choice();
  }

  private choice(): TemplateResult {
    const { value } = this;
    // A type of another vocabulary replaces the usual type with the same words, so that all choices differ.
    const others = usualTypes.filter((iri) => wordsOf(iri) !== wordsOf(value));
    const known = value === '' || usualTypes.includes(value) ? usualTypes : [...others, value];
    const chosen = ({ target }: Event): void => {
      const at = (target as HTMLSelectElement).selectedIndex - 1;
      this.isOther = at === known.length;
      this.set(known[at] ?? '');
      if (this.isOther) void this.updateComplete.then(() => this.querySelector('input')?.focus());
    };
    return html`<select class="grow" aria-label=${this.label} title=${value} @change=${chosen}><option>Choose a type …</option>
      ${known.map((iri) => html`<option ?selected=${iri === value}>${wordsOf(iri)}</option>`)}<option>Other …</option></select>`;
  }

  private input(): TemplateResult {
    return html`<input class="grow" aria-label=${this.label} placeholder="schema:Person" list="form-classes" autocomplete="off" spellcheck="false" .value=${this.value}
      @change=${({ target }: Event) => this.set((target as HTMLInputElement).value.trim())}>`;
  }
}
