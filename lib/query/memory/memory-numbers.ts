/** Finds matches in the caller's dataset as term IDs. Must not depend on joins or queries. */
import type { DatasetPart } from '../access/graph-filter.js';
import { graphAt, type Terms } from '../access/key-reader.js';
import type {
  AssertTerm,
  AssertTime,
  MatchOptions,
  NumberBlock,
  NumberedMatches,
  NumbersFound,
  PrefixedTerms,
} from '../access/quad-matches.js';
import { headOfString, kindOf, kindStarts, stringMark, type TermKey, type TermKind } from '../access/terms.js';
import type { Window } from '../segments/quad-pages.js';
import { ended, LayerScan, stopped } from './layer-scan.js';
import { eachMatch, type MemoryScans, type SingleLayer, shortRange } from './memory-scans.js';
import type { Ids, QuadRange } from './sorted-quads.js';
import type { TermIds } from './term-ids.js';

const blockLength = 4096;
/** Maximum count of distinct string lengths for a prefix search. Each length takes a few microseconds. */
const maxLengths = 1024;
/** Work of a lookup for the time limit, counted as matches. */
const lookUpWork = 4;

export interface NumbersOptions {
  readonly terms: TermIds;
  /** True if the caller may read all graphs. */
  readonly isWhole: boolean;
  readonly scans: MemoryScans;
  readonly assertTime: AssertTime;
  readonly assertTerm: AssertTerm | undefined;
  /** Authorizes a bound graph. Returns the IDs of the bound terms, or `undefined` if a term is in no quad. */
  readonly begin: (bound: Terms, part: DatasetPart) => Promise<Ids | undefined>;
}

export class MemoryNumbers implements NumberedMatches {
  readonly directly: number;
  private starts: readonly number[] | undefined;

  constructor(private readonly options: NumbersOptions) {
    this.directly = options.isWhole ? options.terms.size : 0;
  }

  async *scan(bound: Terms, { part, places }: MatchOptions): AsyncGenerator<NumberBlock> {
    const { scans, assertTime, begin } = this.options;
    assertTime(lookUpWork);
    const ids = await begin(bound, part);
    const empty = (): Uint32Array[] => places.map(() => new Uint32Array(blockLength));
    for (const scan of ids ? scans.of(ids, part) : []) {
      if (scan instanceof LayerScan && scan.hasBlocks) {
        for (const block of scan.blocks(places)) {
          assertTime(block.length);
          yield block;
        }
        continue;
      }
      let [columns, length] = [empty(), 0];
      for (let at = scan.next(); at !== ended; at = scan.next()) {
        if (at === stopped) {
          await scans.ask(part);
          continue;
        }
        for (let i = 0; i < places.length; i++) columns[i]![length] = scan.id(places[i]!);
        if (++length < blockLength) continue;
        assertTime(length);
        yield { length, columns };
        [columns, length] = [empty(), 0];
      }
      assertTime(length);
      if (length > 0) yield { length, columns };
    }
  }

  async lookUp(
    bound: Terms,
    { places: at, keys, length }: Parameters<NumberedMatches['lookUp']>[1],
    { part, places }: MatchOptions,
  ): Promise<NumbersFound> {
    const { scans, terms, assertTime, begin } = this.options;
    const own = await begin(bound, part);
    const found = { rows: [] as number[], weights: [] as number[], columns: places.map((): number[] => []) };
    const single = scans.singles[part];
    for (let row = 0; own && row < length; row++) {
      const before = found.rows.length;
      const ids: Ids = [own[0], own[1], own[2], own[3]];
      for (let i = 0; i < at.length; i++) ids[at[i]! as 0] = keys[i]![row]!;
      if (ids.some((id) => id >= terms.size)) continue;
      const range = shortRange(single, ids);
      if (range) {
        addRange(found, { row, range, places }, single!);
        assertTime(lookUpWork + found.rows.length - before);
        continue;
      }
      if (at.includes(graphAt)) await scans.decide?.(terms.termKey(ids[graphAt]), part);
      for (const scan of scans.of(ids, part)) {
        if (places.length === 0 && scan instanceof LayerScan && scan.isPlain) {
          found.rows.push(row);
          found.weights.push(scan.length);
          continue;
        }
        for (let next = scan.next(); next !== ended; next = scan.next()) {
          if (next === stopped) {
            await scans.ask(part);
            continue;
          }
          found.rows.push(row);
          found.weights.push(1);
          for (let i = 0; i < places.length; i++) found.columns[i]!.push(scan.id(places[i]!));
          if (found.rows.length % blockLength === 0) assertTime(blockLength);
        }
      }
      assertTime(lookUpWork + ((found.rows.length - before) % blockLength));
    }
    return found;
  }

  numberOf(token: TermKey): number {
    return this.options.terms.idOf(token);
  }

  /** Returns the kind of a term. In the base, IDs have the order of the terms' texts, so each kind is a range of IDs. */
  kindOf(number: number): TermKind {
    const { terms } = this.options;
    if (number >= terms.baseSize) return kindOf(terms.termKey(number));
    this.starts ??= kindStarts.map(([text]) => terms.baseBelow(text));
    let at = this.starts.length - 1;
    while (this.starts[at]! > number) at--;
    return kindStarts[at]![1];
  }

  /** Returns the terms with a prefix as ranges of IDs. Strings are sorted by length first, with a range for each length. */
  prefixed(text: string): PrefixedTerms | undefined {
    const { terms, isWhole } = this.options;
    // The count of ranges depends on all terms, so the time would reveal unreadable terms.
    if (!isWhole) return undefined;
    const rangeOf = (from: string): [from: number, to: number] => [
      terms.baseBelow(from),
      terms.baseBelow(afterAll(from)),
    ];
    const strings = rangeOf(stringMark);
    const found: number[] = [];
    let [at, lengths] = [strings[0], 0];
    while (at < strings[1]) {
      if (++lengths > maxLengths) return undefined;
      const head = headOfString(terms.termKey(at));
      const [from, to] = rangeOf(head + text);
      if (from < to) found.push(from, to);
      at = terms.baseBelow(afterAll(head));
    }
    const [from, to] = rangeOf(text);
    const iris: [number, number] = [terms.baseBelow('\u0002'), terms.baseSize];
    return { found: Uint32Array.from(from < to ? [...found, from, to] : found), iris, strings };
  }

  termKey(number: number): TermKey {
    const token = this.options.terms.termKey(number);
    this.options.assertTerm?.(token);
    return token;
  }
}

/** Returns the first text after all texts with a prefix. The prefix must end with an ASCII character. */
const afterAll = (text: string): string =>
  text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);

interface FoundNumbers {
  readonly rows: number[];
  readonly weights: number[];
  readonly columns: readonly number[][];
}

/** Adds the matches of a lookup in a range of the base. */
function addRange(
  { rows, weights, columns }: FoundNumbers,
  { row, range, places }: { readonly row: number; readonly range: QuadRange; readonly places: readonly number[] },
  base: SingleLayer,
): void {
  if (places.length === 0 && !base.verdicts && !base.masked) {
    if (range.to === range.from) return;
    rows.push(row);
    weights.push(range.to - range.from);
    return;
  }
  let last: Window | undefined;
  let own: readonly Uint32Array[] = [];
  eachMatch(base, range, (window, offset) => {
    if (window !== last) own = places.map((place) => window.column(place));
    last = window;
    rows.push(row);
    weights.push(1);
    for (let i = 0; i < own.length; i++) columns[i]!.push(own[i]![offset]!);
  });
}
