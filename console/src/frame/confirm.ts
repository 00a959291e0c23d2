/** Confirmation dialog before an action that cannot be undone. */
import { html, nothing, render } from 'lit';

export interface Confirmation {
  readonly title: string;
  readonly text: string;
  /** Label of the confirming button. */
  readonly proceed: string;
  /** Text that must be typed to confirm. */
  readonly typed?: string;
  /** True if Enter confirms, for an action that deletes nothing. */
  readonly isUsual?: boolean;
}

let count = 0;

/** Shows the dialog. @returns true if confirmed. Closing the dialog returns false. */
export function confirmed({ title, text, proceed, typed, isUsual = false }: Confirmation): Promise<boolean> {
  const dialog = document.createElement('dialog');
  const id = `confirm-${++count}`;
  dialog.setAttribute('aria-labelledby', id);
  const content = html`<h2 id=${id}>${title}</h2>
    <p>${text}</p>
    ${
      typed === undefined
        ? nothing
        : html`<label>Type ${typed} <input autocomplete="off" spellcheck="false" @input=${({ target }: Event) => {
            dialog.querySelector<HTMLButtonElement>('.danger')!.disabled = (target as HTMLInputElement).value !== typed;
          }} /></label>`
    }
    <div class="row">
      <button type="button" @click=${() => dialog.close('')}>Cancel</button>
      <button type="button" class=${isUsual ? 'primary' : 'danger'} ?autofocus=${isUsual} ?disabled=${typed !== undefined} @click=${() => dialog.close('yes')}>${proceed}</button>
    </div>`;
  render(content, dialog);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}
