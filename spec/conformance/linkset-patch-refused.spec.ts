/** Rules 6.9, 11.6, 11.7: rejected linkset patches. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, listOf } from '../support/expectations.js';
import { clientPart, described, jsonPatch, linksOfResource, mergePatch, metaOf } from '../support/linkset.js';

const e = 'https://e.example/';
const before = { author: 'Ada', describedby: [{ href: `${e}d` }], type: [{ href: `${e}Person` }] };
const beforePart = { author: 'Ada', describedby: [{ href: `${e}d` }], types: [`${e}Person`] };

const send = (s: StorageUnderTest, iri: string, type: string, patch: unknown, tag = '*') =>
  s.patch(metaOf(iri), type, typeof patch === 'string' ? patch : JSON.stringify(patch), { 'If-Match': tag });

const tooDeep = JSON.stringify({ author: 'DEEP' }).replace('"DEEP"', `${'['.repeat(70)}"x"${']'.repeat(70)}`);
const refusals: readonly (readonly [what: string, type: string, patch: unknown, status: number])[] = [
  ['a failing test, document form', jsonPatch, [{ op: 'test', path: '/linkset/0/author', value: 'Eve' }], 409],
  ['a failing test, client form', jsonPatch, [{ op: 'test', path: '/author', value: 'Eve' }], 409],
  [
    'a failing test after a change',
    jsonPatch,
    [
      { op: 'remove', path: '/author' },
      { op: 'test', path: '/describedby', value: 1 },
    ],
    409,
  ],
  ['a pointer to nothing, document form', jsonPatch, [{ op: 'remove', path: '/linkset/0/nothing' }], 409],
  ['a pointer to nothing, client form', jsonPatch, [{ op: 'remove', path: '/nothing' }], 409],
  ['a replacement of nothing', jsonPatch, [{ op: 'replace', path: '/nothing', value: 'x' }], 409],
  ['an addition below nothing', jsonPatch, [{ op: 'add', path: '/nothing/-', value: { href: e } }], 409],
  ['an index beyond the array', jsonPatch, [{ op: 'add', path: '/describedby/9', value: { href: e } }], 409],
  ['a second linkset object', jsonPatch, [{ op: 'replace', path: '/linkset/1/author', value: 'Eve' }], 409],
  ['a move from nothing', jsonPatch, [{ op: 'move', from: '/nothing', path: '/author' }], 409],
  ['a JSON Patch that is not an array', jsonPatch, { op: 'remove', path: '/author' }, 400],
  ['a JSON Patch of no operations', jsonPatch, [null], 400],
  ['an unknown operation', jsonPatch, [{ op: 'spam', path: '/author' }], 400],
  ['an operation without op', jsonPatch, [{ path: '/author' }], 400],
  ['an operation without path', jsonPatch, [{ op: 'remove' }], 400],
  ['an addition without value', jsonPatch, [{ op: 'add', path: '/license' }], 400],
  ['a path that is not a string', jsonPatch, [{ op: 'remove', path: 1 }], 400],
  ['a malformed JSON Patch', jsonPatch, '[{"op":"remove","path":"/author"}', 400],
  ['an empty JSON Patch body', jsonPatch, '', 400],
  ['a malformed merge patch', mergePatch, '{"author":', 400],
  ['an empty merge patch body', mergePatch, '', 400],
  ['a merge patch nested deeper than 64', mergePatch, tooDeep, 400],
  ['a type that is not an absolute IRI, merge patch', mergePatch, { type: [{ href: 'Person' }] }, 400],
  [
    'a type that is not an absolute IRI, JSON Patch',
    jsonPatch,
    [{ op: 'add', path: '/linkset/0/type/-', value: { href: '#Person' } }],
    400,
  ],
  ['another anchor, JSON Patch', jsonPatch, [{ op: 'replace', path: '/linkset/0/anchor', value: `${e}other` }], 422],
  ['another anchor, merge patch', mergePatch, { linkset: [{ anchor: `${e}other`, author: 'Eve' }] }, 422],
];

describeStorage('Linkset PATCH, rejected', (s) => {
  for (const [what, type, patch, status] of refusals)
    it(`${what} is ${status} and changes nothing (rules 6.17, 11.6)`, async () => {
      const iri = await described(s, before);
      const tag = await s.tag(metaOf(iri));
      expectProblem(await send(s, iri, type, patch, tag), status, s);
      expect(await clientPart(s, iri)).to.deep.equal(beforePart);
      expect(await s.tag(metaOf(iri))).to.equal(tag);
    });

  for (const patch of ['[]', '"x"', 'null', '5', '{"linkset":null}', '{"linkset":[]}', '{"linkset":["x"]}'])
    it(`the merge patch ${patch} always leaves a valid linkset (rule 11.5)`, async () => {
      const iri = await described(s, before);
      const answer = await send(s, iri, mergePatch, patch);
      expect(answer.status, answer.text).to.satisfy(
        (status: number) => status === 204 || (status > 399 && status < 500),
      );
      expect((await linksOfResource(s, iri)).anchor).to.equal(iri);
      if (answer.status !== 204) expect(await clientPart(s, iri)).to.deep.equal(beforePart);
    });

  for (const type of ['application/sparql-update', 'application/json', 'application/linkset+json', 'text/n3', ''])
    it(`PATCH of ${type || 'no Content-Type'} is 415 with Accept-Patch (rule 6.14)`, async () => {
      const iri = await described(s, before);
      const headers: Record<string, string> = { 'If-Match': '*', ...(type ? { 'Content-Type': type } : {}) };
      const answer = await s.send('PATCH', metaOf(iri), headers, '{"linkset":[{}]}');
      expectProblem(answer, 415, s);
      expect(listOf(answer, 'accept-patch')).to.have.members([jsonPatch, mergePatch]);
      expect(await clientPart(s, iri)).to.deep.equal(beforePart);
    });

  it('a missing If-Match is 428, before the content is validated (rule 11.7)', async () => {
    const iri = await described(s, before);
    for (const [type, patch] of [
      [mergePatch, '{"author":"Eve"}'],
      [mergePatch, '{'],
      [jsonPatch, '[{"op":"test","path":"/author","value":"Eve"}]'],
    ] as const)
      expectProblem(await s.patch(metaOf(iri), type, patch), 428, s);
    expect(await clientPart(s, iri)).to.deep.equal(beforePart);
  });

  it('a stale If-Match is 412, before the content is validated (rule 11.7)', async () => {
    const iri = await described(s, before);
    const tag = await s.tag(metaOf(iri));
    expect((await send(s, iri, mergePatch, { title: 'x' }, tag)).status).to.equal(204);
    for (const [type, patch] of [
      [mergePatch, { author: 'Eve' }],
      [jsonPatch, [{ op: 'test', path: '/author', value: 'Eve' }]],
      [jsonPatch, '['],
    ] as const)
      expectProblem(await send(s, iri, type, patch, tag), 412, s);
    expect(await clientPart(s, iri)).to.deep.equal({ ...beforePart, title: 'x' });
  });
});
