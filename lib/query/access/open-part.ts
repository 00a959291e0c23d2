/**
 * The keys of all graphs that are open, when they are few: a query that has read much in vain continues with these instead, so that what it
 * may not read costs it no more than what it may.
 */

import type { IriRange } from '../../storage/engine/iri-ranges.js';
import { compareKeys, sortKeys } from '../../storage/graphs/key-order.js';
import { indexNames, otherKeys, separator } from '../../storage/graphs/quad-keys.js';
import { addTo } from './collections.js';
import type { GraphGate } from './graph-gate.js';
import { behindGraph, inKeys, rangeAt } from './graph-ranges.js';
import type { KeyIterators, Seekable } from './key-iterators.js';
import { graphAt, KeyReader, keyPrefix } from './key-reader.js';
import { eachMatch, type Scan } from './scan.js';
import type { TermKey } from './terms.js';

/** Keys that are read in vain before it is looked whether there are fewer that are open; then twice as many each time. */
const firstWaste = 64;
/** What may be spent on that for so many: twice as much while it is little, and half as much when it is more. */
const maxDoubled = 1024;
const allowedFor = (wasted: number): number => Math.max(Math.min(2 * wasted, maxDoubled), 0.5 * wasted);
/** Keys that are asked for after a seek; more when they are all in the range. */
const firstAsked = 32;
const maxAsked = 1000;
/** More keys are not kept. */
const maxKept = 16_384;
/** The same where every graph has to be met to be known to be closed. */
const maxUnguided = 4096;
/** What a seek costs, in keys. */
const seekCost = 25;
/** LevelDB's tables take about so much for a key. */
const bytesPerKey = 34;
/** So many ranges are asked for their size. */
const maxSized = 8;

/** What it costs to ask about graphs, in keys. */
const askCost = 100;

const everywhere: readonly IriRange[] = [{ from: '', to: '\uffff' }];
const prefix = `GSPO${separator}`;
const nothingBound = [undefined, undefined, undefined, undefined];

export class OpenPart {
  /** All keys of open graphs are here. */
  isWhole = false;
  private readonly reader = new KeyReader('GSPO');
  private readonly keys: string[] = [];
  private readonly byTerm = new Map<number, Map<TermKey, string[]>>();
  private wasted = 0;
  private next = firstWaste;
  private cost = 0;
  /** Where it is to be read on. */
  private at = prefix;
  private isLarge = false;
  private growing: Promise<void> | undefined;

  constructor(
    private readonly iterators: KeyIterators,
    private readonly gate: GraphGate,
  ) {}

  /** Where nobody can say where open graphs are, closed ones are leapt over, each by itself. */
  private get ranges(): readonly IriRange[] {
    return this.gate.ranges ?? everywhere;
  }

  /**
   * Notes keys that were read in vain.
   * @param least what may be spent in any case
   * @returns true when the rest of the query is answered from here
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

  /** The keys of the scan's order that have all of its terms, as LevelDB sorts them. */
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

  /** Reads on until it has cost so much. */
  private async grow(most: number): Promise<void> {
    if (this.cost === 0 && (await this.size()) > 2 * maxKept) this.isLarge = true;
    else await this.iterators.lend('GSPO', (iterator) => this.read(iterator, most));
    if (!this.isWhole && this.cost >= (this.gate.ranges ? maxKept : maxUnguided)) this.isLarge = true;
    if (this.isLarge) this.keys.length = 0;
  }

  /** At least how many keys there are, about: LevelDB says it of what it has sorted into its files. */
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
        // The first key after the range says where the next one is of use.
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

/** What is still to be taken of a scan. */
interface Rest {
  /** The key after which it stands. */
  readonly last: string;
  readonly take: (key: string) => void;
}

/** Takes the matches of a scan that stand after a key in its order, from the part. */
export async function takeBehind(part: OpenPart, scan: Scan, { last, take }: Rest): Promise<void> {
  const keys = part.keysOf(scan);
  let at = 0;
  while (at < keys.length && compareKeys(keys[at]!, last) <= 0) at++;
  // Triples of the union that were met before are met again, so that their copies after the key are none.
  await eachMatch(scan, keys.slice(0, at), () => {});
  await eachMatch(scan, keys.slice(at), take);
}
