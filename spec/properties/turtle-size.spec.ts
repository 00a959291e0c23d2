/** Computed size of a graph after a small change, compared with the length of its text. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { defaultTurtle } from '../../lib/storage/graphs/graph-lines.js';
import { changedSize } from '../../lib/storage/graphs/turtle-size.js';
import { applied, difference } from '../../lib/storage/keys/graph-changes.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { runs } from '../support/speed.js';
import { documents, factory } from './rdf-documents.js';

/** Combines subjects, predicates and objects of a graph, so that some predicates have many objects. */
function crossed(quads: readonly Quad[], base: string): Quad[] {
  const subjects = [factory.namedNode(base), ...quads.map(({ subject }) => subject)];
  const all = quads.flatMap(({ predicate }, at) =>
    quads.map(({ object }) => factory.quad(subjects[at >> 1]!, predicate, object)),
  );
  return all.filter(({ subject, object }) => subject.termType === 'NamedNode' && object.termType !== 'BlankNode');
}

const change = documents({ nasty: true }).chain(({ quads, ...options }) => {
  const graph = [...crossed(quads, options.base).slice(0, 40), ...quads];
  const indexes = graph.map((_, index) => index);
  const some = fc.subarray(indexes.slice(0, 20), { maxLength: Math.min(4, indexes.length) });
  return fc.record({ graph: fc.constant(graph), options: fc.constant(options), comes: some, goes: some });
});

describe('Size of a graph after a small change', () => {
  it('equals the length of the text, if computed without writing it', () => {
    let told = 0;
    fc.assert(
      fc.property(change, ({ graph, options: { base, prefixes }, comes, goes }) => {
        const without = (indexes: readonly number[]): string[] =>
          encodeGraph(
            base,
            graph.filter((_, index) => !indexes.includes(index)),
          );
        const [keys, after] = [without(comes), without(goes)];
        const { size } = defaultTurtle({ keys }, base, prefixes);
        const changed = applied(keys, difference(keys, after));
        const found = changedSize({ keys, size }, changed, { base, prefixes });
        if (found === undefined) return;
        if (changed.added.length + changed.removed.length > 0) told++;
        expect(found).to.equal(defaultTurtle({ keys: after }, base, prefixes).size);
      }),
      { numRuns: runs(4000) },
    );
    expect(told).to.be.greaterThan(runs(4000) / 4);
  });
});
