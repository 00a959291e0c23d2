/** Searches the texts of readable resources, ranked by BM25. The statistics include only readable resources. */

import type { Paging } from '../../../lib/resources/visible-members.js';
import type { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { type IriRange, only, RangeStream, subtree } from '../../../lib/storage/keys/iri-ranges.js';
import { ListStream, type SortedStream } from '../../../lib/storage/level/entry-cursor.js';
import { relationSpace } from '../../../lib/storage/level/owned-entries.js';
import { addCount, getOrMake } from '../../../lib/tools/collections.js';
import { matches } from '../postings/merge.js';
import { postingRanges } from '../postings/ranged-stream.js';
import { rangesOf } from '../postings/readable.js';
import { readFacts } from './entries.js';
import { type Hit, openTerm } from './matching.js';
import { Grouped } from './readable-postings.js';
import { onState, prepare, readable, type Searched, scopeStreams, type TextIndex } from './searched.js';
import type { Language, Term } from './terms.js';

/** A search: all terms must match. */
export interface TextSearch extends Language {
  readonly terms: readonly Term[];
  /** IRI of a type that the resources must have. */
  readonly type?: string | undefined;
  /** IRI of the container with the resources. */
  readonly within?: string | undefined;
}

export interface Found {
  readonly iri: string;
  readonly score: number;
  /** Place of a matching text. */
  readonly place: string;
}

/**
 * Runs a search on a snapshot. @param read receives ranked results and the snapshot. @throws LwsError `bad-request`, `too-busy`
 */
export const search = <T>(
  index: TextIndex,
  { from, count, ...asked }: TextSearch & Paging,
  read: (found: Ranking, snapshot: StoreSnapshot) => Promise<T>,
): Promise<T> =>
  onState(index, async (searched) => {
    const evaluate = openSearch(searched, asked);
    return read(await ranked(await evaluate(), { from, count }), searched.snapshot);
  });

interface Ranking {
  readonly items: readonly Found[];
  readonly total: number;
}

/** Readable resource that matches all terms, its hits for each term, and its score. */
export interface Match {
  readonly iri: string;
  readonly hits: readonly Hit[];
  readonly score: number;
  /** Returns the score of a part of the resource. @param counts counts of matches, one per term */
  scoreOf(counts: readonly number[]): number;
}

/** Opens the lists of a search. Must be called synchronously after the snapshot was taken. */
export function openSearch(
  searched: Searched,
  { terms, type, within, ...language }: TextSearch,
): () => Promise<AsyncIterable<readonly Match[]>> {
  const statistics = openStatistics(searched);
  const documents = new Grouped(searched.documents.stream(searched.snapshot));
  const opened = terms.map((term) => openTerm(searched, term, language));
  return async () => {
    await prepare(searched, terms, language);
    const lists: (readonly Hit[])[] = [];
    for (const find of opened) {
      await searched.pause();
      const hits = await find();
      if (hits.length === 0) return none();
      lists.push(hits);
    }
    const filters: readonly SortedStream[] = [
      ...(within === undefined ? [] : [new RangeStream([within.endsWith('/') ? subtree(within) : only(within)])]),
      ...(type === undefined ? [] : [searched.snapshot.cursor(relationSpace, 'type', type)]),
    ];
    return inAll(lists, documents, filters, scorer(lists, await statistics()));
  };
}

async function* none(): AsyncGenerator<readonly Match[]> {}

async function ranked(blocks: AsyncIterable<readonly Match[]>, { from, count }: Paging): Promise<Ranking> {
  const best = new Best<Match>(from + count);
  let total = 0;
  for await (const block of blocks) {
    total += block.length;
    for (const match of block) best.add(match);
  }
  const items = best.sorted().slice(from);
  return { items: items.map(({ iri, score, hits }) => ({ iri, score, place: commonPlace(hits) })), total };
}

/** Yields the resources that are in every list and filter. */
function inAll(
  lists: readonly (readonly Hit[])[],
  documents: Grouped,
  filters: readonly SortedStream[],
  score: Score,
): AsyncGenerator<readonly Match[]> {
  const next = lists.map(() => 0);
  const streams = lists.map((list) => new ListStream(list.map(({ iri }) => iri)));
  const matchOf = (iri: string, tails: readonly string[]): Match => {
    const { words } = readFacts(tails[0]!);
    const hits = lists.map((list, at) => {
      while (list[next[at]!]!.iri < iri) next[at]!++;
      return list[next[at]!]!;
    });
    const scoreOf = (counts: readonly number[]): number => score(counts, words);
    return { iri, hits, score: scoreOf(hits.map(({ count }) => count)), scoreOf };
  };
  return matches([...streams, ...filters, documents], (iri) => {
    const tails = documents.tails();
    return tails instanceof Promise ? tails.then((found) => matchOf(iri, found)) : matchOf(iri, tails);
  });
}

/** Parameters of BM25. */
const [saturation, lengthWeight] = [1.2, 0.75];

/** BM25 of a text: from the match counts of each term, and the word count of the resource. */
type Score = (counts: readonly number[], words: number) => number;

/** Returns the score function for the statistics of the readable resources. */
function scorer(lists: readonly (readonly Hit[])[], statistics: Statistics): Score {
  const average = statistics.words / Math.max(1, statistics.resources);
  const weights = lists.map(({ length }) => Math.log(1 + (statistics.resources - length + 0.5) / (length + 0.5)));
  return (counts, words) => {
    const norm = saturation * (1 - lengthWeight + lengthWeight * (words / average));
    return counts.reduce((sum, count, at) => sum + (weights[at]! * count * (saturation + 1)) / (count + norm), 0);
  };
}

/** Returns the place that matches the most terms. */
function commonPlace(hits: readonly Hit[]): string {
  const counts = new Map<string, number>();
  for (const place of hits.flatMap((hit) => [...new Set(hit.places().map((each) => each.place))]))
    addCount(counts, place, 1);
  let [best, most] = ['', 0];
  for (const [place, count] of counts) if (count > most) [best, most] = [place, count];
  return best;
}

const byRank = (a: Ranked, b: Ranked): number => b.score - a.score || (a.iri < b.iri ? -1 : 1);

type Ranked = Pick<Found, 'iri' | 'score'>;

/** Keeps the best `size` results. */
export class Best<T extends Ranked> {
  private found: T[] = [];

  constructor(private readonly size: number) {}

  add(result: T): void {
    if (this.found.push(result) >= 2 * this.size + 1000) this.found = this.sorted();
  }

  sorted(): T[] {
    return this.found.sort(byRank).slice(0, this.size);
  }
}

/** Counts of readable indexed resources, and of their words. */
interface Statistics {
  readonly resources: number;
  readonly words: number;
}

/** Prefix sums of the word counts of a cached list. */
const sums = new WeakMap<readonly string[], Float64Array>();

const sumsOf = (list: readonly string[]): Float64Array =>
  getOrMake(sums, list, () => {
    const found = new Float64Array(list.length + 1);
    for (const [at, text] of list.entries()) found[at + 1] = found[at]! + factsOf(text).words;
    return found;
  });

const factsOf = (posting: string): ReturnType<typeof readFacts> =>
  readFacts(posting.slice(posting.indexOf('\u0000') + 1));

/** Cached statistics, by list of resources and by ranges. The ranges of a caller are the same array. */
const counted = new WeakMap<readonly string[], WeakMap<readonly IriRange[], Statistics>>();

/** Returns the statistics of the resources in ranges. For 2 000 ranges, this takes several milliseconds. */
function countsIn(list: readonly string[], ranges: readonly IriRange[]): Statistics {
  const [before, stream] = [sumsOf(list), new ListStream(list)];
  let [resources, words] = [0, 0];
  for (const { from, to } of postingRanges(ranges)) {
    const [start, end] = [stream.indexOf(from), stream.indexOf(to)];
    resources += end - start;
    words += before[end]! - before[start]!;
  }
  return { resources, words };
}

/** Opens the list of resources. Must be called synchronously after the snapshot was taken. */
function openStatistics(searched: Searched): () => Promise<Statistics> {
  const list = searched.documents.cached();
  const ranges = rangesOf(searched.scope);
  if (list && ranges) {
    const counts = getOrMake(counted, list, () => new WeakMap<readonly IriRange[], Statistics>());
    return async () => getOrMake(counts, ranges, () => countsIn(list, ranges));
  }
  const documents = new Grouped(searched.documents.stream(searched.snapshot));
  return async () => {
    const each = matches([...scopeStreams(searched), documents], async (iri) => ({
      iri,
      ...readFacts((await documents.tails())[0]!),
    }));
    let [resources, words] = [0, 0];
    for await (const block of readable(searched, each))
      for (const facts of block) [resources, words] = [resources + 1, words + facts.words];
    return { resources, words };
  };
}
