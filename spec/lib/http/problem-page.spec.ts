/** Problems as HTML pages for browsers (rule 7.3). */
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { prefersPage } from '../../../lib/http/negotiate.js';
import { problemPage, problemReply } from '../../../lib/http/problem.js';
import { LwsError } from '../../../lib/tools/errors.js';

const policy = { realm: 'http://localhost/', schemes: [] } as never;

describe('Problem pages', () => {
  const problem = problemReply(new LwsError('not-found', `<script>alert("1")</script> & 'x'`), 'urn:uuid:1', policy);
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

  it('escapes the message, and has a policy that loads nothing', () => {
    const { status, fields, body } = problemPage(problem, 'https://a.example/app#/resource?at="><b>');
    expect(status).to.equal(404);
    expect(fields).to.include({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept, Authorization',
    });
    expect(fields['Content-Security-Policy']).to.match(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(String(body))
      .to.contain("<h1>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; 'x'</h1>")
      .and.to.contain('<a href="https://a.example/app#/resource?at=&quot;&gt;&lt;b&gt;">')
      .and.not.to.match(/<script|<style|<link|<img|<b>| on\w+=/);
    expect(String(problemPage(problem).body)).not.to.contain('<a');
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
