/** Analyzes how a group uses its GRAPH's variable, to decide if the variable can be bound to the graph name. Pure. */
import type { Algebra } from '@comunica/utils-algebra';
import { DataFactory } from 'rdf-data-factory';
import { nodesOf } from './query-scopes.js';

const factory = new DataFactory();

const isIt = (term: unknown, name: string): boolean => {
  const { termType, value } = term as { termType?: string; value?: string };
  return termType === 'Variable' && value === name;
};

/** Returns true if a variable occurs in a part of the algebra. */
export function namesVariable(root: unknown, name: string): boolean {
  for (const node of nodesOf(root)) if (isIt(node, name)) return true;
  return false;
}

/** Returns true if a part of the algebra contains an EXISTS. */
export function asksPatterns(root: unknown): boolean {
  for (const node of nodesOf(root)) if (node['subType'] === 'existence') return true;
  return false;
}

/** Renames a variable in a part of the algebra, in place. */
export function renameVariable(root: unknown, from: string, to: string): void {
  for (const node of nodesOf(root) as Iterable<Record<string, unknown>>)
    for (const [key, member] of Object.entries(node)) {
      if (Array.isArray(member))
        node[key] = member.map((each) => (isIt(each ?? {}, from) ? factory.variable(to) : each));
      else if (isIt(member ?? {}, from)) node[key] = factory.variable(to);
      // In a VALUES row, the keys are variable names, which are renamed, too.
      if (key === 'bindings')
        for (const row of member as Record<string, unknown>[])
          if (row[from] !== undefined) {
            row[to] = row[from];
            delete row[from];
          }
    }
}

/** Whether all, some or none of an operation's solutions bind a variable. */
enum Bound {
  never,
  sometimes,
  always,
}

/** Use of a variable in a group. */
interface Use {
  /** True if some solutions of the group may bind the variable. */
  readonly isBound: boolean;
  /**
   * True if the group may be evaluated with the variable bound to the graph name, although SPARQL joins the name after the
   * group (18.6). False if an unbound variable makes a difference: in the right operand of OPTIONAL or MINUS, and below LIMIT
   * or an aggregate.
   */
  readonly isSafe: boolean;
}

export function useOf(group: Algebra.Operation, name: string): Use {
  let isSafe = true;
  const boundIn = (node: Algebra.Operation): Bound => {
    const { input, variables = [] } = node as { input?: unknown; variables?: unknown[] };
    const inner = (): Bound => boundIn(input as Algebra.Operation);
    const inputs = (): Bound[] => (input as Algebra.Operation[]).map(boundIn);
    const isListed = variables.some((term) => isIt(term, name));
    switch (node.type) {
      case 'bgp':
        return Math.max(Bound.never, ...(node as Algebra.Bgp).patterns.map((pattern) => boundIn(pattern)));
      case 'pattern':
      case 'path': {
        const { subject, predicate, object } = node as Algebra.Pattern;
        return [subject, predicate, object].some((term) => namesVariable(term, name)) ? Bound.always : Bound.never;
      }
      case 'values': {
        const rows = (node as Algebra.Values).bindings;
        if (!isListed) return Bound.never;
        return rows.every((row) => Object.hasOwn(row, name)) ? Bound.always : Bound.sometimes;
      }
      case 'join':
        return Math.max(Bound.never, ...inputs());
      case 'union': {
        const all = inputs();
        return all.every((each) => each === all[0]) ? (all[0] ?? Bound.never) : Bound.sometimes;
      }
      case 'leftjoin':
      case 'minus': {
        const [left, right] = inputs() as [Bound, Bound];
        const isSame = left === Bound.always && (node.type === 'leftjoin' || right === Bound.always);
        if (right !== Bound.never && !isSame) isSafe = false;
        return left;
      }
      case 'extend':
        return Math.max(inner(), isIt((node as Algebra.Extend).variable, name) ? Bound.sometimes : Bound.never);
      case 'project':
        return isListed ? inner() : Bound.never;
      case 'distinct':
      case 'group':
      case 'slice': {
        const bound = inner();
        // Solutions without the variable must not merge with solutions that have the graph name.
        if (bound === Bound.sometimes && node.type !== 'slice') isSafe = false;
        if (bound !== Bound.never && !isListed && node.type !== 'distinct') isSafe = false;
        return isListed || node.type !== 'group' ? bound : Bound.never;
      }
      case 'graph':
        return Math.max(inner(), isIt((node as Algebra.Graph).name, name) ? Bound.always : Bound.never);
      case 'filter':
      case 'orderby':
      case 'reduced':
        return inner();
      default:
        return namesVariable(node, name) ? Bound.sometimes : Bound.never;
    }
  };
  const isBound = boundIn(group) !== Bound.never;
  return { isBound, isSafe };
}
