/** Field for a folder, with a list of folders to choose from. */
import { html, type TemplateResult } from 'lit';
import { storageUri } from '../session/session.js';

/** @param name of the field @param label its text */
export function folderField(name: string, label: string): TemplateResult {
  const pick = ({ detail, currentTarget }: CustomEvent<string>): void => {
    const form = (currentTarget as HTMLElement).closest('form');
    (form?.elements.namedItem(name) as HTMLInputElement).value = detail;
  };
  return html`<label>${label} <input name=${name} type="url" required .value=${storageUri} spellcheck="false"></label>
    <details class="pick" @toggle=${() => void import('./folder-picker.js')}><summary>Choose from the list</summary><folder-picker @pick=${pick}></folder-picker></details>`;
}
