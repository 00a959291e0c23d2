/** Tabs as the ARIA practices have them: one stop in the focus order, arrow keys between them. */
import { html, type TemplateResult } from 'lit';

/** The tab that a key leads to; `undefined` for other keys. */
export function arrowTarget({ key }: KeyboardEvent, at: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (at + 1) % count;
  if (key === 'ArrowLeft') return (at + count - 1) % count;
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return undefined;
}

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly title: string;
}

export interface TabStrip<Id extends string> {
  /** What the tabs are about, for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly current: Id;
  readonly choose: (id: Id) => void;
}

/** The row of tabs; their panels have the ids `panel-<id>` and are the caller's. */
export function tabStrip<Id extends string>({ label, tabs, current, choose }: TabStrip<Id>): TemplateResult {
  const keys = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ id }) => id === current);
    const to = arrowTarget(event, at, tabs.length);
    if (to === undefined) return;
    event.preventDefault();
    const { id } = tabs[to]!;
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

export interface Tabbed<Id extends string> {
  readonly label: string;
  readonly titles: Readonly<Record<Id, string>>;
  readonly selected: Id;
  readonly select: (id: Id) => void;
  readonly content: TemplateResult;
}

/** Tabs of which only the chosen one's panel exists. */
export function tabbed<Id extends string>({ label, titles, selected, select, content }: Tabbed<Id>): TemplateResult {
  const tabs = (Object.keys(titles) as Id[]).map((id) => ({ id, title: titles[id] }));
  return html`${tabStrip({ label, tabs, current: selected, choose: select })}
    <div role="tabpanel" id=${`panel-${selected}`} aria-labelledby=${`tab-${selected}`}>${content}</div>`;
}
