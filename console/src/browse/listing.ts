/** Members of a container, fetched page by page on demand. */
import { type ListedMember, readContainer } from '../storage/container.js';
import { formatName, isContainer, shortName } from '../storage/names.js';

export type Column = 'name' | 'type' | 'size' | 'modified';
export interface Order {
  readonly column: Column;
  readonly isUp: boolean;
}

const { compare } = new Intl.Collator(undefined, { numeric: true });

/** Sorts members: folders first, in both directions. Members without a value in the column are last. */
function sorted(members: readonly ListedMember[], { column, isUp }: Order): readonly ListedMember[] {
  const keyOf = (member: ListedMember): string | number | undefined =>
    ({ name: shortName(member.iri), type: typeText(member), size: member.size, modified: member.modified })[column];
  const sign = isUp ? 1 : -1;
  return members
    .map((member) => ({ member, key: keyOf(member) }))
    .sort(({ member: first, key: one }, { member: second, key: other }) => {
      const folders = Number(isContainer(second.iri)) - Number(isContainer(first.iri));
      if (folders !== 0) return folders;
      if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
      return sign * (typeof one === 'number' ? one - Number(other) : compare(one, String(other)));
    })
    .map(({ member }) => member);
}

/** Returns the kind of a member, after its declared types if there are any. */
export function typeText({ iri, types, mediaType }: ListedMember): string {
  const own = types.filter((type) => !/^(?:Container|DataResource)$/.test(type)).map(shortName);
  const kind = isContainer(iri) ? 'Folder' : formatName(mediaType ?? '');
  return own.length > 0 ? `${own.slice(0, 3).join(', ')} (${kind})` : kind;
}

/** Maximum size of an image with a thumbnail, in bytes. */
export const maxThumbnailBytes = 1 << 20;

export const hasThumbnail = ({ mediaType = '', size = Number.POSITIVE_INFINITY }: ListedMember): boolean =>
  size <= maxThumbnailBytes && /^image\/(?:avif|bmp|gif|jpeg|png|webp)\b/.test(mediaType);

export class ContainerListing extends EventTarget {
  /** Total number of members, as far as reported. */
  total = 0;
  /** Error of the last read. */
  failure: unknown;
  loaded = false;
  /** Rows with matching names, or in another order. Absent: all members, in the order of the server. */
  found: readonly ListedMember[] | undefined;
  /** Number of members fetched so far by a running search or sort. Undefined if none is running. */
  searched: number | undefined;
  private size = 1;
  private readonly pages = new Map<number, readonly ListedMember[] | Promise<void>>();
  private readonly controller = new AbortController();

  /** @param order of the rows */
  constructor(
    readonly at: string,
    public order: Order = { column: 'name', isUp: true },
  ) {
    super();
    void this.fetch(1).then(() => this.arrange());
  }

  /** Cancels pending requests after navigation. */
  close(): void {
    this.controller.abort();
  }

  get length(): number {
    return this.found?.length ?? this.total;
  }

  /** Returns the member of a row if it is loaded; otherwise fetches its page. */
  row(index: number): ListedMember | undefined {
    if (this.found) return this.found[index];
    const page = Math.floor(index / this.size) + 1;
    const known = this.pages.get(page);
    if (!known && this.failure === undefined) void this.fetch(page);
    return Array.isArray(known) ? (known as ListedMember[])[index % this.size] : undefined;
  }

  /** Shows members with matching names only. An empty text ends the search. */
  search(text: string): Promise<void> {
    this.wanted = text.trim().toLowerCase();
    return this.arrange();
  }

  /** Sorts by a column. If the rows are already sorted by this column, reverses the direction. */
  sort(column: Column): Promise<void> {
    const isUp = this.order.column !== column || !this.order.isUp;
    this.order = { column, isUp };
    return this.arrange();
  }

  /** Returns the members of some rows, and fetches their pages. */
  async rows(from: number, to: number): Promise<readonly ListedMember[]> {
    for (let page = this.found ? to : Math.floor(from / this.size); page * this.size < to; page++)
      await this.fetch(page + 1);
    const indexes = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
    return indexes.flatMap((index) => this.row(index) ?? []);
  }

  get isFiltered(): boolean {
    return this.wanted !== '';
  }

  /** Fetches every page to search and sort. A folder of several pages keeps the order of the server for names, by code point. */
  private async arrange(): Promise<void> {
    const run = ++this.runs;
    const { wanted, order } = this;
    const isOnePage = this.total > 0 && this.total <= this.size;
    if (wanted === '' && order.column === 'name' && order.isUp && !isOnePage) {
      [this.found, this.searched] = [undefined, undefined];
      return this.changed();
    }
    let found: readonly ListedMember[] = [];
    const last = Math.max(1, Math.ceil(this.total / this.size));
    for (let page = 1; page <= last; page++) {
      const wasLoaded = Array.isArray(this.pages.get(page));
      await this.fetch(page);
      // Stop, because another search or order was started.
      if (run !== this.runs || this.controller.signal.aborted) return;
      const members = this.pages.get(page);
      if (Array.isArray(members))
        found = found.concat(members.filter(({ iri }) => shortName(iri).toLowerCase().includes(wanted)));
      if (wasLoaded && page < last) continue;
      // Matches are shown as they arrive, sorted rows at the end. Sorting ordered rows again takes linear time.
      if (page === last || wanted !== '') {
        found = sorted(found, order);
        this.found = found;
      }
      this.searched = page < last ? page * this.size : undefined;
      this.changed();
    }
  }
  private wanted = '';
  private runs = 0;

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
