/** Read access in messages to query threads. */
import { expect } from 'chai';
import { scopeFromMessage, scopeMessage } from '../../../../components/sparql/pool/scope-message.js';
import type { GraphScope } from '../../../../lib/query/access/readable-graphs.js';
import { only, subtree } from '../../../../lib/storage/keys/iri-ranges.js';

const root = 'http://localhost/';

describe('Messages with read access', () => {
  const scopes: Readonly<Record<string, GraphScope>> = {
    everything: 'everything',
    nothing: 'nothing',
    'no range': { ranges: [] },
    'the range of everything': { ranges: [{ from: '', to: '\uffff' }] },
    'containers and single resources': { ranges: [subtree(`${root}a/`), only(`${root}b`), subtree(`${root}c/`)] },
    'an owner': { owner: 'urn:alice', ranges: [only(`${root}b`)] },
  };
  for (const [name, scope] of Object.entries(scopes))
    it(`keep ${name}`, () => {
      expect(scopeFromMessage(structuredClone(scopeMessage(scope)))).to.deep.equal(scope);
    });

  it('give equal ranges as the same array', () => {
    const ranges = [subtree(`${root}a/`), only(`${root}b`)];
    const [first, second] = [0, 1].map(() => scopeFromMessage(structuredClone(scopeMessage({ ranges: [...ranges] }))));
    expect((first as { ranges: unknown }).ranges).to.equal((second as { ranges: unknown }).ranges);
  });
});
