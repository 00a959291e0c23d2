/** The queries that are kept in this browser, one a tab, for each storage. */
import { keptKey } from '../session/vault.js';
import type { Saved } from './saved.js';

export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly query: string;
  /** The resource that it was read from, or saved as. */
  readonly saved?: Saved;
}

export interface Tabs {
  readonly list: readonly Tab[];
  readonly active: string;
}

const key = keptKey('queries');
const firstQuery = 'SELECT * { ?s ?p ?o } LIMIT 100';

export function restore(): Tabs {
  const kept = readKept(localStorage.getItem(key));
  if (kept) return kept;
  const tab = newTab([], firstQuery);
  return { list: [tab], active: tab.id };
}

export const keep = (tabs: Tabs): void => localStorage.setItem(key, JSON.stringify(tabs));

/** Called when another window of this browser changes what is kept. */
export function onKeptElsewhere(listener: (tabs: Tabs) => void): () => void {
  const heard = (event: StorageEvent): void => {
    const kept = event.key === key ? readKept(event.newValue) : undefined;
    if (kept) listener(kept);
  };
  addEventListener('storage', heard);
  return () => removeEventListener('storage', heard);
}

export function newTab(list: readonly Tab[], query: string, name = freeName(list)): Tab {
  return { id: crypto.randomUUID(), name, query };
}

function freeName(list: readonly Tab[]): string {
  const taken = new Set(list.map(({ name }) => name));
  let number = list.length + 1;
  while (taken.has(`Query ${number}`)) number++;
  return `Query ${number}`;
}

const areTexts = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string');

/** What an earlier version or another hand left there may be anything. */
function readKept(text: string | null): Tabs | undefined {
  if (text === null) return undefined;
  let kept: Partial<Tabs> | null;
  try {
    kept = JSON.parse(text) as Partial<Tabs> | null;
  } catch {
    return undefined;
  }
  const list = (Array.isArray(kept?.list) ? (kept.list as Tab[]) : [])
    .filter((tab) => areTexts(tab?.id, tab?.name, tab?.query))
    .map(({ saved, ...tab }) => (areTexts(saved?.iri, saved?.tag, saved?.query) ? { ...tab, saved: saved! } : tab));
  if (list.length === 0) return undefined;
  return { list, active: list.some(({ id }) => id === kept?.active) ? kept!.active! : list[0]!.id };
}
