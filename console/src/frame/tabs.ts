/** Tabs as in the ARIA practices: one stop in the focus order, and arrow keys to move between tabs. */
import { html, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { markEnds, reveal } from './ends.js';
import { placeHref, placeNow } from './page.js';

/** Returns the index of the tab that a key moves to, or `undefined` for other keys. */
function arrowTarget({ key }: KeyboardEvent, at: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (at + 1) % count;
  if (key === 'ArrowLeft') return (at + count - 1) % count;
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return undefined;
}

/** Writes the tab into the address, without a new entry in the history. */
export function keepTab(id: string): void {
  const { page, parameters } = placeNow();
  parameters.set('tab', id);
  history.replaceState(history.state, '', placeHref(page, Object.fromEntries(parameters)));
}

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly title: string;
}

export interface TabStrip<Id extends string> {
  /** Subject of the tabs, for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly current: Id;
  readonly choose: (id: Id) => void;
  /** ID of the panel, if all tabs share one. Default: each tab has a panel `panel-<id>`. */
  readonly panel?: string;
  /** Called to close the current tab. */
  readonly remove?: () => void;
}

/** Renders the row of tabs with ids `tab-<id>`. The caller renders the panels. */
export function tabStrip<Id extends string>(strip: TabStrip<Id>): TemplateResult {
  const { label, tabs, current, choose, panel, remove } = strip;
  const keys = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ id }) => id === current);
    const to = arrowTarget(event, at, tabs.length);
    const isRemoval = remove !== undefined && event.key === 'Delete';
    if (isRemoval || to !== undefined) event.preventDefault();
    if (isRemoval) remove();
    if (to === undefined) return;
    const { id } = tabs[to]!;
    choose(id);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`#tab-${id}`)?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} @keydown=${keys} @scroll=${({ currentTarget }: Event) => markEnds(currentTarget as Element)}>
    ${tabs.map(
      ({ id, title }) => html`<button
        type="button"
        role="tab"
        id=${`tab-${id}`}
        aria-controls=${panel ?? `panel-${id}`}
        aria-selected=${id === current ? 'true' : 'false'}
        tabindex=${id === current ? 0 : -1}
        @click=${() => choose(id)}
        ${id === current ? ref(reveal) : nothing}
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

/** Renders tabs, with only the selected panel in the document. */
export function tabbed<Id extends string>({ label, titles, selected, select, content }: Tabbed<Id>): TemplateResult {
  const tabs = (Object.keys(titles) as Id[]).map((id) => ({ id, title: titles[id] }));
  return html`${tabStrip({ label, tabs, current: selected, choose: select })}
    <div role="tabpanel" id=${`panel-${selected}`} aria-labelledby=${`tab-${selected}`}>${content}</div>`;
}
