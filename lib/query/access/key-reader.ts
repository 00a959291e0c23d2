/** Extracts terms from GSPO keys. `quad-keys` defines the layout. */
import { endDigits, separator, spansOf, suffixStart } from '../../storage/keys/key-layout.js';
import { graphPrefix } from '../../storage/keys/quad-keys.js';
import { mark, rawOf, suffixOf, type TermKey } from './terms.js';

/** Subject, predicate, object and graph of a pattern or quad. `undefined`: not bound. */
export type Terms = (TermKey | undefined)[];
export const graphAt = 3;

/** Positions of the terms, in the order of a key. */
const places = [graphAt, 0, 1, 2];

/** Returns the key of a quad in the format of `quad-keys`. */
export function wholeKey(terms: Terms): string {
  let prefix = graphPrefix(terms[graphAt]!);
  let suffix = suffixOf(terms[graphAt]!);
  for (let place = 0; place < graphAt; place++) {
    prefix += rawOf(terms[place]!) + separator;
    suffix += suffixOf(terms[place]!);
  }
  return prefix + suffix + suffix.length.toString(36).padStart(5, '0');
}

/** Offsets of the terms S, P, O and G in a key. Keys whose suffixes (types and lengths) are equal have the same layout. */
interface Layout {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Start of the term key of each term, before its text: mark, type and lengths. Empty for an IRI. */
  readonly heads: readonly string[];
}

/** Maximum count of cached layouts. There are a few layouts for each length of a term. */
const maxLayouts = 10_000;

/** Splits the current key into its terms. */
export class KeyReader {
  private readonly layouts = new Map<string, Layout>();
  private key = '';
  private layout!: Layout;

  /** Sets the current key. */
  read(key: string): void {
    this.key = key;
    const text = key.slice(suffixStart(key), -endDigits);
    let layout = this.layouts.get(text);
    if (!layout) {
      if (this.layouts.size >= maxLayouts) this.layouts.clear();
      layout = layoutOf(text);
      this.layouts.set(text, layout);
    }
    this.layout = layout;
  }

  /** Returns the term key of a term in the current key. @param place position: 0 to 3 for S, P, O, G */
  token(place: number): TermKey {
    const { heads, starts, ends } = this.layout;
    const raw = this.key.slice(starts[place]!, ends[place]!);
    return heads[place] === '' ? raw : heads[place] + raw;
  }
}

function layoutOf(suffix: string): Layout {
  const [starts, ends, heads]: [number[], number[], string[]] = [[], [], []];
  spansOf(suffix).forEach((span, index) => {
    const place = places[index]!;
    [starts[place], ends[place]] = [span.from, span.end];
    heads[place] = span.type === '0' ? '' : mark + span.suffix;
  });
  return { starts, ends, heads };
}
