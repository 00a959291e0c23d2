/** Short messages at the edge of the page, or in the dialogue that is open, read out by screen readers. */

import { html, render } from 'lit';

export type Tone = 'good' | 'bad';

/** Shows a sentence for some seconds; a refusal stays until it is dismissed, another one takes its place, or the page is another one. */
export function notify(text: string, tone: Tone = 'good'): void {
  const region = regionNow();
  const notice = document.createElement('div');
  notice.className = `notice ${tone}`;
  // Where it was said.
  notice.dataset['place'] = location.hash;
  render(html`<span>${text}</span><button type="button" @click=${() => dismiss(notice)}>Close</button>`, notice);
  region.append(notice);
  if (tone === 'bad')
    for (const before of region.querySelectorAll<HTMLElement>('.notice.bad')) if (before !== notice) dismiss(before);
  if (tone === 'good') setTimeout(() => dismiss(notice), 6000);
}

/** All else is inert while a dialogue is open; what was said in it goes with it. */
function regionNow(): HTMLElement {
  const dialog = document.querySelector('dialog[open]');
  const place = dialog ?? document.body;
  const known = place.querySelector<HTMLElement>(':scope > .notices');
  if (known) return known;
  const region = document.createElement('div');
  region.className = 'notices';
  region.setAttribute('role', 'status');
  place.append(region);
  dialog?.addEventListener('close', () => region.remove(), { once: true });
  return region;
}

/** Takes away the refusals of other places. */
export function clearNotices(): void {
  for (const notice of document.querySelectorAll<HTMLElement>('.notice.bad'))
    if (notice.dataset['place'] !== location.hash) dismiss(notice);
}

/** Takes a notice away; the focus goes to another one, or back to the page. */
function dismiss(notice: HTMLElement): void {
  const had = notice.contains(document.activeElement);
  const other = notice.nextElementSibling ?? notice.previousElementSibling;
  notice.remove();
  if (!had) return;
  const next = other?.querySelector('button') ?? document.getElementById('main');
  next?.focus({ preventScroll: true });
}
