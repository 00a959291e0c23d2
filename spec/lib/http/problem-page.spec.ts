/** Problems as HTML pages for browsers, on servers without a console. */
import { expect } from 'chai';
import { problemPage, problemReply } from '../../../lib/http/problem.js';
import { LwsError } from '../../../lib/tools/errors.js';

const policy = { realm: 'http://localhost/', schemes: [] } as never;

describe('Problem pages', () => {
  const problem = problemReply(new LwsError('not-found', `<script>alert("1")</script> & 'x'`), 'urn:uuid:1', policy);
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

  it('escapes the message, and has a policy that loads nothing', () => {
    const { status, fields, body } = problemPage(problem, browser);
    expect(status).to.equal(404);
    expect(fields).to.include({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept',
    });
    expect(fields['Content-Security-Policy']).to.match(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(String(body))
      .to.contain("<h1>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; 'x'</h1>")
      .and.not.to.match(/<script|<style|<link|<img| on\w+=/);
  });

  for (const accept of [undefined, '', '*/*', 'application/json', 'text/html;q=0, */*', 'text/html;q=0.5, */*', 'x'])
    it(`stays a problem document for ${JSON.stringify(accept)}`, () => {
      const { fields, body } = problemPage(problem, accept);
      expect(fields).to.include({ 'Content-Type': 'application/problem+json', Vary: 'Accept' });
      expect(body).to.equal(problem.body);
    });
});
