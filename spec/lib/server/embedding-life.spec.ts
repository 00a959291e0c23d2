/** Embedding: from `createServer` to `close()` in another program, and rejected options. */
import { join } from 'node:path';
import { expect } from 'chai';
import { createServer, SettingsError, StoreUnavailableError } from 'quadpod';
import { request } from '../../support/http.js';
import { beginRequest } from '../../support/persistent-connection.js';
import { Program, putText, text } from '../../support/program.js';
import { freePort } from '../../support/server.js';

describe('Lifecycle of an embedded server', () => {
  let program: Program;
  beforeEach(async () => {
    program = await Program.begin();
  });
  afterEach(() => program.end());

  it('listens by itself, and is closed and opened again on the same directory', async () => {
    for (const [status, text] of [
      [201, 'content'],
      [428, 'content'],
    ] as const) {
      const server = await program.storage({ 'lws.data-dir': join(program.folder, 'kept') });
      expect(await server.listen()).to.equal(Number(new URL(program.origin).port));
      expect((await putText(`${server.baseUri}/a`)).status).to.equal(status);
      expect((await request(`${server.baseUri}/a`)).text).to.equal(text);
      expect(await server.listen().catch(String)).to.match(/already listening/);
      await Promise.all([server.close(), server.close()]);
      expect(await request(`${server.baseUri}/a`).catch(({ code }) => code)).to.equal('ECONNREFUSED');
      expect(await server.listen().catch(String)).to.match(/is closed/);
    }
  });

  it('completes running requests before it closes, and rejects new ones', async () => {
    const server = await program.storage();
    await program.listening(server.app.callback());
    const late = await beginRequest('PUT', `${server.baseUri}/a`, { ...text, 'Content-Length': '6' }, 'abc');
    const closed = server.close();
    expect((await request(`${server.baseUri}/b`)).status).to.equal(503);
    expect(await late.finish('def')).to.equal(201);
    await closed;
    expect((await request(`${server.baseUri}/a`)).status).to.equal(503);
    const again = await program.storage({ 'lws.listen-port': await freePort() });
    const port = await again.listen();
    expect((await request(`http://localhost:${port}/data/a`)).text).to.equal('abcdef');
  });

  it('can be retried if its port is in use', async () => {
    const server = await program.storage();
    const other = await program.listening((_req, res) => res.end());
    expect(await server.listen().catch(({ code }) => code)).to.equal('EADDRINUSE');
    await new Promise((resolve) => other.close(resolve));
    await server.listen();
    expect((await putText(`${server.baseUri}/a`)).status).to.equal(201);
  });

  it('does not affect the process: no output, no signal handlers', async () => {
    const count = (): number[] =>
      ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'beforeExit', 'uncaughtException', 'unhandledRejection'].map((event) =>
        process.listenerCount(event),
      );
    const before = count();
    const printed: unknown[] = [];
    const streams = [process.stdout, process.stderr].map((stream) => [stream, stream.write] as const);
    for (const [stream] of streams) stream.write = (chunk: unknown) => printed.push(chunk) > 0;
    try {
      const settings = { 'lws.base-uri': program.origin, 'lws.data-dir': program.folder, 'lws.log.level': 'trace' };
      const server = await createServer(settings);
      expect(server.mintedOwner).to.equal(join(program.folder, 'owner.key'));
      await server.listen();
      expect((await request(`${server.baseUri}/%zz`)).status).to.equal(400);
      expect((await putText(`${server.baseUri}/a`)).status).to.equal(401);
      expect(count()).to.deep.equal(before);
      await server.close();
      await createServer({ 'lws.base-url': 'x' }).catch(() => {});
    } finally {
      for (const [stream, write] of streams) stream.write = write;
    }
    expect(printed).to.deep.equal([]);
    expect(count()).to.deep.equal(before);
  });
});

describe('Embedded server that cannot start', () => {
  let program: Program;
  beforeEach(async () => {
    program = await Program.begin();
  });
  afterEach(() => program.end());

  const refusal = async (settings: Record<string, unknown>): Promise<Error> => {
    try {
      await program.storage(settings);
    } catch (error) {
      return error as Error;
    }
    throw new Error('not refused');
  };
  for (const [settings, message] of [
    [{ 'lws.base-url': 'x' }, /^Unknown setting lws\.base-url \(from the call of createServer\)\. Did you mean/],
    [{ 'lws.listen-port': 'x' }, /^lws\.listen-port is "x" \(from the call .*\); expected a whole number/],
    [
      { 'lws.base-uri': 'ftp://a' },
      /^lws\.base-uri is "ftp:\/\/a"; expected an http or https URI\. \(lws\.base-uri from the call/,
    ],
    [{ 'lws.base-uri': 'https://a.example', 'lws.dev.open': false }, /^lws\.owners is empty/],
    [
      { 'lws.blobs.s3.endpoint': 'https://s3.example' },
      /^lws\.blobs\.s3\.endpoint .* \(lws\.blobs\.s3\.endpoint from the call of createServer\)$/,
    ],
    [
      { 'lws.tls.acme.email': 'a@a.example' },
      /^lws\.tls\.acme\.email .* \(lws\.tls\.acme\.email from the call of createServer\)$/,
    ],
    [
      { 'lws.components': ['not-there'] },
      /^lws\.components names not-there, which cannot be loaded: Cannot find package 'not-there'\.$/,
    ],
    [
      { 'lws.components': ['/not-there.mjs'] },
      /^The component \/not-there\.mjs cannot be loaded: it does not exist\.$/,
    ],
  ] as const)
    it(`is rejected with one sentence: ${JSON.stringify(settings)}`, async () => {
      const error = await refusal(settings);
      expect(error).to.be.instanceOf(SettingsError);
      expect(error.message).to.match(message);
    });

  it('is rejected with one sentence: a directory that is in use', async () => {
    await program.storage();
    const error = await refusal({});
    expect(error).to.be.instanceOf(StoreUnavailableError);
    expect(error.message).to.include(`${program.folder} is in use by another server of this process`);
  });
});
