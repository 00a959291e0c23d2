/**
 * Cost of the text index: CPU time of PUTs of 20 short literals with the index on and off, alternating; latency and CPU time of
 * searches and label lookups over a million quads. Run it with `node dist/spec/bench/text-search.js [PUTs] [resources]`. It is
 * not a spec and asserts nothing.
 */
import { rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { credential, ed25519Identity, nowSeconds } from '../support/identity.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';
import { writeCorpus } from './corpus.js';
import { cpuOf } from './load.js';

const puts = Number(process.argv[2] ?? 1_000);
const resources = Number(process.argv[3] ?? 50_000);
const rounds = 9;
const [owner, sparse] = [ed25519Identity(), ed25519Identity()];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const tokenOf = ({ root }: ServerProcess, identity = owner): string =>
  credential(identity, { aud: root.slice(0, -1), claims: { exp: nowSeconds() + 3000 } });
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

function send(url: string, token: string, method = 'GET', body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'text/turtle' }),
    };
    const req = request(url, { agent, method, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      res.on('end', () => (res.statusCode! < 300 ? resolve(text) : reject(new Error(`${method} ${url}: ${text}`))));
    });
    req.on('error', reject).end(body);
  });
}

/** Words with the frequencies of a natural language: the nth is used with probability 1/n. */
const wordAt = (number: number): string => `w${number.toString(36)}ord`;
let seed = 1;
const random = (): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
const zipf = (): string => wordAt(Math.floor(30_000 ** random()));
const literal = (words: number): string => `"${Array.from({ length: words }, zipf).join(' ')}"`;

async function comparePuts(): Promise<void> {
  const begin = (on: boolean): Promise<ServerProcess> =>
    startProcess({
      environment: { LWS_OWNERS: owner.did, LWS_LOG_LEVEL: 'warn', LWS_TEXT_SEARCH_ENABLED: String(on) },
    });
  const servers = [await begin(false), await begin(true)];
  const costs: number[][] = [[], []];
  for (let round = -1; round < rounds; round++)
    for (const [at, server] of servers.entries()) {
      const token = tokenOf(server);
      const bodies = Array.from({ length: puts }, () =>
        Array.from({ length: 20 }, (_, i) => `<> <http://example.org/p${i}> ${literal(4)} .`).join('\n'),
      );
      const before = cpuOf(server.pid);
      for (const [i, body] of bodies.entries()) await send(`${server.root}r${round}-${i}`, token, 'PUT', body);
      if (round >= 0) costs[at]!.push((cpuOf(server.pid) - before) / puts);
    }
  const [off, on] = costs.map(median) as [number, number];
  print(
    `PUT of 20 short literals: ${off.toFixed(0)} us of CPU off, ${on.toFixed(0)} us on, ratio ${(on / off).toFixed(2)}`,
  );
  for (const server of servers) await server.stop();
}

const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const turtle = (number: number): string =>
  [
    `<urn:thing:${number}> <${label}> ${literal(2)}@en .`,
    ...Array.from({ length: 9 }, (_, i) => `<> <http://example.org/p${i}> ${literal(5)} .`),
    ...Array.from({ length: 10 }, (_, i) => `<> <http://example.org/q${i}> <urn:thing:${number + i}> .`),
  ].join('\n');

async function measure(
  server: ServerProcess,
  name: string,
  path: (i: number) => string,
  identity = owner,
): Promise<void> {
  const token = tokenOf(server, identity);
  const url = (i: number): string => `${server.root}.lws/${path(i)}`;
  const times: number[] = [];
  let total = '';
  const began = performance.now();
  const first = await send(url(0), token);
  const firstMs = performance.now() - began;
  for (let i = 1; i < 5; i++) await send(url(i), token);
  const before = cpuOf(server.pid);
  const count = 60;
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    const text = await send(url(i), token);
    times.push(performance.now() - started);
    total = /"totalItems":(\d+)/.exec(text)?.[1] ?? String(first.length);
  }
  const cpu = (cpuOf(server.pid) - before) / count / 1000;
  print(
    `| ${name} | ${total} | ${firstMs.toFixed(1)} | ${median(times).toFixed(1)} | ${times.sort((a, b) => a - b)[Math.floor(count * 0.95)]!.toFixed(1)} | ${cpu.toFixed(1)} |`,
  );
}

async function compareSearches(): Promise<void> {
  const root = `http://localhost:${await freePort()}/`;
  const options = { root, resources, types: 1, sparseOwner: sparse.did, everyNth: 100, turtle };
  const dataDir = await writeCorpus(options);
  const environment = { LWS_OWNERS: owner.did, LWS_LOG_LEVEL: 'warn', LWS_TEXT_SEARCH_ENABLED: 'true' };
  const began = performance.now();
  const server = await startProcess({ root, dataDir, environment });
  print(`Start with a rebuild of the index: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  // LevelDB compacts what the rebuild wrote.
  for (let idle = 0; idle < 3; ) {
    const before = cpuOf(server.pid);
    await sleep(1000);
    idle = cpuOf(server.pid) - before < 50_000 ? idle + 1 : 0;
  }
  print('| search | results | first ms | median ms | p95 ms | CPU ms |\n|---|---|---|---|---|---|');
  const search = (...words: readonly string[]): string => `text-search?q=${encodeURIComponent(words.join(' '))}`;
  await measure(server, 'two words, the same', () => search(wordAt(40), wordAt(60)));
  await measure(server, 'two words, different', (i) => search(wordAt(40 + i), wordAt(60 + i)));
  await measure(server, 'two frequent words', () => search(wordAt(4), wordAt(6)));
  await measure(server, 'two rare words', (i) => search(wordAt(1000 + i), wordAt(900 + i)));
  await measure(server, 'one word', (i) => search(wordAt(30 + i)));
  await measure(server, 'phrase', (i) => search(`"${wordAt(5 + i)} ${wordAt(6)}"`));
  await measure(server, 'beginning', (i) => search(`${wordAt(2000 + i).slice(0, 3)}*`));
  await measure(server, 'two words, 1 % readable', (i) => search(wordAt(4 + i), wordAt(6 + i)), sparse);
  await measure(server, 'labels of an IRI', (i) => `labels?iri=urn:thing:${i * 7}`);
  await measure(
    server,
    'labels of 200 IRIs',
    (i) => `labels?${Array.from({ length: 200 }, (_, j) => `iri=urn:thing:${i * 200 + j}`).join('&')}`,
  );
  await measure(server, 'labels with a beginning', (i) => `labels?prefix=${wordAt(100 + i)}`);
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

if (puts > 0) await comparePuts();
if (resources > 0) await compareSearches();
agent.destroy();
