/** HTTP/2 clients that request and do not read: streams end soon after lws.request-idle-seconds. */
import { constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { frame, newSession, prefaceHttp2, requestHttp2 } from '../../../support/http2.js';
import { type SpecServer, startSpecServer } from '../../../support/server.js';
import { connectTls } from '../../../support/tls.js';

const streams = Array.from({ length: 20 }, (_, index) => 2 * index + 1);

const ping = frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]);

/** `GET https://localhost/x` in HPACK. */
const getX = [0x82, 0x87, 0x04, 2, ...Buffer.from('/x'), 0x01, 9, ...Buffer.from('localhost')];

describe('Unread responses over HTTP/2', () => {
  let s: SpecServer;
  beforeEach(async () => {
    s = await startSpecServer({ isSecure: true, settings: { 'dev.open': 'true', 'request-idle-seconds': '1' } });
  });
  afterEach(() => s.stop());

  /** Stores `/x` and requests it on 20 streams of one session. */
  async function requestAll(bytes: number, preface: Buffer): Promise<TLSSocket> {
    const headers = { 'content-type': 'application/octet-stream' };
    const put = { method: 'PUT', target: '/x', headers, body: Buffer.alloc(bytes) };
    expect((await requestHttp2(new URL(s.root).origin, put)).status).to.equal(201);
    const socket = await connectTls(s.root, { ALPNProtocols: ['h2'] });
    socket.on('error', () => {}).write(Buffer.concat([preface, ...streams.map((id) => frame(1, 5, id, getX))]));
    return socket;
  }

  /** Waits until all streams are reset. @returns the codes */
  async function resets(socket: TLSSocket): Promise<number[]> {
    const reset = new Map<number, number>();
    let received = Buffer.alloc(0);
    await new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
          if (received[3] === 3) reset.set(received.readUInt32BE(5), received.readUInt32BE(9));
          received = received.subarray(9 + received.readUIntBE(0, 3));
        }
        if (reset.size === streams.length) resolve();
      });
    });
    return [...new Set(reset.values())];
  }

  it('resets streams that only wait for flow control, complete ones too', async () => {
    const socket = await requestAll(10_000, prefaceHttp2());
    expect(await resets(socket)).to.deep.equal([constants.NGHTTP2_CANCEL]);
    socket.destroy();
  });

  for (const bytes of [10_000, 4 << 20])
    it(`resets all streams of ${bytes} bytes in a session that is kept open with pings`, async () => {
      const socket = await requestAll(bytes, prefaceHttp2());
      // Each answer is progress of the session, and of none of its streams.
      const pings = setInterval(() => socket.write(ping), 200);
      expect(await resets(socket)).to.deep.equal([constants.NGHTTP2_CANCEL]);
      clearInterval(pings);
      socket.destroy();
    });

  it('sends a representation of megabytes to a client that reads it with pauses longer than half of the time', async () => {
    const object = `"${'x'.repeat(60)}"`;
    const body = Array.from({ length: 6_000 }, (_, at) => `<#s${at}> <urn:p> ${object} .`).join('\n');
    const origin = new URL(s.root).origin;
    const put = { method: 'PUT', target: '/g', headers: { 'content-type': 'text/turtle' }, body };
    expect((await requestHttp2(origin, put)).status).to.equal(201);
    const get = { method: 'GET', target: '/g', headers: {}, body: undefined };
    const expected = (await requestHttp2(origin, get)).bytes.length;
    const session = newSession(origin);
    const stream = session.request({ ':path': '/g' });
    let received = 0;
    stream.on('data', (chunk: Buffer) => {
      const before = received;
      received += chunk.length;
      // Five pauses.
      if (Math.floor((received * 5) / expected) === Math.floor((before * 5) / expected)) return;
      stream.pause();
      setTimeout(() => stream.resume(), 600);
    });
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    expect([received, stream.rstCode]).to.deep.equal([expected, constants.NGHTTP2_NO_ERROR]);
    session.close();
  });

  it('closes the session of a client that reads nothing from its socket', async () => {
    // Maximum windows (RFC 9113 6.9.1), so that only the socket delays the responses.
    const socket = await requestAll(
      4 << 20,
      Buffer.concat([prefaceHttp2([0, 4, 0x7f, 0xff, 0xff, 0xff]), frame(8, 0, 0, [0x7f, 0, 0, 0])]),
    );
    socket.pause();
    // Writing to a connection that the server has closed fails.
    const pings = setInterval(() => socket.write(ping), 200);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    clearInterval(pings);
  });
});
