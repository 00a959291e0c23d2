/** Seeded random choices, and texts with removable parts. Independent of SPARQL. */

export class Random {
  constructor(private state: number) {}

  /** Returns a number from 0 up to, but not including, 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(of: number): boolean {
    return this.next() < of;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Calls one of the makers, with a probability proportional to its weight. */
  either<T>(makers: readonly (readonly [weight: number, make: () => T])[]): T {
    let at = this.next() * makers.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, make] of makers) {
      at -= weight;
      if (at < 0) return make();
    }
    return makers.at(-1)![1]();
  }

  some<T>(least: number, most: number, make: () => T): T[] {
    return Array.from({ length: least + this.below(most - least + 1) }, make);
  }
}

/** Removable part, with its replacement. */
export interface Part {
  readonly part: Text;
  readonly instead: string;
}
export type Text = string | readonly Text[] | Part;

export const part = (text: Text, instead = ''): Part => ({ part: text, instead });

export function write(text: Text, without: ReadonlySet<Part> = new Set()): string {
  if (typeof text === 'string') return text;
  if ('part' in text) return without.has(text) ? text.instead : write(text.part, without);
  return text.map((each) => write(each, without)).join(' ');
}

function* partsOf(text: Text): Generator<Part> {
  if (typeof text === 'string') return;
  if ('part' in text) {
    yield text;
    yield* partsOf(text.part);
  } else for (const each of text) yield* partsOf(each);
}

/** Removes parts as long as the text still fails. */
export async function smallest(text: Text, fails: (written: string) => Promise<boolean>): Promise<string> {
  const without = new Set<Part>();
  for (let changed = true; changed; ) {
    changed = false;
    for (const each of partsOf(text)) {
      const before = write(text, without);
      if (without.has(each)) continue;
      without.add(each);
      if (write(text, without) !== before && (await fails(write(text, without)))) changed = true;
      else without.delete(each);
    }
  }
  return write(text, without);
}
