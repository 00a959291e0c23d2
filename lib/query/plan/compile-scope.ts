/** What the parts of a query share: the names of its variables as slots, and what its functions know. It must not know plans. */
import type { Slot } from './plan.js';

/** The query cannot be compiled, and is refused; the message says what it has in it. */
export class NotCompiledError extends Error {}

/** A node of the algebra. */
export interface Node {
  readonly type: string;
  readonly subType?: string;
  readonly [member: string]: unknown;
}

/** What functions know of the query. */
export interface Facts {
  /** What IRI() resolves against. */
  readonly base: string;
  /** A plan is made for one execution, in which NOW() is this. */
  readonly now: Date;
}

export interface Names {
  /** The slot of a variable, a new one for a new name. */
  slot(name: string): Slot;
  /** Whether nobody asks for the variable beside the one pattern that it stands in. */
  isIdle(name: string): boolean;
  /** A slot that no variable has. */
  unnamed(): Slot;
  /** Names of a subquery, which shares with this scope only those that it gives out. */
  inner(shared: readonly string[]): Names;
  /** The slots of EXISTS within expressions, by their nodes. */
  readonly marks: Map<Node, Slot>;
  readonly width: number;
  readonly facts: Facts;
}

/** @param root where variables are counted; absent: every variable is asked for */
export function namesOf(root: Node | undefined, base = ''): Names {
  const facts: Facts = { base, now: new Date() };
  const counts = root && countVariables(root);
  const marks = new Map<Node, Slot>();
  let width = 0;
  const scope = (slots: Map<string, Slot>): Names => ({
    slot(name) {
      let slot = slots.get(name);
      if (slot === undefined) {
        slot = width++;
        slots.set(name, slot);
      }
      return slot;
    },
    isIdle: (name) => counts?.get(name) === 1,
    unnamed: () => width++,
    inner(shared) {
      return scope(new Map(shared.map((name) => [name, this.slot(name)])));
    },
    get width() {
      return width;
    },
    marks,
    facts,
  });
  return scope(new Map());
}

function countVariables(root: Node): Map<string, number> {
  const counts = new Map<string, number>();
  const left: unknown[] = [root];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { termType, value } = node as { termType?: string; value?: string };
    if (termType === 'Variable') counts.set(value!, (counts.get(value!) ?? 0) + 1);
    else if (Array.isArray(node)) left.push(...node);
    else if (termType === undefined || termType === 'Quad')
      for (const key in node)
        if (key !== 'metadata' && key !== 'loc') left.push((node as unknown as Record<string, unknown>)[key]);
  }
  return counts;
}
