/**
 * Where the pages of a listing begin, as earlier scans of the same state found it, so that a page far after costs no scan of those before
 * it.
 */
import { LRUCache } from 'lru-cache';
import type { ResourceRecord } from '../storage/state/records.js';
import type { Storage } from './storage.js';

interface Known {
  readonly revision: string;
  /** The first members of pages, by the number of members before them. */
  readonly starts: Map<number, string>;
}

const maxContainers = 200;
const known = new WeakMap<Storage, LRUCache<string, Known>>();

export interface PageStarts {
  /** The nearest known beginning at or before a position. */
  before(position: number): { readonly position: number; readonly iri: string | undefined };
  note(position: number, iri: string): void;
}

/** What is known of a container in its present state. */
export function pageStarts(storage: Storage, { iri, revision, members = 0 }: ResourceRecord): PageStarts {
  const containers = known.get(storage) ?? new LRUCache<string, Known>({ max: maxContainers });
  known.set(storage, containers);
  const found = containers.get(iri);
  const { starts } = found?.revision === revision ? found : { starts: new Map<number, string>() };
  if (found?.starts !== starts) containers.set(iri, { revision, starts });
  const { pageSize } = storage.limits;
  return {
    before(position) {
      // A page that is asked for may be far behind the last.
      const most = Math.min(position, members);
      for (let at = most - (most % pageSize); at > 0; at -= pageSize) {
        const start = starts.get(at);
        if (start !== undefined) return { position: at, iri: start };
      }
      return { position: 0, iri: undefined };
    },
    note(position, member) {
      if (position % pageSize === 0) starts.set(position, member);
    },
  };
}
