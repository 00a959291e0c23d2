/** SHACL property paths (2.3.1): parsing, evaluation, and their SPARQL notation. Paths can be nested. */
import { isBlank, isIri, type TermKey } from '../../lib/query/access/terms.js';
import { rdf } from '../../lib/rdf/vocabulary.js';
import { reachableFrom, type TokenGraph } from './token-graph.js';
import { sh, UnusableShapes } from './vocabulary.js';

type Repetition = 'zeroOrMore' | 'oneOrMore' | 'zeroOrOne';

export type Path =
  | { readonly kind: 'predicate'; readonly iri: TermKey }
  | { readonly kind: 'sequence' | 'alternative'; readonly paths: readonly Path[] }
  | { readonly kind: 'inverse' | Repetition; readonly path: Path };

/** Maximum nodes of a path. */
const maxSteps = 64;
const kinds = ['inverse', 'zeroOrMore', 'oneOrMore', 'zeroOrOne'] as const;

/** Returns the path that a node of the shapes graph describes. @throws UnusableShapes */
export function readPath(graph: TokenGraph, node: TermKey): Path {
  let steps = 0;
  const read = (at: TermKey): Path => {
    if (++steps > maxSteps) throw new UnusableShapes(`A path has more than ${maxSteps} steps.`);
    if (isIri(at) && at !== rdf.nil) return { kind: 'predicate', iri: at };
    const sequence = graph.objects(at, rdf.first).length > 0 ? graph.list(at) : undefined;
    if (sequence && sequence.length > 1) return { kind: 'sequence', paths: sequence.map(read) };
    if (!sequence && isBlank(at)) {
      const [alternative] = graph.objects(at, `${sh}alternativePath`);
      const paths = alternative === undefined ? undefined : graph.list(alternative);
      if (paths && paths.length > 1) return { kind: 'alternative', paths: paths.map(read) };
      for (const kind of kinds) {
        const [inner] = graph.objects(at, `${sh}${kind}Path`);
        if (inner !== undefined) return { kind, path: read(inner) };
      }
    }
    throw new UnusableShapes('A sh:path is neither an IRI nor a well-formed path (SHACL 2.3.1).');
  };
  return read(node);
}

/** Returns the inverse path. */
function reversed(path: Path): Path {
  if (path.kind === 'predicate') return { kind: 'inverse', path };
  if (path.kind === 'inverse') return path.path;
  if (!('paths' in path)) return { ...path, path: reversed(path.path) };
  return { ...path, paths: (path.kind === 'sequence' ? path.paths.toReversed() : path.paths).map(reversed) };
}

/** Returns the nodes that a path leads to. */
export function follow(graph: TokenGraph, path: Path, from: Iterable<TermKey>): Set<TermKey> {
  switch (path.kind) {
    case 'predicate':
      return new Set([...from].flatMap((node) => graph.objects(node, path.iri)));
    case 'inverse': {
      const { path: inner } = path;
      if (inner.kind !== 'predicate') return follow(graph, reversed(inner), from);
      return new Set([...from].flatMap((node) => graph.subjects(inner.iri, node)));
    }
    case 'sequence':
      return path.paths.reduce((nodes, inner) => follow(graph, inner, nodes), new Set(from));
    case 'alternative':
      return new Set(path.paths.flatMap((inner) => [...follow(graph, inner, from)]));
    default: {
      const step = (nodes: Iterable<TermKey>): Set<TermKey> => follow(graph, path.path, nodes);
      const reached = path.kind === 'zeroOrOne' ? step(from) : reachableFrom(from, (node) => step([node]));
      return path.kind === 'oneOrMore' ? reached : new Set([...from, ...reached]);
    }
  }
}

const signs = { zeroOrMore: '*', oneOrMore: '+', zeroOrOne: '?' } as const;

/** Returns a path in SPARQL notation. @param name returns the text of an IRI */
export function pathText(path: Path, name: (iri: TermKey) => string): string {
  switch (path.kind) {
    case 'predicate':
      return name(path.iri);
    case 'sequence':
    case 'alternative':
      return `(${path.paths.map((inner) => pathText(inner, name)).join(path.kind === 'sequence' ? '/' : '|')})`;
    case 'inverse':
      return `^${pathText(path.path, name)}`;
    default:
      return `${pathText(path.path, name)}${signs[path.kind]}`;
  }
}
