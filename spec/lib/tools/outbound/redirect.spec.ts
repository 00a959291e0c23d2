/** Redirects of the guarded fetch. Must only connect to loopback. */
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createGuardedFetch, type OutboundRequest } from '../../../../lib/tools/outbound/guarded-fetch.js';
import { type Hop, nextHop } from '../../../../lib/tools/outbound/redirect.js';
import { slowness } from '../../../support/patience.js';
import { certificate, closeHosts, serve, serveSecurely } from './hosts.js';
import { codeOf, refusalOf } from './refusal.js';

const request: OutboundRequest = { maxBytes: 10_000, timeoutMs: 10_000, maxRedirects: 3 };
const post: OutboundRequest = {
  ...request,
  method: 'POST',
  body: Buffer.from('body'),
  headers: { 'content-type': 'text/plain', authorization: 'Bearer t' },
};

const guarded = createGuardedFetch({
  blockPrivateAddresses: true,
  allowedHosts: ['guard.example', 'other.example'],
  lookup: async () => ['127.0.0.1'],
  ca: certificate,
});

interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Host that returns 200 for `/end` and a redirect for everything else, and its requests. */
async function redirecting(status: number, location: string | ((url: string) => string)) {
  const seen: Seen[] = [];
  const port = await serve((message, response) => {
    let body = '';
    message.on('data', (chunk) => {
      body += chunk;
    });
    message.on('end', () => {
      const url = message.url!;
      seen.push({ line: `${message.method} ${url}`, headers: message.headers, body });
      if (url === '/end') response.end('end');
      else
        response.writeHead(status, { location: typeof location === 'string' ? location : location(url) }).end('moved');
    });
  });
  return { origin: `http://guard.example:${port}`, port, seen };
}

describe('outbound/redirect', () => {
  afterEach(closeHosts);

  for (const status of [301, 302, 303, 307, 308])
    it(`follows ${status} to its end, and returns the final URL`, async () => {
      const { origin } = await redirecting(status, '/end#part');
      const answer = await guarded(`${origin}/`, request);
      expect([answer.status, answer.url, answer.body.toString()]).to.deep.equal([200, `${origin}/end`, 'end']);
    });

  it('does not follow other statuses, or redirects without a Location', async () => {
    for (const status of [300, 304, 305, 306, 201]) {
      const { origin } = await redirecting(status, '/end');
      expect((await guarded(`${origin}/`, request)).status).to.equal(status);
    }
    const port = await serve((_request, response) => response.writeHead(302).end('nowhere'));
    expect((await guarded(`http://guard.example:${port}/`, request)).body.toString()).to.equal('nowhere');
  });

  it('returns a redirect unchanged if following is off, even one that would be rejected', async () => {
    const { origin, seen } = await redirecting(307, 'file:///etc/passwd');
    const answer = await guarded(`${origin}/`, { ...post, maxRedirects: 0 });
    expect([answer.status, answer.headers['location'], answer.body.toString()]).to.deep.equal([
      307,
      'file:///etc/passwd',
      'moved',
    ]);
    expect(seen).to.have.length(1);
  });

  it('follows up to the limit', async () => {
    const count = (url: string): string => (url === '/3' ? '/end' : `/${Number(url.slice(1)) + 1}`);
    const { origin, seen } = await redirecting(302, count);
    expect((await guarded(`${origin}/1`, request)).url).to.equal(`${origin}/end`);
    expect(await codeOf(guarded(`${origin}/0`, request))).to.equal('redirects');
    expect(seen.map(({ line }) => line)).to.deep.equal([
      'GET /1',
      'GET /2',
      'GET /3',
      'GET /end',
      'GET /0',
      'GET /1',
      'GET /2',
      'GET /3',
    ]);
  });

  it('ends a loop', async () => {
    const { origin, seen } = await redirecting(301, '/loop');
    expect(await codeOf(guarded(`${origin}/loop`, { ...request, maxRedirects: 20 }))).to.equal('redirects');
    expect(seen).to.have.length(21);
  });

  for (const location of [
    'file:///etc/passwd',
    'data:text/plain,x',
    'ftp://guard.example/',
    'javascript:0',
    'did:web:x',
  ])
    it(`does not follow a redirect to ${location}`, async () => {
      const { origin } = await redirecting(302, location);
      expect(await codeOf(guarded(`${origin}/`, request))).to.equal('scheme');
    });

  it('rejects a private address in any hop', async () => {
    const hidden = await serve((_request, response) => response.end('never'));
    const hosts = ['127.0.0.1', 'localhost', '[::1]', '0x7f.1', '[::ffff:127.0.0.1]', 'third.example'];
    for (const host of hosts) {
      const { origin, seen } = await redirecting(302, (url) => (url === '/' ? '/again' : `http://${host}:${hidden}/`));
      expect(await codeOf(guarded(`${origin}/`, request)), host).to.equal('address');
      expect(seen).to.have.length(2);
    }
  });

  it('rejects the metadata host of clouds, even in a reference without scheme', async () => {
    for (const location of ['//169.254.169.254/latest', 'http://2852039166/', '\\\\169.254.169.254\\latest']) {
      const { origin } = await redirecting(302, location);
      expect(await codeOf(guarded(`${origin}/`, request)), location).to.equal('address');
    }
  });

  it('rejects user information in a hop', async () => {
    const { origin } = await redirecting(302, 'http://user:s3cret@other.example/');
    const { code, message } = await refusalOf(guarded(`${origin}/`, request));
    expect(code).to.equal('credentials-in-url');
    expect(message).to.not.include('s3cret');
  });

  it('rejects an invalid Location', async () => {
    const { origin } = await redirecting(302, 'http://[broken/');
    expect(await codeOf(guarded(`${origin}/`, request))).to.equal('protocol');
  });

  it('rejects a redirect from https to http', async () => {
    const { port, seen } = await redirecting(302, '/end');
    const secure = await serveSecurely((_request, response) =>
      response.writeHead(302, { location: `http://guard.example:${port}/end` }).end(),
    );
    expect(await codeOf(guarded(`https://guard.example:${secure}/`, request))).to.equal('downgrade');
    expect(seen).to.deep.equal([]);
  });

  it('follows redirects from http to https, and from https to https', async () => {
    const last = await serveSecurely((_request, response) => response.end('safe'));
    const middle = await serveSecurely((_request, response) =>
      response.writeHead(302, { location: `https://other.example:${last}/` }).end(),
    );
    const { origin } = await redirecting(302, `https://guard.example:${middle}/`);
    expect((await guarded(`${origin}/`, request)).body.toString()).to.equal('safe');
  });

  it('keeps the fields of the caller within the origin', async () => {
    const { origin, seen } = await redirecting(302, '/end');
    await guarded(`${origin}/`, {
      ...request,
      headers: { Authorization: 'Bearer t', 'X-Key': 'k' },
      accept: 'text/turtle',
    });
    expect(seen[1]!.headers).to.include({ authorization: 'Bearer t', 'x-key': 'k', accept: 'text/turtle' });
  });

  it('drops the fields of the caller except Accept at another origin, and does not restore them', async () => {
    const back = { to: '' };
    const other = await redirecting(302, () => back.to);
    const first = await redirecting(302, `http://other.example:${other.port}/`);
    back.to = `${first.origin}/end`;
    await guarded(`${first.origin}/`, {
      ...request,
      headers: { Authorization: 'Bearer t', DPoP: 'p', 'X-Key': 'k', 'User-Agent': 'me', Accept: 'text/turtle' },
    });
    expect(first.seen[0]!.headers).to.include({ authorization: 'Bearer t', 'user-agent': 'me' });
    for (const { headers } of [other.seen[0]!, first.seen[1]!]) {
      expect(headers).to.have.keys('host', 'connection', 'user-agent', 'accept', 'accept-encoding');
      expect(headers).to.include({ accept: 'text/turtle', 'user-agent': 'Quadpod' });
    }
  });

  it('treats another port or scheme of the same host as another origin', () => {
    const hop: Hop = {
      url: new URL('http://guard.example:8080/'),
      method: 'GET',
      accept: '*/*',
      headers: { 'x-key': 'k' },
      body: undefined,
    };
    for (const url of [
      'http://guard.example/',
      'https://guard.example:8080/',
      'http://guard.example.:8080/',
      'http://a.guard.example:8080/',
    ])
      expect(nextHop(hop, 302, url)?.headers, url).to.deep.equal({});
    expect(nextHop(hop, 302, 'http://GUARD.example:8080/x')?.headers).to.deep.equal({ 'x-key': 'k' });
  });

  for (const status of [301, 302, 303])
    it(`turns POST into GET without the body and its fields on ${status}`, async () => {
      const { origin, seen } = await redirecting(status, '/end');
      await guarded(`${origin}/`, post);
      expect(seen.map(({ line, body }) => `${line} ${body}`)).to.deep.equal(['POST / body', 'GET /end ']);
      expect(seen[1]!.headers).to.not.have.any.keys('content-type', 'content-length');
      expect(seen[1]!.headers['authorization']).to.equal('Bearer t');
    });

  for (const status of [307, 308])
    it(`repeats POST and its body within the origin on ${status}, and rejects another origin`, async () => {
      const { origin, seen } = await redirecting(status, '/end');
      await guarded(`${origin}/`, post);
      expect(seen.map(({ line, body }) => `${line} ${body}`)).to.deep.equal(['POST / body', 'POST /end body']);
      const away = await redirecting(status, origin.replace('guard', 'other'));
      expect(await codeOf(guarded(`${away.origin}/`, post))).to.equal('redirects');
      expect(seen).to.have.length(2);
    });

  it('does not wait for the body of a redirect', async () => {
    const port = await serve(({ url }, response) => {
      if (url === '/end') response.end('end');
      else response.writeHead(302, { location: '/end' }).write('and then nothing more');
    });
    expect((await guarded(`http://guard.example:${port}/`, request)).body.toString()).to.equal('end');
  });

  it('applies one time limit to all hops', async () => {
    const port = await serve((_request, response) => {
      setTimeout(() => response.writeHead(302, { location: '/on' }).end(), 100);
    });
    const started = Date.now();
    const code = await codeOf(
      guarded(`http://guard.example:${port}/`, { ...request, maxRedirects: 1000, timeoutMs: 500 }),
    );
    expect(code).to.equal('timeout');
    expect(Date.now() - started).to.be.below(5000 * slowness);
  });
});
