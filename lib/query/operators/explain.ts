/** Explains a plan as a tree of operators with arguments, estimated rows, and actual rows if it was run before. */
import type { BlankNode, Literal, NamedNode } from '@rdfjs/types';
import { bracketed, quotedLiteral, shortString } from '../../rdf/turtle-terms.js';
import { getOrMake } from '../../tools/collections.js';
import { isTriple, type TermKey, termOf } from '../access/terms.js';
import { partsOfTriple } from '../access/triple-terms.js';
import { type Pattern, type Place, type Plan, partsOf, type Slot } from '../plan/plan.js';
import type { Execution, Observer } from './execution.js';
import { JoinOrder } from './join-order.js';
import { estimateOf } from './pattern-access.js';
import { addDerived } from './triple-terms.js';

/** Operator of a plan, with its statistics. Counts include readable quads only. */
export interface ExplainedPart {
  readonly operator: string;
  /** Arguments of the operator as text: a pattern, variables or counts. */
  readonly about?: string;
  /** Estimated count of matches. */
  readonly estimate?: number;
  /** Count of returned rows, and time that consumers have waited for the rows, including the time of inputs. */
  readonly rows?: number;
  readonly milliseconds?: number;
  readonly parts?: readonly ExplainedPart[];
}

type Part = Plan | Pattern;

/** Statistics of operators, recorded while a plan runs. */
export class Observed implements Observer {
  private readonly parts = new Map<Part, { rows: number; milliseconds: number }>();
  /** Parts of each join, in the order of execution. */
  private readonly orders = new Map<Part, Part[]>();

  constructor(readonly isRun: boolean) {}

  taken(join: Part, item: Part): void {
    const order = this.orders.get(join) ?? [];
    if (!order.includes(item)) this.orders.set(join, [...order, item]);
  }

  orderOf(join: Part): readonly Part[] | undefined {
    return this.orders.get(join);
  }

  of(part: Part): { readonly rows: number; readonly milliseconds: number } | undefined {
    return this.parts.get(part);
  }

  /** Yields the blocks unchanged. Records the count of rows and the time until each block. */
  async *watched<T extends { readonly length: number }>(part: Part, blocks: AsyncIterable<T>): AsyncGenerator<T> {
    const own = getOrMake(this.parts, part, () => ({ rows: 0, milliseconds: 0 }));
    const iterator = blocks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const began = performance.now();
        const next = await iterator.next();
        own.milliseconds += performance.now() - began;
        if (next.done) return;
        own.rows += next.value.length;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }
}

/** Plan and its execution context. */
export interface Explainable {
  readonly plan: Plan;
  readonly execution: Execution;
  /** Variable names by slot. */
  readonly variables: readonly (string | undefined)[];
}

export function explained({ plan, execution, variables }: Explainable, observed: Observed): Promise<ExplainedPart> {
  const triples = new Map(
    [...partsOf(plan)]
      .flatMap((part) => ('triples' in part ? part.triples : []))
      .map((triple) => [triple.slot, triple.places]),
  );
  const nameOf = (slot: Slot): string => {
    const triple = triples.get(slot);
    if (triple) return `<<( ${triple.map(placeText).join(' ')} )>>`;
    return variables[slot] === undefined ? `?_${slot}` : `?${variables[slot]}`;
  };
  const names = (slots: Iterable<Slot>): string => [...slots].map(nameOf).join(' ');
  const placeText = (place: Place): string =>
    !place ? '[]' : 'token' in place ? termText(place.token) : nameOf(place.slot);

  const told = async (part: Part): Promise<ExplainedPart> => {
    const found = observed.of(part);
    const numbers = found && { rows: found.rows, milliseconds: Math.round(found.milliseconds * 1000) / 1000 };
    if ('places' in part) {
      const [subject, predicate, object, graph] = part.places.map(placeText);
      const triple = `${subject} ${predicate} ${object}`;
      const about = part.places[3] ? `GRAPH ${graph} { ${triple} }` : triple;
      const estimate = await estimateOf(execution, part);
      return { operator: 'pattern', about, estimate, ...numbers };
    }
    const { parts: inner, ...facts } = about(part, names, placeText);
    const ordered = part.kind === 'join' ? await orderOf(part) : inner;
    const parts: ExplainedPart[] = [];
    for (const each of ordered) parts.push(await told(each));
    return { ...facts, ...numbers, ...(parts.length > 0 ? { parts } : {}) };
  };

  const orderOf = async (join: Extract<Plan, { kind: 'join' }>): Promise<readonly Part[]> => {
    const items: Part[] = [...join.patterns, ...join.parts];
    const taken = observed.orderOf(join) ?? [];
    const left = items.filter((item) => !taken.includes(item));
    if (left.length < 2) return [...taken, ...left];
    const bound = new Set(taken.flatMap((item) => ('places' in item ? [...item.slots] : [...item.certain])));
    addDerived(bound, join.triples);
    const order = await JoinOrder.of(execution, left, { bound, rows: 1, filters: join.filters, triples: join.triples });
    const rest: Part[] = [];
    while (!order.isOver) rest.push(await order.next(bound));
    return [...taken, ...rest];
  };
  return told(plan);
}

function termText(token: TermKey): string {
  if (isTriple(token)) return `<<( ${partsOfTriple(token).map(termText).join(' ')} )>>`;
  const term = termOf(token) as NamedNode | BlankNode | Literal;
  if (term.termType === 'NamedNode') return bracketed(term.value);
  return term.termType === 'BlankNode' ? `_:${term.value}` : quotedLiteral(term, shortString, bracketed);
}

interface About {
  readonly operator: string;
  readonly about?: string;
  readonly parts: readonly Part[];
}

/** Returns name, arguments and inputs of an operator. */
function about(plan: Plan, names: (slots: Iterable<Slot>) => string, placeText: (place: Place) => string): About {
  switch (plan.kind) {
    case 'join':
      return {
        operator: 'join',
        ...(plan.filters.length > 0 && { about: filtersText(plan.filters.length) }),
        parts: [],
      };
    case 'values':
      return { operator: 'values', about: `${names(plan.possible)}, ${plan.rows.length} rows`, parts: [] };
    case 'union':
      return { operator: 'union', parts: plan.inputs };
    case 'closure':
      return { operator: 'path', about: `${placeText(plan.from)} to ${placeText(plan.to)}`, parts: [plan.step] };
    case 'graphs':
      return { operator: 'graphs', about: placeText(plan.graph), parts: [] };
    case 'filter':
      return { operator: 'filter', about: names(plan.condition.slots), parts: [plan.input] };
    case 'leftJoin':
      return { operator: 'optional', parts: [plan.left, plan.right] };
    case 'semiJoin': {
      const name = plan.existence.minus ? 'minus' : plan.isKept ? 'exists' : 'not exists';
      return { operator: name, about: names(plan.existence.shared), parts: [plan.left, plan.existence.right] };
    }
    case 'mark':
      return { operator: 'exists', parts: [plan.input, ...plan.marks.map(({ existence }) => existence.right)] };
    case 'extend':
      return { operator: 'extend', about: names([plan.slot]), parts: [plan.input] };
    case 'group':
      return { operator: 'group', about: names(plan.slots), parts: [plan.input] };
    case 'order':
      return { operator: 'order', parts: [plan.input] };
    case 'distinct':
      return { operator: 'distinct', about: names(plan.slots), parts: [plan.input] };
    case 'slice':
      return { operator: 'slice', about: `from ${plan.start}, ${plan.length} rows`, parts: [plan.input] };
    case 'service':
      return { operator: 'service', about: names(plan.possible), parts: plan.left ? [plan.left] : [] };
  }
}

const filtersText = (count: number): string => (count === 1 ? 'one filter' : `${count} filters`);
