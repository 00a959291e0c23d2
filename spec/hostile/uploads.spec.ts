/** Rule 6.6: writes of unauthorized callers cost processing time, and the owner does not wait for all of it. */
import { expect } from 'chai';
import { by, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import type { ServerProcess } from '../support/process.js';
import { aclOf, anybody, owner, ownerRule, rule, turtleOf } from '../support/wac.js';

describe('Large uploads of unauthorized callers', function () {
  this.timeout(60_000);
  let server: ServerProcess;
  before(async () => {
    server = await startOwned(owner, { LWS_ACCESS_CONTROL: 'wac' });
  });
  after(() => server?.kill());

  const turtle = (triples: number): string =>
    Array.from({ length: triples }, (_, at) => `<#s${at}> <https://e.example/p> "text ${at}" .`).join('\n');
  const send = (method: string, name: string, fields: Record<string, string>, body = ''): Promise<Answer> =>
    request(server.root + name, { method, headers: { ...fields, 'Content-Type': 'text/turtle' }, body });

  it('do not delay the owner if three new identities upload at the same time', async () => {
    const asOwner = by(server, owner);
    expect((await request(`${server.root}inbox/`, { method: 'PUT', headers: asOwner })).status).to.equal(201);
    const acl = turtleOf(ownerRule, rule('Append', anybody));
    expect((await send('PUT', aclOf('inbox/'), { ...asOwner, 'If-None-Match': '*' }, acl)).status).to.equal(201);
    const large = turtle(25_000);
    const order: string[] = [];
    const strangers = Array.from({ length: 3 }, async () => {
      const { status } = await send('POST', 'inbox/', by(server), large);
      order.push(`stranger ${status}`);
    });
    // All are received, and the first one is being parsed.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { status } = await send('PUT', 'own', asOwner, turtle(700));
    order.push(`owner ${status}`);
    await Promise.all(strangers);
    expect(order.filter((each) => each === 'stranger 201')).to.have.length(3);
    expect(order.indexOf('owner 201'), order.join()).to.be.within(0, 1);
  });
});
