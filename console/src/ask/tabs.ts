/** Queries stored in this browser, one per tab, for each storage. */

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { notify } from '../frame/notice.js';
import { storedKey } from '../session/vault.js';
import { messageOf } from '../storage/api.js';
import { shortName } from '../storage/names.js';
import type { Saved } from './saved.js';

export interface QueryTab {
  readonly id: string;
  readonly name: string;
  readonly query: string;
  /** Resource from which the query was loaded, or to which it was saved. */
  readonly saved?: Saved;
}

export interface Tabs {
  readonly list: readonly QueryTab[];
  readonly active: string;
}

const key = storedKey('queries');
const firstQuery = 'SELECT * { ?s ?p ?o } LIMIT 100';

/** True if the user has not written a query yet. */
export const isUntouched = (query: string): boolean => ['', firstQuery].includes(query.trim());

function restore(): Tabs {
  const kept = readKept(localStorage.getItem(key));
  if (kept) return kept;
  const tab = newTab([], firstQuery);
  return { list: [tab], active: tab.id };
}

function newTab(list: readonly QueryTab[], query: string, name = freeName(list)): QueryTab {
  return { id: crypto.randomUUID(), name, query };
}

function freeName(list: readonly QueryTab[]): string {
  const taken = new Set(list.map(({ name }) => name));
  let number = list.length + 1;
  while (taken.has(`Query ${number}`)) number++;
  return `Query ${number}`;
}

/** Returns the comment at the beginning of a query, which says what it asks, or `undefined`. */
const titleOf = (query: string): string | undefined => /^\s*#+\s*(\S.{0,59})/.exec(query)?.[1]?.trim();

const areTexts = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string');

/** Parses stored tabs. Data of an earlier version, or modified data, can have any structure. */
function readKept(text: string | null): Tabs | undefined {
  if (text === null) return undefined;
  let kept: Partial<Tabs> | null;
  try {
    kept = JSON.parse(text) as Partial<Tabs> | null;
  } catch {
    return undefined;
  }
  const list = (Array.isArray(kept?.list) ? (kept.list as QueryTab[]) : [])
    .filter((tab) => areTexts(tab?.id, tab?.name, tab?.query))
    .map(({ saved, ...tab }) => (areTexts(saved?.iri, saved?.tag, saved?.query) ? { ...tab, saved: saved! } : tab));
  if (list.length === 0) return undefined;
  return { list, active: list.some(({ id }) => id === kept?.active) ? kept!.active! : list[0]!.id };
}

export class Keeper implements ReactiveController {
  /** The last closed tab, for undo. */
  closed: { readonly tab: QueryTab; readonly at: number } | undefined;
  private tabs: Tabs = restore();

  constructor(private readonly host: ReactiveControllerHost) {
    host.addController(this);
  }

  hostConnected(): void {
    addEventListener('storage', this.heard);
  }

  hostDisconnected(): void {
    removeEventListener('storage', this.heard);
  }

  /** Handles changes of the stored queries by another window of this browser. */
  private readonly heard = ({ key: changed, newValue }: StorageEvent): void => {
    const kept = changed === key ? readKept(newValue) : undefined;
    if (kept) this.adopt(kept.list);
  };

  get list(): readonly QueryTab[] {
    return this.tabs.list;
  }

  get tab(): QueryTab {
    return this.list.find(({ id }) => id === this.tabs.active) ?? this.list[0]!;
  }

  choose({ id }: Pick<QueryTab, 'id'>): void {
    this.become({ list: this.list, active: id });
  }

  /** Selects the tab with a query, or opens one. */
  show(query: string, saved?: Saved): void {
    const known = this.list.find((tab) => tab.query === query && tab.saved?.iri === saved?.iri);
    if (known) this.choose(known);
    else this.open(query, saved ? shortName(saved.iri) : titleOf(query), saved);
  }

  open(query: string, name?: string, saved?: Saved): void {
    const tab = { ...newTab(this.list, query, name), ...(saved ? { saved } : {}) };
    this.become({ list: [...this.list, tab], active: tab.id });
  }

  /** Changes the current tab. */
  change(part: Partial<QueryTab>): void {
    const { id } = this.tab;
    this.become({ list: this.list.map((tab) => (tab.id === id ? { ...tab, ...part } : tab)), active: id });
  }

  /** Closes the current tab. At least one tab remains. */
  close(): void {
    const { tab } = this;
    const at = this.list.indexOf(tab);
    this.closed = { tab, at };
    const left = this.list.filter((each) => each !== tab);
    const rest = left.length > 0 ? left : [newTab([], '')];
    this.become({ list: rest, active: rest[Math.min(at, rest.length - 1)]!.id });
  }

  undo(): void {
    if (!this.closed) return;
    const { tab, at } = this.closed;
    this.closed = undefined;
    this.become({ list: this.list.toSpliced(at, 0, tab), active: tab.id });
  }

  private become(tabs: Tabs): void {
    this.tabs = tabs;
    this.host.requestUpdate();
    try {
      localStorage.setItem(key, JSON.stringify(tabs));
    } catch (error) {
      notify(`The queries cannot be stored in this browser: ${messageOf(error)}`, 'bad');
    }
  }

  /** Merges changes of another window. The current tab stays. */
  private adopt(list: readonly QueryTab[]): void {
    const own = this.tab;
    const at = list.findIndex(({ id }) => id === own.id);
    this.tabs = { list: at < 0 ? [...list, own] : list.with(at, own), active: own.id };
    this.host.requestUpdate();
  }
}
