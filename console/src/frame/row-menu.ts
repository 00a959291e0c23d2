/** Menu of a table row, opened by a button. */
import { html, type TemplateResult } from 'lit';

/** @param label accessible name of the button @param actions buttons and links @param text visible text of the button */
export const rowMenu = (label: string, actions: unknown, text = '⋯'): TemplateResult => html`
  <button type="button" class="quiet opens" aria-haspopup="true" aria-label=${label} @click=${open}>${text}</button>
  <div class="row-menu" popover aria-label=${label} @click=${close}>${actions}</div>`;

function open({ currentTarget }: Event): void {
  const button = currentTarget as HTMLElement;
  showMenu(button.nextElementSibling as HTMLElement, button.getBoundingClientRect());
}

/** Shows a menu below its button, or above it at the end of the page. @param place rectangle of the button */
export function showMenu(menu: HTMLElement, { right, top, bottom }: DOMRect): void {
  menu.showPopover();
  const { offsetWidth, offsetHeight } = menu;
  menu.style.left = `${Math.max(8, right - offsetWidth)}px`;
  menu.style.top = `${bottom + offsetHeight > innerHeight ? Math.max(8, top - offsetHeight) : bottom}px`;
  menu.querySelector<HTMLElement>('a, button')?.focus();
}

/** Closes the menu. The action may already have removed the row or opened a dialog. */
function close({ currentTarget }: Event): void {
  const menu = currentTarget as HTMLElement;
  if (menu.isConnected) menu.togglePopover(false);
}
