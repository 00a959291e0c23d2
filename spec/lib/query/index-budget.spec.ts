/** Indexes of many storages in one process. */
import { expect } from 'chai';
import { IndexBudget } from '../../../lib/query/memory/index-budget.js';

describe('The budget of the indexes in memory', () => {
  const made = (): { budget: IndexBudget; index: (name: string) => { leave(): void }; left: string[] } => {
    const [budget, left] = [new IndexBudget(), [] as string[]];
    budget.allow(1000);
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

  it('lets those give way that were asked longest ago, and no more of them than needed', () => {
    const { budget, index, left } = made();
    const [one, two, three] = ['one', 'two', 'three'].map(index);
    for (const each of [one, two, three]) budget.use(each!, 40_000);
    budget.use(one!, 40_000);
    expect(left).to.deep.equal([]);
    budget.use(index('four'), 40_000);
    expect(left).to.deep.equal(['two']);
    expect(budget.taken).to.equal(120_000);
  });

  it('passes over one that cannot give way now, and keeps the one that has come, however large', () => {
    const { budget, index, left } = made();
    budget.use({ leave: () => {} }, 40_000);
    budget.use(index('one'), 40_000);
    const large = index('large');
    budget.use(large, 200_000);
    expect(left).to.deep.equal(['one']);
    expect(budget.taken).to.equal(240_000);
  });

  it('has builds one after the other', async () => {
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
