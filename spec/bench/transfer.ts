/**
 * Throughput of an import during other requests, with its CPU time and memory, throughput of an export, and the effect of a
 * backup on writers. Run it with `node dist/spec/bench/transfer.js [graphs] [quads a graph]`. It is not a spec and asserts
 * nothing.
 */
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProcess, startProcess } from '../support/process.js';

const [graphs, each] = [Number(process.argv[2] ?? 50_000), Number(process.argv[3] ?? 20)];
const environment = { LWS_DEV_OPEN: 'false', LWS_CONSOLE_ENABLED: 'false' };
const server = await startProcess({ environment });
const { root, pid, dataDir } = server;
const authorization = { Authorization: `Bearer ${/TOKEN='?([\w.-]+)/.exec(server.output.stderr)![1]}` };
const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const dump = join(folder, 'dump.nq');
const print = (text: string): void => void process.stdout.write(`${text}\n`);

const peakMebibytes = (): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) >> 10;
/** Returns the CPU time of the server, in seconds. */
function processorSeconds(): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Waits until the server is idle, because it preloads a thread for queries after its start. */
async function untilIdle(): Promise<void> {
  for (let before = -1; processorSeconds() - before > 0.02; await sleep(500)) before = processorSeconds();
}

async function writeDump(): Promise<void> {
  const out = createWriteStream(dump);
  const xsd = 'http://www.w3.org/2001/XMLSchema#integer';
  for (let g = 0; g < graphs; g++) {
    const iri = `${root}data/c${g % 50}/r${g}`;
    let text = `<${iri}#it> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <https://schema.example/T${g % 5}> <${iri}> .\n`;
    for (let i = 1; i < each; i++) {
      const other = `<${root}data/c${(g * 7) % 50}/r${(g * 31) % graphs}#it>`;
      const object = i % 3 === 0 ? other : i % 3 === 1 ? `"a label with the number ${g * i}"` : `"${g + i}"^^<${xsd}>`;
      text += `${i % 5 === 0 ? `_:b${g}x${i % 3}` : `<${iri}#it>`} <https://schema.example/p${i % 12}> ${object} <${iri}> .\n`;
    }
    if (!out.write(text)) await new Promise<void>((resolve) => out.once('drain', () => resolve()));
  }
  await new Promise<void>((resolve) => out.end(() => resolve()));
}

/** Sends requests at an interval in milliseconds while work runs. @returns sorted latencies */
async function concurrently(
  ms: number,
  send: (count: number) => Promise<Response>,
  work: () => Promise<void>,
): Promise<number[]> {
  const times: number[] = [];
  let isRunning = true;
  const under = new Set<Promise<void>>();
  const probing = (async () => {
    for (let count = 0; isRunning; count++) {
      const began = performance.now();
      const one = send(count)
        .then((answer) => answer.arrayBuffer())
        .then(() => void times.push(performance.now() - began));
      under.add(one);
      void one.finally(() => under.delete(one));
      await sleep(ms);
    }
  })();
  await work();
  isRunning = false;
  await probing;
  await Promise.all(under);
  return times.sort((a, b) => a - b);
}
const at = (times: readonly number[], part: number): string =>
  (times[Math.floor((times.length - 1) * part)] ?? 0).toFixed(1);
const summary = (times: readonly number[]): string =>
  `${times.length} requests, p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms, max ${at(times, 1)} ms`;

const put = (path: string, body: string): Promise<Response> =>
  fetch(root + path, { method: 'PUT', headers: { ...authorization, 'Content-Type': 'text/turtle' }, body });
const small = `${root}small`;

await writeDump();
await put('small', '<> <#p> 1 .');
await sleep(2000);
await untilIdle();
const idle = peakMebibytes();
let [began, used] = [performance.now(), processorSeconds()];
const readSmall = (): Promise<Response> => fetch(small, { headers: authorization });
const readersAlone = await concurrently(10, readSmall, () => sleep(8000));
const secondsOfReader = (processorSeconds() - used) / readersAlone.length;
const readers = await concurrently(10, readSmall, async () => {
  const begun = await fetch(`${root}.lws/import?name=dump.nq`, {
    method: 'POST',
    headers: authorization,
    body: Readable.toWeb(createReadStream(dump)) as never,
    duplex: 'half',
  } as RequestInit);
  [began, used] = [performance.now(), processorSeconds()];
  const headers = { ...authorization, Accept: 'application/x-ndjson' };
  const lines = await (await fetch(begun.headers.get('location')!, { headers })).text();
  print(lines.trim().split('\n').at(-1)!);
});
const seconds = (performance.now() - began) / 1000;
const quads = graphs * each;
const spent = processorSeconds() - used;
const microseconds = (total: number): string => ((total * 1e6) / quads).toFixed(1);
print(
  `Import: ${quads} quads in ${seconds.toFixed(1)} s, ${Math.round(quads / seconds)} per second, ` +
    `CPU time per quad ${microseconds(spent)} us, ${microseconds(readers.length * secondsOfReader)} us of it for the readers, ` +
    `memory ${peakMebibytes()} MiB at most (${idle} before).`,
);
print(`Concurrent readers, 100 per second: ${summary(readers)}.`);

await untilIdle();
began = performance.now();
let bytes = 0;
for await (const chunk of (await fetch(`${root}.lws/export?format=nquads`, { headers: authorization })).body ?? [])
  bytes += (chunk as Uint8Array).length;
const exported = (performance.now() - began) / 1000;
print(`Export: ${bytes} bytes in ${exported.toFixed(1)} s, ${Math.round(quads / exported)} quads per second.`);

const write = (count: number): Promise<Response> => put(`w${count % 500}-${count}`, `<> <#n> ${count} .`);
const alone = await concurrently(2, write, () => sleep(8000));
const during = await concurrently(
  2,
  (count) => put(`b${count}`, `<> <#n> ${count} .`),
  async () => {
    const made = await runProcess(['backup', join(folder, 'backup')], { dataDir, root, environment });
    print(made.stdout.trim() + made.stderr.slice(-200));
  },
);
print(`Writers alone, target 500 per second: ${summary(alone)}.`);
print(`Writers during a backup: ${summary(during)}. The dump has ${statSync(dump).size} bytes.`);
await server.stop();
for (const each of [folder, dataDir]) rmSync(each, { recursive: true });
