/** Finds labels of IRIs, and labels that begin with a text, in the graphs that the caller can read. */

import { type IriRange, isInRanges, ofPostings, only, unionOfRanges } from '../../../lib/storage/keys/iri-ranges.js';
import { entryRange } from '../../../lib/storage/keys/records.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { matches } from '../postings/merge.js';
import { areMany, postingRanges, RangedStream, SkippingStream } from '../postings/ranged-stream.js';
import {
  beginningSpace,
  cut,
  type Label,
  labelSpace,
  longestBeginning,
  ownLabelSpace,
  predicateOfLabel,
} from './label-entries.js';
import { Grouped } from './readable-postings.js';
import { mayRead, onState, prepare, readable, type Searched, scopeStreams, type TextIndex } from './searched.js';
import { foldedLabel, isInRange } from './terms.js';

/** Label in a response. */
export interface FoundLabel {
  readonly value: string;
  readonly language?: string;
  readonly predicate: string;
}

/** Languages of the caller in lower case, best first. */
export type Languages = readonly string[];

/** Maximum counts of graphs read for the labels of an IRI, of returned labels of an IRI, and of labels with a beginning. */
const [maxGraphs, maxLabels, maxBeginnings] = [100, 20, 50];

const found = ([rank, language, value]: Label): FoundLabel => ({
  value,
  ...(language === '' ? {} : { language }),
  predicate: predicateOfLabel([rank, language, value]),
});

/** Returns the labels of each IRI, best first: ordered by language, predicate and text. */
export const labelsOf = (
  index: TextIndex,
  iris: readonly string[],
  languages: Languages,
): Promise<readonly { readonly id: string; readonly labels: readonly FoundLabel[] }[]> =>
  onState(index, async (searched) => {
    await prepare(searched);
    const ranges = readableRanges(searched);
    if (ranges?.length === 0) return iris.map((id) => ({ id, labels: [] }));
    const isReadable = readableGraphs(searched);
    // With many ranges, seeks take longer than reading entries that the caller cannot read.
    const within = ranges && ranges.length * iris.length <= maxSeeks ? ranges.map(ofPostings) : undefined;
    if (ranges && !within) searched.isStepped = true;
    const labels = new Map<string, readonly FoundLabel[]>();
    const read = async (some: readonly string[]): Promise<void> => {
      for await (const { part, texts, isAll } of searched.snapshot.beginnings(labelSpace, some, {
        most: fewKeys,
        within,
      })) {
        const own: string[] = [];
        for (const text of texts) {
          const answer = isReadable(text.slice(0, text.indexOf('\u0000')));
          // Most results are synchronous. Awaiting each would be slower.
          if (typeof answer === 'boolean' ? answer : await answer) own.push(text);
        }
        labels.set(part, best(isAll ? own : await manyLabels(searched, part), languages));
      }
    };
    // Sort the IRIs, because neighbours share LevelDB blocks. Each iterator reads in its own libuv thread.
    const sorted = [...iris].sort();
    const share = Math.max(fewIris, Math.ceil(sorted.length / readers));
    const shares = Array.from({ length: Math.ceil(sorted.length / share) }, (_, i) =>
      sorted.slice(i * share, (i + 1) * share),
    );
    await Promise.all(shares.map(read));
    return iris.map((id) => ({ id, labels: labels.get(id)! }));
  });

/** Maximum iterators that read labels concurrently, and minimum IRIs for each. */
const [readers, fewIris] = [4, 20];

/** Maximum labels of an IRI that are read one by one, and maximum seeks to readable ranges. */
const [fewKeys, maxSeeks] = [64, 8_000];

/** Returns the key suffixes of an IRI's readable labels: graph, place and label. */
async function manyLabels(searched: Searched, iri: string): Promise<readonly string[]> {
  const graphs = new Grouped(searched.snapshot.cursor(labelSpace, iri));
  const each = matches(
    [...scopeStreams(searched), graphs],
    async (graph) => ({ iri: graph, tails: await graphs.tails() }),
    20,
  );
  const found: string[] = [];
  let count = 0;
  for await (const block of readable(searched, each)) {
    for (const { tails } of visible(searched, block)) found.push(...tails.map((tail) => `\u0000${tail}`));
    count += block.length;
    if (count >= maxGraphs) break;
  }
  return found;
}

/** Returns the best labels. @param texts key suffixes: graph, place and label */
function best(texts: readonly string[], languages: Languages): readonly FoundLabel[] {
  const labels = new Map<string, Label>();
  for (const text of texts) {
    const label = text.slice(text.indexOf('\u0000', text.indexOf('\u0000') + 1) + 1);
    if (!labels.has(label)) labels.set(label, JSON.parse(label) as Label);
  }
  const rankOf = ([, language]: Label): number => {
    const at = languages.findIndex((range) => language !== '' && isInRange(language, range));
    return at >= 0 ? at : languages.length + (language === '' ? 0 : 1);
  };
  return [...labels.values()]
    .sort((a, b) => rankOf(a) - rankOf(b) || a[0] - b[0] || (a[1] + a[2] < b[1] + b[2] ? -1 : 1))
    .slice(0, maxLabels)
    .map(found);
}

/** Returns the results except those in graphs that are being written or removed. */
const visible = <T extends { readonly iri: string }>({ hidden }: Searched, results: readonly T[]): readonly T[] =>
  hidden.size === 0 ? results : results.filter(({ iri }) => !hidden.has(iri));

/** Returns IRIs with a label that begins with a text, ordered by label. @param lang language range */
export const labelsWith = (
  index: TextIndex,
  beginning: string,
  lang: string | undefined,
): Promise<readonly ({ readonly id: string } & FoundLabel)[]> =>
  onState(index, async (searched) => {
    await prepare(searched);
    const ranges = readableRanges(searched);
    if (ranges?.length === 0) return [];
    const folded = foldedLabel(beginning);
    const wanted = (label: Label): boolean =>
      foldedLabel(label[2]).startsWith(folded) && (lang === undefined || isInRange(label[1], lang));
    const request = { start: cut(folded, longestBeginning), wanted };
    const results = new Map<string, Candidate>();
    const candidates = ranges ? readableCandidates(searched, ranges, request) : allCandidates(searched, request);
    for await (const candidate of candidates) {
      if (!results.has(nameOf(candidate))) results.set(nameOf(candidate), candidate);
      if (results.size >= maxBeginnings) break;
    }
    return [...results.values()].map(({ id, label }) => ({ id, ...found(label) }));
  });

/** Labels to find. `start` is the folded beginning in the index keys. */
interface Completion {
  readonly start: string;
  wanted(label: Label): boolean;
}

/** Found label, and its IRI. */
interface Candidate {
  readonly id: string;
  readonly label: Label;
}

const nameOf = ({ id, label: [, language, text] }: Candidate): string => `${id} ${language} ${text}`;

/** Yields the readable labels that begin with `start`. Reads all such labels. */
async function* allCandidates(searched: Searched, { start, wanted }: Completion): AsyncGenerator<Candidate> {
  const isReadable = readableGraphs(searched);
  const all = searched.snapshot.cursor(beginningSpace);
  for (let text = await all.seek(start); text?.startsWith(start); text = await all.next()) {
    const [, id, graph, , value] = text.split('\u0000') as [string, string, string, string, string];
    const label = JSON.parse(value) as Label;
    if (wanted(label) && (await isReadable(graph))) yield { id, label };
  }
}

/**
 * Yields the labels that begin with `start` within ranges of resources, ordered as `allCandidates`. Reads no other resources,
 * unless there are many ranges.
 */
async function* readableCandidates(
  searched: Searched,
  ranges: readonly IriRange[],
  { start, wanted }: Completion,
): AsyncGenerator<Candidate> {
  const { snapshot, hidden, pause } = searched;
  const space = entryRange(ownLabelSpace);
  searched.isStepped ||= areMany(ranges);
  const own = areMany(ranges)
    ? new SkippingStream(postingRanges(ranges), snapshot.cursorIn(space))
    : new RangedStream(postingRanges(ranges), (range) => snapshot.cursorIn(space, range));
  let labels: Ordered[] = [];
  let resources = 0;
  for (let text = await own.seek(''); text !== undefined; ) {
    const graph = text.slice(0, text.indexOf('\u0000'));
    if (++resources % resourcesAtATime === 0) {
      await yieldToEventLoop();
      await pause();
    }
    const first = `${graph}\u0000${start}`;
    for (text = await own.seek(first); text?.startsWith(first) && !hidden.has(graph); text = await own.next()) {
      const [, beginning, id, place, value] = text.split('\u0000') as [string, string, string, string, string];
      const label = JSON.parse(value) as Label;
      if (wanted(label)) labels.push({ order: [beginning, id, graph, place, value].join('\u0000'), id, label });
      if (labels.length >= maxInMemory) labels = firstOf(labels);
    }
    if (text?.startsWith(`${graph}\u0000`)) text = await own.seek(`${graph}\u0001`);
  }
  yield* firstOf(labels);
}

interface Ordered extends Candidate {
  readonly order: string;
}

/** Count of resources read before yielding to other searches, and of labels in memory above which only the best are kept. */
const [resourcesAtATime, maxInMemory] = [200, 2_000];

/** Returns the labels for the response, in order. */
function firstOf(labels: readonly Ordered[]): Ordered[] {
  const sorted = [...labels].sort((a, b) => (a.order < b.order ? -1 : 1));
  // If a label occurs several times, keep the first.
  const named = new Map(sorted.reverse().map((each) => [nameOf(each), each]));
  return [...named.values()].sort((a, b) => (a.order < b.order ? -1 : 1)).slice(0, maxBeginnings);
}

/** Returns ranges of exactly the readable resources; `undefined` if all are readable, or access is evaluated per resource. */
function readableRanges({ scope, single }: Searched): readonly IriRange[] | undefined {
  return typeof scope === 'string' ? undefined : unionOfRanges([...scope.ranges, ...single.map(only)]);
}

/** Returns a function that tests if a graph is visible and readable by the caller. */
function readableGraphs(searched: Searched): (iri: string) => boolean | Promise<boolean> {
  const { scope, hidden, decided } = searched;
  const single = new Set(searched.single);
  return (iri) => {
    if (hidden.has(iri)) return false;
    if (typeof scope === 'string') return mayRead(searched, iri);
    const known = decided.get(iri) ?? (single.has(iri) || isInRanges(scope.ranges, iri));
    decided.set(iri, known);
    return known;
  };
}
