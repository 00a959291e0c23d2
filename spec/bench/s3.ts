/**
 * Upload of a large resource to S3, its download, and their memory: `node dist/spec/bench/s3.js [MiB]`. The server is a separate
 * process, the S3 store is in this one.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { startProcess } from '../support/process.js';
import { SpecS3 } from '../support/s3-server.js';

const mebibytes = Number(process.argv[2] ?? 2048);
const s3 = await SpecS3.start();
const environment = Object.entries(s3.settings('bench')).map(([name, value]) => [
  `LWS_${name.toUpperCase().replace(/[.-]/g, '_')}`,
  value,
]);
const server = await startProcess({ environment: Object.fromEntries(environment) });
const memory = (field: string): number =>
  Math.round(
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1024,
  );
const line = (text: string): void => void process.stdout.write(`${text}\n`);

const iri = `${server.root}large`;
const chunk = Buffer.alloc(1 << 20);
const sent = createHash('sha256');
line(`idle: ${memory('VmRSS')} MiB`);
let begun = Date.now();
const upload = request(iri, { method: 'PUT', headers: { 'Content-Type': 'application/octet-stream' } });
const answered = once(upload, 'response') as Promise<[IncomingMessage]>;
for (let i = 0; i < mebibytes; i++) {
  chunk.writeUInt32BE(i);
  sent.update(chunk);
  if (!upload.write(Buffer.from(chunk))) await once(upload, 'drain');
}
upload.end();
const [answer] = await answered;
answer.resume();
const report = (what: string): void =>
  line(`${what} ${mebibytes} MiB: ${(Date.now() - begun) / 1000} s, peak memory ${memory('VmHWM')} MiB`);
report(`upload (${answer.statusCode})`);
begun = Date.now();
const [download] = (await once(request(iri).end(), 'response')) as [IncomingMessage];
const received = createHash('sha256');
for await (const part of download) received.update(part);
report(`download (${download.statusCode})`);
line(`equal bytes: ${sent.digest('hex') === received.digest('hex')}`);
await server.stop();
await s3.dispose();
