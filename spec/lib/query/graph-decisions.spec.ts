/** Cached decisions about readable graphs. */
import { expect } from 'chai';
import type { GraphFilter } from '../../../lib/query/access/graph-filter.js';
import { GraphDecisions } from '../../../lib/query/memory/graph-decisions.js';
import { noTerms, TermIds } from '../../../lib/query/memory/term-ids.js';
import type { IriRange } from '../../../lib/storage/keys/iri-ranges.js';

describe('lib/query/memory/graph-decisions', () => {
  const terms = new TermIds(noTerms);
  const graphs = Array.from({ length: 5000 }, (_, at) => terms.add(`http://example.org/g${at}`));
  const calls: string[] = [];
  const filterOf = (ranges: readonly IriRange[], isExact = true): GraphFilter => ({
    all: false,
    few: undefined,
    ranges: () => ranges,
    isExact,
    isOpen(graph) {
      calls.push(graph);
      return ranges.some(({ from, to }) => from <= graph && graph < to);
    },
    ask: async () => {},
    decide: () => undefined,
  });
  const some = [{ from: 'http://example.org/g1', to: 'http://example.org/g2' }];
  const others = [{ from: 'http://example.org/g2', to: 'http://example.org/g3' }];
  /** Returns the count of readable graphs, and of calls of the filter. */
  const counted = (filter: GraphFilter, of = terms): [readable: number, asked: number] => {
    calls.length = 0;
    const decisions = new GraphDecisions(filter, of);
    return [graphs.filter((graph) => decisions.isOpen(graph)).length, calls.length];
  };

  it('reuses decisions for queries with the same ranges, and for no other query', () => {
    expect(counted(filterOf(some))).to.deep.equal([1111, 5000]);
    expect(counted(filterOf(some))).to.deep.equal([1111, 0]);
    expect(counted(filterOf(others))).to.deep.equal([1111, 5000]);
    expect(counted(filterOf([...some])), 'equal ranges in another array').to.deep.equal([1111, 5000]);
    const renumbered = new TermIds(noTerms);
    for (const graph of [...graphs].reverse()) renumbered.add(terms.termKey(graph));
    expect(counted(filterOf(some), renumbered), 'other IDs').to.deep.equal([1111, 5000]);
  });

  it('decides each graph again if the ranges do not decide', () => {
    for (let query = 0; query < 2; query++) expect(counted(filterOf(some, false))).to.deep.equal([1111, 5000]);
  });

  it('keeps the decisions of the last eight ranges', () => {
    const callers = Array.from({ length: 8 }, () => filterOf([...some]));
    for (const caller of callers) counted(caller);
    expect(counted(callers[0]!)[1]).to.equal(0);
    counted(filterOf([...some]));
    expect(counted(callers[0]!)[1], 'used last but one').to.equal(0);
    expect(counted(callers[1]!)[1], 'used least recently').to.equal(5000);
  });
});
