/**
 * Texts that lie one behind the other in a buffer, sorted by their bytes. Pure; it must not know what the texts are.
 */

/** The texts of a buffer: each begins where the one before it ends. */
export interface Texts {
  readonly text: Uint8Array;
  readonly offsets: Uint32Array;
  readonly count: number;
}

/** Fewer are sorted by comparing each with each. */
const few = 8;

/** The numbers of the texts in the order of their bytes: by the first byte, then those alike by the second, and so on. */
export function sortedTexts(texts: Texts): Uint32Array {
  const order = new Uint32Array(texts.count).map((_, number) => number);
  sort(texts, order, 0, texts.count, 0);
  return order;
}

function sort(texts: Texts, order: Uint32Array, low: number, high: number, depth: number): void {
  let [from, to, at] = [low, high, depth];
  while (to - from > 1) {
    if (to - from < few) {
      insert(texts, order, from, to, at);
      return;
    }
    const pivot = middleOf(texts, order, from, to, at);
    let [less, next, greater] = [from, from, to - 1];
    while (next <= greater) {
      const byte = byteOf(texts, order[next]!, at);
      if (byte < pivot) swap(order, less++, next++);
      else if (byte > pivot) swap(order, next, greater--);
      else next++;
    }
    // The longest of the three parts is gone on with here, so that calls go as deep as the number of texts has bits.
    const parts: readonly (readonly [number, number, number])[] = [
      [from, less, at],
      // Texts that end here are all the same.
      [less, pivot === 0 ? less : greater + 1, at + 1],
      [greater + 1, to, at],
    ];
    const lengths = parts.map(([first, last]) => last - first);
    const longest = lengths.indexOf(Math.max(...lengths));
    parts.forEach(([first, last, deeper], index) => {
      if (index !== longest) sort(texts, order, first, last, deeper);
    });
    [from, to, at] = parts[longest]!;
  }
}

/** 0 behind the end. */
function byteOf({ text, offsets }: Texts, number: number, at: number): number {
  const place = offsets[number]! + at;
  return place < offsets[number + 1]! ? text[place]! + 1 : 0;
}

function swap(order: Uint32Array, i: number, j: number): void {
  const number = order[i]!;
  order[i] = order[j]!;
  order[j] = number;
}

function middleOf(texts: Texts, order: Uint32Array, from: number, to: number, at: number): number {
  const [a, b, c] = [
    byteOf(texts, order[from]!, at),
    byteOf(texts, order[(from + to) >>> 1]!, at),
    byteOf(texts, order[to - 1]!, at),
  ];
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

function insert(texts: Texts, order: Uint32Array, from: number, to: number, at: number): void {
  for (let i = from + 1; i < to; i++) {
    const number = order[i]!;
    let place = i;
    for (; place > from && compare(texts, order[place - 1]!, number, at) > 0; place--) order[place] = order[place - 1]!;
    order[place] = number;
  }
}

function compare({ text, offsets }: Texts, a: number, b: number, at: number): number {
  let [i, j] = [offsets[a]! + at, offsets[b]! + at];
  const [endOfA, endOfB] = [offsets[a + 1]!, offsets[b + 1]!];
  while (i < endOfA && j < endOfB) {
    const difference = text[i++]! - text[j++]!;
    if (difference !== 0) return difference;
  }
  return endOfA - i - (endOfB - j);
}
