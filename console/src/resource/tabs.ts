/** A strip of tabs: one stop for Tab, arrows within it. */
import { html, type TemplateResult } from 'lit';

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly title: string;
}
export interface TabStrip<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly current: Id;
  readonly choose: (id: Id) => void;
}

export function tabStrip<Id extends string>({ label, tabs, current, choose }: TabStrip<Id>): TemplateResult {
  const keys = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ id }) => id === current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const { id } = tabs[(to + tabs.length) % tabs.length]!;
    choose(id);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`#tab-${id}`)?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} @keydown=${keys}>
    ${tabs.map(
      ({ id, title }) => html`<button
        type="button"
        role="tab"
        id=${`tab-${id}`}
        aria-controls=${`panel-${id}`}
        aria-selected=${id === current ? 'true' : 'false'}
        tabindex=${id === current ? 0 : -1}
        @click=${() => choose(id)}
      >${title}</button>`,
    )}
  </div>`;
}
