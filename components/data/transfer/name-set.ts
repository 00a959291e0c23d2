/** Set of resource names, for many millions of resources: a name needs eight bytes, plus half for empty slots. */
import { hash } from 'node:crypto';

/** Returns the name of a resource in the set: 72 bits of its hash, to save memory. */
export const nameInSet = (iri: string): string => hash('sha256', iri, 'base64url').slice(0, 12);

/** Initial count of slots, which is always a power of two, and maximum share of slots in use. */
const [firstSlots, share] = [1024, 0.75];

export class NameSet {
  /** Two integers per slot. Both are zero in empty slots only. */
  private slots = new Uint32Array(2 * firstSlots);
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Returns true if the set contains a name. @param name see `nameInSet` */
  has(name: string): boolean {
    const [low, high] = halvesOf(name);
    return this.slots[this.slotOf(low, high) + 1] !== 0;
  }

  add(name: string): void {
    const [low, high] = halvesOf(name);
    const slot = this.slotOf(low, high);
    if (this.slots[slot + 1] !== 0) return;
    this.put(slot, low, high);
    if (++this.count > (this.slots.length / 2) * share) this.grow();
  }

  /** Returns the slot of a name, or the empty slot in which to store it. */
  private slotOf(low: number, high: number): number {
    const { slots } = this;
    const mask = slots.length - 1;
    let at = (low * 2) & mask;
    while (slots[at + 1] !== 0 && (slots[at] !== low || slots[at + 1] !== high)) at = (at + 2) & mask;
    return at;
  }

  private put(slot: number, low: number, high: number): void {
    this.slots[slot] = low;
    this.slots[slot + 1] = high;
  }

  private grow(): void {
    const before = this.slots;
    this.slots = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 2) {
      const [low, high] = [before[at]!, before[at + 1]!];
      if (high !== 0) this.put(this.slotOf(low, high), low, high);
    }
  }
}

/** Returns a name as two integers. The second is never zero, so that no name looks like an empty slot. */
function halvesOf(name: string): readonly [low: number, high: number] {
  const bytes = Buffer.from(name, 'base64url');
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4) || 1];
}
