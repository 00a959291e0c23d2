/**
 * Creates the store of an earlier version with its own code: `node dist/spec/stores/make.js FOLDER NAME`. FOLDER is a built
 * checkout of that version. The archive is spec/stores/NAME.tar.gz.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '../support/server.js';
import { ask, containers, linked, relation, resources, root } from './content.js';

const [folder = '.', name = 'store'] = process.argv.slice(2);
const dataDir = mkdtempSync(join(tmpdir(), 'quadpod-old-'));
const port = await freePort();
const child = spawn(process.execPath, [resolve(folder, 'dist/components/main.js')], {
  cwd: folder,
  env: {
    ...{ PATH: process.env['PATH'], LWS_BASE_URI: root.slice(0, -1), LWS_LISTEN_PORT: String(port) },
    ...{ LWS_DATA_DIR: dataDir, LWS_DEV_OPEN: 'true', LWS_LOG_LEVEL: 'warn' },
  },
  stdio: ['ignore', 'inherit', 'pipe'],
});
await new Promise<void>((started, failed) => {
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk;
    if (text.includes('OPEN MODE')) started();
  });
  child.once('exit', () => failed(new Error(text)));
});
const put = async (path: string, type: string | undefined, body: string, match?: string): Promise<number> => {
  const headers = { ...(type ? { 'Content-Type': type } : {}), ...(match ? { 'If-Match': match } : {}) };
  const { status, text } = await ask(port, path, { method: 'PUT', headers, body });
  if (status >= 300) console.log(`PUT ${path}: ${status} ${text}`);
  return status;
};
for (const path of containers) await put(path, undefined, '');
for (const { path, type, body } of resources) await put(path, type, body);
const meta = `${linked.from}.meta`;
const before = await ask(port, meta);
const links = { linkset: [{ anchor: root + linked.from, [relation]: [{ href: linked.to }] }] };
await put(meta, 'application/linkset+json', JSON.stringify(links), before.headers['etag']);
child.kill('SIGTERM');
await new Promise((ended) => child.once('close', ended));
const archive = resolve(`spec/stores/${name}.tar.gz`);
execFileSync('tar', ['--sort=name', '-C', dataDir, '-czf', archive, '.']);
rmSync(dataDir, { recursive: true });
console.log(archive);
