/** Opens, changes and closes the tabs of a page, and keeps them in this browser. */
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { notify } from '../frame/notice.js';
import { messageOf } from '../storage/api.js';
import { shortName } from '../storage/names.js';
import type { Saved } from './saved.js';
import { keep, newTab, onKeptElsewhere, restore, type Tab, type Tabs } from './tabs.js';

export class Keeper implements ReactiveController {
  /** What was closed last, for those who did not mean it. */
  closed: { readonly tab: Tab; readonly at: number } | undefined;
  private tabs: Tabs = restore();
  private forget: (() => void) | undefined;

  constructor(private readonly host: ReactiveControllerHost) {
    host.addController(this);
  }

  hostConnected(): void {
    this.forget = onKeptElsewhere(({ list }) => this.adopt(list));
  }

  hostDisconnected(): void {
    this.forget?.();
  }

  get list(): readonly Tab[] {
    return this.tabs.list;
  }

  get tab(): Tab {
    return this.list.find(({ id }) => id === this.tabs.active) ?? this.list[0]!;
  }

  choose({ id }: Pick<Tab, 'id'>): void {
    this.become({ list: this.list, active: id });
  }

  /** Chooses the tab that has a query, or opens one with it. */
  show(query: string, saved?: Saved): void {
    const known = this.list.find((tab) => tab.query === query && tab.saved?.iri === saved?.iri);
    if (known) this.choose(known);
    else this.open(query, saved && shortName(saved.iri), saved);
  }

  open(query: string, name?: string, saved?: Saved): void {
    const tab = { ...newTab(this.list, query, name), ...(saved ? { saved } : {}) };
    this.become({ list: [...this.list, tab], active: tab.id });
  }

  /** Changes the tab that is open. */
  change(part: Partial<Tab>): void {
    const { id } = this.tab;
    this.become({ list: this.list.map((tab) => (tab.id === id ? { ...tab, ...part } : tab)), active: id });
  }

  /** Closes the tab that is open; there is always another one. */
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
      keep(tabs);
    } catch (error) {
      notify(`This browser cannot keep the queries: ${messageOf(error)}`, 'bad');
    }
  }

  /** What another window left; the tab that is open here stays, whatever became of it there. */
  private adopt(list: readonly Tab[]): void {
    const own = this.tab;
    const at = list.findIndex(({ id }) => id === own.id);
    this.tabs = { list: at < 0 ? [...list, own] : list.with(at, own), active: own.id };
    this.host.requestUpdate();
  }
}
