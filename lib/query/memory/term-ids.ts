/**
 * The terms of an index by number: those of the base, which all threads share, and behind them those that this thread has met in
 * graphs that changed since. It must not know quads.
 */
import type { Token } from '../access/terms.js';
import { TermTable } from './term-table.js';

export class TermIds {
  private readonly own = new TermTable();
  private readonly first: number;

  constructor(private readonly base: TermTable) {
    this.first = base.size;
  }

  get size(): number {
    return this.first + this.own.size;
  }

  /** Terms that the base has not. */
  get ownSize(): number {
    return this.own.size;
  }

  /** -1 when no quad has it. */
  idOf(token: Token): number {
    const id = this.base.idOf(token);
    if (id >= 0 || this.own.size === 0) return id;
    const own = this.own.idOf(token);
    return own < 0 ? -1 : this.first + own;
  }

  add(token: Token): number {
    const id = this.base.idOf(token);
    return id >= 0 ? id : this.first + this.own.add(token);
  }

  tokenOf(id: number): Token {
    return id < this.first ? this.base.tokenOf(id) : this.own.tokenOf(id - this.first);
  }
}
