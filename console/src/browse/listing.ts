/** A container's members, fetched page by page as they are looked at. */
import { type Member, readContainer } from '../storage/container.js';
import { shortName } from '../storage/names.js';

export class Listing extends EventTarget {
  /** How many there are, as far as the server has said. */
  total = 0;
  /** What kept it from being read. */
  failure: unknown;
  loaded = false;
  /** Rows of those whose names have the text that is looked for; absent: all. */
  found: readonly Member[] | undefined;
  /** How many were looked through, while a search continues. */
  searched: number | undefined;
  private size = 1;
  private readonly pages = new Map<number, readonly Member[] | Promise<void>>();
  private readonly controller = new AbortController();

  constructor(readonly at: string) {
    super();
    void this.fetch(1);
  }

  /** Ends what is under way: somebody went elsewhere. */
  close(): void {
    this.controller.abort();
  }

  get length(): number {
    return this.found?.length ?? this.total;
  }

  /** The member of a row, when it is there already; its page is fetched otherwise. */
  row(index: number): Member | undefined {
    if (this.found) return this.found[index];
    const page = Math.floor(index / this.size) + 1;
    const known = this.pages.get(page);
    if (!known && this.failure === undefined) void this.fetch(page);
    return Array.isArray(known) ? (known as Member[])[index % this.size] : undefined;
  }

  /** Looks for a string in all names, which has every page fetched. An empty text ends that. */
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
      // Something else is looked for by now.
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
      // All pages but the last are full.
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
