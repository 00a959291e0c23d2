/** The state that a search reads, and the parts of it that the caller can read. */
import type { ReadScope } from '../../../lib/authorization/authorizer.js';
import { inTurn, type Pause, untilNextStep } from '../../../lib/authorization/decision-turns.js';
import type { Access } from '../../../lib/authorization/principal.js';
import { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { StagedNames } from '../../../lib/storage/graphs/staged-keys.js';
import { type IriRange, only, RangeStream } from '../../../lib/storage/keys/iri-ranges.js';
import { ListStream, type SortedStream } from '../../../lib/storage/level/entry-cursor.js';
import { ownedSpace } from '../../../lib/storage/level/owned-entries.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { getOrMake } from '../../../lib/tools/collections.js';
import { union as either, intersection } from '../postings/merge.js';
import type { PostingLists } from '../postings/posting-lists.js';
import { areMany } from '../postings/ranged-stream.js';
import { type ReadStorage, readableOf, whole } from '../postings/readable.js';
import { type Language, lookupsOf, type Term } from './terms.js';
import { readVocabulary, type Vocabulary } from './vocabulary.js';

/** The index, and the caller of a search. */
export interface TextIndex {
  readonly storage: ReadStorage & { readonly store: Store };
  readonly access: Access;
  readonly texts: PostingLists;
  readonly documents: PostingLists;
}

/** The state that a search reads. */
export interface Searched extends TextIndex {
  /** Scope of the readable resources. `decide`: access is evaluated per resource. */
  readonly scope: Exclude<ReadScope, 'nothing'>;
  readonly snapshot: StoreSnapshot;
  /** Resources looked up one by one, sorted: resources of the scope's owner, and ranges of one resource if there are many. */
  single: readonly string[];
  /** Remaining ranges of the scope. */
  readonly ranges: readonly IriRange[];
  /** Graphs that are being written or removed. Their postings are not visible. */
  hidden: StagedNames;
  /** Words of the resources in `single`, and words that begin with a prefix of the search. */
  vocabulary: Vocabulary;
  /** True if the search reads unreadable resources. The response time is then rounded up, to hide the count of resources. */
  isStepped: boolean;
  /** Cached decisions, if access is evaluated per resource. */
  readonly decided: Map<string, boolean>;
  /** Yields to waiting searches. */
  readonly pause: Pause;
}

/** Maximum time of a seek in a list on disk. A search seeks at most once to each range or resource. */
const msPerRange = 0.05;

/** Minimum count of one-resource ranges for which reading all words is faster than a seek to each range. */
const manySingle = 16;

type Parts = Pick<Searched, 'single' | 'ranges'>;

const everything: Parts = { single: [], ranges: [whole] };

/** Cached parts by ranges. The ranges of a caller are the same array while its access does not change. */
const known = new WeakMap<readonly IriRange[], Parts>();

const partsOf = (scope: Searched['scope']): Parts =>
  typeof scope === 'string' ? everything : getOrMake(known, scope.ranges, () => divided(scope.ranges));

function divided(all: readonly IriRange[]): Parts {
  const [single, ranges]: [IriRange[], IriRange[]] = [[], []];
  for (const range of all) (range.to === only(range.from).to ? single : ranges).push(range);
  return single.length < manySingle ? { single: [], ranges: all } : { single: single.map(({ from }) => from), ranges };
}

const empty: Vocabulary = { tokens: new Map(), beginnings: new Map() };

/** Waits until the caller may search, then runs work on one snapshot. @throws LwsError `too-busy` */
export const onState = async <T>(index: TextIndex, work: (searched: Searched) => Promise<T>): Promise<T> => {
  const began = performance.now();
  let stepMs: number | undefined;
  const result = await inTurn(index.storage, index.access, async (pause) => {
    // Evaluate the scope after waiting, so that earlier revocations apply.
    const readable = await index.storage.authorizer.readScope(index.access);
    const scope = readable === 'nothing' ? { ranges: [] } : readable;
    const snapshot = new StoreSnapshot(index.storage.store.level);
    try {
      const state = {
        ...partsOf(scope),
        hidden: new StagedNames(),
        vocabulary: empty,
        decided: new Map<string, boolean>(),
      };
      const searched = { ...index, scope, snapshot, pause, ...state, isStepped: scope === 'decide' };
      const result = await work(searched);
      if (searched.isStepped) stepMs = (searched.ranges.length + searched.single.length) * msPerRange;
      return result;
    } finally {
      await snapshot.close();
    }
  });
  if (stepMs !== undefined) await untilNextStep(began, stepMs);
  return result;
};

/** Reads the resources of the scope's owner, the staged graphs, and the words that the terms need. */
export async function prepare(searched: Searched, terms: readonly Term[] = [], language: Language = {}): Promise<void> {
  const { snapshot, scope, ranges } = searched;
  if (typeof scope === 'object' && scope.owner !== undefined) {
    const found = new Set(searched.single);
    for await (const block of intersection([snapshot.cursor(ownedSpace, scope.owner)]))
      for (const iri of block) found.add(iri);
    searched.single = [...found].sort();
  }
  const { single } = searched;
  searched.hidden = await StagedNames.of(snapshot);
  if (scope === 'everything') return;
  const beginnings = terms.flatMap((term) => (term.kind === 'prefix' ? [term.token] : []));
  const tokens = single.length === 0 ? [] : terms.flatMap((term) => tokensOfTerm(term, language));
  searched.isStepped ||= beginnings.length > 0 && areMany(ranges);
  const isReadable = (iri: string): boolean | Promise<boolean> => mayRead(searched, iri);
  searched.vocabulary = await readVocabulary(searched, { single, ranges, tokens, beginnings, isReadable });
}

const tokensOfTerm = (term: Term, language: Language): readonly string[] => {
  if (term.kind === 'word') return lookupsOf(term, language).map(({ token }) => token);
  return term.kind === 'phrase' ? term.tokens : [];
};

/** Returns streams that restrict an intersection to readable resources. They come first, to skip other resources. */
export const scopeStreams = ({ scope, single }: Pick<Searched, 'scope' | 'single'>): readonly SortedStream[] =>
  typeof scope === 'object' ? [either([new RangeStream(scope.ranges), new ListStream(single)])] : [];

/** Returns true if a resource within the scope is readable. Access is evaluated only for the scope `decide`. */
export function mayRead({ storage, access, scope, decided }: Searched, iri: string): boolean | Promise<boolean> {
  if (scope !== 'decide') return true;
  const known = decided.get(iri);
  if (known !== undefined) return known;
  return readableOf(storage, access, [iri]).then(({ length }) => {
    decided.set(iri, length > 0);
    return length > 0;
  });
}

/** Yields the readable results. */
export async function* readable<T extends { readonly iri: string }>(
  searched: Searched,
  blocks: AsyncIterable<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for await (const block of blocks) {
    const found: T[] = [];
    for (const each of block) {
      const answer = mayRead(searched, each.iri);
      if (typeof answer === 'boolean' ? answer : await answer) found.push(each);
    }
    yield found;
  }
}
