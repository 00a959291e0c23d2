/** Rule 1.11: JSON-LD contexts are fetched only from the hosts in `lws.jsonld.allowed-context-hosts`. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

const asked: string[] = [];
const answers = new Map<string, RequestListener>();

async function listen(): Promise<{ authority: string; close: () => void }> {
  const server = createServer((req, res) => {
    asked.push(`${req.headers.host}${req.url}`);
    const answer = answers.get(req.url ?? '');
    if (answer) answer(req, res);
    else res.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { authority: `127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
const listed = await listen();
const other = await listen();
after(() => {
  listed.close();
  other.close();
});

/** Sets the response of a path on the listed host. */
let made = 0;
function context(answer: unknown): string {
  const path = `/c${++made}`;
  answers.set(
    path,
    typeof answer === 'function'
      ? (answer as RequestListener)
      : (_req, res) => res.setHeader('Content-Type', 'application/ld+json').end(JSON.stringify(answer)),
  );
  return `http://${listed.authority}${path}`;
}
const named = { '@context': { name: 'http://e.example/name' } };

describeStorage(
  'JSON-LD contexts of other servers',
  (s) => {
    const put = (document: object, iri = s.fresh()) => s.put(iri, 'application/ld+json', JSON.stringify(document));
    beforeEach(() => asked.splice(0));

    it('the context of a listed host is fetched once and used (rule 1.11)', async () => {
      const remote = context(named);
      const large = { '@context': remote, '@id': '', name: Array.from({ length: 2000 }, (_, i) => `name ${i}`) };
      for (const document of [
        { '@context': remote, '@id': '', name: 'Anna' },
        { '@context': [remote, 'https://www.w3.org/ns/lws/v1'], '@id': '', name: 'Anna' },
        { '@context': { p: { '@id': 'http://e.example/p', '@context': remote } }, '@id': '', p: { name: 'Anna' } },
        large,
      ]) {
        const iri = s.fresh();
        const answer = await put(document, iri);
        expect(answer.status, answer.text).to.equal(201);
        expect((await s.get(iri, { Accept: 'application/n-triples' })).text).to.include('<http://e.example/name>');
      }
      expect(asked).to.have.length(1);
    });

    it('a nested context is fetched if its host is listed (rule 1.11)', async () => {
      const inner = context(named);
      const answer = await put({ '@context': context({ '@context': [inner] }), '@id': '', name: 'x' });
      expect(answer.status, answer.text).to.equal(201);
      expect(asked).to.have.length(2);
    });

    it('nested contexts and redirects to other hosts are not fetched (rule 1.11)', async () => {
      const foreign = `http://${other.authority}/c`;
      const redirecting = context(((_req, res) => res.writeHead(302, { Location: foreign }).end()) as RequestListener);
      for (const [document, names] of [
        [{ '@context': foreign, name: 'x' }, foreign],
        [{ '@context': context({ '@context': foreign }), name: 'x' }, foreign],
        [{ '@context': redirecting, name: 'x' }, redirecting],
      ] as const) {
        const answer = await put(document);
        expectProblem(answer, 400, s);
        expect(JSON.parse(answer.text).detail).to.include(names);
      }
      expect(asked.filter((url) => url.startsWith(other.authority))).to.deep.equal([]);
    });

    it('an unavailable or invalid context is 400, and the failure is cached (rule 1.11)', async () => {
      for (const answer of [
        (_req, res) => res.writeHead(500).end(),
        (_req, res) => res.end('{'),
        (_req, res) => res.end('x'.repeat(2 << 20)),
        (req) => req.socket.destroy(),
      ] as RequestListener[]) {
        const remote = context(answer);
        for (let i = 0; i < 2; i++) expectProblem(await put({ '@context': remote, name: 'x' }), 400, s);
        expect(
          asked.filter((url) => remote.endsWith(url)),
          remote,
        ).to.have.length(1);
      }
      expectProblem(await put({ '@context': context([1]), name: 'x' }), 400, s);
    });

    it('an endless chain of contexts is 400 (rule 1.11)', async () => {
      const chain = Array.from({ length: 30 }, () => context(named));
      expectProblem(await put({ '@context': chain, '@id': '', name: 'x' }), 400, s);
      expect(asked.length).to.be.below(10);
    });
  },
  { settings: { 'jsonld.allowed-context-hosts': listed.authority, 'fetch.allowed-hosts': listed.authority } },
);
