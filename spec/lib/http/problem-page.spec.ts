/** Problems as HTML pages for browsers (rule 7.3). */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { prefersPage } from '../../../lib/http/negotiate.js';
import { problemReply } from '../../../lib/http/problem.js';
import { problemPage } from '../../../lib/http/problem-page.js';
import { LwsError } from '../../../lib/tools/errors.js';

const policy = { realm: 'http://localhost/', schemes: [] } as never;

describe('Problem pages', () => {
  const problem = problemReply(new LwsError('not-found', `<script>alert("1")</script> & 'x'`), 'urn:uuid:1', policy);
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

  const at = {
    rootIri: 'https://a.example/s/',
    path: '/s/x',
    pages: {
      viewOf: (iri: string) => `https://a.example/s/app#/resource?at=${iri}"><b>`,
      signInOf: (iri: string) => `https://a.example/s/app#/signin?to=${iri}`,
      requestOf: (iri: string) => `https://a.example/s/app#/requests?ask=${iri}"><b>`,
    },
  };
  const pageOf = (error: unknown): string => String(problemPage(problemReply(error, 'urn:uuid:1', policy), at).body);

  it('escapes the message, and has a policy that loads nothing', () => {
    const { status, fields, body } = problemPage(problem, at);
    expect(status).to.equal(404);
    expect(fields).to.include({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept, Authorization',
    });
    const page = String(body);
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(page) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(fields['Content-Security-Policy']).to.equal(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(page)
      .to.contain("<p>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; 'x'</p>")
      .and.to.contain('<a href="https://a.example/s/app#/requests?ask=https://a.example/s/x&quot;&gt;&lt;b&gt;">')
      .and.not.to.match(/<script|<link|<img|<b>| on\w+=|url\(|@import/);
    expect(String(problemPage(problem).body)).not.to.contain('<a');
  });

  it('have a title in words, advice, and links to sign in and to request access (rule 7.3)', () => {
    for (const [code, heading] of [
      ['unauthenticated', 'Sign in to see this'],
      ['forbidden', 'Not found, or not shared with you'],
      ['not-found', 'Not found, or not shared with you'],
    ] as const) {
      const page = pageOf(new LwsError(code, 'A message.'));
      expect(page).to.contain(`<h1>${heading}</h1>`).and.to.contain(`<title>${heading}</title>`);
      expect([...page.matchAll(/<a href="([^"]*)">([^<]*)</g)].map(([, url, text]) => [text, url])).to.deep.equal([
        ['Sign in', at.pages.signInOf('https://a.example/s/x')],
        ['Request access', 'https://a.example/s/app#/requests?ask=https://a.example/s/x&quot;&gt;&lt;b&gt;'],
      ]);
    }
    expect(pageOf(new LwsError('unauthenticated', 'Send an Authorization header field.'))).not.to.contain(
      'header field',
    );
  });

  it('say what else went wrong by the title of the problem, without a link to sign in', () => {
    expect(pageOf(new LwsError('https-required', 'Use https.')))
      .to.contain('<h1>HTTPS is required</h1>\n<p>Use https.</p>')
      .and.not.to.contain('Sign in');
    expect(pageOf(new LwsError('too-busy', 'Retry.'))).to.contain('<p>Wait a few seconds, then reload this page.</p>');
    expect(pageOf(new Error('secret')))
      .to.contain('<h1>The server failed</h1>')
      .and.to.contain('<details><summary>Details</summary>Status 500. Request urn:uuid:1.</details>')
      .and.not.to.contain('secret');
  });

  const offers = [String(problem.fields['Content-Type'])];
  const isPage = (accept: string | undefined, method = 'GET', more = {}): boolean =>
    prefersPage({ method, headers: { accept, ...more } } as IncomingMessage, offers);

  it('are for a GET or HEAD of a browser without a credential', () => {
    expect([isPage(browser), isPage(browser, 'HEAD'), isPage('text/html')]).to.deep.equal([true, true, true]);
    expect([isPage(browser, 'POST'), isPage(browser, 'GET', { authorization: 'Bearer x' })]).to.deep.equal([
      false,
      false,
    ]);
  });

  for (const accept of [undefined, '', '*/*', 'application/json', 'text/html;q=0, */*', 'text/html;q=0.5, */*', 'x'])
    it(`stay a problem document for ${JSON.stringify(accept)}`, () => {
      expect(isPage(accept)).to.equal(false);
    });
});
