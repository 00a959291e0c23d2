/** History of queries: run in this browser by this identity, deleted on sign-out. Their text is not sent anywhere. */
import { html, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { confirmed } from '../frame/confirm.js';
import { notify } from '../frame/notice.js';
import { Page } from '../frame/page.js';
import { subjectNow } from '../session/session.js';
import { storedKey } from '../session/vault.js';
import { messageOf } from '../storage/api.js';
import { dateText } from '../storage/names.js';

interface Past {
  readonly query: string;
  /** Time of the run, in milliseconds since the epoch. */
  readonly at: number;
  /** Outcome of the run, such as the count of rows. */
  readonly outcome: string;
}

/** Limits of the history, which shares the space of localStorage with the tabs. */
const [maxQueries, maxCharacters] = [100, 300_000];
const shownCharacters = 120;

/** Fires `change` when the history has changed. */
const changes = new EventTarget();
const keyNow = (): string => storedKey(`history ${subjectNow()}`);

/** Reads the history. Data of an earlier version, or modified data, can have any structure. */
function read(): readonly Past[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyNow()) ?? '[]');
    return (Array.isArray(kept) ? (kept as Past[]) : []).filter(
      (past) => typeof past?.query === 'string' && Number.isFinite(past.at) && typeof past.outcome === 'string',
    );
  } catch {
    return [];
  }
}

/** Stores the history. Callers read it again before each write, because other windows write too. */
function write(list: readonly Past[]): void {
  const kept: Past[] = [];
  let characters = 0;
  for (const past of list.slice(0, maxQueries)) {
    characters += past.query.length;
    if (characters <= maxCharacters) kept.push(past);
  }
  try {
    if (kept.length === 0) localStorage.removeItem(keyNow());
    else localStorage.setItem(keyNow(), JSON.stringify(kept));
  } catch (error) {
    notify(`The history cannot be stored in this browser: ${messageOf(error)}`, 'bad');
  }
  changes.dispatchEvent(new Event('change'));
}

/** Adds a query, newest first. A repeated query moves to the top. */
export const record = (query: string, outcome: string): void =>
  write([{ query, at: Date.now(), outcome }, ...read().filter((past) => past.query !== query)]);

/** List of past queries. Fires `choose` with a query. */
@customElement('ask-history')
export class AskHistory extends Page {
  @state() private isOpen = false;

  protected override render(): TemplateResult {
    this.follow(changes);
    const list = this.isOpen ? read() : [];
    return html`<details class="shelf" @toggle=${this.onToggle}><summary>History</summary>
      ${
        list.length === 0
          ? html`<p class="soft">No queries yet. Queries that you run are listed here, in this browser only.</p>`
          : html`<ul>${list.map((past) => this.item(past))}</ul>
            <p class="row"><button type="button" class="danger" @click=${this.clear}>Delete history</button>
              <span class="soft">Stored in this browser only, at most ${maxQueries} queries.</span></p>`
      }</details>`;
  }

  private item(past: Past): TemplateResult {
    const { query, at, outcome } = past;
    const text = query.replace(/\s+/g, ' ').trim();
    const short = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
    return html`<li><button type="button" title=${query} @click=${() => this.choose(query)}><code>${short}</code>
      <span class="soft">${dateText(at)}, ${outcome}</span></button>
      <button type="button" aria-label=${`Delete from the history: ${short}`} @click=${() => this.drop(past)}>✕</button></li>`;
  }

  private onToggle(event: Event): void {
    this.isOpen = (event.target as HTMLDetailsElement).open;
  }

  private choose(query: string): void {
    this.querySelector('details')!.open = false;
    this.dispatchEvent(new CustomEvent('choose', { detail: query }));
  }

  private drop({ query }: Past): void {
    write(read().filter((past) => past.query !== query));
    this.querySelector('summary')!.focus();
  }

  private async clear(): Promise<void> {
    const text = 'The queries that you ran in this browser are removed from the list. Open queries stay.';
    if (!(await confirmed({ title: 'Delete the history?', text, proceed: 'Delete history' }))) return;
    write([]);
    this.querySelector('summary')!.focus();
  }
}
