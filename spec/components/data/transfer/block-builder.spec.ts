/** Size limits of the transactions of an import. */
import { expect } from 'chai';
import { BlockBuilder } from '../../../../components/data/transfer/block-builder.js';
import type { GraphMember } from '../../../../lib/exchange/member.js';
import { base, factory, node } from '../../../support/members.js';

const builderOf = (): BlockBuilder =>
  new BlockBuilder(
    { into: base, seed: 'seed', acls: false, texts: false, blobs: undefined },
    { isMixed: false, listed: '' },
  );

const graph = (path: string, count: number, length: number, hasMore = false): GraphMember => ({
  ...{ kind: 'rdf', path, source: path, prefixes: {} },
  quads: Array.from({ length: count }, (_, index) =>
    factory.quad(node('urn:s'), node('urn:p'), factory.literal('x'.repeat(length) + index)),
  ),
  ...(hasMore ? { hasMore } : {}),
});

/** Adds members until the block is full. @returns their number */
async function fill(memberOf: (index: number) => GraphMember): Promise<number> {
  const builder = builderOf();
  let count = 0;
  for (; !builder.isFull; count++) await builder.add({ member: memberOf(count), cursor: String(count), bytes: count });
  const { block } = await builder.build(0);
  expect(block.cursor).to.equal(String(count - 1));
  return count;
}

describe('Import blocks', () => {
  it('contain a few thousand triples, or up to 500 resources', async () => {
    expect(await fill((index) => graph(`g${index}`, 1000, 10))).to.equal(4);
    expect(await fill((index) => graph(`g${index}`, 1, 10))).to.equal(500);
    // Parts of one graph stay together, up to a larger limit.
    expect(await fill(() => graph('g', 1000, 10, true))).to.equal(20);
  });

  it('limit the size of long literals, in one graph or in many', async () => {
    expect(await fill((index) => graph(`g${index}`, 1, 1 << 20))).to.be.below(20);
    expect(await fill(() => graph('g', 1, 1 << 20, true))).to.be.below(20);
    expect(await fill((index) => graph(`g${index % 2}`, 1, 1 << 20))).to.be.below(20);
  });
});
