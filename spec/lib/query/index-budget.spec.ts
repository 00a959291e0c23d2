/** Indexes of many storages in one process. */
import { expect } from 'chai';
import { IndexBudget } from '../../../lib/query/memory/index-budget.js';

describe('Budget of in-memory indexes', () => {
  const made = (): { budget: IndexBudget; index: (name: string) => { leave(): void }; left: string[] } => {
    const [budget, left] = [new IndexBudget(), [] as string[]];
    budget.allow(128_000);
    const index = (name: string): { leave(): void } => {
      const own = {
        leave: (): void => {
          left.push(name);
          budget.free(own);
        },
      };
      return own;
    };
    return { budget, index, left };
  };

  it('drops the least recently used indexes, and no more than needed', () => {
    const { budget, index, left } = made();
    const [one, two, three] = ['one', 'two', 'three'].map(index);
    for (const each of [one, two, three]) budget.use(each!, 40_000);
    budget.use(one!, 40_000);
    expect(left).to.deep.equal([]);
    budget.use(index('four'), 40_000);
    expect(left).to.deep.equal(['two']);
    expect(budget.taken).to.equal(120_000);
  });

  it('skips an index that cannot be dropped now, and keeps the newest one, however large', () => {
    const { budget, index, left } = made();
    budget.use({ leave: () => {} }, 40_000);
    budget.use(index('one'), 40_000);
    const large = index('large');
    budget.use(large, 200_000);
    expect(left).to.deep.equal(['one']);
    expect(budget.taken).to.equal(240_000);
  });

  it('runs builds one after the other', async () => {
    const { budget } = made();
    const order: string[] = [];
    const build = async (name: string): Promise<void> => {
      const end = await budget.turn();
      order.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(`${name} ends`);
      end();
    };
    await Promise.all([build('one'), build('two')]);
    expect(order).to.deep.equal(['one begins', 'one ends', 'two begins', 'two ends']);
  });
});
