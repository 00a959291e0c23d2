/** Rule 10.4: cross-origin requests. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { listOf } from '../support/expectations.js';
import { request } from '../support/http.js';

const app = 'https://app.example';
const other = 'https://other.example';
const asked = {
  Origin: app,
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'authorization',
};
const methods = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'move', 'copy', 'query'];
const fields = `Accept Accept-Profile Authorization Content-Type Content-Digest DPoP Depth If-Match If-Modified-Since If-None-Match
  If-Range If-Unmodified-Since Last-Event-ID Link LWS-If-Match LWS-Purpose Prefer Range Slug traceparent Want-Content-Digest
  Want-Repr-Digest X-Requested-With`;
const exposed = `Accept-Patch Accept-Post Accept-Query Accept-Ranges Allow Content-Digest Content-Disposition Content-Range DPoP-Nonce ETag
  Last-Modified Link Location Preference-Applied Repr-Digest Retry-After Vary WAC-Allow Want-Content-Digest WWW-Authenticate`;
const words = (text: string): string[] => text.toLowerCase().split(/\s+/);
const corsNames = (headers: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describeStorage(
  'CORS by default',
  (s) => {
    it('CORS: without allowed origins no response has CORS fields', async () => {
      expect(corsNames((await s.get(s.scratch, { Origin: app })).headers)).to.deep.equal([]);
      expect(corsNames((await request(s.scratch, { method: 'OPTIONS', headers: asked })).headers)).to.deep.equal([]);
    });
  },
  { settings: {} },
);

describeStorage(
  'CORS with origins',
  (s) => {
    it('CORS, rule 10.8: a listed origin is echoed, with Vary: Origin and exposed headers', async () => {
      const answer = await s.get(s.scratch, { Origin: app });
      expect(answer.status).to.equal(200);
      expect(answer.headers['access-control-allow-origin']).to.equal(app);
      expect(answer.headers['access-control-allow-credentials']).to.equal('true');
      expect(listOf(answer, 'vary')).to.include('origin').and.to.include('accept');
      expect(listOf(answer, 'access-control-expose-headers')).to.include.members(words(exposed));
    });

    it('CORS: each listed origin is allowed; others are not', async () => {
      const of = async (Origin: string) => (await s.get(s.scratch, { Origin })).headers['access-control-allow-origin'];
      expect(await of('http://localhost:3000')).to.equal('http://localhost:3000');
      for (const origin of [
        other,
        'http://localhost:3001',
        `${app}.evil.example`,
        'https://evil-app.example',
        'null',
        app.toUpperCase(),
      ])
        expect(await of(origin), origin).to.equal(undefined);
    });

    it('CORS: a response to a request without Origin has Vary: Origin too', async () => {
      expect(listOf(await s.get(s.scratch), 'vary')).to.include('origin');
    });

    it('CORS: errors, 304 and responses to writes have the fields too', async () => {
      const { iri, etag } = await s.stored('text/plain', 'x');
      for (const answer of [
        await s.get(s.fresh(), { Origin: app }),
        await request(iri, { headers: { Origin: app } }),
        await s.get(iri, { Origin: app, 'If-None-Match': etag }),
        await s.put(s.fresh(), 'text/plain', 'x', { Origin: app }),
        await s.delete(iri, { Origin: app }),
      ])
        expect(answer.headers['access-control-allow-origin'], String(answer.status)).to.equal(app);
    });

    it('CORS: a cached 304 is not bound to one origin', async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      const fields = { 'If-None-Match': (await s.get(iri)).headers['etag']! };
      for (const Origin of [undefined, app, 'https://other.example', undefined, app]) {
        const answer = await s.get(iri, Origin === undefined ? fields : { ...fields, Origin });
        expect(answer.status).to.equal(304);
        const alone = await s.get(iri, Origin === undefined ? {} : { Origin });
        for (const name of ['access-control-allow-origin', 'access-control-expose-headers', 'vary'])
          expect(answer.headers[name], `${name} for ${Origin}`).to.equal(alone.headers[name]);
      }
    });

    for (const [what, target] of [
      ['an existing', () => s.scratch],
      ['an absent', () => s.fresh()],
      ['a reserved', () => s.fresh('.acl')],
    ] as const)
      it(`CORS, rule 10.5: a preflight for ${what} resource is 204 before authentication`, async () => {
        const answer = await request(target(), { method: 'OPTIONS', headers: asked });
        expect([answer.status, answer.bytes.length]).to.deep.equal([204, 0]);
        expect(answer.headers['access-control-allow-origin']).to.equal(app);
        expect(listOf(answer, 'access-control-allow-methods')).to.have.members(methods);
        expect(listOf(answer, 'access-control-allow-headers')).to.include.members(words(fields));
        expect(answer.headers['access-control-max-age']).to.equal('600');
      });

    it('CORS, rule 10.5: a preflight ignores credentials', async () => {
      const headers = { ...asked, Authorization: 'Bearer nonsense' };
      expect((await request(s.scratch, { method: 'OPTIONS', headers })).status).to.equal(204);
    });

    it('CORS, rule 10.5: a preflight of another origin is rejected', async () => {
      const answer = await request(s.scratch, { method: 'OPTIONS', headers: { ...asked, Origin: other } });
      expect(answer.headers['access-control-allow-origin']).to.equal(undefined);
    });

    it('CORS: the console and its callback have no CORS fields, preflights included', async () => {
      for (const path of ['app', 'app/x', 'APP?a', 'callback'])
        for (const [method, headers] of [
          ['GET', { Origin: app }],
          ['OPTIONS', { Origin: app }],
          ['OPTIONS', asked],
        ] as const) {
          const answer = await request(s.root + path, { method, headers });
          const names = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
          expect(names, `${method} ${path}`).to.deep.equal([]);
        }
    });
  },
  { settings: { 'cors.allowed-origins': `${app},http://localhost:3000` } },
);

describeStorage(
  'CORS with *',
  (s) => {
    it('CORS: * allows every origin, never with credentials', async () => {
      for (const Origin of [app, other, 'null']) {
        const { headers } = await s.get(s.scratch, { Origin });
        expect(headers['access-control-allow-origin']).to.equal('*');
        expect(headers['access-control-allow-credentials']).to.equal(undefined);
      }
    });

    it('CORS, rule 10.5: lws.cors.max-age-seconds is the age of a preflight', async () => {
      const answer = await request(s.scratch, { method: 'OPTIONS', headers: asked });
      expect(answer.headers['access-control-allow-origin']).to.equal('*');
      expect(answer.headers['access-control-allow-credentials']).to.equal(undefined);
      expect(answer.headers['access-control-max-age']).to.equal('60');
    });
  },
  { settings: { 'cors.allowed-origins': '*', 'cors.max-age-seconds': '60' } },
);
