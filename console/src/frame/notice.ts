/** Notices at the edge of the page or in the open dialog, announced by screen readers. */

import { html, nothing, render } from 'lit';

export type Tone = 'good' | 'bad';

/** Button of a notice. */
export interface NoticeAction {
  readonly label: string;
  readonly run: () => unknown;
}

/**
 * Shows a sentence for 4 seconds, in place of the previous one, and for 20 seconds with an action. An error stays until it is
 * dismissed, replaced, or the page changes.
 */
export function notify(text: string, tone: Tone = 'good', action?: NoticeAction): void {
  const region = regionNow();
  const notice = document.createElement('div');
  notice.className = `notice ${tone}`;
  // Route on which the notice was shown.
  notice.dataset['place'] = location.hash;
  const act = (): void => {
    dismiss(notice);
    action?.run();
  };
  render(
    html`<span class="grow">${text}</span>
      ${action ? html`<button type="button" class="primary" @click=${act}>${action.label}</button>` : nothing}
      <button type="button" class="quiet close" aria-label="Close" @click=${() => dismiss(notice)}>×</button>`,
    notice,
  );
  region.append(notice);
  for (const before of region.querySelectorAll<HTMLElement>('.notice')) if (before !== notice) dismiss(before);
  if (tone === 'good') setTimeout(() => dismiss(notice), action ? 20_000 : 4000);
}

/** Returns the region for notices. If a dialog is open, the region is in the dialog, since everything outside is inert. */
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

/** Removes errors of other routes. */
export function clearNotices(): void {
  for (const notice of document.querySelectorAll<HTMLElement>('.notice.bad'))
    if (notice.dataset['place'] !== location.hash) dismiss(notice);
}

/** Removes a notice. The focus moves to another notice, or back to the page. */
function dismiss(notice: HTMLElement): void {
  const had = notice.contains(document.activeElement);
  const other = notice.nextElementSibling ?? notice.previousElementSibling;
  notice.remove();
  if (!had) return;
  const next = other?.querySelector('button') ?? document.getElementById('main');
  next?.focus({ preventScroll: true });
}
