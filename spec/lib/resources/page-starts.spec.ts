/** Start positions of listing pages. */
import { expect } from 'chai';
import { describeStorage } from '../../support/conformance.js';

describeStorage(
  'Pages of a large listing',
  (s) => {
    const page = async (container: string, number: number): Promise<string[]> => {
      const answer = await s.get(`${container}?page=${number}`, { Accept: 'application/lws+json' });
      expect(answer.status, answer.text).to.equal(200);
      return (JSON.parse(answer.text) as { items: { id: string }[] }).items.map(({ id }) => id.slice(container.length));
    };

    it('are correct in any order of requests, and after every change', async () => {
      const container = await s.container();
      const names = Array.from({ length: 23 }, (_, index) => `n${String(index).padStart(2, '0')}`);
      for (const name of names) await s.put(container + name, 'text/plain', name);
      const expectPages = async (order: readonly number[]): Promise<void> => {
        for (const number of order)
          expect(await page(container, number)).to.deep.equal(
            names.slice((number - 1) * 5, number * 5),
            `page ${number}`,
          );
      };
      await expectPages([5, 2, 4, 1, 3, 5]);
      await s.delete(container + names[0]);
      names.splice(0, 1);
      await expectPages([4, 5, 1, 3, 2]);
      await s.put(`${container}n07b`, 'text/plain', 'x');
      names.push('n07b');
      names.sort();
      await expectPages([2, 5, 3, 1, 4]);
      expect((await s.get(`${container}?page=6`)).status).to.equal(404);
      expect((await s.get(`${container}?page=999999999`)).status).to.equal(404);
    });
  },
  { settings: { 'container.page-size': '5' } },
);
