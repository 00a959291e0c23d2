/** Rules 6.9, 11.8: limits of linksets and their settings. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { clientPart, described, jsonPatch, mergePatch, metaOf, putLinks } from '../support/linkset.js';

describeStorage(
  'Linkset size',
  (s) => {
    const small = { author: 'x'.repeat(1000) };
    const large = { author: 'x'.repeat(5000) };

    it('PUT above lws.linkset.max-bytes is 400 and changes nothing (rule 11.8)', async () => {
      const iri = await described(s, small);
      expectProblem(await putLinks(s, iri, large), 400, s);
      expect(await clientPart(s, iri)).to.deep.equal({ ...small, types: [] });
    });

    it('PATCH with a result above lws.linkset.max-bytes is 400 and changes nothing (rule 11.8)', async () => {
      const iri = await described(s, { ...small, title: 'y'.repeat(1000) });
      const add = (path: string, value: string) => JSON.stringify([{ op: 'add', path, value }]);
      for (const [type, patch] of [
        [mergePatch, JSON.stringify({ creator: 'z'.repeat(3500) })],
        [jsonPatch, add('/creator', 'z'.repeat(3500))],
        [jsonPatch, add('/linkset/0/creator', 'z'.repeat(3500))],
      ] as const)
        expectProblem(await s.patch(metaOf(iri), type, patch, { 'If-Match': '*' }), 400, s);
      expect(await clientPart(s, iri)).to.deep.equal({ ...small, title: 'y'.repeat(1000), types: [] });
    });

    it('many small additions reach the same limit (rule 11.8)', async () => {
      const iri = await described(s, {});
      const statuses: number[] = [];
      for (let i = 0; i < 7; i++)
        statuses.push(
          (
            await s.patch(metaOf(iri), mergePatch, JSON.stringify({ [`r${i}`]: 'x'.repeat(1000) }), {
              'If-Match': '*',
            })
          ).status,
        );
      expect(statuses.slice(0, 3)).to.deep.equal([204, 204, 204]);
      expect(statuses.at(-1)).to.equal(400);
    });

    it('a write with Link fields above the limit is rejected completely (rule 6.22)', async () => {
      const Link = `<https://e.example/${'x'.repeat(5000)}>; rel="describedby"`;
      const iri = s.fresh();
      const set = { Prefer: 'set-linkset', Link };
      expectProblem(await s.put(iri, 'text/plain', 'x', set), 400, s);
      await s.expectAbsent(iri);
      const existing = await described(s, small);
      expectProblem(await s.put(existing, 'text/plain', 'y', { ...set, 'If-Match': '*' }), 400, s);
      expect((await s.get(existing)).text).to.equal('x');
      expect(await clientPart(s, existing)).to.deep.equal({ ...small, types: [] });
    });
  },
  { settings: { 'linkset.max-bytes': '4000' } },
);

describeStorage('Linksets of a great many types', (s) => {
  for (const count of [50, 500, 5000])
    it(`${count} declared types are rejected or leave the resource readable (rule 11.3)`, async () => {
      const container = await s.container();
      const { iri } = await s.stored('text/turtle', '<> a <#C> .', `${container}x`);
      const type = Array.from({ length: count }, (_, i) => ({ href: `https://e.example/types/number${i}` }));
      const answer = await putLinks(s, iri, { type });
      if (count > 50 && answer.status !== 204) expectProblem(answer, [400, 413, 422], s);
      else expect(answer.status, answer.text).to.equal(204);
      for (const target of [iri, container, metaOf(iri)]) {
        expect((await s.get(target)).status, target).to.equal(200);
        expect((await s.head(target)).status, target).to.equal(200);
      }
      expect((await clientPart(s, iri))['types']).to.have.length(answer.status === 204 ? count : 0);
      expect((await s.put(iri, 'text/turtle', '<> a <#D> .', { 'If-Match': '*' })).status).to.equal(204);
    });
});

describeStorage(
  'Linkset writes without required conditions',
  (s) => {
    it('lws.require-conditional-writes=false does not lift the 428 of linksets (rule 6.9)', async () => {
      const iri = await described(s, { author: 'Ada' });
      expect((await s.put(iri, 'text/plain', 'y')).status).to.equal(204);
      expectProblem(await putLinks(s, iri, { author: 'Eve' }, {}), 428, s);
      expectProblem(await s.patch(metaOf(iri), mergePatch, '{"author":"Eve"}'), 428, s);
      expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', types: [] });
    });
  },
  { settings: { 'require-conditional-writes': 'false' } },
);
