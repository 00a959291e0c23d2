/** Throttling of rejected credentials and of the token endpoint: `lws.rate-limit.*`, per client address (RFC 6585 4). */
import { expect } from 'chai';
import { expectProblem } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { credential, ed25519Identity, type Identity } from '../support/identity.js';
import { signingKey } from '../support/jwt.js';
import { accessToken, baseOf, bearer, form, requestToken } from '../support/oauth.js';
import { proof } from '../support/proofs.js';
import { type SpecServer, startSpecServer } from '../support/server.js';

const owner = ed25519Identity();
const key = signingKey('ES256');
const limit = 4;
let s: SpecServer;
let addresses = 0;
/** A fresh client address, appended by the proxy in front of the server. */
const newAddress = (): string => `192.0.2.${++addresses}`;
const of = (address: string): { 'X-Forwarded-For': string } => ({ 'X-Forwarded-For': address });
const good = (id: Identity = owner): string => credential(id, { aud: baseOf(s) });
const bad = (): string => credential(owner, { aud: 'https://elsewhere.example' });
const resource = (): string => `${s.root}?page=1`;
const statusOf = async (answer: Promise<Answer>): Promise<number> => (await answer).status;

function expectWait(answer: Answer): void {
  expectProblem(answer, 429);
  expect(answer.headers['retry-after']).to.match(/^\d+$/);
  expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
}

/** Sends bad credentials until they are throttled. @returns the number of rejected ones */
async function exhaust(headersOf: () => Record<string, string>): Promise<number> {
  for (let count = 0; count < 3 * limit; count++) {
    const answer = await bearer(resource(), bad(), headersOf());
    if (answer.status === 429) {
      expectWait(answer);
      return count;
    }
    expect(answer.status).to.equal(401);
  }
  return Number.POSITIVE_INFINITY;
}

describe('Throttling behind a proxy', () => {
  before(async () => {
    const rates = { 'rate-limit.failed-authentications': String(limit), 'rate-limit.token-requests': String(limit) };
    s = await startSpecServer({ settings: { owners: owner.did, 'behind-proxy': 'true', ...rates } });
  });
  after(() => s.stop());

  it('lws.rate-limit.failed-authentications: maximum failures per address, then 429 with Retry-After', async () => {
    const address = newAddress();
    expect(await exhaust(() => of(address))).to.equal(limit);
    expectWait(await bearer(resource(), 'x', of(address)));
  });

  it('Throttling: known credentials continue; others of the address wait; other addresses are not affected', async () => {
    const address = newAddress();
    const [known, unknown] = [good(), good()];
    expect(await statusOf(bearer(resource(), known, of(address)))).to.equal(200);
    await exhaust(() => of(address));
    expect(await statusOf(bearer(resource(), known, of(address)))).to.equal(200);
    expectWait(await bearer(resource(), unknown, of(address)));
    expect(await statusOf(bearer(resource(), unknown, of(newAddress())))).to.equal(200);
    expect(await statusOf(request(s.root, { headers: of(address) }))).to.equal(200);
    expect(await statusOf(request(resource(), { headers: of(address) }))).to.equal(401);
  });

  it('Throttling: a known DPoP-bound token continues too', async () => {
    const address = newAddress();
    const token = await accessToken(s, owner, {
      DPoP: proof(key, `${s.root}.lws/token`, { method: 'POST' }),
      ...of(newAddress()),
    });
    const present = (): Promise<Answer> =>
      request(resource(), {
        headers: { Authorization: `DPoP ${token}`, DPoP: proof(key, s.root, { token }), ...of(address) },
      });
    expect(await statusOf(present())).to.equal(200);
    await exhaust(() => of(address));
    expect(await statusOf(present())).to.equal(200);
  });

  it('Throttling: bad proofs count too', async () => {
    const address = newAddress();
    const headers = { Authorization: `DPoP ${good()}`, ...of(address) };
    const statuses: number[] = [];
    for (let i = 0; i <= limit; i++) {
      const DPoP = proof(key, `${s.root}elsewhere`, { token: 'x' });
      statuses.push(await statusOf(request(resource(), { headers: { ...headers, DPoP } })));
    }
    expect(statuses).to.deep.equal([...Array<number>(limit).fill(401), 429]);
  });

  it('Throttling: X-Forwarded-For entries written by the client do not change its address', async () => {
    const address = newAddress();
    expect(await exhaust(() => of(`${newAddress()}, ${address}`))).to.equal(limit);
    // Nor does it lock out the named subject.
    const victim = newAddress();
    await exhaust(() => of(`${victim}, ${newAddress()}`));
    expect(await statusOf(bearer(resource(), bad(), of(victim)))).to.equal(401);
  });

  it('Throttling: successful requests do not count', async () => {
    const address = newAddress();
    for (let i = 0; i < 2 * limit; i++) expect(await statusOf(bearer(resource(), good(), of(address)))).to.equal(200);
    for (let i = 0; i < 2 * limit; i++)
      expect(await statusOf(request(resource(), { headers: of(address) }))).to.equal(401);
    expect(await exhaust(() => of(address))).to.equal(limit);
  });

  it('lws.rate-limit.token-requests: maximum requests per address, valid or not, then 429 with Retry-After', async () => {
    const address = newAddress();
    const ask = (from: string, token = good()): Promise<Answer> => requestToken(s, form(s, token), of(from));
    const statuses: number[] = [];
    for (let i = 0; i < limit; i++) statuses.push(await statusOf(ask(address, i % 2 ? good() : bad())));
    expect(statuses).to.deep.equal([400, 200, 400, 200]);
    const answer = await ask(address);
    expect([answer.status, answer.headers['content-type']]).to.deep.equal([429, 'application/json']);
    // RFC 6749 5.2
    expect(JSON.parse(answer.text)).to.have.all.keys('error', 'error_description');
    expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(await statusOf(ask(newAddress()))).to.equal(200);
    // This count is separate from that of rejected credentials.
    expect(await statusOf(bearer(resource(), good(), of(address)))).to.equal(200);
  });

  it('Bad input: unusual addresses cause no server error', async () => {
    for (const address of [
      'unknown',
      '',
      ',',
      ', ,',
      '[2001:db8::1]:80',
      '2001:db8::1',
      '"x"',
      'x'.repeat(5000),
      '::',
      ':'.repeat(99),
    ]) {
      const statuses = [await statusOf(bearer(resource(), bad(), of(address)))];
      statuses.push(await statusOf(requestToken(s, form(s, good()), of(address))));
      expect(Math.max(...statuses), address.slice(0, 40)).to.be.below(500);
    }
  });
});

describe('Throttling without a proxy', () => {
  before(async () => {
    s = await startSpecServer({ settings: { owners: owner.did, 'rate-limit.failed-authentications': String(limit) } });
  });
  after(() => s.stop());

  it('lws.behind-proxy=false: X-Forwarded-For is ignored', async () => {
    const known = good();
    expect(await statusOf(bearer(resource(), known))).to.equal(200);
    expect(await exhaust(() => of(newAddress()))).to.equal(limit);
    expect(await statusOf(bearer(resource(), known, of(newAddress())))).to.equal(200);
  });

  it('Bad input: a flood of bad credentials does not affect other clients', async () => {
    const known = credential(owner, { aud: baseOf(s) });
    await s.stop(true);
    s = await startSpecServer({ settings: { owners: owner.did }, again: s });
    expect(await statusOf(bearer(resource(), known))).to.equal(200);
    const flood = Promise.all(Array.from({ length: 300 }, () => bearer(resource(), bad())));
    const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(bearer(resource(), known))));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(new Set((await flood).map(({ status }) => status))).to.deep.equal(new Set([401]));
  });

  it('lws.rate-limit.failed-authentications=0: no limit', async () => {
    await s.stop(true);
    const settings = { owners: owner.did, 'rate-limit.failed-authentications': '0', 'rate-limit.token-requests': '0' };
    s = await startSpecServer({ settings, again: s });
    expect(await exhaust(() => ({}))).to.equal(Number.POSITIVE_INFINITY);
    for (let i = 0; i < 10; i++) expect(await statusOf(requestToken(s, form(s, good())))).to.equal(200);
  });
});
