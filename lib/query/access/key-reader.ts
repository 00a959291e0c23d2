/** Extracts terms from keys of the four indexes, and selects the index for a pattern. `quad-keys` defines the layout. */
import { endDigits, separator, spansOf, suffixStart } from '../../storage/keys/key-layout.js';
import type { IndexName } from '../../storage/keys/quad-keys.js';
import { mark, rawOf, suffixOf, type TermKey } from './terms.js';

/** Subject, predicate, object and graph. */
export type Terms = (TermKey | undefined)[];
export const letters = 'SPOG';
export const graphAt = 3;

/** Range of keys that may match a pattern: those with the prefix. */
export interface KeyPrefix {
  readonly index: IndexName;
  readonly prefix: string;
  /** Number of terms in the prefix. */
  readonly length: number;
  /** Types and lengths of the terms in the prefix. A key without them has other terms with the same characters. */
  readonly suffix: string;
  /** Positions of bound terms that are not in the prefix. They are compared key by key. */
  readonly others: readonly number[];
}

/** Index for each set of bound positions, by their sum (subject 1, predicate 2, object 4, graph 8). */
const orders: readonly IndexName[] = [
  ...(['GSPO', 'SPOG', 'POGS', 'SPOG', 'OGSP', 'SPOG', 'POGS', 'SPOG'] as const),
  ...(['GSPO', 'GSPO', 'GSPO', 'GSPO', 'OGSP', 'OGSP', 'POGS', 'GSPO'] as const),
];

/** @param grouped true if the copies of a triple in several graphs must be adjacent @param order index to use instead of the best one */
export function keyPrefix(bound: Terms, grouped: boolean, order?: IndexName): KeyPrefix {
  let mask = 0;
  for (let i = 0; i < 4; i++) if (bound[i] !== undefined) mask |= 1 << i;
  const index = order ?? (mask === 0 && grouped ? 'SPOG' : orders[mask]!);
  let prefix = index + separator;
  let suffix = '';
  let length = 0;
  for (; length < 4; length++) {
    const token = bound[letters.indexOf(index[length]!)];
    if (token === undefined) break;
    prefix += rawOf(token) + separator;
    suffix += suffixOf(token);
  }
  const others = [...index.slice(length)]
    .map((letter) => letters.indexOf(letter))
    .filter((at) => bound[at] !== undefined);
  return { index, prefix, length, suffix, others };
}

/** Returns the key of a quad in the format of `quad-keys`. */
export function wholeKey(terms: Terms): string {
  const { prefix, suffix } = keyPrefix(terms, false);
  return prefix + suffix + suffix.length.toString(36).padStart(5, '0');
}

/** Offsets of the terms, shared by all keys with the same types and lengths at their end. */
interface Layout {
  readonly suffixAt: number;
  /** By S, P, O, G. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Token prefix of each term before its text: the mark, types and lengths. Empty for an IRI. */
  readonly heads: readonly string[];
  /** Types and lengths of subject, predicate and object. They distinguish triples with the same characters. */
  readonly triple: string;
  /** Offset of the object's text, after its datatype or language. */
  readonly textAt: number;
}

/** Maximum number of cached layouts. There are a few for each length of a term. */
const maxLayouts = 20_000;

/** Reads the keys of one index. Holds the last key. */
export class KeyReader {
  private readonly layouts = new Map<string, Layout>();
  private readonly places: readonly number[];
  private key = '';
  private layout!: Layout;

  constructor(index: IndexName) {
    this.places = [...index].map((letter) => letters.indexOf(letter));
  }

  /** Sets the current key. Returns false if its first terms are not those of the prefix, but others with the same characters. */
  read(key: string, suffix: string): boolean {
    const suffixAt = suffixStart(key);
    if (!key.startsWith(suffix, suffixAt)) return false;
    this.key = key;
    const text = key.slice(suffixAt, -endDigits);
    let layout = this.layouts.get(text);
    if (!layout) {
      if (this.layouts.size >= maxLayouts) this.layouts.clear();
      layout = this.layoutOf(text);
      this.layouts.set(text, layout);
    }
    this.layout = layout;
    return true;
  }

  /** Returns a term of the current key. */
  token(place: number): TermKey {
    const { heads, starts, ends } = this.layout;
    const raw = this.key.slice(starts[place]!, ends[place]!);
    return heads[place] === '' ? raw : heads[place] + raw;
  }

  /** End of the part of the key before the graph name. */
  get headEnd(): number {
    return this.layout.starts[graphAt]!;
  }

  /** Terms after the graph, and the types and lengths of the triple. Together with the part before the graph they identify the triple. */
  get rest(): string {
    const { ends, suffixAt, triple } = this.layout;
    const from = ends[graphAt]! + separator.length;
    return from >= suffixAt ? triple : this.key.slice(from, suffixAt) + triple;
  }

  /** True if the object's text contains U+0000, so that keys of other objects can be between copies of the triple. */
  get isTorn(): boolean {
    const at = this.key.indexOf('\u0000', this.layout.textAt);
    return at < this.layout.ends[2]!;
  }

  private layoutOf(suffix: string): Layout {
    const [starts, ends, heads]: [number[], number[], string[]] = [[], [], []];
    let [triple, textAt] = ['', 0];
    const spans = spansOf(suffix);
    spans.forEach((span, index) => {
      const place = this.places[index]!;
      [starts[place], ends[place]] = [span.from, span.end];
      heads[place] = span.type === '0' ? '' : mark + span.suffix;
      if (place === 2) textAt = span.textAt;
      if (place !== graphAt) triple += span.suffix;
    });
    return { suffixAt: spans.at(-1)!.end + separator.length, starts, ends, heads, triple, textAt };
  }
}
