/**
 * MOVE of a container, and how long others wait meanwhile: for a health check the longest turn of the HTTP thread, for a PUT the
 * transaction. Run it with `node dist/spec/bench/move.js [graphs] [triples of each]`. It asserts nothing.
 */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProcess, startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';
import { cpuOf } from './load.js';

const [graphs, triples] = [Number(process.argv[2] ?? 20_000), Number(process.argv[3] ?? 4)];
const place = { dataDir: mkdtempSync(join(tmpdir(), 'quadpod-move-')), root: `http://localhost:${await freePort()}/` };
const dump = join(place.dataDir, 'dump.nq');
const out = createWriteStream(dump);
for (let graph = 0; graph < graphs; graph++) {
  const iri = `${place.root}a/n${graph}`;
  const lines = Array.from({ length: triples }, (_, at) => `<${iri}> <urn:p${at % 10}> "value ${at}" <${iri}> .\n`);
  if (!out.write(lines.join(''))) await new Promise<void>((resolve) => out.once('drain', () => resolve()));
}
await new Promise<void>((resolve) => out.end(resolve));
const { code, stderr } = await runProcess(['import', dump], place);
if (code !== 0) throw new Error(stderr);
const server = await startProcess(place);
await sleep(4_000);

let isOver = false;
/** Sends requests until the MOVE ends. @returns the longest duration in milliseconds */
async function longest(send: (at: number) => Promise<Response>): Promise<number> {
  let most = 0;
  for (let at = 0; !isOver; at++) {
    const began = performance.now();
    const { ok, status } = await send(at);
    if (!ok) throw new Error(`status ${status}`);
    most = Math.max(most, performance.now() - began);
    await sleep(5);
  }
  return most;
}
const waits = Promise.all([
  longest(() => fetch(`${place.root}.lws/health/live`)),
  longest((at) =>
    fetch(`${place.root}w${at}`, { method: 'PUT', body: 'x', headers: { 'Content-Type': 'text/plain' } }),
  ),
]);
const [began, cpu] = [performance.now(), cpuOf(server.pid)];
const { status } = await fetch(`${place.root}a/`, { method: 'MOVE', headers: { Destination: '/b/' } });
const [seconds, cpuSeconds] = [(performance.now() - began) / 1e3, (cpuOf(server.pid) - cpu) / 1e6];
isOver = true;
const [check, put] = await waits;
process.stdout.write(
  `${graphs} graphs of ${triples} triples: ${status} in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU; longest health check ${check.toFixed()} ms, longest PUT ${put.toFixed()} ms\n`,
);
await server.kill();
rmSync(place.dataDir, { recursive: true });
