/** Icons for the views of answers. */
import { html, type TemplateResult } from 'lit';
import type { AnswerKind } from './examples.js';

const paths: Readonly<Record<AnswerKind, string>> = {
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M2.5 9.5h11M6.5 6.5v6',
  chart: 'M2.5 2.5v11h11M5.5 11V8M8.5 11V4.5M11.5 11V6.5',
  graph:
    'M4 12a1.5 1.5 0 1 0 0-.01M12 10a1.5 1.5 0 1 0 0-.01M8 4a1.5 1.5 0 1 0 0-.01M6 10.8 7.8 5.6M7.1 11.6l3.4-.9M10 5.2l2.6 3.4',
  map: 'M8 14S3.5 9.8 3.5 6.5a4.5 4.5 0 0 1 9 0C12.5 9.8 8 14 8 14zM8 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
};

export const kindIcon = (kind: AnswerKind): TemplateResult =>
  html`<svg class="kind" viewBox="0 0 16 16" aria-hidden="true"><path d=${paths[kind]}></path></svg>`;
