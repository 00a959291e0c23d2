/**
 * Evaluates property paths of arbitrary length. For each start node, yields once each node that repeated steps in one graph
 * reach (function ALP of SPARQL 1.1, 18.4). Successors of nodes are cached.
 */
import { addNew, addTo } from '../../tools/collections.js';
import type { Terms } from '../access/key-reader.js';
import { joinTokens, type TermKey } from '../access/terms.js';
import { type Blocks, type ClosurePlan, type Place, type Plan, type Row, type Slot, termAt } from '../plan/plan.js';
import { blockLength, type Execution, emptyRow, oneBlock, recall } from './execution.js';
import { graphNames } from './named-graphs.js';

/** Tests for zero-length paths (SPARQL 1.1 18.4). They start at the nodes of a graph: its subjects and objects. */
interface GraphNodes {
  /**
   * Returns true if a zero-length path matches the ends that a row binds. A constant always matches. A variable matches only if
   * its term is a node of the graph.
   */
  mayBegin(row: Row): Promise<boolean>;
}

function graphNodes(execution: Execution, plan: ClosurePlan): GraphNodes {
  const { from, to, graph, part, needsNodes, terms } = plan;
  const known = recall(execution, { part: plan, as: 'nodes' }, () => new Map<string, boolean>());
  const isTerm = (place: Place, row: Row): boolean =>
    !!place &&
    ('token' in place ||
      (row[place.slot] !== undefined && (terms.has(place.slot) || execution.outer?.[place.slot] !== undefined)));
  const hasMatch = async (bound: Terms): Promise<boolean> => {
    for await (const block of execution.matches.stream(bound, { part, places: [] })) if (block.length > 0) return true;
    return false;
  };
  const isNode = async (token: TermKey, own: TermKey | undefined): Promise<boolean> =>
    (await hasMatch([token, undefined, undefined, own])) || hasMatch([undefined, undefined, token, own]);
  return {
    async mayBegin(row) {
      const token = termAt(from, row) ?? termAt(to, row);
      if (!needsNodes || token === undefined || isTerm(from, row) || isTerm(to, row)) return true;
      const own = termAt(graph, row);
      const key = own === undefined ? token : `${own}\u0000${token}`;
      let found = known.get(key);
      if (found === undefined) {
        execution.assertTime();
        found = await isNode(token, own);
        known.set(key, found);
      }
      return found;
    },
  };
}

/** Node in a graph. If `graph` is `undefined`, the node is in the union of all graphs. */
interface Node {
  readonly token: TermKey;
  readonly graph: TermKey | undefined;
}

type Run = (plan: Plan, input: Blocks) => Blocks;

interface Direction {
  readonly start: Slot;
  readonly end: Slot;
  /** Cached successors by node. */
  readonly known: Map<string, readonly Node[]>;
  /** True if all steps are loaded. A node that is not in `known` then has no successor. */
  isWhole: boolean;
}

interface Memory {
  readonly forward: Direction;
  readonly backward: Direction;
  /** Start nodes of all steps, when they are loaded. */
  beginnings: readonly Node[] | undefined;
}

export async function* closure(
  execution: Execution,
  plan: ClosurePlan,
  input: Blocks,
  run: Run,
): AsyncGenerator<Row[]> {
  const walker = walkerOf(execution, plan, run);
  for await (const rows of input) {
    let out: Row[] = [];
    for await (const [row, from, to] of walker(rows)) {
      const merged = mergedWith(row, plan, from, to);
      if (!merged) continue;
      out.push(merged);
      if (out.length < blockLength) continue;
      execution.assertTime();
      yield out;
      out = [];
    }
    if (out.length > 0) yield out;
  }
}

function mergedWith(row: Row, { from, to, graph }: ClosurePlan, start: Node, end: Node): Row | undefined {
  const merged = row.slice();
  const put = (place: Place, token: TermKey | undefined): boolean => {
    if (!place || token === undefined) return true;
    if ('token' in place) return place.token === token;
    merged[place.slot] ??= token;
    return merged[place.slot] === token;
  };
  return put(from, start.token) && put(to, end.token) && put(graph, end.graph ?? start.graph) ? merged : undefined;
}

/** Returns the slot of the graph variable. Without one, nodes are compared without their graph. */
const graphSlot = ({ graph }: ClosurePlan): Slot | undefined => (graph && 'slot' in graph ? graph.slot : undefined);

type Walk = readonly [row: Row, from: Node, to: Node];

function walkerOf(execution: Execution, plan: ClosurePlan, run: Run): (rows: readonly Row[]) => AsyncGenerator<Walk> {
  const { from, to, graph, least, part } = plan;
  const memory = recall<Memory>(execution, { part: plan, as: 'steps' }, () => ({
    forward: { start: plan.start, end: plan.end, known: new Map(), isWhole: false },
    backward: { start: plan.end, end: plan.start, known: new Map(), isWhole: false },
    beginnings: undefined,
  }));
  const slot = graphSlot(plan);
  const steps = stepsOf(execution, plan, slot, run);
  const graphOf = (row: Row): TermKey | undefined => (slot === undefined ? undefined : row[slot]);

  /**
   * Yields the start nodes of a path with two unbound ends: every node for a path of zero length, otherwise nodes with a step.
   */
  async function* beginnings(row: Row): AsyncGenerator<Node> {
    const own = graphOf(row);
    const seen = new Set<string>();
    memory.beginnings ??= await steps.all(memory.forward);
    if (least === 1) {
      for (const node of memory.beginnings) if (own === undefined || node.graph === own) yield node;
      return;
    }
    const bound = [undefined, undefined, undefined, termAt(graph, row)];
    for await (const block of execution.matches.stream(bound, { part, places: part === 'named' ? [0, 2, 3] : [0, 2] }))
      for (const terms of block)
        for (const token of [terms[0]!, terms[2]!]) {
          const node = { token, graph: slot === undefined ? undefined : terms[3] };
          if (addNew(seen, keyOf(node))) yield node;
        }
  }

  const nodes = graphNodes(execution, plan);

  return async function* (rows) {
    for (const row of await withGraphs(execution, plan, rows)) {
      const [first, last, own] = [termAt(from, row), termAt(to, row), graphOf(row)];
      if (!(await nodes.mayBegin(row))) continue;
      if (first !== undefined) {
        const start = { token: first, graph: own };
        for await (const end of reached(execution, plan, memory.forward, steps.of, start)) yield [row, start, end];
      } else if (last !== undefined) {
        const end = { token: last, graph: own };
        for await (const start of reached(execution, plan, memory.backward, steps.of, end)) yield [row, start, end];
      } else
        for await (const start of beginnings(row))
          for await (const end of reached(execution, plan, memory.forward, steps.of, start)) yield [row, start, end];
    }
  };
}

/** Repeats rows of zero-length paths, which match in every graph: an unbound graph variable becomes one row per graph. */
async function withGraphs(execution: Execution, plan: ClosurePlan, rows: readonly Row[]): Promise<readonly Row[]> {
  const { graph, isNullable, part, from, to } = plan;
  if (!isNullable || part !== 'named' || !graph || 'token' in graph) return rows;
  const out: Row[] = [];
  let names: TermKey[] | undefined;
  for (const row of rows) {
    const isOpen = termAt(graph, row) === undefined && (termAt(from, row) ?? termAt(to, row)) !== undefined;
    if (!isOpen) out.push(row);
    else {
      names ??= await allOf(graphNames(execution));
      for (const name of names) {
        const copy = row.slice();
        copy[graph.slot] = name;
        out.push(copy);
      }
    }
  }
  return out;
}

async function allOf(blocks: AsyncIterable<readonly TermKey[]>): Promise<TermKey[]> {
  const all: TermKey[] = [];
  for await (const block of blocks) for (const token of block) all.push(token);
  return all;
}

const keyOf = ({ token, graph }: Node): string => (graph === undefined ? token : `${graph}\u0000${token}`);

/** Yields the nodes that the path reaches from `start`, by breadth-first search. */
async function* reached(
  { assertTime }: Execution,
  { least, most }: ClosurePlan,
  direction: Direction,
  step: (direction: Direction, nodes: readonly Node[]) => Promise<void>,
  start: Node,
): AsyncGenerator<Node> {
  const seen = new Set<string>();
  if (least === 0) {
    seen.add(keyOf(start));
    yield start;
  }
  let frontier: Node[] = [start];
  for (let length = 0; length < most && frontier.length > 0; length++) {
    assertTime();
    const unknown = direction.isWhole ? [] : frontier.filter((node) => !direction.known.has(keyOf(node)));
    if (unknown.length > 0) await step(direction, unknown);
    const next: Node[] = [];
    for (const node of frontier)
      for (const neighbour of direction.known.get(keyOf(node)) ?? []) {
        if (!addNew(seen, keyOf(neighbour))) continue;
        next.push(neighbour);
        yield neighbour;
      }
    frontier = next;
  }
}

function stepsOf(execution: Execution, { step, start, end, counter }: ClosurePlan, slot: Slot | undefined, run: Run) {
  const nodeAt = (row: Row, at: Slot): Node => ({
    token: row[at]!,
    graph: slot === undefined ? undefined : row[slot],
  });
  return {
    /** Evaluates one path step from several nodes in one run of the plan, and stores the successors in `direction.known`. */
    async of(direction: Direction, nodes: readonly Node[]): Promise<void> {
      const found = nodes.map(() => [] as Node[]);
      const rows = nodes.map(({ token, graph: own }, index) => {
        const row = emptyRow(execution);
        row[direction.start] = token;
        row[counter] = String(index);
        if (slot !== undefined) row[slot] = own;
        return row;
      });
      for await (const block of run(step, oneBlock(rows)))
        for (const row of block) found[Number(row[counter])]!.push(nodeAt(row, direction.end));
      for (const [index, node] of nodes.entries()) direction.known.set(keyOf(node), found[index]!);
    },
    /** Loads all steps. Returns the start nodes of the steps. */
    async all(direction: Direction): Promise<readonly Node[]> {
      const found = new Map<string, Node[]>();
      const beginnings: Node[] = [];
      const seen = new Set<string>();
      for await (const block of run(step, oneBlock([emptyRow(execution)])))
        for (const row of block) {
          const key = joinTokens(row, slot === undefined ? [start, end] : [start, end, slot]);
          if (!addNew(seen, key)) continue;
          const from = nodeAt(row, direction.start);
          if (!found.has(keyOf(from))) beginnings.push(from);
          addTo(found, keyOf(from), nodeAt(row, direction.end));
        }
      for (const [key, nodes] of found) direction.known.set(key, nodes);
      direction.isWhole = true;
      return beginnings;
    },
  };
}
