/** Ranges of resources as ranges of graphs: they contain a graph exactly if the ranges of resources contain its resource. */
import { expect } from 'chai';
import fc from 'fast-check';
import { graphRanges } from '../../../lib/query/access/graph-ranges.js';
import { readableGraphs, resourceOf } from '../../../lib/query/access/readable-graphs.js';
import { below, isInRanges, only, subtree, unionOfRanges } from '../../../lib/storage/keys/iri-ranges.js';
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
  // Ranges between two resources, as Web Access Control produces them.
  fc.tuple(name, name).map(([a, b]) => ({ from: only(a).to, to: b })),
);
const ranges = fc.array(range, { maxLength: 5 }).map((all) => unionOfRanges(all.filter(({ from, to }) => from < to)));
const graphs = fc.array(
  fc.tuple(name, fc.boolean()).map(([iri, isLinkset]) => (isLinkset ? `${iri}.meta` : iri)),
  { minLength: 10, maxLength: 30 },
);

describe('Ranges of graphs', () => {
  it('contain exactly the graphs of the resources and of their linksets', () =>
    fc.assert(
      fc.property(ranges, graphs, (resources, names) => {
        const found = graphRanges(resources);
        for (const graph of names)
          expect(isInRanges(found, graph), graph).to.equal(isInRanges(resources, resourceOf(graph)));
        expect(unionOfRanges(found)).to.deep.equal(found);
      }),
      { numRuns: runs(5000) },
    ));

  it('contain exactly the readable graphs', () =>
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
          const decide = (): never => expect.fail('The authorizer must not be asked.');
          const readable = readableGraphs({ level, snapshot: undefined as never, scope, within, decide });
          for (const graph of names) {
            const known = readable.all || readable.known(graph);
            const ranges = readable.ranges?.();
            const isThere = !ranges || isInRanges(ranges, graph);
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
});
