/**
 * Finds the blank nodes that a new state of a graph shares with the current one, so that they can keep their labels and the
 * states differ in few triples. Uses colour refinement: in each round, the colour of a node is computed from its triples and
 * the colours of the previous round.
 */
import type { Quad, Term } from '@rdfjs/types';
import { addTo, getOrMake } from '../tools/collections.js';

/** Maximum rounds (a change affects colours up to this distance), and maximum blank nodes, above which no labels are kept. */
const [maxRounds, maxNodes] = [8, 5_000];

/** Colours of blank nodes by label. Only colours of the same round can be compared. */
type Colours = ReadonlyMap<string, number>;

class Nodes {
  /** Triples that contain each blank node, by label. */
  readonly triples = new Map<string, Quad[]>();
  private readonly texts = new Map<Term, string>();

  constructor(quads: Iterable<Quad>) {
    for (const quad of quads) for (const label of new Set(labelsIn(quad))) this.add(label, quad);
  }

  private add(label: string, quad: Quad): void {
    const known = this.triples.get(label);
    if (known) known.push(quad);
    else this.triples.set(label, [quad]);
  }

  /** Labels in sorted order, which is their order of appearance in the documents. */
  get labels(): readonly string[] {
    return [...this.triples.keys()].sort();
  }

  /** Returns the colours of the next round. @param ids colours of that round by the text they represent, for both graphs */
  refined(colours: Colours, ids: Map<string, number>): Colours {
    const next = new Map<string, number>();
    for (const [label, quads] of this.triples) {
      const texts = quads.map((quad) => this.textOf(quad, label, colours)).sort();
      const text = `${colours.get(label)} ${texts.join('\n')}`;
      const id = getOrMake(ids, text, () => ids.size);
      next.set(label, id);
    }
    return next;
  }

  private textOf({ subject, predicate, object }: Quad, own: string, colours: Colours): string {
    const text = (term: Term): string => {
      if (term.termType === 'BlankNode') return term.value === own ? '*' : `_${colours.get(term.value)}`;
      if (term.termType === 'Quad') return `(${this.textOf(term as Quad, own, colours)})`;
      let known = this.texts.get(term);
      if (known === undefined) {
        known = JSON.stringify(
          term.termType === 'Literal' ? [term.value, term.language, term.datatype.value] : term.value,
        );
        this.texts.set(term, known);
      }
      return known;
    };
    return `${text(subject)} ${text(predicate)} ${text(object)}`;
  }

  /** Returns the blank nodes that are objects of a node, by predicate and colour. */
  objectsOf(label: string, colours: Colours): ReadonlyMap<string, string[]> {
    const found = new Map<string, string[]>();
    for (const { subject, predicate, object } of this.triples.get(label)!) {
      if (subject.value !== label || object.termType !== 'BlankNode') continue;
      const key = `${colours.get(object.value)} ${predicate.value}`;
      const known = found.get(key);
      if (known) known.push(object.value);
      else found.set(key, [object.value]);
    }
    return found;
  }
}

function* labelsIn({ subject, object }: Pick<Quad, 'subject' | 'object'>): Generator<string> {
  for (const term of [subject, object] as readonly Term[])
    if (term.termType === 'BlankNode') yield term.value;
    else if (term.termType === 'Quad') yield* labelsIn(term as Quad);
}

/**
 * Returns the labels of blank nodes in the current graph, by their labels in the new state. First pairs the nodes whose colours
 * stay equal for most rounds. Any pairing is correct, because labels have no meaning.
 */
export function keptLabels(before: Iterable<Quad>, after: Iterable<Quad>): ReadonlyMap<string, string> {
  const [old, fresh] = [new Nodes(before), new Nodes(after)];
  const kept = new Map<string, string>();
  if (old.triples.size > maxNodes || fresh.triples.size > maxNodes) return kept;
  const same = ({ triples }: Nodes): Colours => new Map(Array.from(triples.keys(), (label) => [label, 0]));
  const rounds: (readonly [Colours, Colours])[] = [[same(old), same(fresh)]];
  for (let classes = 1; rounds.length <= maxRounds; ) {
    const ids = new Map<string, number>();
    const [a, b] = rounds.at(-1)!;
    rounds.push([old.refined(a, ids), fresh.refined(b, ids)]);
    if (ids.size === classes) break;
    classes = ids.size;
  }
  const used = new Set<string>();
  for (const colours of rounds.reverse()) pair({ old, fresh, kept, used }, colours);
  return kept;
}

interface Pairing {
  readonly old: Nodes;
  readonly fresh: Nodes;
  readonly kept: Map<string, string>;
  /** Labels of the current graph that are already assigned. */
  readonly used: Set<string>;
}

/** Pairs nodes with equal colours in label order, and then the nodes they refer to. */
function pair({ old, fresh, kept, used }: Pairing, [oldColours, freshColours]: readonly [Colours, Colours]): void {
  const free = new Map<number, string[]>();
  for (const label of old.labels.toReversed()) {
    if (used.has(label)) continue;
    addTo(free, oldColours.get(label)!, label);
  }
  for (const first of fresh.labels) {
    if (kept.has(first)) continue;
    const candidates = free.get(freshColours.get(first)!) ?? [];
    while (candidates.length > 0 && used.has(candidates.at(-1)!)) candidates.pop();
    const pairs = candidates.length > 0 ? [[first, candidates.pop()!] as const] : [];
    for (const [label, former] of pairs) {
      if (kept.has(label) || used.has(former)) continue;
      kept.set(label, former);
      used.add(former);
      const theirs = old.objectsOf(former, oldColours);
      for (const [key, objects] of fresh.objectsOf(label, freshColours)) {
        const others = theirs.get(key) ?? [];
        for (const [at, object] of objects.entries()) if (at < others.length) pairs.push([object, others[at]!]);
      }
    }
  }
}
