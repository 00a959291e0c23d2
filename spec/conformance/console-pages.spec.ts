/** Rules 1.3, 10.9: the console at /app, its files, and its being switched off. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { request } from '../support/http.js';

describeStorage('The pages of the console', (s) => {
  for (const page of ['app', 'callback'])
    it(`/${page} is a page that runs nothing but its own files, and not what lies beside them (rule 10.9)`, async () => {
      const answer = await s.send(
        'GET',
        s.root + page,
        { Origin: 'https://elsewhere.example' },
        undefined,
        'anonymous',
      );
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8');
      const policy = String(answer.headers['content-security-policy']);
      for (const part of [
        "default-src 'none'",
        `script-src ${s.root}app/`,
        `style-src ${s.root}app/`,
        `connect-src ${s.root}`,
        "frame-ancestors 'none'",
        "form-action 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
      ])
        expect(policy).to.contain(part);
      expect(policy).not.to.contain('unsafe').and.not.to.contain("'self'");
      expect(answer.headers['x-content-type-options']).to.equal('nosniff');
      expect(answer.headers['referrer-policy']).to.equal('no-referrer');
      expect(answer.headers['cross-origin-opener-policy']).to.equal('same-origin');
      expect(answer.headers['access-control-allow-origin']).to.equal(undefined);
      expect(answer.headers['cache-control']).to.equal('no-cache');
      expect(answer.text).not.to.match(/<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=|https?:\/\//);
    });

  it('what the page loads is there for everybody, and for ever', async () => {
    const page = await request(`${s.root}app`);
    const files = [...page.text.matchAll(/(?:src|href)="(app\/[^"]+)"/g)].map(([, file]) => file!);
    expect(files.length).to.equal(3);
    for (const file of files) {
      const answer = await request(s.root + file);
      expect(answer.status, file).to.equal(200);
      expect(answer.headers['cache-control']).to.contain('immutable');
    }
  });

  it('other paths below are nothing, and reserved', async () => {
    expectProblem(await s.get(`${s.root}app/nothing.js`), 404, s);
    expectProblem(await s.get(`${s.root}app/..%2fapp.html`), 404, s);
    expectProblem(await s.send('PUT', `${s.root}app/mine`, { 'Content-Type': 'text/plain' }, 'x'), 409, s);
    expectProblem(await s.send('POST', `${s.root}app`), 405, s);
  });
});

describeStorage(
  'Without the console (lws.console.enabled)',
  (s) => {
    for (const path of ['app', 'callback', 'app/tickets', 'app/provider'])
      it(`/${path} is nothing, and reserved`, async () => {
        expectProblem(await s.get(s.root + path), 404, s);
        expectProblem(await s.send('PUT', s.root + path, { 'Content-Type': 'text/plain' }, 'x'), 409, s);
      });
  },
  { settings: { 'console.enabled': 'false' } },
);
