/** Rules 1.3, 10.9: the console at /app, its files, and the setting that disables it. */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { request } from '../support/http.js';

describeStorage('The pages of the console', (s) => {
  for (const page of ['app', 'callback'])
    it(`/${page} runs only its own scripts and serves no files outside its directory (rule 10.9)`, async () => {
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

  it('page assets are public and immutable', async () => {
    const page = await request(`${s.root}app`);
    const files = [...page.text.matchAll(/(?:src|href)="(app\/[^"]+)"/g)].map(([, file]) => file!);
    expect(files.length).to.equal(3);
    for (const file of files) {
      const answer = await request(s.root + file);
      expect(answer.status, file).to.equal(200);
      expect(answer.headers['cache-control']).to.contain('immutable');
    }
  });

  it('/app/rights returns the modes on readable resources and does not reveal others (rule 4.3)', async () => {
    const iri = s.fresh();
    await s.send('PUT', iri, { 'Content-Type': 'text/plain' }, 'x');
    const rights = (of: string, sender?: Sender) =>
      s.send('GET', `${s.root}app/rights?${new URLSearchParams({ iri: of })}`, {}, undefined, sender);
    const own = await rights(iri);
    expect(JSON.parse(own.text)).to.deep.equal({ append: true, write: true, share: true });
    expect(own.headers['cache-control']).to.equal('private, no-store');
    for (const of of [iri, `${iri}-absent`]) {
      expectProblem(await rights(of, 'anonymous'), 401, s);
      expectProblem(await rights(of, s.stranger), 404, s);
    }
    for (const of of ['', 'https://elsewhere.example/']) expectProblem(await rights(of), 400, s);
  });

  it('other paths below it are 404 and reserved', async () => {
    expectProblem(await s.get(`${s.root}app/nothing.js`), 404, s);
    expectProblem(await s.get(`${s.root}app/..%2fapp.html`), 404, s);
    expectProblem(await s.send('PUT', `${s.root}app/mine`, { 'Content-Type': 'text/plain' }, 'x'), 409, s);
    expectProblem(await s.send('POST', `${s.root}app`), 405, s);
  });
});

for (const [settings, may] of [
  [{ 'public-read': 'true' }, { append: false, write: false, share: false }],
  [{ 'dev.open': 'true' }, { append: true, write: true, share: false }],
  [{ 'access-control': 'wac' }, undefined],
] as const)
  describeStorage(
    `Disabled features reported to the console with ${Object.keys(settings)[0]}`,
    (s) => {
      it('match the permissions of the storage', async () => {
        const answer = await request(`${s.root}app/rights?${new URLSearchParams({ iri: s.scratch })}`);
        if (may) expect(JSON.parse(answer.text)).to.deep.equal(may);
        else expectProblem(answer, 401, s);
      });
    },
    { settings },
  );

describeStorage(
  'Console disabled (lws.console.enabled)',
  (s) => {
    for (const path of ['app', 'callback', 'app/tickets', 'app/provider', 'app/rights', 'app/size'])
      it(`/${path} is 404 and reserved`, async () => {
        expectProblem(await s.get(s.root + path), 404, s);
        expectProblem(await s.send('PUT', s.root + path, { 'Content-Type': 'text/plain' }, 'x'), 409, s);
      });
  },
  { settings: { 'console.enabled': 'false' } },
);
