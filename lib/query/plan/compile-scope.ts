/** Scope shared by the parts of a query: variable names as slots, and the context of functions. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { addCount, getOrMake } from '../../tools/collections.js';
import { LwsError } from '../../tools/errors.js';
import type { Facts, Slot } from '../expressions/evaluate.js';
import { nodesOf } from '../parse/query-scopes.js';

/** Maximum number of triple patterns and path steps of a query. Planning a join is quadratic in it. */
const maxPatterns = 2000;

/** The query cannot be compiled and is rejected. The message names the unsupported part. */
export class NotCompiledError extends Error {}

/** The query has a term that is malformed: no state contains it, and no other server accepts it. */
export class MalformedTermError extends NotCompiledError {}

export interface Names {
  /** Returns the slot of a variable, a new one for a new name. */
  slot(name: string): Slot;
  /** Returns true if the variable occurs only once in the query. */
  isIdle(name: string): boolean;
  /** Returns a slot without variable. */
  unnamed(): Slot;
  /** Counts a triple pattern, or a step of a path. @throws LwsError `too-complex` above the limit */
  addPattern(): void;
  /** Returns a scope for a subquery, which only shares its projected variables. */
  inner(shared: readonly string[]): Names;
  /** Slots of EXISTS within expressions, by node. */
  readonly marks: Map<Algebra.Expression, Slot>;
  /** Slots that an input row binds for the EXISTS being compiled. */
  terms: ReadonlySet<Slot>;
  readonly width: number;
  /** Names of slots. A variable of a subquery may have the same name as another one. */
  readonly variables: readonly (string | undefined)[];
  readonly facts: Facts;
  /** The plan is for one execution, because it contains a value for one execution. */
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
    // INSERT DATA and DELETE DATA have no variables.
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

/** @param root operation in which variables are counted; absent: every variable is required */
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
