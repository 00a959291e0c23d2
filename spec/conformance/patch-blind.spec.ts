/** PATCH format matrix, rule 2.2: a patch whose outcome tells of the content needs read as well as write. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { agent, alice, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const sparql = 'application/sparql-update';
const jsonPatch = 'application/json-patch+json';

/** Alice may write it, Bob read as well. */
async function governed(s: StorageUnderTest, mediaType: string, content: string): Promise<string> {
  const { iri } = await s.stored(mediaType, content);
  await setAcl(s, iri, rule('Write', agent(alice)), rule('Read Write', agent(bob)));
  return iri;
}

describeStorage(
  'Patches by those who may not read',
  (s) => {
    const patch = (iri: string, mediaType: string, body: string, who = alice) =>
      s.send('PATCH', iri, { 'Content-Type': mediaType }, body, as(s, who));

    it('add and remove triples that they name', async () => {
      const iri = await governed(s, 'text/turtle', '<#a> <#b> "secret" .');
      for (const update of [
        'INSERT DATA { <#a> <#b> "x" }',
        'DELETE DATA { <#a> <#b> "y" }',
        'DELETE DATA { <#a> <#b> "x" }',
      ])
        expect((await patch(iri, sparql, update)).status, update).to.equal(204);
    });

    it('are refused a WHERE, whether it matches or not', async () => {
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

    it('change members of a JSON document that they name, and are refused tests', async () => {
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
  inWac(),
);
