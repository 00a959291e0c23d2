/** Figures of benchmarks, as spec/bench/README.md describes them. */
import { expect } from 'chai';
import { bestOf, readFigures, worsening } from '../bench/figures.js';

const valuesOf = (output: string): Record<string, number> =>
  Object.fromEntries(Object.entries(readFigures(output)).map(([name, { value }]) => [name, value]));

describe('Figures of benchmarks', () => {
  it('are the measured columns of tables', () => {
    const table =
      '| query | rows | ours | Oxigraph | to Oxigraph |\n|---|---|---|---|---|\n| Q2 a product | 12 | 0.96 | 0.58 | 1.66 |';
    expect(valuesOf(`200 000 quads in 880 graphs, CPU time in ms\n${table}`)).to.deep.equal({
      '200 000 quads in 880 graphs | Q2 a product | ours': 0.96,
      '200 000 quads in 880 graphs | Q2 a product | to Oxigraph': 1.66,
    });
  });

  it('are the numbers of sentences with a unit, and the best of several rounds', () => {
    expect(
      readFigures('round 1: 410 per second, 350 us each\nround 2: 1 400 per second, 360 us each\n9 graphs'),
    ).to.deep.equal({
      'round #: # per second, # us each [2]': { value: 1400, isRate: true },
      'round #: # per second, # us each [3]': { value: 350, isRate: false },
    });
  });

  it('are numbers after a ratio or a percentile', () => {
    expect(Object.values(valuesOf('geometric mean of the ratios: 0.97\np50 4, p99 27 ms'))).to.deep.equal([
      0.97, 4, 27,
    ]);
  });

  it('do not depend on numbers in the text', () => {
    const [first, second] = ['took 12 s for 7 graphs', 'took 13 s for 9 graphs'].map((line) =>
      Object.keys(readFigures(line)),
    );
    expect(first).to.deep.equal(second);
  });

  it('are worse if they are a lower rate or a higher cost', () => {
    expect(worsening({ value: 50, isRate: true }, { value: 100, isRate: true })).to.equal(2);
    expect(worsening({ value: 50, isRate: false }, { value: 100, isRate: false })).to.equal(0.5);
    expect(worsening({ value: 0, isRate: false }, { value: 0, isRate: false })).to.equal(1);
  });

  it('are the best of all runs of a build', () => {
    const runs = ['5 ms, 10 per second', '4 ms, 9 per second'].map(readFigures);
    expect(Object.values(bestOf(runs)).map(({ value }) => value)).to.deep.equal([4, 10]);
  });
});
