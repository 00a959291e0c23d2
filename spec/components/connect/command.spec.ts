/** `quadpod connect` as a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { request } from '../../support/http.js';
import { runProcess } from '../../support/process.js';
import { type SpecServer, startSpecServer } from '../../support/server.js';

const script = new URL('../../../components/main.js', import.meta.url).pathname;

describe('The command connect', function () {
  this.timeout(60_000);
  let server: SpecServer;
  let folder: string;
  let child: ChildProcess | undefined;
  before(async () => {
    server = await startSpecServer({ isSecure: false });
    folder = mkdtempSync(join(tmpdir(), 'quadpod-connect-'));
  });
  after(async () => {
    child?.kill('SIGKILL');
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const begin = (...words: string[]): Promise<{ output: string; url: string }> =>
    new Promise((resolve, reject) => {
      child = spawn(process.execPath, [script, 'connect', server.root, ...words], { cwd: folder });
      let output = '';
      for (const stream of [child.stdout!, child.stderr!])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          const [, url] = /URL: +(\S+)/.exec(output) ?? [];
          if (url !== undefined && output.includes('Ctrl+C')) resolve({ output, url });
        });
      child.once('close', (code) => reject(new Error(`exit code ${code}: ${output}`)));
    });
  const end = (): Promise<number | null> =>
    new Promise((resolve) => {
      child!.once('close', resolve);
      child!.kill('SIGTERM');
    });

  it('prints the identity and URLs with a secret on 127.0.0.1, and creates the key of --new-key', async () => {
    const file = join(folder, 'new.key');
    const { output, url } = await begin('--new-key', file, '--read-only');
    expect(output).to.match(
      /^Identity: did:key:z\w+\nURL: {6}http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/\nSPARQL: {3}http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/\.lws\/sparql\nMCP: {6}http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/\.lws\/mcp\nPrograms .* read access/,
    );
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect((await request(`${url}a`, { method: 'PUT', body: '' })).status).to.equal(403);
    expect(await end()).to.equal(0);
    const other = await begin('--key', file, '--port', '0');
    expect(other.output.split('\n')[0]).to.equal(output.split('\n')[0]);
    expect(new URL(other.url).pathname).not.to.equal(new URL(url).pathname);
    await end();
  });

  it('streams a large upload in bounded memory', async () => {
    const { url } = await begin('--key', join(server.dataDir, 'owner.key'));
    const peak = (): number =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child!.pid}/status`, 'utf8'))![1]) >> 10;
    const [before, mebibytes, chunk] = [peak(), 300, new Uint8Array(1 << 20)];
    let sent = 0;
    const body = new ReadableStream({ pull: (out) => (sent++ < mebibytes ? out.enqueue(chunk) : out.close()) });
    const init = { method: 'PUT', body, duplex: 'half', headers: { 'Content-Type': 'application/octet-stream' } };
    expect((await fetch(`${url}large`, init as RequestInit)).status).to.equal(201);
    const { body: read } = await fetch(`${url}large`);
    let size = 0;
    for await (const part of read as unknown as AsyncIterable<Uint8Array>) size += part.length;
    expect(size).to.equal(mebibytes << 20);
    expect(peak() - before).to.be.below(100);
    await end();
  });

  it('rejects keys that others can read or that do not exist, and invalid ports', async () => {
    const file = join(folder, 'open.key');
    await runProcess(['owner', '--new-key', file]);
    chmodSync(file, 0o640);
    const message = async (...words: string[]): Promise<string> => {
      const { code, stderr } = await runProcess(['connect', server.root, ...words], { dataDir: folder });
      expect(code).to.equal(2);
      return stderr;
    };
    expect(await message('--key', file)).to.match(/^quadpod: Other users can read .*open\.key\. Use chmod 600/);
    const missing = join(folder, 'none.key');
    expect(await message('--key', missing)).to.match(/none\.key does not exist\. To create a key: --new-key/);
    expect(await message()).to.match(/owner\.key does not exist/);
    expect(await message('--new-key', missing, '--port', '70000')).to.match(/--port is 70000\. Use a number/);
    expect(existsSync(missing)).to.equal(false);
    expect(await message('--key', file, '-p', '1')).to.match(/-p is not a setting/);
    chmodSync(file, 0o600);
    for (const url of ['localhost:8080', 'storage.example/', 'ftp://storage.example/'])
      expect((await runProcess(['connect', url, '--key', file], { dataDir: folder })).stderr, url).to.equal(
        `quadpod: ${url} is not the URL of a storage. Use one such as https://storage.example/.\n`,
      );
  });
});
