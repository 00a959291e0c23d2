/** Rule 10.6: digests of linksets and system endpoints. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { clientPart, described, jsonPatch, linksetOf, linksetType, mergePatch, metaOf } from '../support/linkset.js';
import { filterBody, indexOf, lwsJson, searchOf } from '../support/search.js';

const digestOf = (content: string | Uint8Array): string =>
  `sha-256=:${createHash('sha256').update(content).digest('base64')}:`;

/** Readable documents other than resources. */
const documents: Readonly<Record<string, (s: StorageUnderTest) => Promise<string>>> = {
  'a linkset': async (s) => metaOf(await described(s, { author: 'Ada' })),
  'the linkset of a container': async (s) => metaOf(await s.container()),
  'the storage description': async (s) => `${s.root}.lws/storage-description`,
  'the type index': async (s) => indexOf(s),
  'a type search': async (s) => searchOf(s),
};

describeStorage('Integrity of metadata', (s) => {
  for (const [what, locate] of Object.entries(documents))
    for (const [wish, field] of [
      ['Want-Repr-Digest', 'repr-digest'],
      ['Want-Content-Digest', 'content-digest'],
    ] as const)
      it(`${wish} returns the digest of ${what} (rule 10.7)`, async () => {
        const answer = await s.get(await locate(s), { [wish]: 'sha-256=1' });
        expect(answer.status).to.equal(200);
        expect(answer.headers[field]).to.equal(digestOf(answer.bytes));
      });

  it('the digest of a filtered view is of that view (rule 10.7)', async () => {
    const meta = await documents['a linkset']!(s);
    const answer = await s.get(meta, { Prefer: 'include="author"', 'Want-Repr-Digest': 'sha-256=1' });
    expect(answer.headers['repr-digest']).to.equal(digestOf(answer.bytes));
  });

  for (const [method, type, body] of [
    ['PUT', linksetType, linksetOf({ author: 'Eve' })],
    ['PATCH', mergePatch, '{"author":"Eve"}'],
    ['PATCH', jsonPatch, '[{"op":"replace","path":"/author","value":"Eve"}]'],
  ] as const) {
    it(`a mismatching Content-Digest rejects ${method} of ${type} (rule 10.6)`, async () => {
      const iri = await described(s, { author: 'Ada' });
      const headers = { 'If-Match': '*', 'Content-Type': type };
      for (const wrong of [digestOf('other'), 'sha-256=x'])
        expectProblem(await s.send(method, metaOf(iri), { ...headers, 'Content-Digest': wrong }, body), 400, s);
      expect(await clientPart(s, iri)).to.deep.equal({ author: 'Ada', types: [] });
    });

    it(`${method} of ${type} returns Want-Content-Digest (rule 10.7)`, async () => {
      const iri = await described(s, { author: 'Ada' });
      const headers = { 'If-Match': '*', 'Content-Type': type, 'Content-Digest': digestOf(body) };
      const answer = await s.send(method, metaOf(iri), headers, body);
      expect(answer.status, answer.text).to.equal(204);
      expect(answer.headers['want-content-digest']).to.match(/sha-256/);
      expect(await clientPart(s, iri)).to.deep.equal({ author: 'Eve', types: [] });
    });
  }

  for (const [what, locate] of Object.entries(documents).filter(([name]) => /linkset|search/.test(name)))
    it(`OPTIONS on ${what} has Want-Content-Digest (rule 10.7)`, async () => {
      const { headers } = await s.options(await locate(s));
      expect(headers['want-content-digest'])
        .to.match(/sha-256/)
        .and.to.match(/sha-512/);
    });

  for (const method of ['POST', 'QUERY'])
    it(`a mismatching Content-Digest rejects a search by ${method} (rule 10.6)`, async () => {
      const headers = { 'Content-Type': lwsJson, 'Content-Digest': digestOf('other') };
      expectProblem(await s.send(method, searchOf(s), headers, filterBody({})), 400, s);
    });
});
