/** Download tickets: valid for one resource and one caller, for one minute. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { request } from '../support/http.js';

const asJson = { 'Content-Type': 'application/json' };
const ask = (s: StorageUnderTest, iri: unknown, sender?: Sender) =>
  s.send('POST', `${s.root}app/tickets`, asJson, JSON.stringify({ iri }), sender);
async function ticketOf(s: StorageUnderTest, iri: string): Promise<string> {
  const answer = await ask(s, iri);
  expect(answer.status, answer.text).to.equal(201);
  return (JSON.parse(answer.text) as { url: string }).url;
}

describeStorage('Tickets', (s) => {
  it('return the resource without a credential, as an attachment, with ranges', async () => {
    const { iri } = await s.stored('text/plain', '0123456789', s.fresh('%20a.txt'));
    const url = await ticketOf(s, iri);
    const answer = await request(url);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.equal('0123456789');
    expect(answer.headers['content-disposition']).to.match(/^attachment; filename\*=UTF-8''n\d+%20a\.txt$/);
    expect(answer.headers['cache-control']).to.contain('no-store');
    const part = await request(url, { headers: { Range: 'bytes=2-4' } });
    expect([part.status, part.text]).to.deep.equal([206, '234']);
    expect((await request(url, { method: 'HEAD' })).headers['content-length']).to.equal('10');
  });

  it('are refused for unreadable resources without revealing which exist', async () => {
    const { iri } = await s.stored('text/plain', 'secret');
    for (const sender of ['anonymous', s.stranger] as const) {
      const [hidden, absent] = [await ask(s, iri, sender), await ask(s, `${s.scratch}absent`, sender)];
      expect(hidden.status).to.equal(sender === 'anonymous' ? 401 : 404);
      expect(absent.status).to.equal(hidden.status);
    }
  });

  it('are invalid if modified, and as a token', async () => {
    const { iri } = await s.stored('text/plain', 'secret');
    const url = await ticketOf(s, iri);
    const [head, payload, signature] = new URL(url).searchParams.get('ticket')!.split('.');
    const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString()) as object;
    const other = Buffer.from(JSON.stringify({ ...claims, resource: `${s.root}other` })).toString('base64url');
    for (const ticket of [`${head}.${other}.${signature}`, `${head}.${payload}.`, 'nonsense', ''])
      expectProblem(await request(`${s.root}app/tickets?ticket=${ticket}`), 404, s);
    const used = await s.send('GET', iri, { Authorization: `Bearer ${head}.${payload}.${signature}` });
    expect(used.status).to.equal(401);
  });

  it('expire when read access is revoked', async () => {
    const { iri } = await s.stored('text/plain', 'secret');
    const url = await ticketOf(s, iri);
    expect((await s.delete(iri)).status).to.equal(204);
    expectProblem(await request(url), [404, 403], s);
  });

  it('are limited to resources of this storage', async () => {
    for (const iri of ['https://elsewhere.example/x', s.scratch, 5, undefined])
      expectProblem(await ask(s, iri), 400, s);
    expectProblem(await s.send('POST', `${s.root}app/tickets`, { 'Content-Type': 'text/plain' }, '{}'), 415, s);
    expectProblem(await s.send('POST', `${s.root}app/tickets`, asJson, '[]'), 400, s);
  });

  it('are not logged', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const url = await ticketOf(s, iri);
    await request(url);
    const ticket = new URL(url).searchParams.get('ticket')!;
    const lines = s.server?.log.map((line) => JSON.stringify(line)) ?? [];
    expect(lines.filter((line) => line.includes(ticket.slice(0, 60)))).to.deep.equal([]);
  });
});
