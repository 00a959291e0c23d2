/** Bad input: RDF with external references, and XML entity bombs (rule 1.11). */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { asContainer, describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { slowness } from '../support/patience.js';

const rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"';
const xml = (content: string, prologue = ''): string =>
  `<?xml version="1.0"?>\n${prologue}<rdf:RDF ${rdf} xmlns:e="http://e.example/">\n${content}\n</rdf:RDF>`;

describeStorage('Bad input: XML entities', (s) => {
  for (const [what, doctype] of [
    [
      'a billion laughs',
      `<!DOCTYPE r [<!ENTITY a "lol">${'bcdefghij'
        .split('')
        .map((n, i) => `<!ENTITY ${n} "${`&${'abcdefghij'[i]};`.repeat(10)}">`)
        .join('')}]>`,
    ],
    ['an entity that contains itself', '<!DOCTYPE r [<!ENTITY j "&j;x">]>'],
    ['a quadratic blow-up', `<!DOCTYPE r [<!ENTITY j "${'x'.repeat(100_000)}">]>`],
    ['an external file', '<!DOCTYPE r [<!ENTITY j SYSTEM "file:///etc/passwd">]>'],
    ['a parameter entity', '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>'],
  ] as const)
    it(`Bad input, XML entity bombs: ${what} is 4xx immediately and stores nothing`, async () => {
      const iri = s.fresh();
      const content = `<rdf:Description rdf:about="x"><e:p>${'&j;'.repeat(what.startsWith('a quadratic') ? 10_000 : 1)}</e:p></rdf:Description>`;
      const started = performance.now();
      expectProblem(await s.put(iri, 'application/rdf+xml', xml(content, doctype)), [400, 413], s);
      expect(performance.now() - started).to.be.below(3000 * slowness);
      await s.expectAbsent(iri);
    });
});

describeStorage('Bad input: JSON-LD with a remote context', (s) => {
  let listener: Server;
  let remote = '';
  const asked: string[] = [];
  before(async () => {
    listener = createServer((req, res) => {
      asked.push(req.url ?? '');
      res.setHeader('Content-Type', 'application/ld+json').end('{"@context":{"name":"http://e.example/name"}}');
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    remote = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/context.jsonld`;
  });
  after(() => listener.close());

  for (const [what, make] of [
    ['by its URL', () => `{"@context":"${remote}","@id":"","name":"x"}`],
    ['in a list', () => `{"@context":[{"a":"http://e.example/a"},"${remote}"],"@id":"","name":"x"}`],
    ['in a node below', () => `{"@id":"","http://e.example/p":{"@context":"${remote}","name":"x"}}`],
    ['by @import', () => `{"@context":{"@version":1.1,"@import":"${remote}"},"@id":"","name":"x"}`],
    [
      'scoped to a term',
      () => `{"@context":{"p":{"@id":"http://e.example/p","@context":"${remote}"}},"@id":"","p":{"name":"x"}}`,
    ],
  ] as const)
    it(`Bad input, rule 1.11: a context named ${what} is 400 that names it; it is not fetched`, async () => {
      const iri = s.fresh();
      const answer = await s.put(iri, 'application/ld+json', make());
      expectProblem(answer, 400, s);
      expect(JSON.parse(answer.text).detail).to.include(remote);
      await s.expectAbsent(iri);
      expect(asked).to.deep.equal([]);
    });

  it('Bad input, rule 1.11: a relative context is not resolved in the storage', async () => {
    await s.stored(
      'application/ld+json',
      '{"@context":{"name":"http://e.example/name"}}',
      `${s.scratch}context.jsonld`,
    );
    expectProblem(await s.put(s.fresh(), 'application/ld+json', '{"@context":"context.jsonld","name":"x"}'), 400, s);
  });

  it('Bad input: an external DTD of RDF/XML is not fetched', async () => {
    const doctype = `<!DOCTYPE r SYSTEM "${remote}" [<!ENTITY j SYSTEM "${remote}">]>`;
    const answer = await s.put(s.fresh(), 'application/rdf+xml', xml('<e:a>&j;</e:a>', doctype));
    expectProblem(answer, 400, s);
    expect(asked).to.deep.equal([]);
  });

  it('Bad input, rule 6.7: malformed RDF for a container is rejected as a body', async () => {
    expectProblem(await s.post(s.scratch, 'text/turtle', '<a', asContainer), [400, 409], s);
  });
});
