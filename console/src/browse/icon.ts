import { html, type TemplateResult } from 'lit';
import { isContainer } from '../storage/names.js';

/** Icon of a folder or a file. */
export const itemIcon = (iri: string): TemplateResult =>
  html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${isContainer(iri) ? 'M1 3h5l2 2h7v9H1z' : 'M3 1h7l3 3v11H3z'} /></svg>`;
