/** Scope of a query during compilation: slots of variables, and the context of functions. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { addCount, getOrMake } from '../../tools/collections.js';
import { LwsError } from '../../tools/errors.js';
import type { Facts, Slot } from '../expressions/evaluate.js';
import { nodesOf } from '../parse/query-scopes.js';

/** Maximum count of triple patterns and path steps of a query. The time to plan a join is quadratic in this count. */
const maxPatterns = 2000;

/** Thrown if the query cannot be compiled and is rejected. The message names the unsupported part. */
export class NotCompiledError extends Error {}

/** Thrown if a term of the query is malformed: no graph can contain the term, and every server rejects it. */
export class MalformedTermError extends NotCompiledError {}

export interface Names {
  /** Returns the slot of a variable. Assigns a new slot to a new name. */
  slot(name: string): Slot;
  /** Returns true if the variable occurs only once in the query. */
  isIdle(name: string): boolean;
  /** Returns a new slot without a variable. */
  unnamed(): Slot;
  /** Counts a triple pattern or path step. @throws LwsError `too-complex` above the limit */
  addPattern(): void;
  /** Returns a scope for a subquery, which only shares its projected variables. */
  inner(shared: readonly string[]): Names;
  /** Slots for the results of EXISTS (marks), by EXISTS expression. */
  readonly marks: Map<Algebra.Expression, Slot>;
  /** Slots that every outer row of the EXISTS that is being compiled binds. */
  terms: ReadonlySet<Slot>;
  readonly width: number;
  /** Variable names by slot. Several slots may have the same name, because subqueries have their own variables. */
  readonly variables: readonly (string | undefined)[];
  readonly facts: Facts;
  /** True if the plan is valid for one execution only, because it contains a value such as NOW(). */
  readonly isOfMoment: boolean;
}

/** State shared by all scopes of a query. */
interface Shared {
  width: number;
  patterns: number;
  readonly variables: (string | undefined)[];
  readonly root: Algebra.Operation | undefined;
  counts: Map<string, number> | undefined;
  readonly marks: Map<Algebra.Expression, Slot>;
  terms: ReadonlySet<Slot>;
  readonly facts: Facts;
  readonly isOfMoment: () => boolean;
}

class Scope implements Names {
  constructor(
    private readonly shared: Shared,
    private readonly slots: Map<string, Slot>,
  ) {}

  get width(): number {
    return this.shared.width;
  }

  get variables(): readonly (string | undefined)[] {
    return this.shared.variables;
  }

  get marks(): Map<Algebra.Expression, Slot> {
    return this.shared.marks;
  }

  get terms(): ReadonlySet<Slot> {
    return this.shared.terms;
  }

  set terms(slots: ReadonlySet<Slot>) {
    this.shared.terms = slots;
  }

  get facts(): Facts {
    return this.shared.facts;
  }

  get isOfMoment(): boolean {
    return this.shared.isOfMoment();
  }

  slot(name: string): Slot {
    return getOrMake(this.slots, name, () => {
      const slot = this.unnamed();
      this.shared.variables[slot] = name;
      return slot;
    });
  }

  isIdle(name: string): boolean {
    const { shared } = this;
    // Count the variables lazily: INSERT DATA and DELETE DATA have none.
    shared.counts ??= shared.root ? countVariables(shared.root) : new Map();
    return shared.counts.get(name) === 1;
  }

  unnamed(): Slot {
    return this.shared.width++;
  }

  addPattern(): void {
    if (++this.shared.patterns > maxPatterns)
      throw new LwsError(
        'too-complex',
        `The query exceeds the limit of ${maxPatterns} triple patterns and path steps. Split it, or list terms with VALUES.`,
      );
  }

  inner(shared: readonly string[]): Names {
    return new Scope(this.shared, new Map(shared.map((name) => [name, this.slot(name)])));
  }
}

/** Returns the scope of a query. @param root operation for `isIdle`; undefined: no variable is idle */
export function namesOf(root: Algebra.Operation | undefined, base = ''): Names {
  let moment: Date | undefined;
  const facts = {
    base,
    get now() {
      moment ??= new Date();
      return moment;
    },
  };
  const isOfMoment = (): boolean => moment !== undefined;
  return new Scope(
    {
      width: 0,
      patterns: 0,
      variables: [],
      root,
      counts: undefined,
      marks: new Map(),
      terms: new Set(),
      facts,
      isOfMoment,
    },
    new Map(),
  );
}

function countVariables(root: Algebra.Operation): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { termType, value } of nodesOf(root) as Iterable<Partial<Term>>)
    if (termType === 'Variable') addCount(counts, value!, 1);
  return counts;
}
