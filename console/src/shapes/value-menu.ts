/** Menu of a value: type, language and actions. It is folded, because most values need no change of these. */
import { html, type TemplateResult } from 'lit';
import { showMenu } from '../frame/row-menu.js';

/** @param name label of the value @param language language of the value, or empty @param content controls and buttons */
export function valueMenu(name: string, language: string, content: unknown): TemplateResult {
  const title = `Details of ${name}`;
  return html`<button type="button" class="quiet options" aria-haspopup="true" title=${title} aria-label=${language ? `${title} (${language})` : title} @click=${open}>⋯</button>
    <div class="row-menu value-menu" popover role="group" aria-label=${title} @click=${chosen} @change=${chosen} @keydown=${entered}>${content}</div>`;
}

function open({ currentTarget }: Event): void {
  const button = currentTarget as HTMLElement;
  const menu = button.nextElementSibling as HTMLElement;
  showMenu(menu, button.getBoundingClientRect());
  menu.querySelector<HTMLElement>('input, select, button')?.focus();
}

/** Closes the menu after a choice. The action may have removed the value with the menu. */
function chosen({ currentTarget, target, type }: Event): void {
  const [menu, control] = [currentTarget as HTMLElement, (target as HTMLElement).closest('button, select')];
  const isChoice = type === 'change' ? control?.localName === 'select' : control?.localName === 'button';
  if (isChoice && menu.isConnected) menu.togglePopover(false);
}

/** Ends the input if the user presses Enter in a field of the menu. The form is not saved. */
function entered(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.key !== 'Enter' || target.localName !== 'input') return;
  event.preventDefault();
  target.blur();
  (event.currentTarget as HTMLElement).togglePopover(false);
}
