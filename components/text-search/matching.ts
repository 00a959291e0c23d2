/** Readable resources that match one term of a search, with the number of matches in each. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadScope } from '../../lib/authorization/authorizer.js';
import { inTurn } from '../../lib/authorization/decision-turns.js';
import type { Access } from '../../lib/authorization/principal.js';
import { LwsError } from '../../lib/errors.js';
import { union as either, intersection, matches } from '../../lib/postings/merge.js';
import type { PostingLists } from '../../lib/postings/posting-lists.js';
import { type ReadStorage, rangesOf, readableOf } from '../../lib/postings/readable.js';
import { StoreSnapshot } from '../../lib/storage/graphs/snapshot.js';
import { hiddenRange } from '../../lib/storage/graphs/staged-keys.js';
import { type IriRange, RangeStream } from '../../lib/storage/keys/iri-ranges.js';
import { partsOfEntry } from '../../lib/storage/keys/records.js';
import { ListStream, type SortedStream, type SteppedStream } from '../../lib/storage/level/entry-cursor.js';
import { ownedSpace } from '../../lib/storage/level/owned-entries.js';
import { yieldToEventLoop } from '../../lib/storage/transactions/batch-filling.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { countOf, positionsOf, readPosting, textSpace } from './entries.js';
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
  /** Resources of the owner of the scope. */
  readonly owned: string[];
  /** Graphs that are being written or removed. Their postings are not visible. */
  readonly hidden: Set<string>;
}

/** Runs work on one state when it is the caller's turn. @throws LwsError `too-busy` */
export const onState = async <T>(
  index: TextIndex,
  work: (searched: Searched) => Promise<T>,
  options: { readonly isStepped?: boolean } = {},
): Promise<T> => {
  const began = performance.now();
  let isStepped = options.isStepped ?? false;
  const result = await inTurn(index.storage, index.access, async () => {
    // Decided when the turn has come, so that earlier revocations apply.
    const scope = await index.storage.authorizer.readScope(index.access);
    isStepped &&= scope !== 'everything';
    const snapshot = new StoreSnapshot(index.storage.store.level);
    try {
      return await work({ ...index, scope, snapshot, owned: [], hidden: new Set() });
    } finally {
      await snapshot.close();
    }
  });
  if (isStepped) await sleep(stepMs - ((performance.now() - began) % stepMs));
  return result;
};

/**
 * Words and labels with a beginning are read one by one, also those that the caller cannot read. Their number must not show in the
 * time of an answer, which takes a multiple of this many milliseconds.
 */
const stepMs = 50;

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
  /** Returns the texts with matches. */
  places(): readonly PlaceMatches[];
}

/** Maximum readable resources that match one term, and readable words that a beginning may have. */
const [maxHits, maxExpansions] = [1_000_000, 1_000];

/** Groups postings by their first part, the resource. */
export class Grouped implements SortedStream {
  /** The first posting that is not read yet. */
  private text: string | undefined;

  constructor(private readonly stream: SteppedStream) {}

  seek(target: string): string | undefined | Promise<string | undefined> {
    if (this.text !== undefined && this.text >= target) return this.at(this.text, target);
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
    let text = from;
    while (text?.startsWith(prefix)) {
      tails.push(text.slice(prefix.length));
      const next = this.stream.next();
      if (next instanceof Promise) return next.then((found) => this.collect(prefix, found, tails));
      text = next;
    }
    this.text = text;
    return tails;
  }
}

/** Postings of one token, from a cursor over all tokens. */
class OfToken implements SteppedStream {
  private readonly prefix: string;

  constructor(
    private readonly all: SteppedStream,
    token: string,
  ) {
    this.prefix = `${token}\u0000`;
  }

  seek(target: string): string | undefined | Promise<string | undefined> {
    return this.rest(this.all.seek(this.prefix + target));
  }

  next(): string | undefined | Promise<string | undefined> {
    return this.rest(this.all.next());
  }

  private rest(
    found: string | undefined | Promise<string | undefined>,
  ): string | undefined | Promise<string | undefined> {
    if (found instanceof Promise) return found.then((text) => this.rest(text));
    return found?.startsWith(this.prefix) ? found.slice(this.prefix.length) : undefined;
  }
}

/** Reads the resources of the owner of the scope, and the hidden graphs. */
export async function prepare({ snapshot, scope, owned, hidden }: Searched): Promise<void> {
  if (typeof scope === 'object' && scope.owner !== undefined)
    for await (const block of intersection([snapshot.cursor(ownedSpace, scope.owner)]))
      for (const iri of block) owned.push(iri);
  for await (const keys of snapshot.keys(hiddenRange)) for (const key of keys) hidden.add(partsOfEntry(key)[1]!);
}

/** Streams that restrict an intersection to readable resources, first, so that others are skipped. */
export function scopeStreams({ scope, owned }: Pick<Searched, 'scope' | 'owned'>): readonly SortedStream[] {
  if (scope === 'nothing') return [new ListStream([])];
  return typeof scope === 'object' ? [either([new RangeStream(scope.ranges), new ListStream(owned)])] : [];
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
 * @returns a function that finds the readable resources that match the term, in order. @throws LwsError `bad-request`
 */
export function openTerm(searched: Searched, term: Term, language: Language): () => Promise<readonly Hit[]> {
  const open = (token: string): Grouped => new Grouped(searched.texts.stream(searched.snapshot, token));
  if (term.kind === 'prefix') return async () => union(await expanded(searched, term.token, language));
  if (term.kind === 'phrase') {
    const words = term.tokens.map(open);
    return () => collected(searched, phrases(searched, words, language));
  }
  const ranges = rangesOf(searched.scope);
  const lists = lookupsOf(term.token, language).map((lookup) => {
    const list = ranges && searched.texts.cached(lookup.token);
    return [list ?? open(lookup.token), lookup] as const;
  });
  return async () => {
    const found: (readonly Hit[])[] = [];
    for (const [list, lookup] of lists) {
      // A cached list is of the committed state, in which a hidden graph may have postings.
      const isCached = !(list instanceof Grouped) && searched.hidden.size === 0;
      const postings = list instanceof Grouped ? list : new Grouped(new ListStream(list));
      found.push(
        isCached
          ? within(await hitsIn(list, lookup, `${term.token} ${language.lang ?? ''}`), ranges!)
          : await collected(searched, listed(searched, postings, lookup)),
      );
    }
    return union(found);
  };
}

/** Hits in cached lists of all callers, by word and language. They take about twice the memory of their list. */
const known = new WeakMap<readonly string[], Map<string, readonly Hit[]>>();

async function hitsIn(list: readonly string[], lookup: Lookup, key: string): Promise<readonly Hit[]> {
  const ofList = known.get(list) ?? new Map<string, readonly Hit[]>();
  known.set(list, ofList);
  const found = ofList.get(key);
  if (found) return found;
  const hits: Hit[] = [];
  const count = counterOf(lookup);
  for (let at = 0, from = 0, resources = 1; at < list.length; from = at, resources++) {
    const iri = list[at]!.slice(0, list[at]!.indexOf('\u0000'));
    let sum = 0;
    for (; list[at]?.startsWith(iri) && list[at]![iri.length] === '\u0000'; at++)
      sum += count(list[at]!, iri.length + 1);
    if (sum > 0) hits.push(new ListHit(iri, sum, { list, from, to: at, count }));
    if (resources % hitsAtATime === 0) await yieldToEventLoop();
  }
  // A word has few languages and forms that others search for.
  if (ofList.size >= maxKnown) ofList.clear();
  ofList.set(key, hits);
  return hits;
}

const maxKnown = 4;

/** Returns the hits in ranges of IRIs. @throws LwsError `bad-request` */
function within(hits: readonly Hit[], ranges: readonly IriRange[]): readonly Hit[] {
  if (ranges.length === 1 && ranges[0]!.from === '') return hits;
  const stream = new ListStream(hits.map(({ iri }) => iri));
  return ranges.flatMap(({ from, to }) => hits.slice(stream.indexOf(from), stream.indexOf(to)));
}

interface Source {
  readonly list: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly count: Count;
}

/** A hit that reads its texts from its list when they are needed. */
class ListHit implements Hit {
  constructor(
    readonly iri: string,
    readonly count: number,
    private readonly source: Source,
  ) {}

  places(): readonly PlaceMatches[] {
    const { list, from, to, count } = this.source;
    const start = this.iri.length + 1;
    return list
      .slice(from, to)
      .map((text) => ({ place: readPosting(text, start).place, count: count(text, start) }))
      .filter((each) => each.count > 0);
  }
}

async function collected(searched: Searched, blocks: AsyncIterable<readonly Hit[]>): Promise<readonly Hit[]> {
  const hits: Hit[] = [];
  for await (const block of readable(searched, blocks)) {
    for (const hit of block) hits.push(hit);
    if (hits.length > maxHits) throw tooMany(`More than ${maxHits} resources match a word.`);
  }
  return hits;
}

const tooMany = (detail: string): LwsError => new LwsError('bad-request', `${detail} Search for a longer one.`);

/** Returns the number of matches in a posting, which begins at an index of a text. */
type Count = (text: string, from: number) => number;

/** Yields the matches in one list. */
function listed(
  searched: Searched,
  postings: Grouped,
  lookup: Pick<Lookup, 'accepts'>,
): AsyncGenerator<readonly Hit[]> {
  const count = counterOf(lookup);
  return matches([...scopeStreams(searched), postings], (iri) => {
    const tails = postings.tails();
    return tails instanceof Promise
      ? tails.then((found) => hitOf(searched, { iri, tails: found }, count))
      : hitOf(searched, { iri, tails }, count);
  });
}

/** Counts the accepted positions of a posting. The answer for a language is remembered: there are few. */
function counterOf({ accepts }: Pick<Lookup, 'accepts'>): Count {
  const answers = new Map<string, readonly [boolean, boolean]>();
  return (text, from) => {
    const { language, written, stems } = readPosting(text, from);
    let accepted = answers.get(language);
    if (!accepted) {
      accepted = [accepts(language, false), accepts(language, true)];
      answers.set(language, accepted);
    }
    return (accepted[0] ? countOf(written) : 0) + (accepted[1] ? countOf(stems) : 0);
  };
}

/** Returns the matches in a resource, or `undefined` if there are none that are visible. */
function hitOf(
  { hidden }: Pick<Searched, 'hidden'>,
  { iri, tails }: { readonly iri: string; readonly tails: readonly string[] },
  count: Count,
): Hit | undefined {
  const isHidden = hidden.size > 0 && hidden.has(iri);
  const visible = isHidden ? tails.filter((tail) => !isStatement(placeIn(tail))) : tails;
  let sum = 0;
  for (const tail of visible) sum += count(tail, 0);
  if (sum === 0) return undefined;
  const places = (): PlaceMatches[] =>
    visible.map((tail) => ({ place: placeIn(tail), count: count(tail, 0) })).filter((each) => each.count > 0);
  return { iri, count: sum, places };
}

const placeIn = (tail: string): string => tail.slice(0, tail.indexOf('\u0000'));

/** Yields the matches of words that follow each other in one text. */
const phrases = (searched: Searched, words: readonly Grouped[], { lang }: Language): AsyncGenerator<readonly Hit[]> =>
  matches([...scopeStreams(searched), ...words], async (iri) => {
    const [first, ...others] = await Promise.all(words.map((word) => word.tails()));
    const following = others.map(
      (tails) => new Map(tails.map((tail) => [placeIn(tail), new Set(positionsOf(readPosting(tail).written))])),
    );
    return hitOf(searched, { iri, tails: first! }, (tail) => {
      const { place, language, written } = readPosting(tail);
      if (lang !== undefined && !isInRange(language, lang)) return 0;
      const next = following.map((texts) => texts.get(place));
      return positionsOf(written).filter((at) => next.every((each, index) => each?.has(at + index + 1))).length;
    });
  });

/** Returns the matches of every readable word with a beginning. @throws LwsError `bad-request` if there are too many words */
async function expanded(
  searched: Searched,
  beginning: string,
  { lang }: Language,
): Promise<readonly (readonly Hit[])[]> {
  const lists: (readonly Hit[])[] = [];
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

/** Merges lists of hits pair by pair, and adds up those of the same resource. */
async function union(lists: readonly (readonly Hit[])[]): Promise<readonly Hit[]> {
  const filled = lists.filter(({ length }) => length > 0);
  if (filled.length <= 1) return filled[0] ?? [];
  const middle = filled.length >> 1;
  const [left, right] = [await union(filled.slice(0, middle)), await union(filled.slice(middle))];
  const merged: Hit[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const [a, b] = [left[i], right[j]];
    if (!b || (a && a.iri < b.iri)) [merged[merged.length], i] = [a!, i + 1];
    else if (!a || b.iri < a.iri) [merged[merged.length], j] = [b, j + 1];
    else [merged[merged.length], i, j] = [sumOf(a, b), i + 1, j + 1];
    if (merged.length % hitsAtATime === 0) await yieldToEventLoop();
  }
  return merged;
}

const hitsAtATime = 20_000;

const sumOf = (a: Hit, b: Hit): Hit => ({
  iri: a.iri,
  count: a.count + b.count,
  places: () => [...a.places(), ...b.places()],
});
