/** Texts and queries made to take long or much memory. Each must end within seconds, while other requests are answered. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { patience } from '../support/patience.js';

const times = (count: number, part: (at: number) => string, joint = ' '): string =>
  Array.from({ length: count }, (_, at) => part(at)).join(joint);

describeStorage(
  'Hostile texts',
  (s) => {
    const search = (q: string) => s.get(`${s.root}.lws/text-search?${new URLSearchParams({ q })}`);
    const total = async (q: string): Promise<number> => {
      const answer = await search(q);
      expect(answer.status, answer.text).to.equal(200);
      return JSON.parse(answer.text).totalItems;
    };

    /** Runs work while a resource is read repeatedly. @returns the longest read in milliseconds */
    async function delayDuring(work: () => Promise<unknown>): Promise<number> {
      let [longest, isOver] = [0, false];
      const running = work().finally(() => {
        isOver = true;
      });
      while (!isOver) {
        const began = performance.now();
        await s.get(s.scratch);
        longest = Math.max(longest, performance.now() - began);
      }
      await running;
      return longest;
    }

    const texts: Readonly<Record<string, string>> = {
      'a run of Chinese': '字'.repeat(300_000),
      'a run of emoji': '\u{1f600}'.repeat(200_000),
      'joined words': "a'".repeat(500_000),
      'numbers with commas': '1,'.repeat(500_000),
      'a word of a million characters': 'x'.repeat(1_000_000),
      'one word a hundred thousand times': 'again '.repeat(100_000),
      'a hundred thousand words': times(100_000, (at) => `w${at.toString(36)}`),
      'combining marks': `e${'\u0301'.repeat(300_000)}`,
      'combining marks that are reordered': `e${'\u0301\u0316'.repeat(150_000)}`,
      'characters that are normalized to eighteen': '\ufdfa'.repeat(150_000),
      'a run of Thai': 'สวัสดีครับ'.repeat(30_000),
      flags: '\u{1f1e9}\u{1f1ea}'.repeat(65_000),
    };
    for (const [what, text] of Object.entries(texts))
      it(`indexes ${what} without delaying others for seconds`, async () => {
        const iri = s.fresh();
        const longest = await delayDuring(async () => {
          expect((await s.put(iri, 'text/plain; charset=utf-8', `${text} marker`)).status).to.equal(201);
          expect((await s.delete(iri)).status).to.equal(204);
        });
        expect(longest).to.be.below(1_500 * patience);
      });

    it('finds the first 10 000 words of a text and the first MiB only', async () => {
      await s.stored(
        'text/plain',
        times(20_000, (at) => `mw${at}`),
      );
      expect(await total('mw9999')).to.equal(1);
      expect(await total('mw10001')).to.equal(0);
      await s.stored('text/plain', `inside ${' '.repeat(1 << 20)} outside`);
      expect([await total('inside'), await total('outside')]).to.deep.equal([1, 0]);
    });

    it('rejects beginnings of more than 1000 words that the caller can read, and ignores those of others', async () => {
      await s.stored(
        'text/plain',
        times(1_500, (at) => `zz${at}`),
      );
      expectProblem(await search('zz*'), 400);
      const answer = await s.send('GET', `${s.root}.lws/text-search?q=zz*`, {}, undefined, s.stranger);
      expect(JSON.parse(answer.text).totalItems).to.equal(0);
      expect(await total('zz149*')).to.equal(1);
    });

    it('rejects a graph and a change of more than 500 000 words, unless the graph is new and large', async () => {
      const graph = (name: string, triples: number, words: number): string =>
        times(triples, (at) => `<#${at}> <urn:p> "${times(words, (word) => `${name}${at}x${word}`)}" .`, '\n');
      expectProblem(await s.put(s.fresh(), 'text/turtle', graph('a', 6_000, 90)), 413);
      expect(await total('a1x1')).to.equal(0);
      const { iri } = await s.stored('text/turtle', graph('b', 20_100, 26));
      expect(await total('b1x1 b20099x25')).to.equal(1);
      expectProblem(await s.put(iri, 'text/turtle', '<> <urn:p> "c" .', { 'If-Match': '*' }), 413);
      expect((await s.delete(iri)).status).to.equal(204);
      expect(await total('b1x1')).to.equal(0);
    }).timeout(240_000);

    it('answers queries of many words and repeated phrases', async () => {
      await s.stored('text/plain', 'again '.repeat(100_000));
      const began = performance.now();
      expect(await total(`"${times(16, () => 'again')}"`)).to.be.above(0);
      expect(await total(times(16, (at) => `"again${at}"`))).to.equal(0);
      expect(performance.now() - began).to.be.below(3_000 * patience);
    });
  },
  { settings: { 'text-search.enabled': 'true' }, isOncePlaced: true },
);
