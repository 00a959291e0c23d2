/** Rule 21.10: limits of unauthorized callers apply across all storages, not per storage. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { type Pod, type SpecDeployment, startDeployment } from '../support/deployments.js';
import { ed25519Identity } from '../support/identity.js';
import { startInboxHost } from '../support/inbox.js';
import { lwsJson } from '../support/search.js';

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json = { 'Content-Type': lwsJson };
const names = Array.from({ length: 11 }, (_, at) => `pod${at}`);

describe('Limits of unauthorized callers in a deployment (rule 21.10)', function () {
  this.timeout(60_000);
  let deployment: SpecDeployment;
  let pods: Pod[];
  let host: Awaited<ReturnType<typeof startInboxHost>>;
  const streams: ClientRequest[] = [];
  before(async () => {
    host = await startInboxHost();
    deployment = await startDeployment('path', {
      'behind-proxy': 'true',
      'public-read': 'true',
      'streams.max-per-address': '3',
      'streams.max-of-strangers': '1',
      'subscriptions.max-per-address': '3',
      'subscriptions.max-of-strangers': '1',
      'access-requests.max-per-address': '3',
      'access-requests.max-waiting': '1',
      'rate-limit.token-requests': '15',
      'webhook.allowed-hosts': host.authority,
    });
    pods = [];
    for (const name of names) {
      pods.push(await deployment.add(name));
      // Opened by its owner, so that it does not count for an address.
      expect((await pods.at(-1)!.ask('GET', '')).status).to.equal(200);
    }
  });
  after(async () => {
    for (const each of streams) each.destroy();
    await deployment?.stop();
    host.close();
  });

  const from = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
  const subscribe = async (pod: Pod, address: string): Promise<number> => {
    const body = JSON.stringify({ type: 'WebhookSubscription', topic: [pod.root], inbox: host.inbox() });
    const token = pod.token(ed25519Identity());
    return (await pod.ask('POST', '.lws/subscriptions', { ...json, ...from(address) }, body, token)).status;
  };
  const listen = async (pod: Pod, address: string): Promise<number> => {
    const { host: authority, pathname } = new URL(pod.root);
    const path = `${pathname}.lws/subscriptions/stream?topic=${encodeURIComponent(pod.root)}`;
    const headers = { Host: authority, ...from(address) };
    const sent = request({ port: deployment.port, host: '127.0.0.1', path, headers, agent: false }).end();
    sent.on('error', () => {});
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.on('error', () => {});
    if (answer.statusCode === 200) streams.push(sent);
    else sent.destroy();
    return answer.statusCode!;
  };
  const ask = async (pod: Pod, address: string): Promise<number> => {
    const target = { type: 'Container', value: [pod.root] };
    const access = { type: ['AccessPolicy'], action: ['read'], assignee: pod.owner.did, target };
    const body = JSON.stringify({ type: ['AccessRequest'], storage: pod.root, access: [access] });
    const token = pod.token(ed25519Identity());
    return (await pod.ask('POST', '.lws/access-requests', { ...json, ...from(address) }, body, token)).status;
  };

  for (const [what, take, made, net] of [
    ['subscriptions', subscribe, 201, '192.0.2'],
    ['streams', listen, 200, '198.51.100'],
    ['access requests', ask, 201, '203.0.113'],
  ] as const) {
    it(`count ${what} of an address in all storages`, async () => {
      const statuses: number[] = [];
      for (const pod of pods.slice(0, 4)) statuses.push(await take(pod, `${net}.1`));
      expect(statuses).to.deep.equal([made, made, made, 429]);
    });

    it(`permit ten times as many ${what} of all addresses in all storages as in one`, async () => {
      const statuses: number[] = [];
      for (const [at, pod] of pods.slice(3).entries()) statuses.push(await take(pod, `${net}.${10 + at}`));
      expect(statuses).to.deep.equal([...Array(7).fill(made), 429]);
    });
  }

  it('count stored items of closed storages', async () => {
    await deployment.change(names[0]!, { state: 'suspended' });
    while ((await pods[0]!.ask('GET', '')).status !== 503) await new Promise((resolve) => setImmediate(resolve));
    expect(await subscribe(pods[10]!, '192.0.2.99')).to.equal(429);
    await deployment.change(names[0]!, { state: 'ready' });
  });

  it('do not count ended streams', async () => {
    for (const each of streams.splice(0)) each.destroy();
    while ((await listen(pods[10]!, '198.51.100.99')) !== 200) await new Promise((resolve) => setImmediate(resolve));
  });

  it('count token requests in all storages, per address and in total', async () => {
    const token = async (pod: Pod, address: string): Promise<number> =>
      (await pod.ask('POST', '.lws/token', { ...form, ...from(address) }, 'a=b', null)).status;
    const statusesOf = async (count: number, address: string): Promise<number[]> => {
      const all: number[] = [];
      for (let at = 0; at < count; at++) all.push(await token(pods[at % pods.length]!, address));
      return all;
    };
    expect(await statusesOf(16, '192.0.2.1')).to.deep.equal([...Array(15).fill(400), 429]);
    for (let at = 2; at <= 10; at++) expect(await statusesOf(15, `192.0.2.${at}`)).not.to.include(429);
    // The total limit is reached: each address has a fifteenth of its previous limit.
    expect(await statusesOf(2, '192.0.2.11')).to.deep.equal([400, 429]);
  });
});
