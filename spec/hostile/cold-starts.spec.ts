/** Rule 21.4: unauthorized callers that access many storages of a deployment close none in use by their owners. */
import { expect } from 'chai';
import { type Pod, type SpecDeployment, startDeployment } from '../support/deployments.js';
import { ed25519Identity, type Identity } from '../support/identity.js';

describe('Unauthorized callers that open many storages', function () {
  this.timeout(60_000);
  const count = 40;
  let deployment: SpecDeployment;
  let own: Pod;
  let others: Pod[];
  before(async () => {
    deployment = await startDeployment('path', {
      'storages.max-open': '2',
      'public-read': 'true',
      'behind-proxy': 'true',
      'rate-limit.failed-authentications': '0',
    });
    own = await deployment.add('own');
    others = [];
    for (let each = 0; each < count; each++) others.push(await deployment.add(`other${each}`));
  });
  after(() => deployment?.stop());

  const isOpen = async (): Promise<boolean> => {
    const { text } = await deployment.home.ask('GET', '.lws/storages/own');
    return (JSON.parse(text) as { isOpen: boolean }).isOpen;
  };
  /** Statuses of GETs of consecutive storages, interleaved with the owner's. */
  const walk = async (address: string, authorization: (pod: Pod) => string | undefined): Promise<number[]> => {
    const statuses: number[] = [];
    expect((await own.ask('GET', '')).status).to.equal(200);
    for (const pod of others) {
      const value = authorization(pod);
      const fields = { 'X-Forwarded-For': address, ...(value === undefined ? {} : { Authorization: value }) };
      statuses.push((await pod.ask('GET', '', fields, undefined, null)).status);
      expect(await isOpen()).to.equal(true);
      expect((await own.ask('GET', '')).status).to.equal(200);
    }
    return statuses;
  };
  const by =
    (who: Identity) =>
    (pod: Pod): string =>
      `Bearer ${pod.token(who)}`;

  it('with an identity that has only public access, open thirty a minute', async () => {
    const statuses = await walk('192.0.2.1', by(ed25519Identity()));
    expect(statuses.slice(0, 30)).to.deep.equal(Array(30).fill(200));
    expect(statuses.slice(30)).to.deep.equal(Array(count - 30).fill(429));
  });

  it('with invalid credentials, open thirty a minute', async () => {
    const statuses = await walk('192.0.2.2', () => 'Bearer none');
    expect(statuses.slice(0, 30)).to.deep.equal(Array(30).fill(401));
    expect(statuses.slice(30)).to.deep.equal(Array(count - 30).fill(429));
  });

  it('do not affect owners, whose opens do not count for an address', async () => {
    for (const pod of others)
      expect((await pod.ask('GET', '', { 'X-Forwarded-For': '192.0.2.3' })).status).to.equal(200);
  });
});
