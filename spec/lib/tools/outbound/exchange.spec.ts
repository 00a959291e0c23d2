/** Harmful responses, and hosts that do not respond. Must only connect to loopback. */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createGuardedFetch, type OutboundRequest } from '../../../../lib/tools/outbound/guarded-fetch.js';
import { certificate, closedPort, closeHosts, repeat, serve, serveRaw, serveSecurely } from './hosts.js';
import { codeOf, refusalOf } from './refusal.js';

const options = {
  blockPrivateAddresses: true,
  allowedHosts: ['guard.example', 'third.example'],
  lookup: async () => ['127.0.0.1'],
};
const guarded = createGuardedFetch({ ...options, ca: certificate });
const request: OutboundRequest = { maxBytes: 10_000, timeoutMs: 15_000, maxRedirects: 0 };
const hasty: OutboundRequest = { ...request, timeoutMs: 300 };
const webhook: OutboundRequest = { ...request, method: 'POST', body: Buffer.from('{}'), discardBody: true };

const at = (port: number): string => `http://guard.example:${port}/`;
const head = (...fields: string[]): string => ['HTTP/1.1 200 OK', ...fields, '', ''].join('\r\n');

/** Sends fixed bytes to every client after its request. */
const answering = (text: string | Buffer): Promise<number> =>
  serveRaw((socket) => socket.once('data', () => socket.write(text)));
/** Sends fixed bytes, then repeats others until the client disconnects. */
const babbling = (text: string, again: string | Buffer): Promise<number> =>
  serveRaw((socket) =>
    socket.once('data', () => {
      socket.write(text);
      repeat(socket, again);
    }),
  );

/** Fails the spec after ten times the given time. */
async function timed<T>(milliseconds: number, task: Promise<T>): Promise<T> {
  const started = Date.now();
  const outcome = await task;
  expect(Date.now() - started).to.be.below(milliseconds * 10);
  return outcome;
}

describe('outbound/exchange', () => {
  afterEach(closeHosts);

  describe('Size of a response', () => {
    it('may reach the limit', async () => {
      const port = await serve((_request, response) => response.end(Buffer.alloc(10_000, 'x')));
      expect((await guarded(at(port), request)).body).to.have.length(10_000);
    });

    it('is rejected above the limit, with Content-Length or chunked', async () => {
      const announced = await serve((_request, response) => response.end(Buffer.alloc(10_001)));
      const chunked = await serve((_request, response) => {
        response.write(Buffer.alloc(5000));
        response.end(Buffer.alloc(5001));
      });
      for (const port of [announced, chunked]) {
        const { code, message } = await refusalOf(guarded(at(port), request));
        expect(code).to.equal('too-large');
        expect(message).to.include('guard.example').and.include('127.0.0.1').and.include('10000');
      }
    });

    it('is rejected by Content-Length before the body arrives', async () => {
      const port = await answering(head('Content-Length: 10001'));
      expect(await codeOf(guarded(at(port), request))).to.equal('too-large');
    });

    it('is rejected without an end, and the connection is closed', async () => {
      let other: Socket | undefined;
      const port = await serveRaw((socket) => {
        other = socket;
        socket.once('data', () => {
          socket.write(head());
          repeat(socket, Buffer.alloc(1000, 'x'));
        });
      });
      expect(await codeOf(guarded(at(port), request))).to.equal('too-large');
      await new Promise<void>((resolve) => (other!.destroyed ? resolve() : other!.once('close', () => resolve())));
    });

    it('may be zero', async () => {
      const port = await serve((_request, response) => response.writeHead(204).end());
      expect((await guarded(at(port), { ...request, maxBytes: 0 })).body).to.have.length(0);
    });

    it('is not hidden by a content coding', async () => {
      const bomb = gzipSync(Buffer.alloc(5_000_000));
      for (const coding of ['gzip', 'GZIP', 'x-gzip', 'br', 'deflate', 'gzip, gzip', 'identity, gzip', 'nonsense']) {
        const port = await serve((_request, response) =>
          response.writeHead(200, { 'content-encoding': coding }).end(bomb),
        );
        expect(await codeOf(guarded(at(port), request)), coding).to.equal('protocol');
      }
    });

    it('counts the bytes as sent: undeclared compression is not decoded', async () => {
      const bomb = gzipSync(Buffer.alloc(5_000_000));
      const port = await serve((_request, response) =>
        response.writeHead(200, { 'content-encoding': 'Identity' }).end(bomb),
      );
      expect((await guarded(at(port), request)).body.equals(bomb)).to.equal(true);
    });

    it('is rejected for fields above 16 KiB, few or many', async () => {
      const large = await answering(head(`X: ${'x'.repeat(20_000)}`));
      const many = await answering(head(...Array.from({ length: 4000 }, (_, index) => `x${index}: 1`)));
      for (const port of [large, many]) expect(await codeOf(guarded(at(port), request))).to.equal('too-large');
    });

    it('is rejected for a field, a list of fields or trailers without end', async () => {
      const field = await babbling('HTTP/1.1 200 OK\r\nX: ', 'xxxxxxxxxxxxxxxxxxxx');
      const fields = await babbling('HTTP/1.1 200 OK\r\n', 'X: x\r\n');
      const trailers = await babbling(`${head('Transfer-Encoding: chunked')}0\r\n`, 'X: x\r\n');
      for (const port of [field, fields, trailers])
        expect(await codeOf(guarded(at(port), request))).to.equal('too-large');
    });
  });

  describe('Time limit of a response', () => {
    it('applies if the host sends nothing', async () => {
      const port = await serveRaw(() => undefined);
      const { code, message } = await timed(300, refusalOf(guarded(at(port), hasty)));
      expect([code, message]).to.deep.equal(['timeout', `guard.example:${port} did not finish within 300 ms.`]);
    });

    it('applies to fields that arrive slowly', async () => {
      const port = await serveRaw((socket) => drip(socket, 'HTTP/1.1 200 OK\r\nX: ', 'x'));
      expect(await timed(300, codeOf(guarded(at(port), hasty)))).to.equal('timeout');
    });

    it('applies to a body that arrives slowly', async () => {
      const port = await serveRaw((socket) => drip(socket, head(), 'x'));
      expect(await timed(300, codeOf(guarded(at(port), hasty)))).to.equal('timeout');
    });

    it('applies to a body that stops', async () => {
      const port = await answering(`${head('Content-Length: 100')}some`);
      expect(await timed(300, codeOf(guarded(at(port), hasty)))).to.equal('timeout');
    });

    it('applies to a status line or chunk extensions without end', async () => {
      const line = await babbling('HTTP/1.1 200 ', 'x'.repeat(1000));
      const extension = await babbling(`${head('Transfer-Encoding: chunked')}1;`, 'x'.repeat(1000));
      for (const port of [line, extension])
        expect(await timed(300, codeOf(guarded(at(port), hasty)))).to.equal('timeout');
    });

    it('applies if a resolver does not respond, even if it does later', async () => {
      const slow = createGuardedFetch({
        ...options,
        lookup: () => new Promise((_resolve, reject) => setTimeout(() => reject(new Error('late')), 600)),
      });
      expect(await timed(300, codeOf(slow(at(1), hasty)))).to.equal('timeout');
      await new Promise((resolve) => setTimeout(resolve, 500));
    });

    it('applies if the host does not read the request body', async () => {
      const port = await serveRaw((socket) => socket.pause());
      const body = Buffer.alloc(20_000_000);
      expect(await timed(300, codeOf(guarded(at(port), { ...hasty, method: 'POST', body })))).to.equal('timeout');
    });

    it('is shorter for connecting, TLS included', async () => {
      const closed: Promise<void>[] = [];
      const port = await serveRaw((socket) => {
        socket.resume();
        closed.push(new Promise((resolve) => socket.once('close', () => resolve())));
      });
      const task = guarded(`https://guard.example:${port}/`, { ...request, connectTimeoutMs: 300 });
      const { code, message } = await timed(300, refusalOf(task));
      expect([code, message]).to.deep.equal([
        'timeout',
        `Connecting to guard.example:${port} took longer than 300 ms.`,
      ]);
      await Promise.all(closed);
    });

    it('closes a connection that is being established', async () => {
      const closed: Promise<void>[] = [];
      const port = await serveRaw((socket) => {
        socket.resume();
        closed.push(new Promise((resolve) => socket.once('close', () => resolve())));
      });
      expect(
        await timed(300, codeOf(guarded(`https://guard.example:${port}/`, { ...hasty, connectTimeoutMs: 60_000 }))),
      ).to.equal('timeout');
      expect(closed).to.have.length(1);
      await Promise.all(closed);
    });

    it('does not include the time to connect', async () => {
      const port = await serve((_request, response) => setTimeout(() => response.end('late'), 600));
      expect((await guarded(at(port), { ...request, connectTimeoutMs: 300 })).body.toString()).to.equal('late');
    });
  });

  describe('Connection', () => {
    it('rejects a port without a listener', async () => {
      const port = await closedPort();
      const { code, message } = await refusalOf(guarded(at(port), request));
      expect([code, message]).to.deep.equal([
        'connect',
        `Cannot connect to guard.example:${port} (127.0.0.1) (ECONNREFUSED).`,
      ]);
    });

    it('connects with TLS to the name of the host', async () => {
      let name: unknown;
      const port = await serveSecurely((message, response) => {
        name = (message.socket as unknown as { servername: unknown }).servername;
        response.end(message.headers.host);
      });
      expect((await guarded(`https://guard.example:${port}/`, request)).body.toString()).to.equal(
        `guard.example:${port}`,
      );
      expect(name).to.equal('guard.example');
    });

    it('rejects an untrusted certificate', async () => {
      const port = await serveSecurely((_request, response) => response.end('never'));
      const { code, message } = await refusalOf(createGuardedFetch(options)(`https://guard.example:${port}/`, request));
      expect(code).to.equal('connect');
      expect(message).to.include('SELF_SIGNED_CERT');
    });

    it('rejects a certificate of another host', async () => {
      const port = await serveSecurely((_request, response) => response.end('never'));
      const { code, message } = await refusalOf(guarded(`https://third.example:${port}/`, request));
      expect(code).to.equal('connect');
      expect(message).to.include('ALTNAME');
    });

    it('rejects a port without TLS', async () => {
      const port = await serve((_request, response) => response.end('never'));
      expect(await codeOf(guarded(`https://guard.example:${port}/`, request))).to.equal('connect');
    });
  });

  describe('Invalid HTTP', () => {
    for (const [what, text] of Object.entries({
      'another protocol': 'SSH-2.0-OpenSSH_9.6\r\n',
      'no protocol': '\0\u0001\u0002\u0003 garbage \r\n\r\n',
      'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'two lengths': head('Content-Length: 1', 'Content-Length: 2'),
      'a length and chunks': `${head('Content-Length: 1', 'Transfer-Encoding: chunked')}1\r\nx\r\n0\r\n\r\n`,
      'a chunk without a size': `${head('Transfer-Encoding: chunked')}x\r\n`,
      'a field without a name': head(': x'),
      'an upgrade that was not requested':
        'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
      'a status of four digits': 'HTTP/1.1 2000 OK\r\n\r\n',
    }))
      it(`rejects ${what}`, async () => {
        expect(await codeOf(guarded(at(await answering(text)), request))).to.equal('protocol');
      });

    it('rejects a request in place of a response, sent before the request', async () => {
      const port = await serveRaw((socket) => socket.write('GET / HTTP/1.1\r\n\r\n'));
      expect(await codeOf(guarded(at(port), request))).to.equal('protocol');
    });

    it('rejects a connection that is closed or reset before the response', async () => {
      let connections = 0;
      const ended = await serveRaw((socket) => {
        connections++;
        socket.once('data', () => socket.end());
      });
      const reset = await serveRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
      for (const port of [ended, reset]) expect(await codeOf(guarded(at(port), request))).to.equal('protocol');
      expect(connections).to.equal(1);
    });

    it('rejects a connection that is dropped immediately', async () => {
      const ended = await serveRaw((socket) => socket.end());
      const reset = await serveRaw((socket) => socket.resetAndDestroy());
      for (const port of [ended, reset])
        expect(await codeOf(guarded(at(port), request))).to.be.oneOf(['connect', 'protocol']);
    });

    it('rejects a truncated body', async () => {
      for (const text of [
        `${head('Content-Length: 100')}some`,
        `${head('Transfer-Encoding: chunked')}5\r\nhello\r\n`,
      ]) {
        const port = await serveRaw((socket) => socket.once('data', () => socket.end(text)));
        expect(await codeOf(guarded(at(port), request)), text).to.equal('protocol');
      }
    });

    it('does not reveal sent or received data', async () => {
      const port = await serveRaw((socket) => socket.once('data', (sent) => socket.write(sent)));
      const error = await refusalOf(
        guarded(`${at(port)}s3cret?s3cret`, { ...request, headers: { authorization: 's3cret' } }),
      );
      expect(error.code).to.equal('protocol');
      expect(JSON.stringify({ ...error, cause: error.cause, message: error.message })).to.not.include('s3cret');
    });

    it('accepts a few interim responses', async () => {
      const port = await answering(
        `${'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n'.repeat(3)}${head('Content-Length: 2')}ok`,
      );
      expect((await guarded(at(port), request)).body.toString()).to.equal('ok');
    });

    it('rejects interim responses without end', async () => {
      for (const line of ['103 Early Hints', '102 Processing', '100 Continue']) {
        const port = await babbling('', `HTTP/1.1 ${line}\r\n\r\n`);
        expect(await codeOf(guarded(at(port), request)), line).to.equal('protocol');
      }
    });
  });

  describe('A discarded response', () => {
    it('returns its status and fields, and no body', async () => {
      const port = await serve((_request, response) => response.writeHead(410, { 'retry-after': '7' }).end('gone'));
      const answer = await guarded(at(port), webhook);
      expect([answer.status, answer.headers['retry-after'], answer.body.length]).to.deep.equal([410, '7', 0]);
    });

    it('is cut off at the limit without an error, with Content-Length, endless or encoded', async () => {
      const announced = await answering(`${head('Content-Length: 1000000')}${'x'.repeat(20_000)}`);
      const endless = await babbling(head(), 'x'.repeat(1000));
      const encoded = await serve((_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      );
      for (const port of [announced, endless, encoded]) expect((await guarded(at(port), webhook)).status).to.equal(200);
    });

    it('succeeds if its body is truncated or late', async () => {
      const broken = await serveRaw((socket) =>
        socket.once('data', () => socket.end(`${head('Content-Length: 100')}some`)),
      );
      const stopped = await answering(`${head('Content-Length: 100')}some`);
      expect((await guarded(at(broken), webhook)).status).to.equal(200);
      expect((await timed(300, guarded(at(stopped), { ...webhook, timeoutMs: 300 }))).status).to.equal(200);
    });

    it('must still begin in time', async () => {
      const port = await serveRaw(() => undefined);
      expect(await codeOf(guarded(at(port), { ...webhook, timeoutMs: 300 }))).to.equal('timeout');
    });
  });
});

function drip(socket: Socket, start: string, drop: string): void {
  socket.once('data', () => {
    socket.write(start);
    const timer = setInterval(() => socket.write(drop), 20);
    socket.once('close', () => clearInterval(timer));
  });
}
