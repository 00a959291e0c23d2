/** Storage mounted in another server (README, "In a server of your own"), beside its other handlers. */

import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import Koa from 'koa';
import type { StorageServer } from 'quadpod';
import { DataFactory } from 'rdf-data-factory';
import { exchange, request } from '../../support/http.js';
import { Program, putText, text } from '../../support/program.js';
import { until } from '../../support/until.js';

describe('Mounted storage', () => {
  let program: Program;
  beforeEach(async () => {
    program = await Program.begin();
  });
  afterEach(() => program.end());

  describe('on node:http', () => {
    it('responds beside another handler, and uses the given log', async () => {
      const server = await program.storage();
      const lws = server.app.callback();
      await program.listening((req, res) =>
        req.url?.startsWith('/data/') ? lws(req, res) : res.end('the rest of the site'),
      );
      expect((await putText(`${server.baseUri}/notes`)).status).to.equal(201);
      const { text: content, headers } = await request(`${server.baseUri}/notes`);
      expect([content, headers['content-type']]).to.deep.equal(['content', 'text/plain']);
      expect((await request(`${program.origin}/other`)).text).to.equal('the rest of the site');
      const lines = program.log.map((line) => JSON.parse(line));
      expect(lines.map(({ method, status }) => [method, status])).to.deep.equal([
        ['PUT', 201],
        ['GET', 200],
      ]);
    });

    it('provides all quads as an RDF/JS Source', async () => {
      const server = await program.storage();
      await program.listening(server.app.callback());
      const { status } = await request(`${server.baseUri}/ada`, {
        method: 'PUT',
        headers: { 'Content-Type': 'text/turtle', 'If-None-Match': '*' },
        body: '<#it> <#p> 1, 2 . <#other> <#p> 3 .',
      });
      expect(status).to.equal(201);
      const subject = new DataFactory().namedNode(`${server.baseUri}/ada#it`);
      const found: string[] = [];
      for await (const { object, graph } of server.quads.match(subject) as unknown as AsyncIterable<Quad>)
        found.push(`${graph.value} ${object.value}`);
      expect(found.sort()).to.deep.equal([`${server.baseUri}/ada 1`, `${server.baseUri}/ada 2`]);
    });

    it('returns problem documents, whose instance is logged, and serves its fixed routes', async () => {
      const server = await program.storage();
      await program.listening(server.app.callback());
      for (const [path, status] of [
        ['/data/absent', 404],
        ['/data/%zz', 400],
        ['/elsewhere', 404],
      ] as const) {
        const answer = await request(program.origin + path);
        expect([answer.status, answer.headers['content-type']]).to.deep.equal([status, 'application/problem+json']);
        expect(JSON.parse(program.log.at(-1)!).id).to.equal(JSON.parse(answer.text).instance);
      }
      expect((await request(`${server.baseUri}/.lws/storage-description`)).status).to.equal(200);
      const wrong = await request(`${server.baseUri}/.lws/storage-description`, { method: 'DELETE' });
      expect([wrong.status, wrong.headers['allow']]).to.deep.equal([405, 'HEAD, GET, OPTIONS']);
      expect((await request(`${program.origin}/.well-known/lws-configuration/data`)).status).to.equal(200);
    });

    it('sends 100 (Continue) when it is ready for the body', async () => {
      const server = await program.storage();
      const lws = server.app.callback();
      (await program.listening(lws)).on('checkContinue', lws);
      const head = (path: string): string =>
        `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n`;
      const [wanted, unwanted] = [
        await exchange(`${server.baseUri}/a`, [head('/data/a'), 200, 'abc']),
        await exchange(`${server.baseUri}/a`, [head('/data/.lws/a')]),
      ];
      expect([wanted?.status, wanted?.interim]).to.deep.equal([201, [100]]);
      expect([unwanted?.status, unwanted?.interim]).to.deep.equal([409, []]);
    });

    it('finds its IRIs if the mount removes its prefix from the target', async () => {
      const server = await program.storage();
      const lws = server.app.callback();
      await program.listening((req, res) => {
        const originalUrl = req.url!;
        lws(Object.assign(req, { originalUrl, url: originalUrl.replace(/^\/data/, '') }), res);
      });
      expect((await putText(`${server.baseUri}/a`)).headers['location']).to.equal(`${server.baseUri}/a`);
    });
  });

  describe('in a koa application', () => {
    const seen: unknown[] = [];
    async function mounted(settings?: Record<string, unknown>): Promise<StorageServer> {
      const server = await program.storage(settings);
      const app = new Koa();
      app.silent = true;
      seen.length = 0;
      app.use(async (ctx, next) => {
        ctx.state['exchange'] = 'mine';
        ctx.set('X-Site', 'yes');
        if (ctx.get('X-Fails')) throw Object.assign(new Error('a fault before'), { status: 418, expose: true });
        if (ctx.get('X-Parsed')) for await (const _ of ctx.req);
        await next();
        seen.push([ctx.path, ctx.status, ctx.state['exchange']]);
      });
      app.use(server.middleware);
      app.use((ctx) => {
        ctx.body = `the rest of the site: ${ctx.path}`;
      });
      await program.listening(app.callback());
      return server;
    }

    it('responds below its base URI; earlier middleware sees all requests, later middleware the rest', async () => {
      const server = await mounted();
      const created = await putText(`${server.baseUri}/a`);
      expect([created.status, created.headers['x-site']]).to.deep.equal([201, 'yes']);
      expect((await request(`${server.baseUri}/a`, { method: 'HEAD' })).headers['content-length']).to.equal('7');
      expect((await request(`${server.baseUri}/absent`)).headers['content-type']).to.equal('application/problem+json');
      for (const path of ['/', '/data', '/database', '/%zz'])
        expect((await request(program.origin + path)).text).to.equal(`the rest of the site: ${path}`);
      expect(seen).to.deep.equal([
        ['/data/a', 201, 'mine'],
        ['/data/a', 200, 'mine'],
        ['/data/absent', 404, 'mine'],
        ...['/', '/data', '/database', '/%zz'].map((path) => [path, 200, 'mine']),
      ]);
      expect(program.log).to.have.length(3);
      // RFC 8414 3.1: the metadata of an issuer with a path is not below that path.
      expect((await request(`${program.origin}/.well-known/lws-configuration/data`)).status).to.equal(200);
    });

    it('streams long bodies through it', async () => {
      const server = await mounted();
      const body = Buffer.alloc(3 << 20, 'abc');
      const headers = { 'Content-Type': 'application/octet-stream' };
      expect((await request(`${server.baseUri}/a`, { method: 'PUT', headers, body: [body] })).status).to.equal(201);
      expect((await request(`${server.baseUri}/a`)).bytes.equals(body)).to.equal(true);
    });

    it('handles preflights of the storage', async () => {
      const server = await mounted({ 'lws.cors.allowed-origins': ['https://app.example'] });
      const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' };
      const answer = await request(`${server.baseUri}/a`, { method: 'OPTIONS', headers });
      expect([answer.status, answer.headers['access-control-allow-origin']]).to.deep.equal([204, headers.Origin]);
      expect((await request(program.origin, { method: 'OPTIONS', headers })).text).to.include('the rest of the site');
    });

    it('leaves errors of the application’s own middleware to the application', async () => {
      const server = await mounted();
      const answer = await request(`${server.baseUri}/a`, { headers: { 'X-Fails': 'yes' } });
      expect([answer.status, answer.text, program.log]).to.deep.equal([418, 'a fault before', []]);
    });

    it('reports at once that a body was read before it', async () => {
      const server = await mounted();
      const headers = { ...text, 'X-Parsed': 'yes' };
      const answer = await request(`${server.baseUri}/a`, { method: 'PUT', headers, body: 'content' });
      expect([answer.status, answer.headers['content-type']]).to.deep.equal([500, 'application/problem+json']);
      expect(JSON.parse(program.log.at(-1)!).err.message).to.match(/Remove body parsers in front of it/);
    });

    it('returns complete responses if koa-mount removes the prefix', async () => {
      const server = await program.storage();
      const app = new Koa();
      app.use((ctx, next) => {
        ctx.path = ctx.path.replace(/^\/data/, '');
        return server.middleware(ctx, next);
      });
      await program.listening(app.callback());
      expect((await putText(`${server.baseUri}/a`)).headers['location']).to.equal(`${server.baseUri}/a`);
      expect((await request(`${server.baseUri}/.lws/storage-description`)).status).to.equal(200);
    });

    it('stores nothing, and logs it, if the client disconnects', async () => {
      const server = await mounted();
      const { baseUri } = server;
      await exchange(`${baseUri}/a`, [
        `PUT /data/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc`,
        100,
        'abort',
      ]);
      await until(() => program.log.length > 0);
      expect(JSON.parse(program.log[0]!).status).to.equal(499);
      expect((await request(`${baseUri}/a`)).status).to.equal(404);
    });
  });
});
