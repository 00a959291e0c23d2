/** A server with an unread log continues to serve, and stops on request. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startProcess } from '../support/process.js';

describe('An unread log', function () {
  this.timeout(30_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-log-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Both ends of a pipe. */
  function pipe(name: string): { reader: number; writer: number } {
    const path = join(folder, name);
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { reader, writer: openSync(path, constants.O_WRONLY) };
  }

  async function serve(writer: number) {
    const server = await startProcess({ stdout: writer, environment: { LWS_LOG_LEVEL: 'info' } });
    closeSync(writer);
    return server;
  }

  it('delays neither responses nor the stop', async () => {
    const { reader, writer } = pipe('full');
    const server = await serve(writer);
    // Each is a line of about 200 bytes. A pipe holds 64 KiB.
    for (let i = 0; i < 800; i++) expect((await fetch(server.root)).status).to.equal(200);
    expect(await server.stop()).to.equal(0);
    const bytes = Buffer.alloc(1 << 20);
    const lines = bytes.toString('utf8', 0, readSync(reader, bytes)).split('\n');
    expect(lines.length).to.be.above(200);
    for (const line of lines.slice(0, -1)) expect(JSON.parse(line)).to.have.property('level');
    closeSync(reader);
  });

  it('does not delay the stop after its reader has closed', async () => {
    const { reader, writer } = pipe('gone');
    const server = await serve(writer);
    expect((await fetch(server.root)).status).to.equal(200);
    closeSync(reader);
    expect((await fetch(server.root)).status).to.equal(200);
    expect(await server.stop()).to.equal(0);
  });
});
