/**
 * Guarded fetch: rejected requests, and the data sent to each host. Must only connect to loopback. For a public address, the
 * socket only records the connection.
 */

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import net from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Lookup } from '../../../../lib/tools/outbound/admission.js';
import { createGuardedFetch, type OutboundRequest } from '../../../../lib/tools/outbound/guarded-fetch.js';
import { until } from '../../../support/until.js';
import { closedPort, closeHosts, serve } from './hosts.js';
import { codeOf, refusalOf } from './refusal.js';

const request: OutboundRequest = { maxBytes: 10_000, timeoutMs: 10_000, maxRedirects: 3 };
const post: OutboundRequest = { ...request, method: 'POST', body: Buffer.from('{}') };

/** Allows loopback as `guard.example` and `other.example` and under no other name. */
const guarded = createGuardedFetch({
  blockPrivateAddresses: true,
  allowedHosts: ['guard.example', 'other.example'],
  lookup: async () => ['127.0.0.1'],
});
const strict = createGuardedFetch({ blockPrivateAddresses: true, allowedHosts: [] });
const lifted = createGuardedFetch({ blockPrivateAddresses: false, allowedHosts: [] });

/** Strict fetch whose resolver returns these addresses in sequence, and the resolved names. */
function scripted(answers: readonly (readonly string[])[], allowedHosts: readonly string[] = []) {
  const asked: string[] = [];
  const lookup: Lookup = async (name) => {
    asked.push(name);
    return answers[asked.length - 1] ?? ['127.0.0.1'];
  };
  return { asked, fetch: createGuardedFetch({ blockPrivateAddresses: true, allowedHosts, lookup }) };
}

/** Fails every connection before it is made, and records its target. */
async function withWitness(run: () => Promise<unknown>): Promise<unknown[]> {
  const targets: unknown[] = [];
  const original = net.connect;
  net.connect = ((options: net.TcpNetConnectOpts) => {
    const literal = net.isIP(options.host ?? '');
    if (literal) targets.push(options.host);
    else options.lookup?.(options.host!, { all: true }, (_error, addresses) => targets.push(addresses));
    return new net.Socket().destroy(new Error('only a witness'));
  }) as typeof net.connect;
  try {
    await run();
  } finally {
    net.connect = original;
  }
  return targets;
}

describe('outbound/guarded-fetch', () => {
  afterEach(closeHosts);

  describe('Rejected requests', () => {
    for (const url of [
      'file:///etc/passwd',
      'data:text/plain,x',
      'ftp://guard.example/',
      'gopher://guard.example/',
      'did:web:guard.example',
      'ws://guard.example/',
      'javascript:0',
      'blob:http://guard.example/x',
      'unix:/run/x',
    ])
      it(`rejects the scheme of ${url}, even if the policy is disabled`, async () => {
        expect(await codeOf(guarded(url, request))).to.equal('scheme');
        expect(await codeOf(lifted(new URL(url), request))).to.equal('scheme');
      });

    it('rejects a relative URL', async () => {
      for (const url of [
        '',
        '/path',
        'guard.example',
        '//guard.example/',
        'http://',
        'http://[::1%25lo]/',
        'http://a b/',
      ])
        expect(await codeOf(lifted(url, request)), url).to.equal('scheme');
    });

    it('rejects user information in a URL, without repeating it', async () => {
      for (const url of [
        'http://user:s3cret@guard.example/',
        'http://s3cret@guard.example/',
        'http://:s3cret@guard.example/',
      ]) {
        const { code, message } = await refusalOf(guarded(url, request));
        expect(code).to.equal('credentials-in-url');
        expect(message).to.include('guard.example').and.not.include('s3cret');
      }
    });

    it('rejects loopback in every spelling', async () => {
      const port = await serve((_request, response) => response.end('never'));
      for (const host of [
        '127.0.0.1',
        '127.1',
        '127.0.1',
        '127.0.0.1.',
        '2130706433',
        '017700000001',
        '0x7f000001',
        '0x7f.0.0.1',
        '0177.0.0.1',
        '0177.0.0.0x1',
        '127.255.255.254',
        '0',
        '0.0.0.0',
        '%31%32%37.0.0.1',
        '①②⑦.⓪.⓪.①',
        '１２７。０。０。１',
        '[::1]',
        '[0:0:0:0:0:0:0:1]',
        '[::]',
        '[::ffff:127.0.0.1]',
        '[::ffff:7f00:1]',
        '[::127.0.0.1]',
        '[64:ff9b::127.0.0.1]',
        '[64:ff9b:1::7f00:1]',
        '[2002:7f00:1::]',
      ])
        expect(await codeOf(strict(`http://${host}:${port}/`, request)), host).to.equal('address');
    });

    it('rejects the metadata host of clouds in every spelling', async () => {
      for (const host of [
        '169.254.169.254',
        '169.254.43518',
        '2852039166',
        '0xa9fea9fe',
        '0251.0376.0251.0376',
        '0xa9.254.0251.254',
        '[::ffff:a9fe:a9fe]',
        '[64:ff9b::a9fe:a9fe]',
        '[2002:a9fe:a9fe::1]',
        '[fd00:ec2::254]',
        '168.63.129.16',
      ])
        expect(await codeOf(strict(`http://${host}/latest/meta-data/`, request)), host).to.equal('address');
    });

    it('rejects every name of loopback that the system resolves', async () => {
      for (const name of ['localhost', 'LOCALHOST', 'localhost.'])
        expect(await codeOf(strict(`http://${name}/`, request)), name).to.be.oneOf(['address', 'resolve']);
    });

    it('rejects a name with a private address, in any position among public ones', async () => {
      for (const addresses of [
        ['10.0.0.1'],
        ['8.8.8.8', '127.0.0.1'],
        ['fd00::1', '8.8.8.8'],
        ['8.8.8.8', '2606:4700::1', '::ffff:10.0.0.1'],
        ['fe80::1%eth0'],
        ['nonsense'],
      ]) {
        const { fetch, asked } = scripted([addresses]);
        expect(await codeOf(fetch('http://mixed.example/', request)), addresses.join()).to.equal('address');
        expect(asked).to.deep.equal(['mixed.example']);
      }
    });

    it('rejects a name without an address, or unknown to the resolver', async () => {
      expect(await codeOf(scripted([[]]).fetch('http://empty.example/', request))).to.equal('resolve');
      const failing = createGuardedFetch({
        blockPrivateAddresses: false,
        allowedHosts: [],
        lookup: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
      });
      const { code, message } = await refusalOf(failing('http://absent.example/secret?token=1', request));
      expect([code, message]).to.deep.equal(['resolve', 'absent.example cannot be resolved (ENOTFOUND).']);
    });

    it('names host and address in the error, but not path, query or fields', async () => {
      const { message } = await refusalOf(
        scripted([['10.1.2.3']]).fetch('http://internal.example:8080/s3cret?s3cret#s3cret', {
          ...post,
          headers: { authorization: 's3cret' },
        }),
      );
      expect(message).to.equal('internal.example:8080 has the address 10.1.2.3, which is not public.');
    });

    it('rejects a malformed list of allowed hosts at the start', () => {
      expect(() => createGuardedFetch({ blockPrivateAddresses: true, allowedHosts: ['*.example'] })).to.throw(
        TypeError,
        '"*.example"',
      );
    });
  });

  describe('Connected address', () => {
    it('is the checked one, without a second lookup', async () => {
      const port = await serve((_request, response) => response.end('never'));
      const { fetch, asked } = scripted([['8.8.8.8'], ['127.0.0.1']]);
      let code: string | undefined;
      const targets = await withWitness(async () => {
        code = await codeOf(fetch(`http://rebound.example:${port}/`, request));
      });
      expect(code).to.equal('connect');
      expect(targets).to.deep.equal([[{ address: '8.8.8.8', family: 4 }]]);
      expect(asked).to.deep.equal(['rebound.example']);
    });

    it('is one of the checked addresses, in the order of the resolver', async () => {
      const { fetch } = scripted([['2606:4700::1', '8.8.8.8']]);
      const targets = await withWitness(() => codeOf(fetch('http://two.example/', request)));
      expect(targets).to.deep.equal([
        [
          { address: '2606:4700::1', family: 6 },
          { address: '8.8.8.8', family: 4 },
        ],
      ]);
    });

    it('is a public literal unchanged, without a resolver', async () => {
      const { fetch, asked } = scripted([]);
      const targets = await withWitness(async () => {
        await codeOf(fetch('http://0x08080808/', request));
        await codeOf(fetch('http://[2606:4700::1]/', request));
      });
      expect(targets).to.deep.equal(['8.8.8.8', '2606:4700::1']);
      expect(asked).to.deep.equal([]);
    });

    it('is another one of the same name if the first does not respond', async () => {
      const port = await serve((_request, response) => response.end('here'));
      const { fetch } = scripted([['::1', '127.0.0.1']], ['two.example']);
      expect((await fetch(`http://two.example:${port}/`, request)).body.toString()).to.equal('here');
    });

    it('is resolved once for each hop', async () => {
      const port = await serve(({ url }, response) => {
        if (url === '/end') response.end('there');
        else response.writeHead(302, { location: '/end' }).end();
      });
      const { fetch, asked } = scripted([['127.0.0.1'], ['127.0.0.1']], ['guard.example']);
      expect((await fetch(`http://guard.example:${port}/`, request)).status).to.equal(200);
      expect(asked).to.deep.equal(['guard.example', 'guard.example']);
    });

    it('is checked again for each request, because no connection is kept', async () => {
      let connections = 0;
      const port = await serve((_request, response) => response.end('ok'));
      const { fetch } = scripted([['127.0.0.1'], ['10.0.0.1']], [`guard.example:${port}`]);
      const plain = scripted([['127.0.0.1'], ['127.0.0.1']], [`guard.example:${port}`]);
      const counting = await serve((message, response) => {
        message.socket.once('close', () => connections++);
        response.end(message.headers['connection']);
      });
      expect((await fetch(`http://guard.example:${port}/`, request)).status).to.equal(200);
      expect(await codeOf(plain.fetch(`http://guard.example:${counting}/`, request))).to.equal('address');
      for (let i = 0; i < 2; i++)
        expect((await guarded(`http://guard.example:${counting}/`, request)).body.toString()).to.equal('close');
      await until(() => connections === 2);
    });

    it('may be private for an allowed host, given by name or address', async () => {
      const port = await serve((_request, response) => response.end('ok'));
      const byAddress = createGuardedFetch({ blockPrivateAddresses: true, allowedHosts: [`127.0.0.1:${port}`] });
      expect((await byAddress(`http://0x7f.1:${port}/`, request)).url).to.equal(`http://127.0.0.1:${port}/`);
      expect((await guarded(`http://guard.example:${port}/`, request)).status).to.equal(200);
      // An address in the list matches hosts of URLs. It does not allow names with this address.
      const { fetch } = scripted([['127.0.0.1']], [`127.0.0.1:${port}`]);
      expect(await codeOf(fetch(`http://elsewhere.example:${port}/`, request))).to.equal('address');
    });

    it('may be private on the listed port only', async () => {
      const port = await serve((_request, response) => response.end('ok'));
      const { fetch } = scripted([], [`guard.example:${port}`]);
      expect((await fetch(`http://GUARD.example.:${port}/`, request)).status).to.equal(200);
      expect(await codeOf(fetch('http://guard.example/', request))).to.equal('address');
    });

    it('may be private if the policy is disabled', async () => {
      const port = await serve((_request, response) => response.end('ok'));
      expect((await lifted(`http://127.0.0.1:${port}/`, request)).body.toString()).to.equal('ok');
      expect((await lifted(`http://localhost:${port}/`, request)).status).to.equal(200);
    });

    it('uses no proxy, whatever the environment variables are', async () => {
      const proxy = `http://127.0.0.1:${await closedPort()}`;
      const port = await serve((message, response) => response.end(message.url));
      const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
      const saved = names.map((name) => process.env[name]);
      for (const name of names) process.env[name] = proxy;
      try {
        expect((await guarded(`http://guard.example:${port}/x`, request)).body.toString()).to.equal('/x');
      } finally {
        names.forEach((name, index) => {
          if (saved[index] === undefined) delete process.env[name];
          else process.env[name] = saved[index];
        });
      }
    });
  });

  describe('Requests and responses', () => {
    it('sends GET with path and query to the host, without the fragment', async () => {
      const port = await serve(({ method, url, headers }, response) =>
        response.end(JSON.stringify({ method, url, headers })),
      );
      const answer = await guarded(`http://guard.example:${port}/a%20b/c?d=e&f#g`, {
        ...request,
        accept: 'text/turtle',
      });
      expect(JSON.parse(answer.body.toString())).to.deep.equal({
        method: 'GET',
        url: '/a%20b/c?d=e&f',
        headers: {
          host: `guard.example:${port}`,
          connection: 'close',
          'user-agent': 'Quadpod',
          accept: 'text/turtle',
          'accept-encoding': 'identity',
        },
      });
      expect(answer.url).to.equal(`http://guard.example:${port}/a%20b/c?d=e&f`);
    });

    it('sends POST with its body unchanged, and the fields of the caller', async () => {
      let received: IncomingHttpHeaders = {};
      const port = await serve((message, response) => {
        received = message.headers;
        const hash = createHash('sha256');
        message.on('data', (chunk) => hash.update(chunk)).on('end', () => response.end(hash.digest('hex')));
      });
      const body = Buffer.alloc(300_000, 'éa');
      const answer = await guarded(`http://guard.example:${port}/`, {
        ...request,
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/lws+json', Signature: 'sig1=:AA==:' },
      });
      expect(answer.body.toString()).to.equal(createHash('sha256').update(body).digest('hex'));
      expect(received['content-length']).to.equal('300000');
      expect(received['content-type']).to.equal('application/lws+json');
      expect(received['signature']).to.equal('sig1=:AA==:');
    });

    it('sends POST without a body as an empty one', async () => {
      const port = await serve(({ headers }, response) => response.end(headers['content-length']));
      expect((await guarded(`http://guard.example:${port}/`, { ...request, method: 'POST' })).body.toString()).to.equal(
        '0',
      );
    });

    it('omits connection fields and cookies', async () => {
      const port = await serve(({ headers }, response) => response.end(JSON.stringify(headers)));
      const headers = {
        Host: 'bank.example',
        Cookie: 'a=b',
        'Accept-Encoding': 'gzip',
        'Transfer-Encoding': 'chunked',
        'Content-Length': '7',
        Connection: 'keep-alive',
        'Proxy-Authorization': 'x',
        'X-Own': 'kept',
      };
      const seen = JSON.parse(
        (await guarded(`http://guard.example:${port}/`, { ...request, headers })).body.toString(),
      );
      expect(seen).to.deep.equal({
        host: `guard.example:${port}`,
        connection: 'close',
        'user-agent': 'Quadpod',
        accept: '*/*',
        'accept-encoding': 'identity',
        'x-own': 'kept',
      });
    });

    it('throws for a line break in a field of the caller', async () => {
      const port = await serve((_request, response) => response.end('never'));
      const outcome = await guarded(`http://guard.example:${port}/`, {
        ...request,
        headers: { 'x-a': 'b\r\nx-s3cret: d' },
      }).catch((error: Error) => error);
      expect(outcome).to.be.instanceOf(Error);
      expect((outcome as Error).message).to.not.include('s3cret');
    });

    it('returns every status unchanged', async () => {
      const port = await serve((message, response) => response.writeHead(Number(message.url!.slice(1))).end());
      for (const status of [200, 204, 206, 300, 302, 304, 400, 401, 404, 410, 418, 429, 500, 503])
        expect((await guarded(`http://guard.example:${port}/${status}`, request)).status).to.equal(status);
    });

    it('returns fields by lower-case name, repeated ones joined, with any names', async () => {
      const port = await serve((_request, response) => {
        response
          .writeHead(200, [
            'Link',
            '<a>',
            'LINK',
            '<b>',
            '__proto__',
            'x',
            'constructor',
            'y',
            '__proto__',
            'z',
            'X',
            '1',
          ])
          .end();
      });
      const { headers } = await guarded(`http://guard.example:${port}/`, request);
      expect(headers['link']).to.equal('<a>, <b>');
      expect(headers['constructor']).to.equal('y');
      expect(Object.keys(headers)).to.include.members(['__proto__', 'x']);
      expect(({} as Record<string, unknown>)['x']).to.equal(undefined);
      expect(headers['toString']).to.equal(undefined);
    });

    it('keeps no handle: the process exits after any outcome of the requests', async () => {
      const port = await serve(({ url }, response) => {
        if (url === '/ok') response.end('ok');
        else if (url === '/large') response.end(Buffer.alloc(100_000));
      });
      const script = `
        const { createGuardedFetch } = await import(${JSON.stringify(new URL('../../../../lib/tools/outbound/guarded-fetch.js', import.meta.url).href)});
        const fetch = createGuardedFetch({ blockPrivateAddresses: true, allowedHosts: ['127.0.0.1'] });
        const codes = [];
        for (const path of ['ok', 'large', 'never'])
          await fetch('http://127.0.0.1:${port}/' + path, { maxBytes: 1000, timeoutMs: 3000, maxRedirects: 0 })
            .then(({ status }) => codes.push(status), ({ code }) => codes.push(code));
        await fetch('http://[::1]/', { maxBytes: 1, timeoutMs: 60000, maxRedirects: 0 }).catch(({ code }) => codes.push(code));
        console.log(codes.join());`;
      const environment = { ...process.env, HTTP_PROXY: 'http://127.0.0.1:9', NODE_USE_ENV_PROXY: '1' };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
        env: environment,
        timeout: 18_000,
      });
      // Node 22 warns that its own experimental support of these variables, which is not used here, is on.
      const told = stderr.replace(/^\(node:\d+\) \[UNDICI-EHPA\] Warning: .*\n\(Use `node .*\n/m, '');
      expect([stdout.trim(), told]).to.deep.equal(['200,too-large,timeout,address', '']);
    });
  });
});
