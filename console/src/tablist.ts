/** Tabs as the ARIA practices have them: one stop in the focus order, arrow keys between them. It must not know what is in them. */
import { html, type TemplateResult } from 'lit';

export interface Tabs<T extends string> {
  /** What the tabs are about, for screen readers. */
  readonly label: string;
  readonly titles: Readonly<Record<T, string>>;
  readonly selected: T;
  readonly select: (tab: T) => void;
  readonly content: TemplateResult;
}

export function tabbed<T extends string>({ label, titles, selected, select, content }: Tabs<T>): TemplateResult {
  const names = Object.keys(titles) as T[];
  const move = (event: KeyboardEvent): void => {
    const at = names.indexOf(selected);
    const to: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: names.length - 1,
    };
    const next = to[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const name = names[(next + names.length) % names.length]!;
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`#tab-${name}`)?.focus();
    select(name);
  };
  return html`
    <div class="tabs" role="tablist" aria-label=${label} @keydown=${move}>
      ${names.map(
        (
          name,
        ) => html`<button type="button" role="tab" id=${`tab-${name}`} aria-controls="tabpanel" aria-selected=${name === selected}
          tabindex=${name === selected ? 0 : -1} @click=${() => select(name)}>${titles[name]}</button>`,
      )}
    </div>
    <div role="tabpanel" id="tabpanel" aria-labelledby=${`tab-${selected}`}>${content}</div>`;
}
