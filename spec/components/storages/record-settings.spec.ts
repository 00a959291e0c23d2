/** Settings that the record of a storage may contain (rule 21.3): a value that the storage cannot be opened with is rejected. */
import { expect } from 'chai';
import { type Pod, type SpecDeployment, startDeployment } from '../../support/deployments.js';

const json = { 'Content-Type': 'application/json' };

/** Values that some setting may accept although a storage cannot be opened with them. */
const values: readonly unknown[] = [
  ...['', ' ', 'x', '/', '/x', 'x/', '../x', '..', '.', 'a b', '%', '%00', 'é', '?x', '#x', 'x.acl', 'x.meta'],
  ...['/.lws', '/.lws/x', '/app', '/app/x', '/callback', '/.trash/', '/.well-known/lws-configuration', '//x', 'x//y'],
  ...[
    'https://other.example/',
    'https://other.example/x',
    'http://[::',
    'javascript:1',
    'urn:x:y',
    'did:key:z6Mk',
    '*',
  ],
  ...['wac', 'owner', 0, 1, -1, 1.5, 1e9, true, false, null, [], ['x'], ['*'], ['https://other.example']],
  'x'.repeat(70_000),
];

describe('Settings of a record', function () {
  this.timeout(600_000);
  let deployment: SpecDeployment;
  let pod: Pod;
  before(async () => {
    deployment = await startDeployment('path', { 'public-read': 'true', 'text-search.enabled': 'true' });
    pod = await deployment.add('one');
  });
  after(() => deployment.stop());

  const change = async (settings: Readonly<Record<string, unknown>>): Promise<number> => {
    const { home } = deployment;
    const body = JSON.stringify({ settings });
    return (await home.ask('PATCH', '.lws/storages/one', { ...json, 'If-Match': '*' }, body)).status;
  };

  it('are either rejected, or the storage opens with them (rule 21.3)', async () => {
    const names = deployment.settings
      .all()
      .filter(({ setting }) => setting.scope === 'storage')
      .map(({ setting }) => setting.name);
    expect(names).to.include.members(['lws.sparql.endpoint.default-graph', 'lws.sparql.endpoint.tools']);
    const stopped: string[] = [];
    let accepted = 0;
    for (const name of names) {
      for (const value of values) {
        const status = await change({ [name]: value });
        expect(status, `${name} ${value}`).to.be.oneOf([200, 204, 400, 413]);
        if (status >= 400) continue;
        accepted++;
        const { status: opened } = await pod.ask('GET', '', { Accept: 'text/turtle' });
        if (opened >= 500) stopped.push(`${name} ${JSON.stringify(value).slice(0, 80)}: ${opened}`);
      }
      expect(await change({ [name]: null }), name).to.be.oneOf([200, 204, 400]);
    }
    expect(stopped).to.deep.equal([]);
    expect(accepted).to.be.above(names.length);
  });

  it('name resources and containers of the storage (rules 14.17, 24.6)', async () => {
    for (const [name, right, wrong] of [
      ['lws.sparql.endpoint.default-graph', ['data', '/one/data'], ['/data', 'https://other.example/x', 'x.acl', 'c/']],
      ['lws.sparql.endpoint.tools', ['tools/', ''], ['tools', 'https://other.example/x/', '.lws/x/', '../two/']],
    ] as const) {
      for (const value of wrong) expect(await change({ [name]: value }), `${name} ${value}`).to.equal(400);
      for (const value of right.filter((each) => each !== ''))
        expect(await change({ [name]: value }), `${name} ${value}`).to.be.oneOf([200, 204]);
    }
    expect((await pod.ask('GET', '', { Accept: 'text/turtle' })).status).to.equal(200);
  });
});
