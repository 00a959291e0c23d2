/** Hostile JSON patches that would exceed limits of time or memory: they are rejected, or the work is avoided. */
import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { apply, refusal } from '../../../support/json-patch.js';
import { slowness } from '../../../support/patience.js';

describe('Hostile JSON patches', () => {
  const operations = (count: number, operation: (index: number) => unknown): string =>
    JSON.stringify(Array.from({ length: count }, (_, index) => operation(index)));

  /** Generous for a busy machine, and far below the time without a limit. */
  const soon = (work: () => void): void => {
    const started = performance.now();
    work();
    expect(performance.now() - started).to.be.below(10_000 * slowness);
  };

  it('RFC 6901 section 3: rejects a pointer with many slashes and a bad escape at once', () =>
    soon(() => {
      const patch = `[{"op":"remove","path":"${'/'.repeat(100_000)}~2"}]`;
      expect(refusal('{}', patch).message).to.contain('has no JSON Pointer');
    }));

  it('rejects copies that double a value, whichever values they copy (rule 6.17)', () => {
    for (const value of ['"text"', '[]', '{"name":{}}', '1.0'])
      soon(() => {
        const patch = operations(40, () => ({ op: 'copy', from: '', path: '/-' }));
        expect(refusal(`[${value}]`, patch).message).to.contain('copy too much');
      });
  });

  it('rejects copies of one value that make the document larger than the request allows (rule 6.17)', () => {
    const big = 'x'.repeat(50_000);
    const patch = operations(1000, () => ({ op: 'copy', from: '/0', path: '/-' }));
    expect(refusal(`["${big}"]`, patch).message).to.contain('copy too much');
    expect(refusal(`[1.${big.replaceAll('x', '1')}]`, patch).message).to.contain('copy too much');
    expect(refusal(`[{"${big}":1}]`, patch).message).to.contain('copy too much');
  });

  it('applies ten thousand additions at the beginning of an array (rule 6.17)', () => {
    const patch = operations(10_000, (value) => ({ op: 'add', path: '/0', value }));
    const result = JSON.parse(apply('[]', patch)) as number[];
    expect([result.length, result[0], result[9999]]).to.deep.equal([10_000, 9999, 0]);
  });

  for (const [what, operation] of [
    ['additions', () => ({ op: 'add', path: '/0', value: 1 })],
    ['removals', () => ({ op: 'remove', path: '/0' })],
    ['moves', () => ({ op: 'move', from: '/0', path: '/1' })],
  ] as const)
    it(`rejects 100 000 ${what} at the beginning of a long array (rule 6.17)`, () =>
      soon(() => {
        const document = `[${Array.from({ length: 200_000 }, () => 0).join()}]`;
        expect(refusal(document, operations(100_000, operation)).message).to.contain('beginning of long arrays');
      })).timeout(20_000);

  it('applies 100 000 operations at the end of a long array, or beside a large value (rule 6.17)', () =>
    soon(() => {
      const document = `{"list":[${Array.from({ length: 200_000 }, () => 0).join()}],"a":1}`;
      const patch = operations(100_000, (index) =>
        index % 2
          ? { op: 'add', path: '/list/-', value: 1 }
          : { op: 'move', from: index % 4 ? '/b' : '/a', path: index % 4 ? '/a' : '/b' },
      );
      const result = JSON.parse(apply(document, patch)) as { list: number[] };
      expect(result.list.length).to.equal(250_000);
    })).timeout(20_000);

  it('does not copy a large value each time that another one is moved to its position (rule 6.17)', () =>
    soon(() => {
      const list = `[[${Array.from({ length: 100_000 }, () => '{}').join()}],1]`;
      const swaps = operations(20_001, () => ({ op: 'move', from: '/1', path: '/0' }));
      expect(apply(list, swaps).slice(0, 5)).to.equal('[1,[{');
    })).timeout(20_000);

  it('rejects moves of a value into others that would overflow the stack (rule 1.9)', () => {
    const patch = operations(60_000, (index) =>
      index % 3 === 0
        ? { op: 'add', path: '/b', value: [] }
        : index % 3 === 1
          ? { op: 'move', from: '/a', path: '/b/0' }
          : { op: 'move', from: '/b', path: '/a' },
    );
    expect(refusal('{"a":[]}', patch).message).to.contain('nested deeper than 64');
    const copied = `${patch.slice(0, -1)},{"op":"copy","from":"/a","path":"/c"}]`;
    expect(refusal('{"a":[1.0]}', copied).message).to.contain('nested deeper than 64');
  });

  it('accepts a patch that nests a document 64 levels deep, but no deeper (rule 1.9)', () => {
    const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    expect(apply('{}', nested(64), true)).to.equal(nested(64));
    const add = (levels: number): string => `[{"op":"add","path":"/a/a","value":${nested(levels)}}]`;
    expect(apply('{"a":{}}', add(62))).to.equal(nested(64));
    expect(refusal('{"a":{}}', add(61).replace(':1}', ':[[]]}')).message).to.contain('nested deeper than 64');
  });
});
