/** Property paths (SPARQL 1.1, 18.4): the pairs of terms that a path connects in one graph, with their cardinalities. */
import type { Term } from '@rdfjs/types';
import type { Path } from './algebra.js';
import { distinctBy, sameTerm, TooLarge, type Triple, termKey, variable } from './terms.js';

type Pair = readonly [start: Term, end: Term];

/** Ends of a path: terms, or variables for any term. */
export interface Ends {
  readonly from: Term;
  readonly to: Term;
}

const any = variable('_:any');
const isVariable = ({ termType }: Term): boolean => termType === 'Variable';
const fits = (end: Term, term: Term): boolean => isVariable(end) || sameTerm(end, term);
const maxPairs = 20_000;

/** eval(Path(from, path, to)) of 18.4. */
export function pairsOf(path: Path, graph: readonly Triple[], ends: Ends): readonly Pair[] {
  const { from, to } = ends;
  const of = (inner: Path, inside: Ends = ends): readonly Pair[] => pairsOf(inner, graph, inside);
  switch (path.kind) {
    case 'link':
      return steps(graph, ends, (predicate) => predicate === path.iri);
    case 'negated':
      // One solution for each triple.
      return steps(graph, ends, (predicate) => !path.iris.includes(predicate));
    case 'inverse':
      return of(path.of, { from: to, to: from }).map(([start, end]) => [end, start]);
    case 'alternative':
      return [...of(path.left), ...of(path.right)];
    case 'sequence':
      return joined(of(path.left, { from, to: any }), of(path.right, { from: any, to }));
    case 'zeroOrOne':
      return distinctPairs([...withoutStep(graph, ends), ...of(path.of)]);
    case 'zeroOrMore':
      return repeated(path.of, { graph, ends, isFirst: true });
    case 'oneOrMore':
      return repeated(path.of, { graph, ends, isFirst: false });
  }
}

const steps = (graph: readonly Triple[], { from, to }: Ends, has: (predicate: string) => boolean): Pair[] =>
  graph
    .filter(({ subject, predicate, object }) => has(predicate.value) && fits(from, subject) && fits(to, object))
    .map(({ subject, object }) => [subject, object]);

const distinctPairs = (all: readonly Pair[]): Pair[] => distinctBy(all, (pair) => pair.map(termKey).join(' '));

function joined(left: readonly Pair[], right: readonly Pair[]): readonly Pair[] {
  const all = left.flatMap(([start, stop]) =>
    right.filter(([next]) => sameTerm(stop, next)).map(([, end]): Pair => [start, end]),
  );
  if (all.length > maxPairs) throw new TooLarge();
  return all;
}

/** Subjects and objects of the graph. */
const nodesOf = (graph: readonly Triple[]): Term[] =>
  distinctBy(
    graph.flatMap(({ subject, object }) => [subject, object]),
    termKey,
  );

/** ZeroLengthPath: a term is connected with itself, even if the graph does not contain it. */
function withoutStep(graph: readonly Triple[], { from, to }: Ends): Pair[] {
  if (isVariable(from) && isVariable(to)) return nodesOf(graph).map((node) => [node, node]);
  const term = isVariable(from) ? to : from;
  return fits(to, term) ? [[term, term]] : [];
}

interface Repetition {
  readonly graph: readonly Triple[];
  readonly ends: Ends;
  /** True if the start is reached by zero steps. */
  readonly isFirst: boolean;
}

function repeated(path: Path, { graph, ends, isFirst }: Repetition): readonly Pair[] {
  const { from, to } = ends;
  if (isVariable(from) && !isVariable(to)) {
    const backwards = { graph, ends: { from: to, to: from }, isFirst };
    return repeated({ kind: 'inverse', of: path }, backwards).map(([start, end]) => [end, start]);
  }
  const next = (term: Term): Term[] => pairsOf(path, graph, { from: term, to: any }).map(([, end]) => end);
  return (isVariable(from) ? nodesOf(graph) : [from]).flatMap((start) =>
    reachable(isFirst ? [start] : next(start), next)
      .filter((end) => fits(to, end))
      .map((end): Pair => [start, end]),
  );
}

/** ALP: returns each reachable term once. */
function reachable(starts: readonly Term[], next: (term: Term) => readonly Term[]): Term[] {
  const found = new Map<string, Term>();
  const queue = [...starts];
  for (let term = queue.pop(); term; term = queue.pop()) {
    if (found.has(termKey(term))) continue;
    found.set(termKey(term), term);
    queue.push(...next(term));
  }
  return [...found.values()];
}
