/** An update is computed again, a limited number of times, if its graphs change in between. */
import { expect } from 'chai';
import { update } from '../../../components/sparql/endpoint-update.js';
import type { SparqlEndpoint } from '../../../components/sparql/service-endpoint.js';
import { RevisionConflict } from '../../../lib/resources/optimistic-retry.js';
import { LwsError } from '../../../lib/tools/errors.js';

const platform = {
  baseUri: 'https://storage.example',
  rootIri: 'https://storage.example/',
  systemPrefix: '/.lws',
  store: {},
  authorizer: { standing: () => 'controller', allows: () => true },
};

/** An endpoint whose graphs change this often. */
function endpointWhere(changes: number) {
  const counts = { computed: 0, written: 0 };
  const pool = {
    async run() {
      counts.computed++;
      return { mediaType: '', body: Buffer.from('') };
    },
  };
  const updateGraphs = async () => {
    if (counts.computed <= changes) throw new RevisionConflict('https://storage.example/a');
    counts.written++;
    return [];
  };
  return { counts, endpoint: { platform: { ...platform, updateGraphs }, pool, services: { allowed: [] } } };
}

const run = ({ endpoint }: ReturnType<typeof endpointWhere>) => {
  const req = { headers: {}, socket: { once() {}, off() {} }, once() {}, off() {} };
  const asker = { access: { principal: undefined }, address: '192.0.2.1', req };
  return update(endpoint as unknown as SparqlEndpoint, asker as never, { query: '' });
};

describe('An update whose graphs change meanwhile', () => {
  it('is computed again, and written once', async () => {
    const made = endpointWhere(9);
    expect((await run(made)).status).to.equal(200);
    expect(made.counts).to.deep.equal({ computed: 10, written: 1 });
  });

  it('fails after ten attempts, with Retry-After, and writes nothing', async () => {
    const made = endpointWhere(10);
    const refusal = await run(made).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refusal).to.be.instanceOf(LwsError).with.property('code', 'too-busy');
    expect((refusal as LwsError).fields).to.have.property('Retry-After', '1');
    expect(made.counts).to.deep.equal({ computed: 10, written: 0 });
  });
});
