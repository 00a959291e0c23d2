/** Members of a container, fetched page by page on demand. */
import { type Member, readContainer } from '../storage/container.js';
import { shortName } from '../storage/names.js';

export class Listing extends EventTarget {
  /** Total number of members, as far as reported. */
  total = 0;
  /** Error of reading. */
  failure: unknown;
  loaded = false;
  /** Rows of members with matching names. Absent: all. */
  found: readonly Member[] | undefined;
  /** Number of searched members during a search. */
  searched: number | undefined;
  private size = 1;
  private readonly pages = new Map<number, readonly Member[] | Promise<void>>();
  private readonly controller = new AbortController();

  constructor(readonly at: string) {
    super();
    void this.fetch(1);
  }

  /** Cancels pending requests after navigation. */
  close(): void {
    this.controller.abort();
  }

  get length(): number {
    return this.found?.length ?? this.total;
  }

  /** Returns the member of a row if it is loaded; otherwise fetches its page. */
  row(index: number): Member | undefined {
    if (this.found) return this.found[index];
    const page = Math.floor(index / this.size) + 1;
    const known = this.pages.get(page);
    if (!known && this.failure === undefined) void this.fetch(page);
    return Array.isArray(known) ? (known as Member[])[index % this.size] : undefined;
  }

  /** Searches all names, which fetches every page. An empty text ends the search. */
  async search(text: string): Promise<void> {
    const wanted = text.trim().toLowerCase();
    this.wanted = wanted;
    if (wanted === '') {
      this.found = undefined;
      this.searched = undefined;
      this.changed();
      return;
    }
    const found: Member[] = [];
    const last = Math.max(1, Math.ceil(this.total / this.size));
    for (let page = 1; page <= last; page++) {
      await this.fetch(page);
      // Another search was started.
      if (this.wanted !== wanted || this.controller.signal.aborted) return;
      const members = this.pages.get(page);
      if (Array.isArray(members))
        for (const member of members as Member[])
          if (shortName(member.iri).toLowerCase().includes(wanted)) found.push(member);
      this.found = [...found];
      this.searched = page < last ? page * this.size : undefined;
      this.changed();
    }
  }
  private wanted = '';

  private async fetch(page: number): Promise<void> {
    const known = this.pages.get(page);
    if (known) return Array.isArray(known) ? undefined : (known as Promise<void>);
    const asked = this.read(page);
    this.pages.set(page, asked);
    return asked;
  }

  private async read(page: number): Promise<void> {
    try {
      const { members, total } = await readContainer(`${this.at}?page=${page}`, this.controller.signal);
      this.pages.set(page, members);
      this.total = total ?? members.length;
      // All pages except the last are full.
      if (page === 1) this.size = Math.max(1, members.length);
      this.failure = undefined;
    } catch (error) {
      this.pages.delete(page);
      if (this.controller.signal.aborted) return;
      this.failure = error;
    }
    this.loaded = true;
    this.changed();
  }

  private changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}
