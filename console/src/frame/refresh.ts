/** Button that reads the content of a page again. */
import { html, type TemplateResult } from 'lit';

export const refreshButton = (run: () => unknown): TemplateResult =>
  html`<button type="button" class="quiet refresh" @click=${run}><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 1.5v3h-3" /></svg> Refresh</button>`;
