/**
 * Compares graphs up to the names of blank nodes, without hashes: finds a mapping by color refinement with backtracking, and
 * verifies it. Must not depend on syntaxes.
 */

import type { Quad, Term } from '@rdfjs/types';

type Triple = readonly [subject: string, predicate: string, object: string];
type Colours = ReadonlyMap<string, number>;

/** Returns true if the graphs, as sets of triples without their graph component, are isomorphic (RDF 1.1 Concepts 3.6). */
export function isomorphic(left: readonly Quad[], right: readonly Quad[]): boolean {
  const a = distinctTriples(left);
  const b = distinctTriples(right);
  const uncoloured = (triples: readonly Triple[]): Colours =>
    new Map(
      triples.flatMap(([subject, , object]) => [subject, object].filter(isBlank).map((node) => [node, 0] as const)),
    );
  return a.length === b.length && match(a, b, uncoloured(a), uncoloured(b));
}

/** @param parts receives the triples of a triple term, which becomes a node, so that blank nodes in it are mapped like others */
function key(term: Term, parts: Triple[]): string {
  if (term.termType === 'BlankNode') return `_:${term.value}`;
  if (term.termType === 'Quad') {
    const terms = [term.subject, term.predicate, term.object].map((each) => key(each, parts));
    const node = `_:${JSON.stringify(terms)}`;
    for (const [at, each] of terms.entries()) parts.push([node, `term ${at}`, each]);
    return node;
  }
  if (term.termType !== 'Literal') return `<${term.value}>`;
  return JSON.stringify([term.value, term.language ?? '', term.direction || '', term.datatype.value]);
}

function isBlank(node: string): boolean {
  return node.startsWith('_:');
}

function distinctTriples(quads: readonly Quad[]): Triple[] {
  const triples: Triple[] = [];
  for (const { subject, predicate, object } of quads)
    triples.push([key(subject, triples), key(predicate, triples), key(object, triples)]);
  return [...new Map(triples.map((triple) => [triple.join('\n'), triple])).values()];
}

function match(a: readonly Triple[], b: readonly Triple[], coloursOfA: Colours, coloursOfB: Colours): boolean {
  const numbers = new Map<string, number>();
  let inA = coloursOfA;
  let inB = coloursOfB;
  for (let classes = 0; classes < new Set(inA.values()).size; ) {
    classes = new Set(inA.values()).size;
    inA = refined(a, inA, numbers);
    inB = refined(b, inB, numbers);
  }
  const classesOfA = byColour(inA);
  const classesOfB = byColour(inB);
  if (classesOfA.size !== classesOfB.size) return false;
  let ambiguous: number | undefined;
  for (const [colour, nodes] of classesOfA) {
    if (classesOfB.get(colour)?.length !== nodes.length) return false;
    if (nodes.length > 1) ambiguous ??= colour;
  }
  if (ambiguous === undefined) {
    return isMapping(a, b, (node) => classesOfB.get(inA.get(node)!)![0]!);
  }
  const [chosen] = classesOfA.get(ambiguous)!;
  return classesOfB
    .get(ambiguous)!
    .some((candidate) => match(a, b, new Map([...inA, [chosen!, -1]]), new Map([...inB, [candidate, -1]])));
}

/** One round: a node's next color combines its own and those of all its triples. */
function refined(triples: readonly Triple[], colours: Colours, numbers: Map<string, number>): Colours {
  const signatures = new Map([...colours].map(([node, colour]) => [node, [String(colour)]]));
  const colour = (node: string): string => (isBlank(node) ? `_${colours.get(node)}` : node);
  for (const [subject, predicate, object] of triples) {
    signatures.get(subject)?.push(`> ${predicate} ${subject === object ? 'itself' : colour(object)}`);
    signatures.get(object)?.push(`< ${predicate} ${colour(subject)}`);
  }
  const next = new Map<string, number>();
  for (const [node, parts] of signatures) {
    const signature = parts.sort().join('\n');
    if (!numbers.has(signature)) numbers.set(signature, numbers.size + 1);
    next.set(node, numbers.get(signature)!);
  }
  return next;
}

function byColour(colours: Colours): Map<number, string[]> {
  const classes = new Map<number, string[]>();
  for (const [node, colour] of colours) classes.set(colour, [...(classes.get(colour) ?? []), node]);
  return classes;
}

function isMapping(a: readonly Triple[], b: readonly Triple[], map: (node: string) => string): boolean {
  const expected = new Set(b.map((triple) => triple.join('\n')));
  const mapped = (node: string): string => (isBlank(node) ? map(node) : node);
  return a.every(([subject, predicate, object]) =>
    expected.has([mapped(subject), predicate, mapped(object)].join('\n')),
  );
}
