/**
 * Collects the keys of all open graphs, if they are few. A query that has read many keys of closed graphs collects these and
 * continues with them, so that closed graphs cost it no more than open ones.
 */

import type { IriRange } from '../../storage/keys/iri-ranges.js';
import { compareKeys, sortKeys } from '../../storage/keys/key-order.js';
import { indexNames, otherKeys, separator } from '../../storage/keys/quad-keys.js';
import { addTo } from './collections.js';
import type { GraphFilter } from './graph-filter.js';
import { behindGraph, inKeys, rangeAt } from './graph-ranges.js';
import { bytesPerKey, type KeyIterators, type Seekable } from './key-iterators.js';
import { graphAt, KeyReader, keyPrefix } from './key-reader.js';
import { eachMatch, type Scan } from './scan.js';
import type { TermKey } from './terms.js';

/** Number of keys read without a match before the query starts to collect open keys. It collects more after each doubling. */
const firstWaste = 64;
/** Cost limit of collecting, in keys: twice the wasted keys up to `maxDoubled`, or half of them if that is more. */
const maxDoubled = 1024;
const allowedFor = (wasted: number): number => Math.max(Math.min(2 * wasted, maxDoubled), 0.5 * wasted);
/** Number of keys per read after a seek. Multiplied by four, up to `maxAsked`, each time that all were in the range. */
const firstAsked = 32;
const maxAsked = 1000;
/** Cost limit above which collecting is given up, in keys. */
const maxKept = 16_384;
/** Cost limit without known ranges, where each closed graph must be read or skipped with a seek. */
const maxUnguided = 4096;
/** Cost of a seek, in keys. */
const seekCost = 25;
/** Maximum number of ranges whose size is measured. */
const maxSized = 8;

/** Cost of asking the authorizer, in keys. */
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
  /** Key at which collecting continues. */
  private at = prefix;
  private isLarge = false;
  private growing: Promise<void> | undefined;

  constructor(
    private readonly iterators: KeyIterators,
    private readonly gate: GraphFilter,
  ) {}

  /** Without known ranges, all graphs are visited, and each closed one is skipped with a separate seek. */
  private get ranges(): readonly IriRange[] {
    return this.gate.ranges ?? everywhere;
  }

  /**
   * Charges keys that were read without a match. Once enough are charged, collects open keys.
   * @param least minimum cost limit of collecting, in keys
   * @returns true when all are collected, so that the rest of the query uses them
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

  /** Returns the collected keys with the scan's bound terms, as keys of the scan's index, sorted as in LevelDB. */
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

  /** Collects up to a total cost of `most` keys. */
  private async grow(most: number): Promise<void> {
    if (this.cost === 0 && (await this.size()) > 2 * maxKept) this.isLarge = true;
    else await this.iterators.lend('GSPO', (iterator) => this.read(iterator, most));
    if (!this.isWhole && this.cost >= (this.gate.ranges ? maxKept : maxUnguided)) this.isLarge = true;
    if (this.isLarge) this.keys.length = 0;
  }

  /** Returns a lower estimate of the number of open keys: LevelDB knows the size of its sorted files only. */
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
        // The first key after the range. Ranges that end before it have no keys.
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

/** Unread part of a scan. */
interface Rest {
  /** Last key that was read. */
  readonly last: string;
  readonly take: (key: string) => void;
}

/** Passes on the matches of a scan after a key, from the collected keys. */
export async function takeBehind(part: ReadableSubset, scan: Scan, { last, take }: Rest): Promise<void> {
  const keys = part.keysOf(scan);
  let at = 0;
  while (at < keys.length && compareKeys(keys[at]!, last) <= 0) at++;
  // Adds the triples up to the key to the scan's `unique` again, so that later copies of them are not matches.
  await eachMatch(scan, keys.slice(0, at), () => {});
  await eachMatch(scan, keys.slice(at), take);
}
