/** Rules 11.5, 11.6: malicious linkset patches. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import {
  clientPart,
  described,
  jsonPatch,
  linksetType,
  linksOfResource,
  managed,
  mergePatch,
  metaOf,
} from '../support/linkset.js';

const any = { 'If-Match': '*' };

/** Operations that each copy a value into itself, doubling its size. */
const bomb = (path: string): string =>
  JSON.stringify([
    { op: 'add', path, value: ['x'.repeat(100)] },
    ...Array.from({ length: 40 }, () => ({ op: 'copy', from: path, path: `${path}/-` })),
  ]);

/** The same, alternating between two relations that each double the other. */
const turns = (prefix: string): string =>
  JSON.stringify([
    { op: 'add', path: `${prefix}/r0`, value: ['x'.repeat(100)] },
    ...Array.from({ length: 40 }, (_, i) => [
      { op: 'add', path: `${prefix}/r${i + 1}`, value: [] },
      { op: 'copy', from: `${prefix}/r${i}`, path: `${prefix}/r${i + 1}/-` },
      { op: 'copy', from: `${prefix}/r${i}`, path: `${prefix}/r${i + 1}/-` },
      { op: 'remove', path: `${prefix}/r${i}` },
    ]).flat(),
  ]);

const bombs: Readonly<Record<string, string>> = {
  'copies an array into itself, client form': bomb('/bomb'),
  'copies an array into itself, document form': bomb('/linkset/0/bomb'),
  'copies relations by turns, client form': turns(''),
  'copies relations by turns, document form': turns('/linkset/0'),
  'copies the whole object into itself': JSON.stringify(
    Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/linkset/0', path: `/linkset/0/r${i}` })),
  ),
};

/** Asserts that prototypes are not polluted, neither in this process nor in the document. */
async function expectUnharmed(s: StorageUnderTest, iri: string): Promise<void> {
  expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  expect(([] as unknown as Record<string, unknown>)['polluted']).to.equal(undefined);
  const links = await linksOfResource(s, iri);
  expect(links.anchor).to.equal(iri);
  expect(Object.keys(links).slice(0, managed.length)).to.deep.equal(managed);
  const { iri: other } = await s.stored('text/plain', 'x');
  expect(Object.keys(await linksOfResource(s, other))).to.deep.equal(managed);
}

describeStorage('Linkset and hostile patches', (s) => {
  for (const [what, patch] of Object.entries(bombs))
    it(`a JSON Patch that ${what} forty times is rejected and changes nothing (rule 11.6)`, async () => {
      const iri = await described(s, { author: 'Ada' });
      const answer = await s.patch(metaOf(iri), jsonPatch, patch, any);
      expectProblem(answer, [400, 409, 413, 422], s);
      expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', types: [] });
    });

  it('a patch that removes its expansion at the end leaves nothing of it (rule 11.6)', async () => {
    const iri = await described(s, { author: 'Ada' });
    const operations = [...(JSON.parse(bomb('/bomb')) as unknown[]), { op: 'remove', path: '/bomb' }];
    const answer = await s.patch(metaOf(iri), jsonPatch, JSON.stringify(operations), any);
    expect(answer.status, answer.text).to.be.oneOf([204, 400, 409, 413, 422]);
    expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', types: [] });
  });

  it('a JSON Patch with a very large number of operations gets a response (rule 11.6)', async () => {
    const iri = await described(s, { author: 'Ada' });
    const operations = Array.from({ length: 20_000 }, (_, i) => ({ op: 'replace', path: '/author', value: `${i}` }));
    const answer = await s.patch(metaOf(iri), jsonPatch, JSON.stringify(operations), any);
    expect(answer.status, answer.text).to.be.oneOf([204, 400, 413, 422]);
    const author = answer.status === 204 ? '19999' : 'Ada';
    expect(await clientPart(s, iri)).to.deep.equal({ author, types: [] });
  });

  for (const [what, type, body] of [
    ['PUT', linksetType, '{"linkset":[{"__proto__":{"polluted":[{"href":"https://e.example/"}]}}]}'],
    ['PUT of targets', linksetType, '{"linkset":[{"__proto__":[{"href":"https://e.example/"}],"author":"Ada"}]}'],
    ['a merge patch', mergePatch, '{"__proto__":{"polluted":"x"}}'],
    ['a merge patch with null', mergePatch, '{"__proto__":null,"constructor":null}'],
    ['a merge patch, document form', mergePatch, '{"linkset":[{"__proto__":{"polluted":"x"}}]}'],
    ['a merge patch of the constructor', mergePatch, '{"constructor":{"prototype":{"polluted":"x"}}}'],
    ['a JSON Patch', jsonPatch, '[{"op":"add","path":"/__proto__/polluted","value":"x"}]'],
    ['a JSON Patch that replaces it', jsonPatch, '[{"op":"add","path":"/__proto__","value":{"polluted":"x"}}]'],
    ['a JSON Patch, document form', jsonPatch, '[{"op":"add","path":"/linkset/0/__proto__/polluted","value":"x"}]'],
    ['a JSON Patch of the array', jsonPatch, '[{"op":"add","path":"/linkset/__proto__/polluted","value":"x"}]'],
    [
      'a JSON Patch of the constructor',
      jsonPatch,
      '[{"op":"add","path":"/constructor/prototype/polluted","value":"x"}]',
    ],
  ] as const)
    it(`__proto__ in ${what} has no effect on prototypes (rules 11.5, 11.6)`, async () => {
      const iri = await described(s, { author: 'Ada' });
      const answer = await s.send(
        what.startsWith('PUT') ? 'PUT' : 'PATCH',
        metaOf(iri),
        {
          ...any,
          'Content-Type': type,
        },
        body,
      );
      expect(answer.status, answer.text).to.be.oneOf([204, 400, 409, 422]);
      await expectUnharmed(s, iri);
    });

  for (const name of ['toString', 'constructor', 'hasOwnProperty', 'valueOf', 'length', '0', ''])
    it(`a relation "${name}" is stored as a normal relation or rejected (rule 11.1)`, async () => {
      const iri = await described(s, { author: 'Ada' });
      const targets = [{ href: 'https://e.example/' }];
      const answer = await s.patch(metaOf(iri), mergePatch, JSON.stringify({ [name]: targets }), any);
      expect(answer.status, answer.text).to.be.oneOf([204, 400, 422]);
      const written = answer.status === 204 ? { [name]: targets } : {};
      expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', ...written, types: [] });
      await expectUnharmed(s, (await s.stored('text/plain', 'x')).iri);
    });
});
