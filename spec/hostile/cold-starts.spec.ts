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

describe('Slow queries of strangers in many storages', function () {
  this.timeout(120_000);
  let deployment: SpecDeployment;
  after(() => deployment?.stop());

  it('do not keep the storages of other owners closed (rule 21.4)', async () => {
    deployment = await startDeployment('path', {
      'storages.max-open': '8',
      'public-read': 'true',
      'behind-proxy': 'true',
      'sparql.endpoint.timeout-seconds': '3',
    });
    const pods: Pod[] = [];
    for (let each = 0; each < 18; each++) pods.push(await deployment.add(`each${each}`));
    const [queried, others] = [pods.slice(0, 12), pods.slice(12)];
    const lines = Array.from({ length: 400 }, (_, at) => `<#${at}> <#p> ${at} .`).join('\n');
    for (const pod of queried) expect((await pod.put('data', lines)).status).to.equal(201);
    const pattern = [...'abcdef'].map((name) => `?${name} ?p${name} ?o${name}`).join(' . ');
    const query = encodeURIComponent(`SELECT (COUNT(*) AS ?n) { ${pattern} FILTER(?oa != ?of) }`);
    const stranger = ed25519Identity();
    let running = queried.length;
    const answers = queried.map(async (pod, at) => {
      const fields = { 'X-Forwarded-For': `192.0.2.${at}` };
      const answer = await pod.ask('GET', `.lws/sparql?query=${query}`, fields, undefined, pod.token(stranger));
      running--;
      return answer.status;
    });
    let rounds = 0;
    for (; running > 0; rounds++)
      for (const pod of others) expect((await pod.ask('GET', '')).status, pod.root).to.equal(200);
    expect(rounds).to.be.above(1);
    for (const status of await Promise.all(answers)) expect(status).to.be.oneOf([200, 422, 503]);
  });
});
