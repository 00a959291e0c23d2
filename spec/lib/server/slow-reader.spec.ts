/** Output of commands for a reader that is slower than the command. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { packageRoot } from '../../../lib/tools/threads/package-root.js';

describe('server/cli, output', () => {
  it('is complete, although the reader begins after the command has printed it', async function () {
    this.timeout(60_000);
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
    const server = createServer({ pauseOnConnect: true }).listen(join(folder, 'socket'));
    await once(server, 'listening');
    const output = connect(join(folder, 'socket'));
    const [socket] = (await once(server, 'connection')) as [Socket];
    const program = join(packageRoot, 'dist/components/main.js');
    // Each line is a message of its own, so that the buffer of the socket is full before its bytes are.
    const child = spawn(process.execPath, [program, 'settings', '--describe'], {
      stdio: ['ignore', output, 'inherit'],
    });
    const ended = once(child, 'exit');
    output.destroy();
    await Promise.race([ended, sleep(3000)]);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.resume();
    const [[code]] = await Promise.all([ended, once(socket, 'end')]);
    server.close();
    rmSync(folder, { recursive: true });
    expect(code).to.equal(0);
    const names = [...text.matchAll(/^(lws\.\S+) = /gm)].map(([, name]) => name);
    expect(names).to.include.members(Object.keys(JSON.parse(readFileSync(join(packageRoot, 'config.json'), 'utf8'))));
  });
});
