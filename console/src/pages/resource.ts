/** Page of a resource: read, edit, describe and delete. */
import '../resource/view.js';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { crumbs, openHref, Page, placeHref } from '../frame/page.js';
import type { ResourceView } from '../resource/view.js';
import { changedResources, dropClean, viewOf } from '../resource/views.js';
import { storageUri } from '../session/session.js';
import { isContainer, shortName } from '../storage/names.js';

@customElement('page-resource')
export class ResourcePage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    dropClean();
  }

  protected override render(): TemplateResult {
    const at = this.parameters.get('at') ?? '';
    const isOurs = at.startsWith(storageUri);
    if (isOurs && isContainer(at)) location.replace(openHref(at));
    if (!isOurs || isContainer(at))
      return html`<p class="empty">Which item? <a href=${placeHref('browse')}>Choose one in the listing</a>.</p>`;
    const [iri = ''] = at.split('#');
    const view = viewOf(iri, () => document.createElement('resource-view') as ResourceView);
    view.iri = iri;
    view.wanted = this.parameters.get('tab') ?? '';
    view.subject = at.includes('#') ? at : '';
    const others = changedResources().filter((other) => other !== iri);
    return html`
      ${crumbs(iri)}
      ${others.length > 0 ? html`<p class="soft">Not saved yet: ${others.map((other) => html`<a href=${placeHref('resource', { at: other })}>${shortName(other)}</a> `)}</p>` : ''}
      ${view}`;
  }
}
