/** Groups the triples of a graph by subject and finds blank nodes and lists that can be written inline. */

import type { BaseQuad, Quad, Term } from '@rdfjs/types';
import { withoutFragment } from './compact-iri.js';
import { rdf } from './vocabulary.js';

/** Maximum nesting of inline nodes and lists. Deeper nodes get labels, so that no input exhausts the stack. */
export const MAX_NESTING = 16;

/** IRI or blank node, with the triples that have it as subject. */
export interface GraphNode {
  /** The IRI, or the label of the blank node in the input. */
  readonly value: string;
  readonly blank: boolean;
  /** Objects by predicate, both in order of appearance. */
  readonly properties: Map<string, Term[]>;
  /** Reference count: 1 for each triple with this blank node as object, 2 for each triple term with it. Unused for IRIs. */
  references: number;
  /** Subject and predicate of the last triple with this blank node as object. */
  referrer: GraphNode | undefined;
  via: string;
  /** True for a cell of a list that is well-formed from this cell to the end. */
  isCell: boolean;
  /** True after the writer has started to write the triples of the node. */
  written: boolean;
  /** Label of the blank node in the output, set by `nodeLabel`. */
  label: string | undefined;
}

export interface GraphShape {
  /** Subjects in order of appearance: the document first, then its fragments, then the others. */
  readonly subjects: readonly GraphNode[];
  /** All blank nodes by input label, including those that are never a subject. */
  readonly blanks: ReadonlyMap<string, GraphNode>;
  /** Nodes that were written as labels instead of inline. `visitSubjects` then writes their triples. */
  readonly deferred: GraphNode[];
  /** Count of issued labels. */
  labels: number;
}

function newNode(value: string, blank: boolean): GraphNode {
  return {
    value,
    blank,
    properties: new Map(),
    references: 0,
    referrer: undefined,
    via: '',
    isCell: false,
    written: false,
    label: undefined,
  };
}

/**
 * Groups triples by subject and predicate, counts references to blank nodes, and marks well-formed lists. Ignores the graph of
 * the quads. Keeps duplicate triples; a list with duplicates is not well-formed.
 */
export function shapeOf(quads: readonly Quad[], base: string): GraphShape {
  const named = new Map<string, GraphNode>();
  const blanks = new Map<string, GraphNode>();
  const subjects: GraphNode[] = [];
  const lastCells: GraphNode[] = [];
  let node: GraphNode | undefined;
  for (const quad of quads) {
    const blank = quad.subject.termType === 'BlankNode';
    const value = quad.subject.value;
    // Reuse the last node, because triples of one subject are usually adjacent.
    if (node === undefined || node.value !== value || node.blank !== blank) {
      node = obtain(blank ? blanks : named, value, blank);
      if (node.properties.size === 0) subjects.push(node);
    }
    const predicate = quad.predicate.value;
    const object: Term = quad.object;
    const objects = node.properties.get(predicate);
    if (objects === undefined) node.properties.set(predicate, [object]);
    else objects.push(object);
    if (object.termType === 'BlankNode') refer(node, predicate, obtain(blanks, object.value, true));
    else if (object.termType === 'Quad') referWithin(blanks, object);
    else if (blank && predicate === rdf.rest && object.value === rdf.nil) lastCells.push(node);
  }
  markLists(lastCells);
  return { subjects: documentFirst(subjects, base), blanks, deferred: [], labels: 0 };
}

function obtain(nodes: Map<string, GraphNode>, value: string, blank: boolean): GraphNode {
  let node = nodes.get(value);
  if (node === undefined) {
    node = newNode(value, blank);
    nodes.set(value, node);
  }
  return node;
}

function refer(from: GraphNode, predicate: string, to: GraphNode): void {
  to.references++;
  to.referrer = from;
  to.via = predicate;
}

/** Counts blank nodes in triple terms as referenced twice: syntaxes have no inline form for them, so they need labels. */
function referWithin(blanks: Map<string, GraphNode>, { subject, object }: BaseQuad): void {
  for (const term of [subject, object])
    if (term.termType === 'Quad') referWithin(blanks, term);
    else if (term.termType === 'BlankNode') obtain(blanks, term.value, true).references += 2;
}

/** Marks the cells of well-formed lists, from the end to the head, so that each cell is visited once even in broken lists. */
function markLists(lastCells: readonly GraphNode[]): void {
  for (const last of lastCells) {
    let cell: GraphNode | undefined = last;
    while (cell !== undefined && looksLikeCell(cell)) {
      cell.isCell = true;
      cell = cell.via === rdf.rest ? cell.referrer : undefined;
    }
  }
}

function looksLikeCell(node: GraphNode): boolean {
  const { properties } = node;
  return (
    node.blank &&
    node.references === 1 &&
    properties.size === 2 &&
    properties.get(rdf.first)?.length === 1 &&
    properties.get(rdf.rest)?.length === 1
  );
}

function documentFirst(subjects: GraphNode[], base: string): GraphNode[] {
  if (subjects.length < 2) return subjects;
  const document = withoutFragment(base);
  const fragments = `${document}#`;
  const first: GraphNode[] = [];
  const second: GraphNode[] = [];
  const others: GraphNode[] = [];
  for (const node of subjects) {
    if (node.blank || !node.value.startsWith(document)) others.push(node);
    else if (node.value.length === document.length) first.push(node);
    else (node.value.startsWith(fragments) ? second : others).push(node);
  }
  return first.concat(second, others);
}

/** Returns the items of the list with this head and marks all its cells as written. */
export function takeList(shape: GraphShape, head: GraphNode): Term[] {
  const items: Term[] = [];
  let cell: GraphNode | undefined = head;
  while (cell !== undefined) {
    cell.written = true;
    items.push(cell.properties.get(rdf.first)![0]!);
    const rest: Term = cell.properties.get(rdf.rest)![0]!;
    cell = rest.termType === 'BlankNode' ? shape.blanks.get(rest.value) : undefined;
  }
  return items;
}

/** Returns the output label of a blank node: `b0`, `b1`... in order of the calls. */
export function nodeLabel(shape: GraphShape, node: GraphNode): string {
  node.label ??= `b${shape.labels++}`;
  return node.label;
}

/**
 * Calls `write` once for each subject that is not written inline.
 *
 * If `isInline` returns true for a node, `write` nests it at its only reference. Nodes that only reference each
 * other form cycles: one node of each cycle is written separately. `write` must set `written`, and adds nodes that
 * it could not nest to `deferred`.
 */
export function visitSubjects(
  shape: GraphShape,
  isInline: (node: GraphNode) => boolean,
  write: (node: GraphNode) => void,
): void {
  const visit = (node: GraphNode): void => {
    write(node);
    // `write` may append to the list during the loop.
    for (const next of shape.deferred) if (!next.written) write(next);
    shape.deferred.length = 0;
  };
  for (const node of shape.subjects) if (!node.written && !isInline(node)) visit(node);
  for (const node of shape.subjects) if (!node.written) visit(openCycle(shape, node));
}

/** Returns a node on the cycle that leads to `node`. The node can be written separately: no list contains it as a cell. */
function openCycle(shape: GraphShape, node: GraphNode): GraphNode {
  const seen = new Set<GraphNode>();
  let entry = node;
  while (!seen.has(entry) && entry.referrer !== undefined) {
    seen.add(entry);
    entry = entry.referrer;
  }
  let cell: GraphNode | undefined = entry;
  while (cell?.isCell) {
    cell.isCell = false;
    // Defer the cells: otherwise each cell would later be found unwritten, and the cycle would be searched once per cell.
    shape.deferred.push(cell);
    cell = cell.via === rdf.rest ? cell.referrer : undefined;
  }
  return entry;
}
