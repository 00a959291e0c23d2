/** Rule 10.1. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { type Answer, exchange, head } from '../support/http.js';
import { until } from '../support/until.js';

describeStorage('Errors', (s) => {
  it('Errors: each status has its problem document', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    const container = await s.container();
    await s.stored('text/plain', 'x', `${container}x`);
    const refusals: readonly (readonly [number, Promise<Answer>])[] = [
      [400, s.put(s.fresh(), 'text/turtle', '<> a')],
      [401, s.send('GET', iri, {}, undefined, 'anonymous')],
      [403, s.delete(s.root)],
      [404, s.get(s.fresh())],
      [405, s.post(iri, 'text/plain', 'x')],
      [409, s.delete(container)],
      [412, s.delete(iri, { 'If-Match': '"stale"' })],
      [415, s.patch(iri, 'text/n3', 'x')],
      [428, s.put(iri, 'text/turtle', '')],
    ];
    for (const [status, answer] of refusals) expectProblem(await answer, status, s);
  });

  it('each request has its own instance (rule 10.1)', async () => {
    const instances = await Promise.all([1, 2].map(async () => JSON.parse((await s.get(s.fresh())).text).instance));
    expect(instances[0]).not.to.equal(instances[1]);
  });

  it('the log contains the instance and no credential (rule 10.1)', async function () {
    if (!s.server) return this.skip();
    const { instance } = JSON.parse((await s.get(s.fresh())).text) as { instance: string };
    const lines = (): string[] => s.server!.log.map((line) => JSON.stringify(line));
    await until(() => lines().some((line) => line.includes(instance)), 'the request is logged');
    expect(lines().filter((line) => line.includes(instance))).to.have.length(1);
    expect(lines().filter((line) => line.includes(s.token!.split('.')[2]!))).to.have.length(0);
  });

  it('the problem type is stable and specific to the error (rule 10.1)', async () => {
    const typeOf = async (answer: Promise<Answer>): Promise<string> => JSON.parse((await answer).text).type;
    const { iri } = await s.stored('text/plain', 'x');
    const [absent, again, required] = [
      await typeOf(s.get(s.fresh())),
      await typeOf(s.get(s.fresh())),
      await typeOf(s.put(iri, 'text/plain', 'y')),
    ];
    expect(again).to.equal(absent);
    if (absent !== 'about:blank') expect(required).not.to.equal(absent);
  });

  it('Errors: an error reveals neither stack traces nor file names', async () => {
    for (const answer of [
      await s.put(s.fresh(), 'application/ld+json', '{"@id": 5}'),
      await s.put(s.fresh(), 'application/rdf+xml', '<a>'),
      await s.put(s.fresh(), 'application/json', '{'),
    ]) {
      expectProblem(answer, 400, s);
      expect(answer.text).not.to.match(/\.[jt]s\b|node_modules|\n\s+at /);
    }
  });

  it('Errors: the response to HEAD has no body', async () => {
    const answer = await s.head(s.fresh());
    expect([answer.status, answer.bytes.length]).to.deep.equal([404, 0]);
  });

  it('Errors: the problem document is not cacheable', async () => {
    const control = (await s.get(s.fresh())).headers['cache-control'] ?? '';
    expect(control).to.match(/no-store|no-cache|private/);
  });

  it('Errors: bytes that are not HTTP/1.1 are 400 with a problem document', async () => {
    expectProblem(await exchange(s.root, ['HELLO\r\n\r\n']), 400);
  });

  it('Errors: HTTP/1.1 without Host is 400 with a problem document', async () => {
    const { pathname } = new URL(s.root);
    expectProblem(await exchange(s.root, [`GET ${pathname} HTTP/1.1\r\nConnection: close\r\n\r\n`]), 400);
  });

  it('RFC 9112 3.2.2: the absolute form of a request target is accepted', async () => {
    const { pathname, host } = new URL(s.root);
    const text = head(s.root, 'GET', { Connection: 'close' }).replace(
      `GET ${pathname}`,
      `GET http://${host}${pathname}`,
    );
    expect((await exchange(s.root, [text]))?.status).to.equal(200);
  });

  it('returns 400 for a request target with user information (RFC 9110 4.2.4)', async () => {
    const { pathname, host } = new URL(s.root);
    for (const info of ['user@', 'user:secret@', '@', `${'a'.repeat(4_000)}@`]) {
      const text = head(s.root, 'GET', { Connection: 'close' }).replace(
        `GET ${pathname}`,
        `GET http://${info}${host}${pathname}`,
      );
      expectProblem(await exchange(s.root, [text]), 400);
    }
  });

  it('RFC 9112 3.2.4: OPTIONS * refers to the server', async () => {
    const { host } = new URL(s.root);
    const answer = await exchange(s.root, [`OPTIONS * HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`]);
    expect(answer?.status).to.be.within(200, 204);
  });

  it('paths outside the base URI do not exist and cannot be created (rule 18.2)', async function () {
    if (new URL(s.root).pathname === '/') return this.skip();
    const beside = [new URL('/', s.root).href, new URL('/beside', s.root).href, `${s.root.slice(0, -1)}beside`];
    for (const iri of beside) {
      expectProblem(await s.get(iri), 404);
      expectProblem(await s.put(iri, 'text/plain', 'x'), [404, 405, 409]);
      expectProblem(await s.get(iri), 404);
    }
  });
});
