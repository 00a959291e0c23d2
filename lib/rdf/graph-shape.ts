/**
 * Groups the triples of one graph by subject, and finds the blank nodes and lists that a syntax may write in place. It knows RDF terms
 * only.
 */

import type { Quad, Term } from '@rdfjs/types';
import { withoutFragment } from './compact-iri.js';
import { rdf } from './vocabulary.js';

/** How deep writers nest one node or list in another: past it they use labels, so that no input exhausts the stack. */
export const MAX_NESTING = 16;

/** One IRI or blank node, with all triples of which it is the subject. */
export interface GraphNode {
  /** The IRI, or the blank node's name in the input. */
  readonly value: string;
  readonly blank: boolean;
  /** The objects by predicate, both in order of appearance. */
  readonly properties: Map<string, Term[]>;
  /** How many triples have this blank node as their object (not counted for IRIs). */
  references: number;
  /** Subject and predicate of the last triple that has this blank node as its object. */
  referrer: GraphNode | undefined;
  via: string;
  /** A cell of a well-formed list, with only such cells after it. */
  isCell: boolean;
  /** Set by the writer, as soon as it starts on this node's triples. */
  written: boolean;
  /** The blank node's name in the output; set by `labelOf`. */
  label: string | undefined;
}

export interface GraphShape {
  /** All subjects in order of appearance, but the document itself first and then its fragments. */
  readonly subjects: readonly GraphNode[];
  /** All blank nodes by their name in the input, those that are never a subject included. */
  readonly blanks: ReadonlyMap<string, GraphNode>;
  /** Nodes of which a label was written in place of their triples: `visitSubjects` writes them next. */
  readonly deferred: GraphNode[];
  /** The number of labels that were given out. */
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
 * Groups triples by subject and predicate, counts the references to blank nodes, and marks well-formed lists.
 * The graph component of the quads is ignored. Duplicate triples are kept, which makes no list well-formed.
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
    // Triples of one subject mostly come together.
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

/** From the end to the head, so that each cell is looked at once, however long and however broken the list is. */
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

/** The items of the list with head `head`, of which all cells count as written from then on. */
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

/** The name of a blank node in the output: `b0`, `b1`... in the order in which the writer asks for them. */
export function labelOf(shape: GraphShape, node: GraphNode): string {
  node.label ??= `b${shape.labels++}`;
  return node.label;
}

/**
 * Calls `write` once for each subject that is to stand on its own.
 *
 * `isInline` tells which nodes `write` puts in place where it meets their only reference. Those that are reached by
 * nothing but each other form cycles: one node of each cycle is written on its own after all. `write` must set
 * `written`, and may put nodes that it did not want to nest into `deferred`.
 */
export function visitSubjects(
  shape: GraphShape,
  isInline: (node: GraphNode) => boolean,
  write: (node: GraphNode) => void,
): void {
  const visit = (node: GraphNode): void => {
    write(node);
    // The list grows while it is read.
    for (const next of shape.deferred) if (!next.written) write(next);
    shape.deferred.length = 0;
  };
  for (const node of shape.subjects) if (!node.written && !isInline(node)) visit(node);
  for (const node of shape.subjects) if (!node.written) visit(openCycle(shape, node));
}

/** A node on the cycle that leads to `node`, fit to be written on its own: no list runs through it any more. */
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
    // Or each of the cells would be found unwritten, and the cycle be walked once for each.
    shape.deferred.push(cell);
    cell = cell.via === rdf.rest ? cell.referrer : undefined;
  }
  return entry;
}
