/** Notice of a page without content: an icon, a title, a sentence, and at most two buttons. */
import { html, nothing, type TemplateResult } from 'lit';

const icons = {
  lock: 'M6 10h12v10H6zM8.5 10V7a3.5 3.5 0 0 1 7 0v3',
  nothing: 'M4 5h6l2 2.5h8V19H4zM10 11.5l4 4m0-4-4 4',
  folder: 'M4 5h6l2 2.5h8V19H4z',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  form: 'M5 3h14v18H5zM8 8h8M8 12h8M8 16h4',
  inbox: 'M4 13 7 5h10l3 8v6H4zM4 13h5l1 2.5h4l1-2.5h5',
} as const;

export interface Blank {
  readonly icon: keyof typeof icons;
  readonly title: string;
  readonly text: unknown;
  /** Buttons, of which the first is the primary button. */
  readonly actions?: TemplateResult;
  /** Additional CSS classes. */
  readonly kind?: string;
}

export const blank = ({ icon, title, text, actions, kind = 'empty' }: Blank): TemplateResult =>
  html`<section class=${`card blank ${kind}`} role="status">
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d=${icons[icon]} /></svg>
    <h2>${title}</h2><p>${text}</p>${actions ? html`<div class="row">${actions}</div>` : nothing}
  </section>`;
