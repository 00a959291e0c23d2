/** RFC 9110 and RFC 9112: duplicate fields, codings, targets and expectations, as bytes on the wire. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import { exchange } from '../support/http.js';

describeStorage('Framing', (s) => {
  const authorization = (): string => `Authorization: Bearer ${s.token}\r\n`;
  const hostOf = ({ root }: StorageUnderTest): string => `Host: ${new URL(root).host}\r\n`;
  const send = (target: string, fields: string, body = '', version = '1.1', method = 'GET') =>
    exchange(s.root, [`${method} ${target} HTTP/${version}\r\n${fields}Connection: close\r\n\r\n${body}`]);
  const path = (): string => new URL(s.scratch).pathname;

  it('RFC 9112 3.2: two Host fields are 400, equal or not', async () => {
    expect((await send(path(), hostOf(s) + authorization()))?.status).to.equal(200);
    for (const second of [hostOf(s), 'host: elsewhere.example\r\n'])
      expectProblem(await send(path(), hostOf(s) + second + authorization()), 400, s);
  });

  it('RFC 9110 11.6.2: two Authorization fields are 400, equal or not', async () => {
    for (const second of [authorization(), 'AUTHORIZATION: Bearer x\r\n'])
      expectProblem(await send(path(), hostOf(s) + authorization() + second), 400, s);
  });

  for (const coding of ['gzip, chunked', 'identity, chunked', 'deflate,chunked'])
    it(`RFC 9112 6.1: Transfer-Encoding: ${coding} is 501 and stores nothing`, async () => {
      const iri = s.fresh();
      const fields = `${hostOf(s)}${authorization()}Content-Type: text/plain\r\nTransfer-Encoding: ${coding}\r\n`;
      expectProblem(await send(new URL(iri).pathname, fields, '1\r\nx\r\n0\r\n\r\n', '1.1', 'PUT'), 501, s);
      await s.expectAbsent(iri);
    });

  it('RFC 9110 10.1.1: an expectation in HTTP/1.0 gets no 100', async () => {
    for (const version of ['1.0', '1.1']) {
      const iri = s.fresh();
      const fields = `${hostOf(s)}${authorization()}Content-Type: text/plain\r\nContent-Length: 1\r\nExpect: 100-continue\r\n`;
      const answer = await send(new URL(iri).pathname, fields, 'x', version, 'PUT');
      expect([answer?.status, answer?.interim], version).to.deep.equal([201, version === '1.0' ? [] : [100]]);
    }
  });

  it('RFC 9112 3.2.2: the absolute form without a path addresses the root', async () => {
    if (new URL(s.root).pathname !== '/') return;
    const origin = new URL(s.root).origin;
    const fields = `${hostOf(s)}${authorization()}Accept: application/lws+json\r\n`;
    for (const target of [origin, `${origin}/`, `${origin}?page=1`, `${origin}?other=/a`]) {
      const answer = await send(target, fields);
      expect(answer?.status, target).to.equal(200);
      expect(JSON.parse(answer!.text).id, target).to.equal(s.root);
      expect(linked(answer!, 'first').length, target).to.equal(target.includes('page') ? 1 : 0);
    }
  });

  it('values too long for a response header are 400 (rule 1.13)', async () => {
    const long = 'x'.repeat(9000);
    expectProblem(await s.put(s.fresh(), `text/plain; a=${long}`, 'x'), 400, s);
    expectProblem(await s.post(s.scratch, `text/plain; a=${long}`, 'x'), 400, s);
    const { iri } = await s.stored('text/plain', 'x');
    expectProblem(await s.get(`${iri}.meta`, { Prefer: `include="${long}"` }), 400, s);
    expect((await s.put(s.fresh(), `text/plain; a=${long.slice(0, 4000)}`, 'x')).status).to.equal(201);
  });
});
