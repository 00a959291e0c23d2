/**
 * Server with little memory: the in-memory index is built, and rebuilt during queries of three clients, and the process survives.
 * As root on Linux, a control group limits the memory. Otherwise only the peak is measured, which does not prove survival. Run it
 * with `node dist/spec/bench/small-memory.js [MiB, 512] [quads, 250000]`.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';

const [mib, quads] = [Number(process.argv[2] ?? 512), Number(process.argv[3] ?? 250_000)];
const quadsOfGraph = 20;
const e = 'https://e.example/';
const print = (...words: readonly unknown[]): void => void process.stdout.write(`${words.join(' ')}\n`);

/** Creates a control group with a memory limit, or returns `undefined` if that is not possible. */
function groupOf(bytes: number): { readonly procs: string; peak(): string; remove(): void } | undefined {
  const isFirst = /^\d+:memory:/m.test(readFileSync('/proc/self/cgroup', 'utf8'));
  const folder = join('/sys/fs/cgroup', isFirst ? 'memory' : '', `quadpod-${process.pid}`);
  const fileOf = (first: string, second: string): string => join(folder, `memory.${isFirst ? first : second}`);
  try {
    mkdirSync(folder);
    writeFileSync(fileOf('limit_in_bytes', 'max'), String(bytes));
  } catch (error) {
    print(`No control group (${error}): only the peak is measured.`);
    return undefined;
  }
  return {
    procs: join(folder, 'cgroup.procs'),
    peak: () => {
      const bytesAtMost = Number(readFileSync(fileOf('max_usage_in_bytes', 'peak'), 'utf8'));
      const refused = isFirst ? readFileSync(fileOf('failcnt', ''), 'utf8').trim() : '-';
      return `group: at most ${bytesAtMost >> 20} MiB including the page cache (limit reached ${refused} times)`;
    },
    remove: () => rmdirSync(folder),
  };
}

const turtle = (number: number, change: number): string =>
  Array.from(
    { length: quadsOfGraph },
    (_, i) =>
      `<#${i >> 2}> <${e}p${i % 4}> ${i % 4 === 0 ? `<${e}class${number % 50}>` : `"${number}, ${i}, ${change}"`} .`,
  ).join('\n');
const nquads = (root: string): string =>
  Array.from({ length: quads / quadsOfGraph }, (_, number) => {
    const graph = `${root}r${number}`;
    return `${turtle(number, 0).replaceAll('<#', `<${graph}#`).replaceAll(/ \.$/gm, ` <${graph}> .`)}\n`;
  }).join('');

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends a query from an address of its own, because one client never gets all threads. */
const ask = (root: string, query: string, localAddress: string): Promise<Answer> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(root);
    const headers = { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' };
    const failed = (error: Error): void => resolve({ status: 0, text: error.message });
    const req = request({ hostname, port, path: '/.lws/sparql', method: 'POST', localAddress, family: 4, headers });
    req.on('error', failed).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('error', failed);
      response.on('data', (some: string) => {
        text += some;
      });
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    });
    req.end(query);
  });

const queries = [
  `SELECT (COUNT(*) AS ?n) { ?s <${e}p1> ?o }`,
  `SELECT ?c (COUNT(?o) AS ?n) { ?s <${e}p0> ?c ; <${e}p1> ?o } GROUP BY ?c ORDER BY ?c`,
  `SELECT ?s ?o ?q { ?s <${e}p0> <${e}class7> ; <${e}p1> ?o ; <${e}p2> ?q } ORDER BY DESC(?o) LIMIT 1000`,
];

const folder = mkdtempSync(join(tmpdir(), 'quadpod-small-'));
const dataDir = join(folder, 'data');
const filling = await startProcess({ dataDir });
const { root } = filling;
await filling.stop();
writeFileSync(join(folder, 'all.nq'), nquads(root));
const imported = await runProcess(['import', join(folder, 'all.nq')], { dataDir, root, seconds: 300 });
if (imported.code !== 0) throw new Error(imported.stderr);
rmSync(join(dataDir, 'index'), { recursive: true, force: true });

const group = groupOf(mib << 20);
const environment = { LWS_LOG_LEVEL: 'info' };
const server: ServerProcess = await startProcess({ dataDir, root, environment, group: group?.procs });
const statusOf = (name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) >> 10;
const built = (): readonly string[] => server.output.stdout.match(/^.*index is ready.*$/gm) ?? [];

let isOver = false;
const statuses = new Map<number, number>();
const askers = Promise.all(
  ['127.0.0.1', '127.0.0.2', '127.0.0.3'].map(async (address, index) => {
    for (let at = index; !isOver; at++) {
      const { status, text } = await ask(root, queries[at % queries.length]!, address);
      if (status !== 200 && !statuses.has(status)) print(status, text);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }),
);
await until(() => built().length > 0, 'the index is built', 180_000);
print(`built, RSS ${statusOf('VmRSS')} MiB`);
for (let number = 0; number < 3000; number++) {
  const headers = { 'Content-Type': 'text/turtle', 'If-Match': '*' };
  const { status } = await fetch(`${root}r${number}`, { method: 'PUT', headers, body: turtle(number, 1) });
  if (status !== 204) throw new Error(`PUT: ${status}`);
}
await until(() => built().length > 1, 'the index is rebuilt', 180_000);
print(`rebuilt, RSS ${statusOf('VmRSS')} MiB`);
await sleep(5000);
isOver = true;
await askers;
print(`responses by status: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`);
print(`RSS ${statusOf('VmRSS')} MiB, at most ${statusOf('VmHWM')} MiB`);
for (const line of built()) print(line);
if (group) print(group.peak());
print(`exit code ${await server.stop()}`);
group?.remove();
rmSync(folder, { recursive: true, force: true });
