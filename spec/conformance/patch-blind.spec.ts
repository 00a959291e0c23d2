/** PATCH format matrix, rule 2.2: a patch with a result that reveals content needs read and write. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { postUpdate } from '../support/sparql-update.js';
import { agent, alice, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const sparql = 'application/sparql-update';
const jsonPatch = 'application/json-patch+json';

/** Alice may write it. Bob may also read it. */
async function governed(s: StorageUnderTest, mediaType: string, content: string): Promise<string> {
  const { iri } = await s.stored(mediaType, content);
  await setAcl(s, iri, rule('Write', agent(alice)), rule('Read Write', agent(bob)));
  return iri;
}

describeStorage(
  'Patches without read access',
  (s) => {
    const patch = (iri: string, mediaType: string, body: string, who = alice) =>
      s.send('PATCH', iri, { 'Content-Type': mediaType }, body, as(s, who));

    it('add and remove explicit triples', async () => {
      const iri = await governed(s, 'text/turtle', '<#a> <#b> "secret" .');
      for (const update of [
        'INSERT DATA { <#a> <#b> "x" }',
        'DELETE DATA { <#a> <#b> "y" }',
        'DELETE DATA { <#a> <#b> "x" }',
      ])
        expect((await patch(iri, sparql, update)).status, update).to.equal(204);
    });

    it('reject a WHERE clause, matching or not', async () => {
      const iri = await governed(s, 'text/turtle', '<#a> <#b> "secret" .');
      for (const guess of ['secret', 'other'])
        for (const update of [
          `INSERT { <#a> <#c> "found" } WHERE { <#a> <#b> "${guess}" }`,
          `DELETE { <#a> <#b> "${guess}" } WHERE {}`,
          `DELETE WHERE { ?s ?p "${guess}" }`,
          `INSERT DATA { <#x> <#y> 1 } ; DELETE WHERE { ?s ?p "${guess}" }`,
        ]) {
          expectProblem(await patch(iri, sparql, update), 403, s);
          expect((await patch(iri, sparql, update, bob)).status, update).to.equal(204);
        }
      expect((await s.get(iri)).text).to.contain('found');
    });

    it('have no ETag and always create a new state, even without changes (rule 6.13)', async () => {
      const graph = await governed(s, 'text/turtle', '<#a> <#b> "secret" .');
      const json = await governed(s, 'application/json', '{"a":"secret"}');
      const large = await governed(
        s,
        'application/n-triples',
        Array.from({ length: 20_010 }, (_, at) => `<${s.root}#${at}> <${s.root}#b> "secret" .`).join('\n'),
      );
      for (const [iri, mediaType, same, other] of [
        [graph, sparql, 'INSERT DATA { <#a> <#b> "secret" }', 'INSERT DATA { <#a> <#b> "x" }'],
        [graph, sparql, 'DELETE DATA { <#a> <#b> "absent" }', 'DELETE DATA { <#a> <#b> "x" }'],
        [large, sparql, `INSERT DATA { <${s.root}#7> <${s.root}#b> "secret" }`, 'INSERT DATA { <#a> <#b> "x" }'],
        [json, 'application/merge-patch+json', '{"a":"secret"}', '{"a":"other"}'],
        [json, jsonPatch, '[{"op":"add","path":"/a","value":"other"}]', '[{"op":"add","path":"/a","value":"x"}]'],
      ] as const)
        for (const body of [same, other]) {
          const before = await s.tag(iri);
          const { status, headers } = await patch(iri, mediaType, body);
          expect([status, headers['etag'], headers['last-modified']], body).to.deep.equal([204, undefined, undefined]);
          expect(await s.tag(iri), body).not.to.equal(before);
        }
      const before = await s.tag(graph);
      const read = await patch(graph, sparql, 'INSERT DATA { <#a> <#b> "secret" }', bob);
      expect([read.status, read.headers['etag']]).to.deep.equal([204, before]);
    });

    it('reject JSON Patch operations with a result that depends on the content (rule 2.2)', async () => {
      const iri = await governed(s, 'application/json', '{"a":"secret","list":[1,2]}');
      for (const operation of [
        { op: 'remove', path: '/a' },
        { op: 'remove', path: '/absent' },
        { op: 'replace', path: '/a', value: 1 },
        { op: 'copy', from: '/a', path: '/a' },
        { op: 'move', from: '/absent', path: '/b' },
        { op: 'add', path: '/list/2', value: 3 },
        { op: 'add', path: '/list/7', value: 3 },
        { op: 'add', path: '/0', value: 3 },
        { op: 'add', path: '/-', value: 3 },
      ])
        expectProblem(await patch(iri, jsonPatch, JSON.stringify([operation])), 403, s);
      expect(JSON.parse((await s.get(iri)).text)).to.deep.equal({ a: 'secret', list: [1, 2] });
    });

    it('reveal nothing of linksets: no JSON Patch, no ETag (rule 2.4)', async () => {
      const iri = await governed(s, 'text/turtle', '');
      const linkset = (title: string) => JSON.stringify({ linkset: [{ anchor: iri, title }] });
      const type = 'application/linkset+json';
      expect((await s.put(`${iri}.meta`, type, linkset('secret'), { 'If-Match': '*' })).status).to.equal(204);
      const tag = await s.tag(`${iri}.meta`);
      const asAlice = (method: string, mediaType: string, body: string, match = '*') =>
        s.send(method, `${iri}.meta`, { 'Content-Type': mediaType, 'If-Match': match }, body, as(s, alice));
      for (const title of ['secret', 'other']) {
        const test = `[{"op":"test","path":"/linkset/0/title","value":"${title}"}]`;
        expectProblem(await asAlice('PATCH', jsonPatch, test), 404, s);
        for (const match of [tag, '"guess"']) expectProblem(await asAlice('PUT', type, linkset(title), match), 412, s);
      }
      expect(await s.tag(`${iri}.meta`)).to.equal(tag);
      for (const title of ['secret', 'other'])
        for (const answer of [
          await asAlice('PUT', type, linkset(title)),
          await asAlice('PATCH', 'application/merge-patch+json', `{"title":"${title}"}`),
        ]) {
          const { status, headers } = answer;
          expect([status, headers['etag'], headers['last-modified']]).to.deep.equal([204, undefined, undefined]);
        }
    });

    it('are reported as changed, without an ETag, by an update at the endpoint (rule 14.11)', async () => {
      const iri = await governed(s, 'text/turtle', '<#a> <#b> "secret" .');
      for (const value of ['secret', 'x']) {
        const before = await s.tag(iri);
        const update = `INSERT DATA { GRAPH <${iri}> { <${iri}#a> <${iri}#b> "${value}" } }`;
        const answer = await postUpdate(s, update, as(s, alice));
        expect(answer.status, answer.text).to.equal(200);
        expect(JSON.parse(answer.text).resources).to.deep.equal([{ id: iri, status: 'changed' }]);
        expect(await s.tag(iri)).not.to.equal(before);
      }
    });

    it('change explicit members of a JSON document, and reject tests', async () => {
      const iri = await governed(s, 'application/json', '{"a":"secret"}');
      expect((await patch(iri, jsonPatch, '[{"op":"add","path":"/b","value":"test"}]')).status).to.equal(204);
      expect((await patch(iri, 'application/merge-patch+json', '{"c":{"op":"test"}}')).status).to.equal(204);
      for (const guess of ['secret', 'other'])
        for (const op of ['test', 't\\u0065st'])
          expectProblem(await patch(iri, jsonPatch, `[{"op":"${op}","path":"/a","value":"${guess}"}]`), 403, s);
      expect((await patch(iri, jsonPatch, '[{"op":"test","path":"/a","value":"secret"}]', bob)).status).to.equal(204);
      expectProblem(await patch(iri, jsonPatch, '[{"op":"test","path":"/a","value":"x"}]', bob), 409, s);
    });
  },
  inWac({ 'sparql.endpoint.update': 'true' }),
);
