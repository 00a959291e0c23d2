/** Containers: what is in them. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { messageOf } from '../api.js';
import { type Member, readContainer } from '../container.js';
import { ancestors, dateText, decoded, isContainer, shortName, sizeText } from '../names.js';
import { Page, placeHref } from '../page.js';
import { storageUri } from '../session.js';

@customElement('page-browse')
export class BrowsePage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private members: readonly Member[] = [];
  @state() private failure = '';

  private get at(): string {
    return this.parameters.get('at') ?? storageUri;
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('parameters')) void this.load();
  }

  private async load(): Promise<void> {
    const at = this.at;
    try {
      const { members } = await readContainer(at);
      if (at !== this.at) return;
      this.members = members;
      this.failure = '';
    } catch (error) {
      this.members = [];
      this.failure = messageOf(error);
    }
  }

  protected override render(): TemplateResult {
    return html`
      <nav aria-label="Where you are"><ol class="crumbs">
        ${ancestors(this.at, storageUri).map((iri) => html`<li><a href=${placeHref('browse', { at: iri })}>${iri === storageUri ? new URL(iri).host : shortName(iri)}</a></li>`)}
      </ol></nav>
      <p><a class="button" href=${placeHref('sharing', { at: this.at })}>Share</a></p>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p><p><a class="button" href=${placeHref('requests', { ask: this.at })}>Ask for access</a></p>` : ''}
      <table><thead><tr><th>Name</th><th class="number">Size</th><th>Changed</th></tr></thead><tbody>
        ${this.members.map(({ iri, size, modified }) => html`<tr><td><a href=${placeHref(isContainer(iri) ? 'browse' : 'resource', { at: iri })}>${decoded(shortName(iri))}</a></td><td class="number">${size === undefined ? '' : sizeText(size)}</td><td>${modified ? dateText(modified) : ''}</td></tr>`)}
      </tbody></table>`;
  }
}
