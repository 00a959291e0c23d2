/**
 * The keys of all open graphs, when they are few. A query that has read many keys of closed graphs collects these and continues with them,
 * so that closed graphs cost it no more than open ones.
 */

import type { IriRange } from '../../storage/keys/iri-ranges.js';
import { compareKeys, sortKeys } from '../../storage/keys/key-order.js';
import { indexNames, otherKeys, separator } from '../../storage/keys/quad-keys.js';
import { addTo } from './collections.js';
import type { GraphFilter } from './graph-filter.js';
import { behindGraph, inKeys, rangeAt } from './graph-ranges.js';
import type { KeyIterators, Seekable } from './key-iterators.js';
import { graphAt, KeyReader, keyPrefix } from './key-reader.js';
import { eachMatch, type Scan } from './scan.js';
import type { TermKey } from './terms.js';

/** Keys that a query reads without a match before it starts to collect open keys. It collects more after each doubling. */
const firstWaste = 64;
/** What collecting may cost, in keys, after so many were wasted: twice as much, up to `maxDoubled`, or half as much when that is more. */
const maxDoubled = 1024;
const allowedFor = (wasted: number): number => Math.max(Math.min(2 * wasted, maxDoubled), 0.5 * wasted);
/** Keys that are read after a seek; four times as many, up to `maxAsked`, each time that all were in the range. */
const firstAsked = 32;
const maxAsked = 1000;
/** Collecting is given up when it costs more, in keys. */
const maxKept = 16_384;
/** The same without known ranges: each closed graph has then to be read, or skipped with a seek. */
const maxUnguided = 4096;
/** What a seek costs, in keys. */
const seekCost = 25;
/** Bytes that a key takes in LevelDB's compressed tables, about. */
const bytesPerKey = 34;
/** The size is that of the first ranges, up to so many. */
const maxSized = 8;

/** What a question to the authorizer costs, in keys. */
const askCost = 100;

const everywhere: readonly IriRange[] = [{ from: '', to: '\uffff' }];
const prefix = `GSPO${separator}`;
const nothingBound = [undefined, undefined, undefined, undefined];

export class ReadableSubset {
  /** All keys of open graphs have been collected. */
  isWhole = false;
  private readonly reader = new KeyReader('GSPO');
  private readonly keys: string[] = [];
  private readonly byTerm = new Map<number, Map<TermKey, string[]>>();
  private wasted = 0;
  private next = firstWaste;
  private cost = 0;
  /** The key at which collecting continues. */
  private at = prefix;
  private isLarge = false;
  private growing: Promise<void> | undefined;

  constructor(
    private readonly iterators: KeyIterators,
    private readonly gate: GraphFilter,
  ) {}

  /** Without known ranges, all graphs are visited, and each closed one is skipped with a seek of its own. */
  private get ranges(): readonly IriRange[] {
    return this.gate.ranges ?? everywhere;
  }

  /**
   * Counts keys that were read without a match, and collects open keys as far as these allow.
   * @param least what collecting may cost in any case, in keys
   * @returns true when all are collected, so that the rest of the query is answered from them
   */
  async spend(keys: number, least = 0): Promise<boolean> {
    this.wasted += keys;
    for (let most = least; !this.isWhole && !this.isLarge; ) {
      if (this.cost < most) {
        this.growing ??= this.grow(most).finally(() => {
          this.growing = undefined;
        });
        await this.growing;
      } else if (this.wasted >= this.next) {
        most = allowedFor(this.next);
        this.next *= 2;
      } else break;
    }
    return this.isWhole;
  }

  /** The collected keys that have the scan's bound terms, as keys of the scan's order, sorted as in LevelDB. */
  keysOf({ range: { index }, bound }: Scan): string[] {
    const place = [0, 2, 1].find((each) => bound[each] !== undefined);
    const some = place === undefined ? this.keys : (this.by(place).get(bound[place]!) ?? []);
    const own = some.filter((key) => {
      this.reader.read(key, '');
      return [0, 1, 2].every((each) => bound[each] === undefined || this.reader.token(each) === bound[each]);
    });
    if (index === 'GSPO') return own;
    const other = indexNames.indexOf(index) - 1;
    return sortKeys(own.map((key) => otherKeys(key)[other]!));
  }

  private by(place: number): Map<TermKey, string[]> {
    const known = this.byTerm.get(place);
    if (known) return known;
    const lists = new Map<TermKey, string[]>();
    for (const key of this.keys) {
      this.reader.read(key, '');
      addTo(lists, this.reader.token(place), key);
    }
    this.byTerm.set(place, lists);
    return lists;
  }

  /** Collects until the cost has reached `most` keys. */
  private async grow(most: number): Promise<void> {
    if (this.cost === 0 && (await this.size()) > 2 * maxKept) this.isLarge = true;
    else await this.iterators.lend('GSPO', (iterator) => this.read(iterator, most));
    if (!this.isWhole && this.cost >= (this.gate.ranges ? maxKept : maxUnguided)) this.isLarge = true;
    if (this.isLarge) this.keys.length = 0;
  }

  /** About how many keys open graphs have at least: LevelDB knows the size only of what is in its sorted files. */
  private async size(): Promise<number> {
    const some = this.gate.ranges?.slice(0, maxSized) ?? [];
    const sizes = some.map(({ from, to }) => this.iterators.sizeBetween(prefix + inKeys(from), prefix + inKeys(to)));
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / bytesPerKey;
  }

  private async read(iterator: Seekable, most: number): Promise<void> {
    const scan: Scan = {
      range: keyPrefix(nothingBound, false, 'GSPO'),
      ...{ bound: nothingBound, reader: this.reader, gate: this.gate, unique: undefined },
    };
    let isThere = false;
    let asked = firstAsked;
    while (this.cost < most) {
      const range = rangeAt(this.ranges, this.at.slice(prefix.length).split('\u0000', 1)[0]!);
      if (!range) {
        this.isWhole = true;
        return;
      }
      const [from, to] = [prefix + inKeys(range.from), prefix + inKeys(range.to)];
      if (this.at < from) [this.at, isThere] = [from, false];
      if (!isThere) iterator.seek(this.at);
      asked = isThere ? Math.min(maxAsked, 4 * asked) : firstAsked;
      const keys = await iterator.nextv(asked);
      this.cost += keys.length + (isThere ? 0 : seekCost);
      const own = keys.filter((key) => key < to);
      const rest = eachMatch(scan, own, (key) => this.keys.push(key));
      if (rest) this.cost += askCost;
      await rest;
      isThere = own.length === keys.length && keys.length > 0;
      if (!isThere) {
        // The first key behind the range: ranges that end before it have no keys.
        this.at = keys[own.length] ?? `${prefix}\uffff`;
        continue;
      }
      const last = keys.at(-1)!;
      const graph = this.reader.read(last, '') ? this.reader.token(graphAt) : '';
      if (this.gate.isOpen(graph) === false) [this.at, isThere] = [prefix + behindGraph(graph), false];
      else this.at = `${last}\u0000`;
    }
  }
}

/** The part of a scan that is left. */
interface Rest {
  /** The last key that was read before. */
  readonly last: string;
  readonly take: (key: string) => void;
}

/** Takes the matches of a scan that come after a key in its order, from the collected keys. */
export async function takeBehind(part: ReadableSubset, scan: Scan, { last, take }: Rest): Promise<void> {
  const keys = part.keysOf(scan);
  let at = 0;
  while (at < keys.length && compareKeys(keys[at]!, last) <= 0) at++;
  // Shows the triples up to the key to the scan's `unique` again, so that copies of them after the key are no matches.
  await eachMatch(scan, keys.slice(0, at), () => {});
  await eachMatch(scan, keys.slice(at), take);
}
