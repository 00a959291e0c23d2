/** A person with a browser: containers lead to the console, and problems are pages (rule 7.3). */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import type { Answer } from '../support/http.js';
import { agent, alice, anybody, inWac, ownerRule, rule, setBareAcl } from '../support/wac.js';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const withoutIds = (text: string): string => text.replace(/urn:uuid:[\w-]+/g, '');

describeStorage(
  'Browsers',
  (s) => {
    const visit = (
      iri: string,
      headers: Record<string, string> = { Accept: browser },
      method = 'GET',
    ): Promise<Answer> => s.send(method, iri, headers, undefined, 'anonymous');
    const pageOf = (iri: string): string => `${s.root}app#/browse?${new URLSearchParams({ at: iri })}`;

    it('are sent from a container to its page, whether it is readable, hidden or absent (rule 7.3)', async () => {
      const [open, hidden] = [await s.container(), await s.container()];
      await setBareAcl(s, hidden, [rule('Read Write', agent(alice))]);
      for (const iri of [s.root, open, hidden, `${s.root}absent/`])
        for (const method of ['GET', 'HEAD']) {
          const answer = await visit(iri, { Accept: browser }, method);
          expect([answer.status, answer.headers['location']], iri).to.deep.equal([303, pageOf(iri)]);
          expect(answer.headers['cache-control']).to.equal('no-store');
          expect(answer.headers['vary']).to.match(/Accept, Authorization/);
        }
    });

    it('are the only callers that are: other clients get the listing (rule 7.3)', async () => {
      const container = await s.container();
      for (const Accept of ['*/*', 'text/turtle, text/html', 'text/html;q=0.5, */*', 'application/ld+json']) {
        const answer = await visit(container, { Accept });
        expect(answer.headers['location'], Accept).to.equal(undefined);
      }
      expect((await s.send('GET', container, { Accept: browser })).status).to.equal(200);
      expect((await s.send('GET', `${container}?page=1`, { Accept: browser })).status).to.equal(200);
      expect((await visit(container, { Accept: browser }, 'PUT')).status).to.equal(401);
    });

    it('get a stored page or image as it is', async () => {
      const container = await s.container();
      const { iri: image } = await s.stored('image/png', 'x', `${container}i.png`);
      expect((await s.send('GET', image, { Accept: browser })).headers['content-type']).to.equal('image/png');
    });

    it('show HTML that everybody may read, and download other active types (rule 7.5)', async () => {
      const container = await s.container();
      await setBareAcl(s, container, [rule('Read', anybody), ownerRule]);
      const disposition = async (iri: string): Promise<unknown> => {
        const own = await s.get(iri);
        const { headers } = await visit(iri);
        expect(headers['content-security-policy']).to.equal("sandbox; default-src 'none'");
        expect(own.headers['content-disposition']).to.equal(headers['content-disposition']);
        return headers['content-disposition'];
      };
      for (const [type, expected] of [
        ['text/html', 'inline'],
        ['TEXT/HTML; charset=utf-8', 'inline'],
        ['application/xhtml+xml', 'inline'],
        ['image/svg+xml', 'attachment'],
        ['application/xml', 'attachment'],
        ['application/xslt+xml', 'attachment'],
      ] as const) {
        const { iri } = await s.stored(type, '<p/>', container + encodeURIComponent(type));
        expect(await disposition(iri), type).to.equal(expected);
      }
      const { iri } = await s.stored('text/html', '<p/>', `${container}later`);
      const { headers } = await s.get(iri);
      expect(headers['content-disposition']).to.equal('inline');
      await setBareAcl(s, container, [ownerRule]);
      for (const fields of [{}, { 'If-None-Match': headers['etag']! }])
        expect((await s.get(iri, fields)).headers['content-disposition']).to.equal('attachment');
    });

    it('get problems as the same page with links to sign in and to request access, for hidden and absent resources (rule 4.3)', async () => {
      const container = await s.container();
      await setBareAcl(s, container, [rule('Read Write', agent(alice))]);
      const [hidden, absent] = [`${s.root}<b>`, `${s.root}absent`];
      const pages = [];
      for (const iri of [`${container}hidden`, absent, hidden]) {
        const answer = await visit(iri.replace('<', '%3C').replace('>', '%3E'));
        expect(answer.status).to.be.oneOf([401, 404]);
        expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8');
        expect(answer.headers['content-security-policy']).to.match(/^default-src 'none'; /);
        expect(answer.text)
          .to.match(/<a href="[^"]*">Sign in<\/a>\n<a href="[^"]*">Request access<\/a>/)
          .and.to.contain(`<a href="${s.root}app#/signin?`)
          .and.not.to.contain('<b>');
        pages.push(withoutIds(answer.text).replace(/(?:at|to)=[^"]*/g, ''));
      }
      expect(new Set(pages).size).to.equal(1);
      const other = await visit(absent, { Accept: 'application/json' });
      expect(other.headers['content-type']).to.equal('application/problem+json');
    });
  },
  inWac(),
);
