/** Size-limited cache of serialized resources. A cache hit does not read the graph. */
import { LRUCache } from 'lru-cache';
import { parentOf } from '../storage/keys/records.js';
import type { Store } from '../storage/transactions/store.js';

export interface Representation {
  /** Revision that was rendered. */
  readonly revision: string;
  /** Opaque entity tag. */
  readonly tag: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** Cached rendering, or a promise of a new rendering. */
export type Obtained = Representation | undefined | Promise<Representation | undefined>;

export class Representations {
  private readonly cache: LRUCache<string, Representation>;
  private readonly known = new Map<string, Set<string>>();
  private readonly building = new Map<string, { promise: Promise<Representation | undefined>; stale: boolean }>();

  /** @param maxBytes limit of the cache. One rendering can use an eighth of it. */
  constructor(store: Store, maxBytes: number) {
    this.cache = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      maxEntrySize: Math.max(1, maxBytes >> 3),
      sizeCalculation: ({ bytes }) => bytes.length + 500,
      dispose: (_value, key) => this.forget(key),
    });
    store.onCommit(({ records }) => {
      // A listing shows the members of a container, so a changed member also invalidates its container.
      for (const iri of records.keys()) {
        this.drop(iri);
        this.drop(parentOf(iri));
      }
    });
  }

  /** Caches a rendering and registers it for its resource. */
  set(iri: string, variant: string, representation: Representation): void {
    const key = keyOf(iri, variant);
    this.cache.set(key, representation);
    if (!this.cache.has(key)) return;
    const variants = this.known.get(iri);
    if (variants) variants.add(variant);
    else this.known.set(iri, new Set([variant]));
  }

  /**
   * Returns the cached rendering of a revision synchronously, or calls `build`. Concurrent requests share one call. If the
   * resource changes meanwhile, the rendering is returned but not cached.
   */
  obtain(iri: string, variant: string, revision: string, build: () => Promise<Representation | undefined>): Obtained {
    const cached = this.cache.get(keyOf(iri, variant));
    return cached?.revision === revision ? cached : this.built({ iri, variant, revision }, build);
  }

  private async built(
    { iri, variant, revision }: { readonly iri: string; readonly variant: string; readonly revision: string },
    build: () => Promise<Representation | undefined>,
  ): Promise<Representation | undefined> {
    const key = `${keyOf(iri, variant)}\n${revision}`;
    const running = this.building.get(key);
    if (running && !running.stale) return running.promise;
    const entry = { promise: build(), stale: false };
    this.building.set(key, entry);
    try {
      const built = await entry.promise;
      if (built && !entry.stale) this.set(iri, variant, built);
      return built;
    } finally {
      if (this.building.get(key) === entry) this.building.delete(key);
    }
  }

  private drop(iri: string): void {
    for (const variant of this.known.get(iri) ?? []) this.cache.delete(keyOf(iri, variant));
    if (this.building.size === 0) return;
    for (const [key, entry] of this.building) if (key.startsWith(`${iri}\n`)) entry.stale = true;
  }

  private forget(key: string): void {
    const cut = key.indexOf('\n');
    const variants = this.known.get(key.slice(0, cut));
    variants?.delete(key.slice(cut + 1));
    if (variants?.size === 0) this.known.delete(key.slice(0, cut));
  }
}

const keyOf = (iri: string, variant: string): string => `${iri}\n${variant}`;
