/** Rules 6.6, 11.5, 11.6: patching linksets. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { clientPart, described, jsonPatch, linksOfResource, mergePatch, metaOf } from '../support/linkset.js';

const e = 'https://e.example/';
const before = { author: 'Ada', describedby: [{ href: `${e}d` }], type: [{ href: `${e}Person` }] };
const beforePart = { author: 'Ada', describedby: [{ href: `${e}d` }], types: [`${e}Person`] };
const license = [{ href: `${e}l`, title: 'Licence' }];

const send = (s: StorageUnderTest, iri: string, type: string, patch: unknown, tag = '*') =>
  s.patch(metaOf(iri), type, typeof patch === 'string' ? patch : JSON.stringify(patch), { 'If-Match': tag });

/** Patches and their expected client part. */
const patches: readonly (readonly [what: string, type: string, patch: unknown, change: Record<string, unknown>])[] = [
  [
    'JSON Patch, document form: add',
    jsonPatch,
    [{ op: 'add', path: '/linkset/0/license', value: license }],
    { license },
  ],
  ['JSON Patch, client form: add', jsonPatch, [{ op: 'add', path: '/license', value: license }], { license }],
  [
    'JSON Patch, document form: add to an array',
    jsonPatch,
    [{ op: 'add', path: '/linkset/0/describedby/-', value: license[0] }],
    { describedby: [...before.describedby, ...license] },
  ],
  [
    'JSON Patch, client form: add to an array',
    jsonPatch,
    [{ op: 'add', path: '/describedby/0', value: license[0] }],
    { describedby: [...license, ...before.describedby] },
  ],
  [
    'JSON Patch, document form: replace inside a target',
    jsonPatch,
    [{ op: 'replace', path: '/linkset/0/describedby/0/href', value: `${e}d2` }],
    { describedby: [{ href: `${e}d2` }] },
  ],
  [
    'JSON Patch, document form: remove',
    jsonPatch,
    [{ op: 'remove', path: '/linkset/0/author' }],
    { author: undefined },
  ],
  ['JSON Patch, client form: remove', jsonPatch, [{ op: 'remove', path: '/author' }], { author: undefined }],
  [
    'JSON Patch, document form: move and copy',
    jsonPatch,
    [
      { op: 'move', from: '/linkset/0/author', path: '/linkset/0/creator' },
      { op: 'copy', from: '/linkset/0/describedby', path: '/linkset/0/license' },
    ],
    { author: undefined, creator: 'Ada', license: before.describedby },
  ],
  [
    'JSON Patch, client form: a test that holds',
    jsonPatch,
    [
      { op: 'test', path: '/describedby', value: before.describedby },
      { op: 'replace', path: '/author', value: ['Ada', 'Eve'] },
    ],
    { author: ['Ada', 'Eve'] },
  ],
  [
    'JSON Patch, document form: a declared type is added',
    jsonPatch,
    [{ op: 'add', path: '/linkset/0/type/-', value: { href: `${e}Agent` } }],
    { types: [`${e}Person`, `${e}Agent`] },
  ],
  [
    'JSON Patch, document form: an IRI as relation, escaped',
    jsonPatch,
    [{ op: 'add', path: '/linkset/0/https:~1~1e.example~1~0rel', value: license }],
    { [`${e}~rel`]: license },
  ],
  [
    'JSON Patch, client form: an IRI as relation, escaped',
    jsonPatch,
    [{ op: 'add', path: '/https:~1~1e.example~1rel', value: license }],
    { [`${e}rel`]: license },
  ],
  ['merge patch, client form: other relations stay', mergePatch, { license }, { license }],
  ['merge patch, client form: an array is replaced', mergePatch, { describedby: license }, { describedby: license }],
  ['merge patch, client form: null removes', mergePatch, { author: null, nothing: null }, { author: undefined }],
  ['merge patch, client form: an IRI as relation', mergePatch, { [`${e}rel`]: license }, { [`${e}rel`]: license }],
  ['merge patch, client form: types', mergePatch, { type: [{ href: `${e}Agent` }] }, { types: [`${e}Agent`] }],
  ['merge patch, client form: null removes the types', mergePatch, { type: null }, { types: [] }],
  [
    'merge patch, document form (RFC 7386: the array is replaced)',
    mergePatch,
    { linkset: [{ license }] },
    { author: undefined, describedby: undefined, types: [], license },
  ],
];

function results(s: StorageUnderTest): void {
  for (const [what, type, patch, change] of patches)
    it(`${what} (rule 11.6)`, async () => {
      const iri = await described(s, before);
      const tag = await s.tag(metaOf(iri));
      const answer = await send(s, iri, type, patch, tag);
      expect([answer.status, answer.bytes.length], answer.text).to.deep.equal([204, 0]);
      expect(answer.headers['etag'])
        .to.equal(await s.tag(metaOf(iri)))
        .and.not.to.equal(tag);
      const expected = Object.entries({ ...beforePart, ...change }).filter(([, value]) => value !== undefined);
      expect(await clientPart(s, iri)).to.deep.equal(Object.fromEntries(expected));
    });

  it('a linkset that was never written can be patched (rule 11.6)', async () => {
    for (const [type, patch] of [
      [mergePatch, { license }],
      [jsonPatch, [{ op: 'add', path: '/license', value: license }]],
      [jsonPatch, [{ op: 'add', path: '/linkset/0/license', value: license }]],
    ] as const)
      for (const iri of [(await s.stored('text/turtle', '<> a <#C> .')).iri, await s.container()]) {
        expect((await send(s, iri, type, patch)).status).to.equal(204);
        expect(await clientPart(s, iri)).to.deep.equal({ license, types: [] });
      }
  });

  for (const [what, type, patch] of [
    ['an empty JSON Patch', jsonPatch, []],
    ['a test of the anchor', jsonPatch, 'anchor'],
    ['an empty merge patch', mergePatch, {}],
    ['a removal of nothing', mergePatch, { nothing: null }],
    ['a replacement by the same value', mergePatch, { author: 'Ada' }],
    ['a managed relation, client form', mergePatch, { [`${lws}storage`]: [{ href: `${e}forged` }] }],
    ['a managed relation taken away', mergePatch, { up: null, [`${lws}storage`]: null }],
    ['a managed relation, document form', jsonPatch, [{ op: 'replace', path: '/linkset/0/linkset/0/href', value: e }]],
    ['a managed relation removed', jsonPatch, [{ op: 'remove', path: '/linkset/0/linkset' }]],
    ['the structural type removed', jsonPatch, [{ op: 'remove', path: '/linkset/0/type/0' }]],
    ['a forbidden type', jsonPatch, [{ op: 'add', path: '/linkset/0/type/-', value: { href: `${lws}Container` } }]],
  ] as const)
    it(`${what} changes nothing: 204 with the same ETag (rules 6.13, 11.6)`, async () => {
      const iri = await described(s, before);
      const [tag, read] = [await s.tag(metaOf(iri)), await linksOfResource(s, iri)];
      const sent = patch === 'anchor' ? [{ op: 'test', path: '/linkset/0/anchor', value: iri }] : patch;
      const answer = await send(s, iri, type, sent, tag);
      expect([answer.status, answer.headers['etag']], answer.text).to.deep.equal([204, tag]);
      expect(await linksOfResource(s, iri)).to.deep.equal(read);
      expect(await s.tag(metaOf(iri))).to.equal(tag);
    });

  it('managed relations are ignored and the rest of the patch is applied (rule 11.2)', async () => {
    const iri = await described(s, before);
    const read = await linksOfResource(s, iri);
    const forged = [{ href: `${e}forged` }];
    for (const [type, patch] of [
      [mergePatch, { linkset: forged, license }],
      [mergePatch, { up: null, type: [{ href: `${lws}Container` }, ...before.type], author: 'Eve' }],
    ] as const)
      expect((await send(s, iri, type, patch)).status).to.equal(204);
    expect(await linksOfResource(s, iri)).to.deep.equal({ ...read, license, author: 'Eve' });
  });
}

describeStorage('Linkset PATCH', (s) => {
  results(s);

  it('exactly one of the patches with one ETag succeeds (rule 8.2)', async () => {
    const iri = await described(s, before);
    const tag = await s.tag(metaOf(iri));
    const authors = ['a', 'b', 'c', 'd'];
    const answers = await Promise.all(authors.map((author) => send(s, iri, mergePatch, { author }, tag)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([204, 412, 412, 412]);
    const winner = authors[answers.findIndex(({ status }) => status === 204)];
    expect(await clientPart(s, iri)).to.deep.equal({ ...beforePart, author: winner });
  });
});
