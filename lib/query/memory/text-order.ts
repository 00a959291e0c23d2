/** Texts that lie one after the other in a buffer, sorted by their bytes. Pure. */

/** The texts of a buffer: each begins where the one before it ends. */
export interface Texts {
  readonly text: Uint8Array;
  readonly offsets: Uint32Array;
  readonly count: number;
}

/** Fewer texts are sorted by insertion. */
const few = 8;

/** The numbers of the texts in the order of their bytes: a three-way radix quicksort, by the first byte, then by the second, and so on. */
export function sortedTexts(texts: Texts): Uint32Array {
  const sorter = new TextSorter(texts);
  sorter.sort(0, texts.count, 0);
  return sorter.order;
}

class TextSorter {
  readonly order: Uint32Array;

  constructor(private readonly texts: Texts) {
    this.order = new Uint32Array(texts.count).map((_, number) => number);
  }

  /** Sorts a part of the order, whose texts have the same first `depth` bytes. */
  sort(low: number, high: number, depth: number): void {
    let [from, to, at] = [low, high, depth];
    while (to - from > 1) {
      if (to - from < few) {
        this.insert(from, to, at);
        return;
      }
      const pivot = this.middleOf(from, to, at);
      const [less, greater] = this.split(from, to, { pivot, at });
      // This loop goes on with the longest of the three parts, so that the recursion is no deeper than the number of texts has bits.
      const parts: readonly (readonly [number, number, number])[] = [
        [from, less, at],
        // Texts that end here are all the same.
        [less, pivot === 0 ? less : greater, at + 1],
        [greater, to, at],
      ];
      const lengths = parts.map(([first, last]) => last - first);
      const longest = lengths.indexOf(Math.max(...lengths));
      parts.forEach(([first, last, deeper], index) => {
        if (index !== longest) this.sort(first, last, deeper);
      });
      [from, to, at] = parts[longest]!;
    }
  }

  /** Partitions by the byte `at`: less than the pivot, equal, greater. Returns where the equal ones begin and end. */
  private split(from: number, to: number, { pivot, at }: { pivot: number; at: number }): [number, number] {
    const { order } = this;
    let [less, next, greater] = [from, from, to - 1];
    while (next <= greater) {
      const byte = this.byteOf(order[next]!, at);
      if (byte < pivot) this.swap(less++, next++);
      else if (byte > pivot) this.swap(next, greater--);
      else next++;
    }
    return [less, greater + 1];
  }

  /** The byte plus one; 0 after the end. */
  private byteOf(number: number, at: number): number {
    const { text, offsets } = this.texts;
    const place = offsets[number]! + at;
    return place < offsets[number + 1]! ? text[place]! + 1 : 0;
  }

  private swap(i: number, j: number): void {
    const { order } = this;
    const number = order[i]!;
    order[i] = order[j]!;
    order[j] = number;
  }

  private middleOf(from: number, to: number, at: number): number {
    const { order } = this;
    const a = this.byteOf(order[from]!, at);
    const b = this.byteOf(order[(from + to) >>> 1]!, at);
    const c = this.byteOf(order[to - 1]!, at);
    return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
  }

  private insert(from: number, to: number, at: number): void {
    const { order } = this;
    for (let i = from + 1; i < to; i++) {
      const number = order[i]!;
      let place = i;
      for (; place > from && this.compare(order[place - 1]!, number, at) > 0; place--) order[place] = order[place - 1]!;
      order[place] = number;
    }
  }

  private compare(a: number, b: number, at: number): number {
    const { text, offsets } = this.texts;
    let [i, j] = [offsets[a]! + at, offsets[b]! + at];
    const [endOfA, endOfB] = [offsets[a + 1]!, offsets[b + 1]!];
    while (i < endOfA && j < endOfB) {
      const difference = text[i++]! - text[j++]!;
      if (difference !== 0) return difference;
    }
    return endOfA - i - (endOfB - j);
  }
}
