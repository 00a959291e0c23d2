/** The names that this browser remembers, to be changed and forgotten. */
import { html, type TemplateResult } from 'lit';
import { customElement } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { people, rememberName } from './people.js';

@customElement('people-list')
export class PeopleList extends Page {
  protected override render(): TemplateResult {
    const known = people();
    return html`
      <h2>People by name</h2>
      <p class="soft">These names are kept in this browser alone.</p>
      ${
        known.length === 0
          ? html`<p class="empty">Nobody has a name here yet. Give one when you share something.</p>`
          : html`<ul class="plain">${known.map(
              ([iri, name]) => html`<li class="row">
                <input class="grow" aria-label=${`Name of ${iri}`} .value=${name} @change=${(event: Event) => this.rename(iri, (event.target as HTMLInputElement).value)}>
                <span class="iri grow">${iri}</span>
                <button type="button" aria-label=${`Forget ${name}`} @click=${() => this.rename(iri, '')}>Forget</button>
              </li>`,
            )}</ul>`
      }`;
  }

  private rename(iri: string, name: string): void {
    rememberName(iri, name);
    this.requestUpdate();
    this.dispatchEvent(new Event('renamed', { bubbles: true }));
    void this.keepFocus();
  }
}
