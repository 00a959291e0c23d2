/** Ranges of resources as ranges of graphs: a graph lies in them exactly when its resource lies in those of resources. */
import { expect } from 'chai';
import fc from 'fast-check';
import { graphRanges, inKeys, isInRanges } from '../../../lib/query/access/graph-ranges.js';
import { readableGraphs, resourceOf } from '../../../lib/query/access/readable-graphs.js';
import { below, only, subtree, unionOfRanges } from '../../../lib/storage/keys/iri-ranges.js';
import { graphPrefix } from '../../../lib/storage/keys/quad-keys.js';
import { runs } from '../../support/speed.js';

const root = 'http://s.example/';
/** Characters before, at and after those of `.meta`. */
const name = fc
  .array(fc.constantFrom('a', '-', '.', '/', '0', '~', '.meta', '.m', '.n', 'b/', '.meta/'), { maxLength: 5 })
  .map((parts) => root + parts.join(''));
const range = fc.oneof(
  name.map(only),
  name.map((iri) => subtree(iri.endsWith('/') ? iri : `${iri}/`)),
  name.map((iri) => below(iri.endsWith('/') ? iri : `${iri}/`)),
  // As the rules of Web Access Control leave them over, between one resource and another.
  fc.tuple(name, name).map(([a, b]) => ({ from: only(a).to, to: b })),
);
const ranges = fc.array(range, { maxLength: 5 }).map((all) => unionOfRanges(all.filter(({ from, to }) => from < to)));
const graphs = fc.array(
  fc.tuple(name, fc.boolean()).map(([iri, isLinkset]) => (isLinkset ? `${iri}.meta` : iri)),
  { minLength: 10, maxLength: 30 },
);

describe('Ranges of graphs', () => {
  it('have the graphs of the resources, with those of their linksets, and no others', () =>
    fc.assert(
      fc.property(ranges, graphs, (resources, names) => {
        const found = graphRanges(resources);
        for (const graph of names)
          expect(isInRanges(found, graph), graph).to.equal(isInRanges(resources, resourceOf(graph)));
        expect(unionOfRanges(found)).to.deep.equal(found);
      }),
      { numRuns: runs(5000) },
    ));

  it('are what the caller may read', () =>
    fc.assert(
      fc.property(
        fc.oneof(
          ranges.map((own) => ({ ranges: own })),
          fc.constantFrom('everything' as const, 'nothing' as const, 'decide' as const),
        ),
        fc.option(name, { nil: undefined }),
        graphs,
        (scope, within, names) => {
          const level = undefined as never;
          const decide = (): never => expect.fail('Nobody is asked here.');
          const readable = readableGraphs({ level, snapshot: undefined as never, scope, within, decide });
          for (const graph of names) {
            const known = readable.all || readable.known(graph);
            const isThere = !readable.ranges || isInRanges(readable.ranges, graph);
            if (readable.isExact) expect(known, graph).to.equal(isThere);
            else if (!isThere) expect(known, graph).to.equal(false);
            const isWithin =
              within === undefined ||
              resourceOf(graph) === within ||
              (within.endsWith('/') && graph.startsWith(within));
            const isOwn = typeof scope !== 'object' || isInRanges(scope.ranges, resourceOf(graph));
            expect(known !== false, graph).to.equal(isWithin && isOwn && scope !== 'nothing');
          }
          expect(readable.isExact).to.equal(scope !== 'decide' && (scope !== 'everything' || within !== undefined));
        },
      ),
      { numRuns: runs(2000) },
    ));

  it('begin and end in keys where they do among names', () =>
    fc.assert(
      fc.property(name, range, (graph, { from, to }) => {
        const key = `${graphPrefix(graph)}s`;
        const at = (bound: string): string => graphPrefix('').slice(0, 6) + inKeys(bound);
        expect(key >= at(from)).to.equal(graph >= from);
        expect(key >= at(to)).to.equal(graph >= to);
      }),
      { numRuns: runs(5000) },
    ));
});
