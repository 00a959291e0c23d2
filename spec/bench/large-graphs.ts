/**
 * Duration and memory of PUT, GET, PATCH and DELETE of a graph with 500 000 triples, and the latency of concurrent requests. Run
 * it with `node dist/spec/bench/large-graphs.js [triples]`. It is not a spec and asserts nothing.
 */
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../support/process.js';

const triples = Number(process.argv[2] ?? 499_990);
const line = (i: number): string =>
  `<http://data.example/s${i % 50_000}> <http://data.example/p${i % 17}> "value ${i}" .\n`;
const turtle = { 'Content-Type': 'text/turtle' };
const update = { 'Content-Type': 'application/sparql-update' };

const server = await startProcess({ environment: { LWS_CONSOLE_ENABLED: 'false' } });
const [large, small] = [`${server.root}large`, `${server.root}small`];
const mebibytes = (field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) >> 10;

/** Sends a request while another client reads a small resource in a loop. */
async function measure(name: string, init: RequestInit): Promise<void> {
  const times: number[] = [];
  let isRunning = true;
  const probe = async (): Promise<void> => {
    while (isRunning) {
      const began = performance.now();
      await (await fetch(small)).text();
      times.push(performance.now() - began);
      await sleep(5);
    }
  };
  const probing = probe();
  const began = performance.now();
  const answer = await fetch(large, init);
  let length = 0;
  for await (const chunk of answer.body ?? []) length += (chunk as Uint8Array).length;
  const ms = performance.now() - began;
  isRunning = false;
  await probing;
  times.sort((a, b) => a - b);
  const at = (part: number): string => (times[Math.floor((times.length - 1) * part)] ?? 0).toFixed(1);
  process.stdout.write(
    `${name}: ${answer.status}, ${length} bytes, ${ms.toFixed(0)} ms, concurrent GETs p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} ms, ` +
      `peak memory ${mebibytes('VmHWM') - idle} MiB above idle\n`,
  );
}

await fetch(small, { method: 'PUT', headers: turtle, body: '<> <#p> 1 .' });
await sleep(500);
const idle = mebibytes('VmRSS');
let body = '';
for (let i = 0; i < triples; i++) body += line(i);
await measure('PUT', { method: 'PUT', headers: turtle, body });
await measure('GET', {});
for (const patch of ['INSERT DATA { <#a> <#b> 1 }', 'INSERT DATA { <#a> a <#T> }', 'DELETE DATA { <#a> <#b> 1 }'])
  await measure(`PATCH ${patch}`, { method: 'PATCH', headers: update, body: patch });
await measure('PUT that replaces it', {
  method: 'PUT',
  headers: { ...turtle, 'If-Match': '*' },
  body: body.slice(line(0).length),
});
await measure('DELETE', { method: 'DELETE' });
await measure('PUT during the removal', { method: 'PUT', headers: turtle, body: line(0) });
await server.stop();
rmSync(server.dataDir, { recursive: true, force: true });
