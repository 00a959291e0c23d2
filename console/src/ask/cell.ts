/** RDF terms as links and text. Nothing of them is ever markup. */
import { html, nothing, type TemplateResult } from 'lit';
import { openHref } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { labelOf, type Term } from './terms.js';

/** Where an IRI leads: a page of the console for what lies in the storage, itself for the web; `undefined` for other schemes. */
export function hrefOf(iri: string): string | undefined {
  if (!iri.startsWith(storageUri)) return /^https?:\/\//i.test(iri) ? iri : undefined;
  const at = iri.replace(/#.*$/s, '').replace(/\.meta$/, '');
  return openHref(at);
}

export const isOutside = (iri: string): boolean => !iri.startsWith(storageUri);

/** An IRI of the storage without what all of them begin with. */
const shown = (iri: string): string =>
  iri.startsWith(storageUri) && iri.length > storageUri.length ? `/${iri.slice(storageUri.length)}` : iri;

export function termContent(term: Term | undefined): TemplateResult | typeof nothing {
  if (!term) return nothing;
  if (term.kind === 'blank') return html`<span class="soft">_:${term.value}</span>`;
  if (term.kind === 'literal') {
    const note = term.language !== '' ? `@${term.language}` : term.datatype !== '' ? labelOf(term.datatype) : '';
    return html`${term.value}${note === '' ? nothing : html` <span class="soft term-note">${note}</span>`}`;
  }
  const href = hrefOf(term.value);
  if (href === undefined) return html`${term.value}`;
  return isOutside(term.value)
    ? html`<a href=${href} target="_blank" rel="noreferrer">${term.value}</a>`
    : html`<a href=${href}>${shown(term.value)}</a>`;
}
