/** `<shape-actions>`: links to the shapes of a resource or container, and to the form for new members. Loaded only if the storage has shapes. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page, placeHref } from '../frame/page.js';
import { isContainer } from '../storage/names.js';
import { shapesInForce } from './links.js';

@customElement('shape-actions')
export class ShapeActions extends Page {
  @property() iri = '';
  /** True if the user may create members of the container. */
  @property({ type: Boolean }) creates = false;
  /** True if the user may write the linkset. */
  @property({ type: Boolean }) links = false;
  @state() private isConstrained = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('iri')) void this.load();
  }

  protected override async load(): Promise<void> {
    const { iri } = this;
    if (iri === '') return;
    // If reading the links fails, the resource cannot be read either, and the page shows the error.
    const shapes = await shapesInForce(iri).catch(() => []);
    if (iri === this.iri) this.isConstrained = shapes.length > 0;
  }

  protected override render(): TemplateResult {
    const { iri, creates, links, isConstrained } = this;
    const to = { at: iri };
    return html`${isConstrained && creates && isContainer(iri) ? html`<a class="button" href=${placeHref('form', to)}>New with a form</a> ` : nothing}
      ${isConstrained || links ? html`<a class="button" href=${placeHref('shapes', to)}>Forms and rules</a>` : nothing}`;
  }
}
