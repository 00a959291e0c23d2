/** Readable resources that match one term of a search, with the number of matches in each. */
import type { ReadScope } from '../../lib/authorization/authorizer.js';
import { inTurn } from '../../lib/authorization/decision-turns.js';
import type { Access } from '../../lib/authorization/principal.js';
import { LwsError } from '../../lib/errors.js';
import { intersection, matches, union } from '../../lib/postings/merge.js';
import type { PostingLists } from '../../lib/postings/posting-lists.js';
import { type ReadStorage, readableOf } from '../../lib/postings/readable.js';
import { StoreSnapshot } from '../../lib/storage/graphs/snapshot.js';
import { RangeStream } from '../../lib/storage/keys/iri-ranges.js';
import { ListStream, type SortedStream } from '../../lib/storage/level/entry-cursor.js';
import { ownedSpace } from '../../lib/storage/level/owned-entries.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { countOf, type Posting, positionsOf, readFacts, readPosting, textSpace } from './entries.js';
import { isStatement } from './statements.js';
import { isInRange, type Language, type Lookup, lookupsOf, type Term } from './terms.js';

/** The index, and the caller of a search. */
export interface TextIndex {
  readonly storage: ReadStorage & { readonly store: Store };
  readonly access: Access;
  readonly texts: PostingLists;
  readonly documents: PostingLists;
}

/** The state that is searched. */
export interface Searched extends TextIndex {
  readonly scope: ReadScope;
  readonly snapshot: StoreSnapshot;
  /** Resources of the owner of the scope (`collectOwned`). */
  readonly owned: string[];
  /** Maximum texts of a resource that are remembered for each word. */
  readonly maxPlaces: number;
}

/** Runs work on one state when it is the caller's turn. @throws LwsError `too-busy` */
export const onState = <T>(index: TextIndex, work: (searched: Searched) => Promise<T>, maxPlaces = 4): Promise<T> =>
  inTurn(index.storage, index.access, async () => {
    // Decided when the turn has come, so that earlier revocations apply.
    const scope = await index.storage.authorizer.readScope(index.access);
    const snapshot = new StoreSnapshot(index.storage.store.level);
    try {
      return await work({ ...index, scope, snapshot, owned: [], maxPlaces });
    } finally {
      await snapshot.close();
    }
  });

/** Matches of a term in a resource. */
interface Matches {
  readonly iri: string;
  /** Number of matches in statements, and in other texts. */
  readonly inGraph: number;
  readonly elsewhere: number;
  /** Texts with matches, at most `Searched.maxPlaces` of each list. */
  readonly places: readonly PlaceMatches[];
}

/** A text with matches, and their number. */
export interface PlaceMatches {
  readonly place: string;
  readonly count: number;
}

/** A readable resource that matches a term. */
export interface Hit {
  readonly iri: string;
  /** Number of words or phrases that match. */
  readonly count: number;
  /** Number of words of the resource. */
  readonly words: number;
  readonly places: readonly PlaceMatches[];
}

/** Maximum readable resources that match one term, and readable words that a beginning may have. */
const [maxHits, maxExpansions] = [1_000_000, 1_000];

/** Groups postings by their first part, the resource. */
export class Grouped implements SortedStream {
  private text: string | undefined;

  constructor(private readonly stream: SortedStream) {}

  seek(target: string): string | undefined | Promise<string | undefined> {
    const found = this.stream.seek(target);
    return found instanceof Promise ? found.then((text) => this.at(text, target)) : this.at(found, target);
  }

  private at(text: string | undefined, target: string): string | undefined | Promise<string | undefined> {
    this.text = text;
    if (text === undefined) return undefined;
    const iri = text.slice(0, text.indexOf('\u0000'));
    // A target directly after the resource is still before its postings.
    return iri < target ? this.seek(`${iri}\u0001`) : iri;
  }

  /** Returns what follows the current resource in each of its postings. Advances the stream. */
  tails(): string[] | Promise<string[]> {
    const { text } = this;
    const prefix = text!.slice(0, text!.indexOf('\u0000') + 1);
    return this.collect(prefix, text, []);
  }

  private collect(prefix: string, from: string | undefined, tails: string[]): string[] | Promise<string[]> {
    for (let text = from; text?.startsWith(prefix); ) {
      tails.push(text.slice(prefix.length));
      const next = this.stream.seek(`${text}\u0000`);
      if (next instanceof Promise) return next.then((found) => this.collect(prefix, found, tails));
      text = next;
    }
    return tails;
  }
}

/** Postings of one token, from a cursor over all tokens. */
class OfToken implements SortedStream {
  private readonly prefix: string;

  constructor(
    private readonly all: SortedStream,
    token: string,
  ) {
    this.prefix = `${token}\u0000`;
  }

  seek(target: string): string | undefined | Promise<string | undefined> {
    const found = this.all.seek(this.prefix + target);
    return found instanceof Promise ? found.then((text) => this.rest(text)) : this.rest(found);
  }

  private readonly rest = (text: string | undefined): string | undefined =>
    text?.startsWith(this.prefix) ? text.slice(this.prefix.length) : undefined;
}

/** Collects the resources of the owner of the scope. */
export async function collectOwned({ snapshot, scope, owned }: Searched): Promise<void> {
  if (typeof scope === 'object' && scope.owner !== undefined)
    for await (const block of intersection([snapshot.cursor(ownedSpace, scope.owner)]))
      for (const iri of block) owned.push(iri);
}

/** Streams that restrict an intersection to readable resources, first, so that others are skipped. */
export function scopeStreams({ scope, owned }: Pick<Searched, 'scope' | 'owned'>): readonly SortedStream[] {
  if (scope === 'nothing') return [new ListStream([])];
  return typeof scope === 'object' ? [union([new RangeStream(scope.ranges), new ListStream(owned)])] : [];
}

/** Yields the readable ones of some results. */
export async function* readable<T extends { readonly iri: string }>(
  { storage, access, scope }: Searched,
  blocks: AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for await (const block of blocks)
    if (scope !== 'decide') yield block;
    else {
      const iris = block.map(({ iri }) => iri);
      const allowed = new Set(await readableOf(storage, access, iris));
      yield block.filter(({ iri }) => allowed.has(iri));
    }
}

/**
 * Opens the lists of a term in the turn in which the snapshot was taken.
 * @returns a function that finds the readable resources that match the term, in order. @throws LwsError `query-limit`
 */
export function openTerm(searched: Searched, term: Term, language: Language): () => Promise<readonly Hit[]> {
  const open = (token: string): Grouped => new Grouped(searched.texts.stream(searched.snapshot, token));
  const documents = new Grouped(searched.documents.stream(searched.snapshot));
  if (term.kind === 'phrase') {
    const words = term.tokens.map(open);
    return async () => withFacts(documents, [await collected(searched, phrases(searched, words, language))]);
  }
  if (term.kind === 'prefix') return async () => withFacts(documents, await expanded(searched, term.token, language));
  const lists = lookupsOf(term.token, language).map((lookup) => [open(lookup.token), lookup] as const);
  return async () => {
    const found: (readonly Matches[])[] = [];
    for (const [postings, lookup] of lists) found.push(await collected(searched, listed(searched, postings, lookup)));
    return withFacts(documents, found);
  };
}

async function collected(searched: Searched, blocks: AsyncIterable<readonly Matches[]>): Promise<readonly Matches[]> {
  const hits: Matches[] = [];
  for await (const block of readable(searched, blocks)) {
    for (const hit of block) hits.push(hit);
    if (hits.length > maxHits) throw tooMany(`More than ${maxHits} resources match a word.`);
  }
  return hits;
}

const tooMany = (detail: string): LwsError => new LwsError('bad-request', `${detail} Search for a longer one.`);

/** Yields the matches in one list. */
const listed = (
  searched: Pick<Searched, 'scope' | 'owned' | 'maxPlaces'>,
  postings: Grouped,
  { accepts }: Pick<Lookup, 'accepts'>,
): AsyncGenerator<readonly Matches[]> =>
  matches([...scopeStreams(searched), postings], async (iri) =>
    summed({ iri, tails: await postings.tails(), ...searched }, ({ language, written, stems }) => {
      const count = accepts(language, false) ? countOf(written) : 0;
      return count + (accepts(language, true) ? countOf(stems) : 0);
    }),
  );

/** Counts the matches in a resource. Returns `undefined` if there are none. */
function summed(
  { iri, tails, maxPlaces }: { readonly iri: string; readonly tails: readonly string[] } & Pick<Searched, 'maxPlaces'>,
  count: (posting: Posting) => number,
): Matches | undefined {
  let [inGraph, elsewhere] = [0, 0];
  const places: PlaceMatches[] = [];
  for (const tail of tails) {
    const posting = readPosting(tail);
    const found = count(posting);
    if (found === 0) continue;
    if (isStatement(posting.place)) inGraph += found;
    else elsewhere += found;
    if (places.length < maxPlaces) places.push({ place: posting.place, count: found });
  }
  return places.length === 0 ? undefined : { iri, inGraph, elsewhere, places };
}

/** Yields the matches of words that follow each other in one text. */
const phrases = (
  searched: Searched,
  words: readonly Grouped[],
  { lang }: Language,
): AsyncGenerator<readonly Matches[]> =>
  matches([...scopeStreams(searched), ...words], async (iri) => {
    const [first, ...others] = await Promise.all(words.map((word) => word.tails()));
    const following = others.map(
      (tails) => new Map(tails.map(readPosting).map(({ place, written }) => [place, written])),
    );
    return summed({ iri, tails: first!, ...searched }, ({ place, language, written }) => {
      if (lang !== undefined && !isInRange(language, lang)) return 0;
      const positions = following.map((texts) => new Set(positionsOf(texts.get(place) ?? '')));
      return positionsOf(written).filter((at) => positions.every((each, index) => each.has(at + index + 1))).length;
    });
  });

/** Returns the matches of every readable word with a beginning. @throws LwsError `bad-request` if there are too many words */
async function expanded(
  searched: Searched,
  beginning: string,
  { lang }: Language,
): Promise<readonly (readonly Matches[])[]> {
  const lists: (readonly Matches[])[] = [];
  const all = searched.snapshot.cursor(textSpace);
  const accepts: Lookup['accepts'] = (language, isStem) => !isStem && (lang === undefined || isInRange(language, lang));
  for (let text = await all.seek(beginning); text?.startsWith(beginning); ) {
    const token = text.slice(0, text.indexOf('\u0000'));
    const postings = new Grouped(new OfToken(all, token));
    const hits = await collected(searched, listed(searched, postings, { accepts }));
    if (hits.length > 0 && lists.push(hits) > maxExpansions)
      throw tooMany(`More than ${maxExpansions} words begin with "${beginning}".`);
    text = await all.seek(`${token}\u0001`);
  }
  return lists;
}

/** Adds up the matches of several lists, and adds the facts about each resource. Resources that are not visible are left out. */
async function withFacts(documents: Grouped, lists: readonly (readonly Matches[])[]): Promise<readonly Hit[]> {
  if (lists.length === 0) return [];
  const streams = lists.map((list) => new ListStream(list.map(({ iri }) => iri)));
  const next = lists.map(() => 0);
  const hits: Hit[] = [];
  const take = async (iri: string): Promise<Hit | undefined> => {
    const { hasGraph, words } = readFacts((await documents.tails())[0]!);
    let count = 0;
    const places: PlaceMatches[] = [];
    for (const [at, list] of lists.entries()) {
      while (next[at]! < list.length && list[next[at]!]!.iri < iri) next[at]!++;
      const found = list[next[at]!];
      if (found?.iri !== iri) continue;
      count += found.elsewhere + (hasGraph ? found.inGraph : 0);
      for (const each of found.places) if (hasGraph || !isStatement(each.place)) places.push(each);
    }
    return count === 0 ? undefined : { iri, count, words, places };
  };
  for await (const block of matches([union(streams), documents], take)) for (const hit of block) hits.push(hit);
  return hits;
}
