/** Rule 17.7, "Limits on strangers": access requests are bounded in storage use and in listings. */
import { expect } from 'chai';
import { by, expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import type { ServerProcess } from '../support/process.js';
import { lwsJson } from '../support/search.js';

const owner = ed25519Identity();
const perAddress = 200;

describe('Access requests under attack', function () {
  this.timeout(60_000);
  this.retries(1);
  let server: ServerProcess;
  const ask = (length: number): Promise<Answer> => {
    const { root } = server;
    const access = {
      type: ['AccessPolicy'],
      action: ['read'],
      assignee: owner.did,
      target: { type: 'Container', value: [root] },
    };
    return request(`${root}.lws/access-requests`, {
      method: 'POST',
      headers: { ...by(server), 'Content-Type': lwsJson },
      body: JSON.stringify({ type: ['AccessRequest'], storage: root, access: [access], why: 'x'.repeat(length) }),
    });
  };
  const listed = async (): Promise<{ readonly items: { readonly id: string }[]; readonly totalItems: number }> =>
    JSON.parse((await request(`${server.root}.lws/access-requests`, { headers: by(server, owner) })).text);

  beforeEach(async () => {
    server = await startOwned(owner, { LWS_QUOTA_MAX_BYTES: '1000000' });
  });
  afterEach(() => server?.kill());

  it('one above 16 KiB is 413; above the limit per address they are 429 (rule 17.7)', async () => {
    expect((await ask(16 << 10)).status).to.equal(413);
    const impact = await measureImpact(server, async () => {
      const statuses: number[] = [];
      for (let at = 0; at < perAddress + 50; at++) statuses.push((await ask(3_000)).status);
      return statuses;
    });
    expect(impact.result.slice(0, perAddress).every((status) => status === 201)).to.equal(true);
    expect(impact.result.slice(perAddress).every((status) => status === 429)).to.equal(true);
    expectNoImpact(impact);
    const { items, totalItems } = await listed();
    expect(totalItems).to.equal(perAddress);
    // A controller frees a slot by reading or deleting a request.
    expect((await request(items[0]!.id, { headers: by(server, owner) })).status).to.equal(200);
    expect((await request(items[1]!.id, { method: 'DELETE', headers: by(server, owner) })).status).to.equal(204);
    expect([(await ask(1)).status, (await ask(1)).status, (await ask(1)).status]).to.deep.equal([201, 201, 429]);
  });

  it('they count against the quota, like linksets (rule 10.3)', async () => {
    const kept: number[] = [];
    for (let status = 201; status === 201; kept.push(status)) ({ status } = await ask(15_000));
    expect(kept.pop()).to.equal(507);
    expect(kept.length).to.be.within(50, 70);
    const { items } = await listed();
    const linkset = {
      linkset: [{ anchor: server.root, describedby: [{ href: `https://x.example/${'x'.repeat(40_000)}` }] }],
    };
    const put = (): Promise<Answer> =>
      request(`${server.root}.meta`, {
        method: 'PUT',
        headers: { ...by(server, owner), 'Content-Type': 'application/linkset+json', 'If-Match': '*' },
        body: JSON.stringify(linkset),
      });
    const refused = await put();
    expect(refused.status, refused.text).to.equal(507);
    for (const { id } of items.slice(0, 5)) await request(id, { method: 'DELETE', headers: by(server, owner) });
    const taken = await put();
    expect(taken.status, taken.text).to.equal(204);
  });
});
