/** In-memory graph of token strings, indexed by subject and, on demand, by object. */
import { KeyReader } from '../../lib/query/access/key-reader.js';
import { isIri, isTriple, literalParts, type TermKey } from '../../lib/query/access/terms.js';
import { rdf, xsd } from '../../lib/rdf/vocabulary.js';
import { addTo, getOrMake } from '../../lib/tools/collections.js';

/** Objects by subject and predicate; in reverse, subjects by object and predicate. */
type Index = Map<TermKey, Map<TermKey, TermKey[]>>;

function edgesOf(index: Index, node: TermKey): Map<TermKey, TermKey[]> {
  return getOrMake(index, node, () => new Map());
}

const none: readonly TermKey[] = [];

export class TokenGraph {
  private readonly forward: Index = new Map();
  private backward: Index | undefined;

  /** @param blocks GSPO keys of the graph */
  constructor(blocks: Iterable<readonly string[]>) {
    const reader = new KeyReader();
    for (const keys of blocks)
      for (const key of keys) {
        reader.read(key);
        addTo(edgesOf(this.forward, reader.token(0)), reader.token(1), reader.token(2));
      }
  }

  objects(subject: TermKey, predicate: TermKey): readonly TermKey[] {
    return this.forward.get(subject)?.get(predicate) ?? none;
  }

  subjects(predicate: TermKey, object: TermKey): readonly TermKey[] {
    this.backward ??= this.reversed();
    return this.backward.get(object)?.get(predicate) ?? none;
  }

  /** Returns the objects of a subject by predicate, or `undefined` if the subject has no triples. */
  properties(subject: TermKey): ReadonlyMap<TermKey, readonly TermKey[]> | undefined {
    return this.forward.get(subject);
  }

  *triples(predicate: TermKey): Generator<readonly [subject: TermKey, object: TermKey]> {
    for (const [subject, edges] of this.forward)
      for (const object of edges.get(predicate) ?? none) yield [subject, object];
  }

  /** Returns the members of a list, or `undefined` if the node is not the head of a well-formed list. */
  list(head: TermKey): readonly TermKey[] | undefined {
    const members: TermKey[] = [];
    const seen = new Set<TermKey>();
    for (let at = head; at !== rdf.nil; ) {
      const [first, rest] = [this.objects(at, rdf.first), this.objects(at, rdf.rest)];
      if (first.length !== 1 || rest.length !== 1 || seen.has(at)) return undefined;
      seen.add(at);
      members.push(first[0]!);
      at = rest[0]!;
    }
    return members;
  }

  private reversed(): Index {
    const index: Index = new Map();
    for (const [subject, edges] of this.forward)
      for (const [predicate, objects] of edges)
        for (const object of objects) addTo(edgesOf(index, object), predicate, subject);
    return index;
  }
}

/** Returns all nodes reached from some nodes by one or more steps. */
export function reachableFrom(from: Iterable<TermKey>, step: (node: TermKey) => Iterable<TermKey>): Set<TermKey> {
  const found = new Set<TermKey>();
  let frontier = [...from];
  while (frontier.length > 0) {
    const next: TermKey[] = [];
    for (const node of frontier)
      for (const reached of step(node)) {
        if (found.has(reached)) continue;
        found.add(reached);
        next.push(reached);
      }
    frontier = next;
  }
  return found;
}

/** True only for the literal `true`. The literal `1` does not enable a constraint (SHACL 4.4.5, 4.8.1). */
export function isTrueLiteral(token: TermKey | undefined): boolean {
  if (token === undefined || isIri(token) || isTriple(token)) return false;
  const { text, datatype } = literalParts(token);
  return text === 'true' && datatype === xsd.boolean;
}
