/**
 * Effect of hostile queries on other clients, over HTTP: latency of concurrent small GETs, duration and outcome of each query,
 * latency of the next queries, and memory of the server. Run it with `node dist/spec/bench/sparql-isolation.js [timeout
 * seconds]`. It is not a spec and asserts nothing.
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '../support/process.js';
import { begin, read, readsDuring, residentMb } from '../support/sparql-stream.js';

const seconds = Number(process.argv[2] ?? 3);
const e = 'https://e.example/bench/';
const environment = { LWS_SPARQL_ENDPOINT_TIMEOUT_SECONDS: String(seconds) };
const server = await startProcess({ environment });
const turtle = (iri: string, body: string): Promise<Response> =>
  fetch(iri, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body });
const small = `${server.root}small`;
await turtle(small, '<#it> <urn:is> "small" .');
const lines = Array.from({ length: 320 }, (_, i) => `<${e}${i}> <${e}p> ${i} ; <${e}long> "${'x'.repeat(400)}${i}" .`);
const bombs = Array.from({ length: 20 }, (_, i) => `<${e}${i}> <${e}bomb> "${'a'.repeat(40 + i)}!" .`);
await turtle(`${server.root}data`, [...lines, ...bombs].join('\n'));

const crossOf = (names: string): string => [...names].map((v) => `?${v} <${e}p> ?${v}o . `).join('');
const at = (waits: readonly number[], share: number): string =>
  waits[Math.floor((1 - share) * waits.length)]!.toFixed(1);
const print = (...words: readonly string[]): void => void process.stdout.write(`${words.join('  ')}\n`);
const ended = (text: string): string => /"detail":"([^"]*)"/.exec(text)?.[1] ?? `${text.length} characters`;

async function measured(name: string, work: () => Promise<string>): Promise<void> {
  const before = residentMb(server.pid);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentMb(server.pid));
  }, 50);
  const started = performance.now();
  const work$ = work();
  const waits = await readsDuring(small, work$);
  const took = (performance.now() - started).toFixed();
  clearInterval(watch);
  const end = await work$;
  print(
    name.padEnd(24),
    `${took} ms`.padStart(9),
    `${waits.length} GETs: median ${at(waits, 0.5)} ms, p99 ${at(waits, 0.99)} ms, max ${waits[0]!.toFixed(1)} ms;`,
    `RSS ${before.toFixed()} -> ${most.toFixed()} -> ${residentMb(server.pid).toFixed()} MB; ${end}`,
  );
}

/** Measures three sequential queries after a thread was terminated. */
async function next(): Promise<void> {
  const times: string[] = [];
  for (let i = 0; i < 3; i++) {
    const started = performance.now();
    await read(server.root, 'ASK {}');
    times.push((performance.now() - started).toFixed());
  }
  print(' '.repeat(24), `the next three queries: ${times.join(', ')} ms`);
}

await measured('nothing', () => sleep(2000).then(() => ''));
await measured('first query', () => read(server.root, 'ASK {}').then(({ text }) => ended(text)));
await next();
for (const [name, query] of [
  ['cross join', `SELECT (COUNT(*) AS ?n) { ${crossOf('abcdef')} FILTER(?ao != ?fo) }`],
  ['expression bomb', `SELECT ?s { ?s <${e}bomb> ?t FILTER(REGEX(?t, "^(a+)+$")) }`],
  ['sort of 33 million rows', `SELECT * { ${crossOf('abc')} } ORDER BY DESC(?ao) ?bo ?co`],
  ['path from all nodes', `SELECT (COUNT(*) AS ?n) { ?a (!<urn:x>|^<urn:x>)* ?b . ?c (!<urn:y>|^<urn:y>)* ?d }`],
] as const) {
  await measured(name, async () => {
    const { status, text } = await read(server.root, query);
    return `${status}: ${ended(text)}`;
  });
  await next();
}
const long = `SELECT ?t ?bo { ${crossOf('ab')} ?a <${e}long> ?t }`;
for (const round of ['first', 'second', 'third'])
  await measured(`102 400 rows, ${round}`, async () => {
    const { text, isWhole } = await read(server.root, long);
    return `${(text.length / 1e6).toFixed()} MB, ${isWhole ? 'complete' : 'truncated'}`;
  });
await measured('102 400 rows, slow reader', async () => {
  const slow = await begin(server.root, long);
  let length = 0;
  let stop = 0;
  for await (const chunk of slow.response) {
    length += (chunk as Buffer).length;
    if (length < stop) continue;
    stop += 5_000_000;
    await sleep(100);
  }
  return `${(length / 1e6).toFixed()} MB`;
});
await server.stop();
rmSync(server.dataDir, { recursive: true, force: true });
