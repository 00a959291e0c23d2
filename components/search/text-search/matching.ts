/** Finds the readable resources that match one term of a search, with the count of matches in each. */

import { getOrMake } from '../../../lib/tools/collections.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { matches } from '../postings/merge.js';
import { countOf, positionsOf, readPosting } from './entries.js';
import { type Grouped, openPostings, postingsWith } from './readable-postings.js';
import { mayRead, type Searched } from './searched.js';
import { isStatement } from './statements.js';
import { isInRange, type Language, lookupsOf, type Term, type TermLookup } from './terms.js';
import { maxExpansions, tooMany } from './vocabulary.js';

/** Text with matches, and their count. */
export interface PlaceMatches {
  readonly place: string;
  readonly count: number;
}

/** A readable resource that matches a term. */
export interface Hit {
  readonly iri: string;
  /** Count of matching words or phrases. */
  readonly count: number;
  /** Returns the texts with matches. */
  places(): readonly PlaceMatches[];
}

/** Maximum readable resources that match one term. */
const maxHits = 1_000_000;

/**
 * Opens the lists of a term. Must be called synchronously after the snapshot was taken. @returns a function that finds the
 * readable resources that match the term, in order. @throws LwsError `bad-request`
 */
export function openTerm(searched: Searched, term: Term, language: Language): () => Promise<readonly Hit[]> {
  if (term.kind === 'prefix') return async () => union(await expanded(searched, term.token, language));
  const { scope, texts, snapshot, hidden } = searched;
  if (term.kind === 'phrase') {
    const words = term.tokens.map((token) => openPostings(searched, token));
    if (scope === 'everything') for (const token of term.tokens) texts.warm(token);
    return () => collected(phrases(searched, words, language));
  }
  const opened = lookupsOf(term, language).map((lookup) => {
    const { token } = lookup;
    // This list has the committed state, in which postings of a staged graph may occur.
    const list = scope === 'everything' ? texts.list(snapshot, token) : undefined;
    list?.catch(() => {});
    return { lookup, list, open: openPostings(searched, token) };
  });
  return async () => {
    const found: (readonly Hit[])[] = [];
    for (const { lookup, list, open } of opened) {
      const all = hidden.size === 0 ? await list : undefined;
      const hits = all
        ? await hitsIn(all, lookup, `${term.token} ${term.dotless ?? ''} ${language.lang ?? ''}`)
        : await collected(listed(searched, open(), lookup));
      // Cache the list, so that the next search is faster. For rare words, the list may consist mostly of unreadable postings.
      if (scope !== 'everything' && hits.length > frequent) texts.warm(lookup.token);
      found.push(hits);
    }
    return union(found);
  };
}

/** Minimum readable hits of a word for which its list is cached. */
const frequent = 1_000;

/** Cached hits in complete lists, by word and language, for all callers. Hits take about twice the memory of their list. */
const known = new WeakMap<readonly string[], Map<string, readonly Hit[]>>();

async function hitsIn(list: readonly string[], lookup: TermLookup, key: string): Promise<readonly Hit[]> {
  const ofList = getOrMake(known, list, () => new Map<string, readonly Hit[]>());
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
  // Few languages and forms are searched per word, so a full cache is simply cleared.
  if (ofList.size >= maxKnown) ofList.clear();
  ofList.set(key, hits);
  return hits;
}

const maxKnown = 4;

interface Source {
  readonly list: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly count: Count;
}

/** A hit that reads its texts from the list only when they are requested. */
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

async function collected(blocks: AsyncIterable<readonly Hit[]>): Promise<readonly Hit[]> {
  const hits: Hit[] = [];
  for await (const block of blocks) {
    for (const hit of block) hits.push(hit);
    if (hits.length > maxHits) throw tooMany(`More than ${maxHits} resources match a word.`);
  }
  return hits;
}

/** Returns the count of matches in a posting, which starts at index `from` of `text`. */
type Count = (text: string, from: number) => number;

/** Yields the readable resources with matches in one list. */
function listed(
  searched: Searched,
  postings: Grouped,
  lookup: Pick<TermLookup, 'accepts'>,
): AsyncGenerator<readonly Hit[]> {
  const count = counterOf(lookup);
  const take = (iri: string): Hit | undefined | Promise<Hit | undefined> => {
    const tails = postings.tails();
    return tails instanceof Promise
      ? tails.then((found) => hitOf(searched, { iri, tails: found }, count))
      : hitOf(searched, { iri, tails }, count);
  };
  return matches([postings], (iri) => ifReadable(searched, iri, take));
}

/** Calls `take` if a resource is readable. Checks access first, because the postings of many resources may be unreadable. */
function ifReadable(
  searched: Searched,
  iri: string,
  take: (iri: string) => Hit | undefined | Promise<Hit | undefined>,
): Hit | undefined | Promise<Hit | undefined> {
  const answer = mayRead(searched, iri);
  if (answer instanceof Promise) return answer.then((isReadable) => (isReadable ? take(iri) : undefined));
  return answer ? take(iri) : undefined;
}

/** Returns a function that counts the accepted positions of a posting. Caches the decision per language. */
function counterOf({ accepts }: Pick<TermLookup, 'accepts'>): Count {
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

/** Returns the matches in a resource, or `undefined` if no match is visible. */
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

/** Yields the readable resources in which the words follow each other in one text. */
function phrases(
  searched: Searched,
  opened: readonly (() => Grouped)[],
  { lang }: Language,
): AsyncGenerator<readonly Hit[]> {
  const words = opened.map((open) => open());
  return matches(words, async (iri) => {
    if (!(await mayRead(searched, iri))) return undefined;
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
}

/** Returns the matches of every readable word with a given beginning. @throws LwsError `bad-request` for too many words */
async function expanded(
  searched: Searched,
  beginning: string,
  { lang }: Language,
): Promise<readonly (readonly Hit[])[]> {
  const lists: (readonly Hit[])[] = [];
  let words = 0;
  const accepts: TermLookup['accepts'] = (language, isStem) =>
    !isStem && (lang === undefined || isInRange(language, lang));
  for await (const postings of postingsWith(searched, beginning)) {
    await searched.pause();
    // Count words without a hit too: they cost as much as others.
    if (++words > maxExpansions) throw tooMany(`More than ${maxExpansions} words begin with "${beginning}".`);
    const hits = await collected(listed(searched, postings, { accepts }));
    if (hits.length > 0) lists.push(hits);
  }
  return lists;
}

/** Merges lists of hits pairwise, and adds up the hits of the same resource. */
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
