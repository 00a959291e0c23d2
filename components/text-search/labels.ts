/** Labels of IRIs, and labels with a beginning, from the graphs that the caller can read. */
import { matches } from '../../lib/postings/merge.js';
import { beginningSpace, cut, type Label, labelSpace, longestBeginning, predicateOfLabel } from './label-entries.js';
import { Grouped } from './readable-postings.js';
import { mayRead, onState, prepare, readable, type Searched, scopeStreams, type TextIndex } from './searched.js';
import { foldedLabel, isInRange } from './terms.js';

/** A label in an answer. */
export interface FoundLabel {
  readonly value: string;
  readonly language?: string;
  readonly predicate: string;
}

/** Languages of the caller in lower case, best first. */
export type Languages = readonly string[];

/** Maximum graphs with labels of an IRI that are read, labels of an IRI in an answer, and labels with a beginning. */
const [maxGraphs, maxLabels, maxBeginnings] = [100, 20, 50];

const found = ([rank, language, value]: Label): FoundLabel => ({
  value,
  ...(language === '' ? {} : { language }),
  predicate: predicateOfLabel([rank, language, value]),
});

/** Returns the labels of each IRI, best first: by language, predicate and text. */
export const labelsOf = (
  index: TextIndex,
  iris: readonly string[],
  languages: Languages,
): Promise<readonly { readonly id: string; readonly labels: readonly FoundLabel[] }[]> =>
  onState(index, async (searched) => {
    await prepare(searched);
    const isReadable = readableGraphs(searched);
    const labels = new Map<string, readonly FoundLabel[]>();
    const read = async (some: readonly string[]): Promise<void> => {
      for await (const { part, texts, isAll } of searched.snapshot.beginnings(labelSpace, some, fewKeys)) {
        const own: string[] = [];
        for (const text of texts) {
          const answer = isReadable(text.slice(0, text.indexOf('\u0000')));
          // Most answers are synchronous.
          if (typeof answer === 'boolean' ? answer : await answer) own.push(text);
        }
        labels.set(part, best(isAll ? own : await manyLabels(searched, part), languages));
      }
    };
    // Neighbours share blocks of LevelDB. Each iterator reads in a thread of libuv.
    const sorted = [...iris].sort();
    const share = Math.max(fewIris, Math.ceil(sorted.length / readers));
    const shares = Array.from({ length: Math.ceil(sorted.length / share) }, (_, i) =>
      sorted.slice(i * share, (i + 1) * share),
    );
    await Promise.all(shares.map(read));
    return iris.map((id) => ({ id, labels: labels.get(id)! }));
  });

/** Maximum number of iterators that read labels concurrently, and minimum number of IRIs for each. */
const [readers, fewIris] = [4, 20];

/** Labels of an IRI that are all read, readable or not: intersections take longer. */
const fewKeys = 64;

/** Returns what follows the IRI in the keys of its readable labels. */
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

/** @param texts graph, place and label */
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

/** Returns those of visible graphs: others are being written or removed. */
const visible = <T extends { readonly iri: string }>({ hidden }: Searched, results: readonly T[]): readonly T[] =>
  hidden.size === 0 ? results : results.filter(({ iri }) => !hidden.has(iri));

/** Returns IRIs with a label that begins with a text, in the order of the labels. @param lang range of languages */
export const labelsWith = (
  index: TextIndex,
  beginning: string,
  lang: string | undefined,
): Promise<readonly ({ readonly id: string } & FoundLabel)[]> =>
  onState(index, (searched) => labelsFrom(searched, foldedLabel(beginning), lang), { isStepped: true });

async function labelsFrom(searched: Searched, folded: string, lang: string | undefined) {
  await prepare(searched);
  const { scope, owned } = searched;
  if (typeof scope === 'object' && scope.ranges.length + owned.length === 0) return [];
  const isReadable = readableGraphs(searched);
  const results = new Map<string, { readonly id: string } & FoundLabel>();
  const start = cut(folded, longestBeginning);
  const all = searched.snapshot.cursor(beginningSpace);
  for (let text = await all.seek(start); text?.startsWith(start); text = await all.next()) {
    const [, id, graph, , value] = text.split('\u0000') as [string, string, string, string, string];
    const label = JSON.parse(value) as Label;
    if (!foldedLabel(label[2]).startsWith(folded) || (lang !== undefined && !isInRange(label[1], lang))) continue;
    const name = `${id} ${label[1]} ${label[2]}`;
    if (!results.has(name) && (await isReadable(graph))) results.set(name, { id, ...found(label) });
    if (results.size >= maxBeginnings) break;
  }
  return [...results.values()];
}

/** Returns a test for graphs that are visible and that the caller can read. */
function readableGraphs(searched: Searched): (iri: string) => boolean | Promise<boolean> {
  const { scope, hidden, decided } = searched;
  const owned = new Set(searched.owned);
  return (iri) => {
    if (hidden.has(iri)) return false;
    if (typeof scope === 'string') return mayRead(searched, iri);
    const known = decided.get(iri) ?? (owned.has(iri) || scope.ranges.some(({ from, to }) => iri >= from && iri < to));
    decided.set(iri, known);
    return known;
  };
}
