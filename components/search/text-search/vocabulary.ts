/**
 * Distinct words of each resource, stored in `wordsSpace`. With them, a search finds word beginnings, and words in the caller's
 * own resources, without reading postings that the caller cannot read.
 */
import { LRUCache } from 'lru-cache';
import type { Pause } from '../../../lib/authorization/decision-turns.js';
import type { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { type IriRange, RangeStream } from '../../../lib/storage/keys/iri-ranges.js';
import { graphPrefix } from '../../../lib/storage/keys/quad-keys.js';
import { entryKey, rangeOf } from '../../../lib/storage/keys/records.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { slices } from '../../../lib/tools/collections.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { areMany } from '../postings/ranged-stream.js';
import { wordsSpace } from './entries.js';
import { formsOf } from './forms.js';
import { textAt } from './snippets.js';
import { textStatement } from './statements.js';
import { writtenWords } from './tokens.js';

/** Resources whose words are read, and the words to find. */
interface WordRequest {
  readonly single: readonly string[];
  readonly ranges: readonly IriRange[];
  /** Words to find in `single` only. In ranges, postings are found without the vocabulary. */
  readonly tokens: readonly string[];
  readonly beginnings: readonly string[];
  /** Returns true if the resource is readable. Called before its words are used in a result. */
  isReadable(iri: string): boolean | Promise<boolean>;
}

interface Source {
  readonly storage: { readonly store: Store };
  readonly snapshot: StoreSnapshot;
  /** Yields to waiting searches. */
  readonly pause: Pause;
}

/** Resources that may contain a word, in order. The word was in the resource at some time since its graph was last replaced. */
export interface Vocabulary {
  /** Owned resources that may contain a word, by word. */
  readonly tokens: ReadonlyMap<string, readonly string[]>;
  /** Words that begin with a prefix: by prefix and word, the readable resources that may contain them. */
  readonly beginnings: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
}

const [singleAtATime, resourcesAtATime, costAtATime] = [100, 200, 4 << 10];
/** Maximum words that begin with a prefix, pairs of word and resource, and characters of long texts that are read. */
export const maxExpansions = 1_000;
const [maxPairs, maxRead] = [200_000, 4 << 20];

export const tooMany = (detail: string): LwsError =>
  new LwsError('bad-request', `${detail} Search for a longer one, or for whole words.`);

/**
 * Reads the words of resources. With many ranges, the time depends on other resources, and must be rounded
 * (`Searched.isStepped`).
 * @throws LwsError `bad-request` if too many readable words begin with a prefix, or if too much text would have to be read
 */
export async function readVocabulary(
  searched: Source,
  { single, ranges, tokens, beginnings, isReadable }: WordRequest,
): Promise<Vocabulary> {
  const { snapshot, pause } = searched;
  const reader = { pairs: 0, left: maxRead };
  const found = {
    tokens: new Map(tokens.map((token) => [token, [] as string[]])),
    beginnings: new Map(beginnings.map((beginning) => [beginning, new Map<string, string[]>()])),
  };
  const noteBeginnings = (iri: string, words: string): void => {
    for (const [beginning, byWord] of found.beginnings)
      for (const word of beginningWith(beginning, words)) {
        if (byWord.has(word)) byWord.get(word)!.push(iri);
        else byWord.set(word, [iri]);
        if (byWord.size > maxExpansions || ++reader.pairs > maxPairs)
          throw tooMany(`More than ${maxExpansions} words begin with "${beginning}", or too many resources have them.`);
      }
  };
  const hasBeginning = (words: string): boolean => beginnings.some((beginning) => words.includes(`\n${beginning}`));
  let noted = 0;
  /** Records words of a resource. Returns `undefined` instead of a promise if it need not wait, as for most entries. */
  const note = (iri: string, value: string, isOwned: boolean): Promise<void> | undefined => {
    const words = value.slice(value.indexOf('\n'));
    if (isOwned)
      for (const [token, iris] of found.tokens) if (words === many || words.includes(`\n${token}\n`)) iris.push(iri);
    const isWanted = words === many ? beginnings.length > 0 : hasBeginning(words);
    if (isWanted || ++noted % resourcesAtATime === 0)
      return (async () => {
        await pause();
        if (isWanted && (await isReadable(iri)))
          noteBeginnings(iri, words === many ? await manyWords(searched, iri, reader) : words);
      })();
    return undefined;
  };
  const start = entryKey(wordsSpace, '');
  if (tokens.length + beginnings.length > 0)
    for (const iris of slices(single, singleAtATime)) {
      const values = await snapshot.values(iris.map((iri) => start + iri));
      for (const [index, iri] of iris.entries()) await note(iri, values[index] ?? '', true);
    }
  if (beginnings.length === 0) return found;
  // Many ranges are read together, with the entries of other resources in the same blocks.
  const parts = areMany(ranges) ? [{ from: ranges[0]!.from, to: ranges.at(-1)!.to }] : ranges;
  const readable = new RangeStream(ranges);
  const skip = (last: string): string | undefined => {
    const after = `${last.slice(start.length)}\u0000`;
    const next = readable.seek(after);
    return next === undefined || next === after ? undefined : start + next;
  };
  for (const { from, to } of parts)
    for await (const entries of snapshot.entries({ gte: start + from, lt: start + to }, { skip }))
      for (const [key, value] of entries) {
        const iri = key.slice(start.length);
        const work = readable.seek(iri) === iri ? note(iri, value, false) : undefined;
        if (work) await work;
      }
  return found;
}

function* beginningWith(beginning: string, words: string): Generator<string> {
  for (let at = words.indexOf(`\n${beginning}`); at >= 0; at = words.indexOf(`\n${beginning}`, at + 1))
    yield words.slice(at + 1, words.indexOf('\n', at + 1));
}

/** Value that is stored instead of too many words. The words are then read from the texts. */
const many = '\n*';
const maxCharacters = 32 << 10;

/** Collects the distinct words of a resource, and serializes them. */
export class Words {
  private readonly words = new Set<string>();
  private characters = 0;

  /** @param text serialized words of an earlier state */
  constructor(text = '') {
    this.include(text);
  }

  /** Adds serialized words. */
  include(text: string): void {
    if (text === many) this.characters = maxCharacters;
    else for (const word of text.split('\n')) if (word !== '') this.add(word);
  }

  add(word: string): void {
    if (this.characters >= maxCharacters || this.words.has(word)) return;
    this.characters += word.length + 1;
    this.words.add(word);
  }

  /** Serializes the words. @param isLarge true for a large graph, whose words are not collected */
  written(isLarge: boolean): string {
    return isLarge || this.characters >= maxCharacters ? many : `\n${[...this.words].join('\n')}\n`;
  }
}

/** True if an entry has all words of another entry, and the same facts. */
export function hasWords(found: string, expected: string): boolean {
  const at = found.indexOf('\n');
  if (at < 0 || found.slice(0, at) !== expected.slice(0, expected.indexOf('\n'))) return false;
  const words = new Set(found.slice(at).split('\n'));
  return (
    found.endsWith(many) ||
    expected
      .slice(at)
      .split('\n')
      .every((word) => words.has(word))
  );
}

/** Cached words of large resources, by IRI and revision. */
const known = new LRUCache<string, string>({
  maxSize: 16 << 20,
  sizeCalculation: ({ length }, key) => length + key.length,
});

/** Reads the words of a large resource. @param reader with the count of characters that may still be read */
async function manyWords(
  { storage: { store }, snapshot, pause }: Source,
  iri: string,
  reader: { left: number },
): Promise<string> {
  const [record] = await snapshot.records([iri]);
  if (!record) return '';
  const key = `${iri} ${record.revision} ${record.linked}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const words = new Set<string>();
  let work = 0;
  const take = async (text = '', language = ''): Promise<void> => {
    reader.left -= text.length;
    if (reader.left < 0) throw tooMany('There is too much text to find words with a beginning.');
    for (const piece of writtenWords(text)) {
      for (const word of piece.words) for (const token of formsOf(word, language).tokens) words.add(token);
      work += piece.cost;
      if (work < costAtATime) continue;
      work = 0;
      await yieldToEventLoop();
      await pause();
    }
  };
  for await (const keys of snapshot.keys(rangeOf(graphPrefix(iri))))
    for (const each of keys) {
      const statement = textStatement(each);
      if (statement) await take(statement.text, statement.language);
    }
  for (const place of ['n', 't', 'b']) await take((await textAt({ store, snapshot }, record, place))?.text);
  const text = `\n${[...words].join('\n')}\n`;
  known.set(key, text);
  return text;
}
