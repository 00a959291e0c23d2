/** Where a resource lies: links to the containers above it, and itself. */
import { html, type TemplateResult } from 'lit';
import { storageUri } from '../session/session.js';
import { ancestors, decoded, shortName } from '../storage/names.js';
import { placeHref } from './page.js';

/** What to call a resource in a heading. */
export const nameOf = (iri: string): string => (iri === storageUri ? new URL(iri).host : decoded(shortName(iri)));

/** @param page what the links lead to */
export const crumbs = (at: string, page = 'browse'): TemplateResult => html`<nav aria-label="Where you are">
  <ol class="crumbs">
    ${ancestors(at, storageUri)
      .filter((iri) => iri !== at)
      .map((iri) => html`<li><a href=${placeHref(page, { at: iri })}>${nameOf(iri)}</a></li>`)}
    <li aria-current="page">${nameOf(at)}</li>
  </ol>
</nav>`;
