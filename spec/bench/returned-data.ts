/**
 * Whether deleted triples return, over HTTP: `node dist/spec/bench/returned-data.js [ROUNDS] [npm|small]` (2). In a storage of a deployment, graphs of
 * 1 000 long triples are replaced and deleted while a client holds an export open. Then each graph and the numbers of SPARQL are
 * compared with what was acknowledged, also after a restart and with `check`. `npm` uses the LevelDB of npm instead of ours (decision 168), and
 * `small` also gives it files of 2 MiB, so that triples do return.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { runProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';

const [rounds = 2, leveldb = 'ours'] = process.argv.slice(2).map((word) => Number(word) || word);
const [graphs, replaced, added, triples] = [40, 28, 16, 1000];
const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const owner = ed25519Identity();
const address = `http://localhost:${await freePort()}`;
const root = `${address}/data/`;

mkdirSync(join(folder, 'storages'));
const record = { name: 'data', id: 'data', owners: [owner.did], settings: {}, state: 'ready', revision: 'data' };
writeFileSync(
  join(folder, 'storages/data.json'),
  JSON.stringify({ ...record, created: new Date(Date.UTC(2026, 0)).toISOString() }),
);
const isOurs = leveldb === 'ours';
const published = dirname(createRequire(import.meta.url).resolve('classic-level/package.json'));
/** Runs before the server. It makes the boundaries between files frequent. */
const smallFiles = `
  const { ClassicLevel } = await import("file://${published}/index.js");
  const open = ClassicLevel.prototype._open;
  ClassicLevel.prototype._open = function (options) {
    return open.call(this, { ...options, maxFileSize: 2 ** 21, writeBufferSize: 2 ** 22 });
  };`;
const options = {
  ...(leveldb === 'small' ? { nodeOptions: [`--import=data:text/javascript,${encodeURIComponent(smallFiles)}`] } : {}),
  ...{ root: `${address}/`, dataDir: folder, seconds: 600 },
  environment: {
    ...{ LWS_BASE_URI: `${address}/home`, LWS_DEV_OPEN: 'false', LWS_OWNERS: owner.did },
    LWS_STORAGES_ADDRESS: `${address}/{name}/`,
    ...(isOurs ? {} : { CLASSIC_LEVEL_PREBUILD: published }),
  },
};

/** Contents by name. Values have hash texts, which compress badly, so that tables of LevelDB fill. */
const stored = new Map<string, string>();
let changes = 0;
function newGraph(name: string): string {
  const literal = (triple: number): string =>
    Array.from({ length: 76 }, (_, part) =>
      createHash('sha256').update(`${name} ${changes} ${triple} ${part}`).digest('base64'),
    ).join('');
  changes++;
  return Array.from(
    { length: triples },
    (_, triple) => `<${root}${name}#${triple}> <urn:value> "${literal(triple)}" .\n`,
  ).join('');
}

const authorization = (): string => `Bearer ${credential(owner, { aud: root.slice(0, -1) })}`;
function send(method: string, path: string, body?: string): Promise<Response> {
  return fetch(root + path, {
    method,
    headers: {
      ...{ Authorization: authorization(), Accept: 'application/n-triples' },
      ...(method === 'DELETE' || stored.has(path) ? { 'If-Match': '*' } : {}),
      ...(body === undefined ? {} : { 'Content-Type': 'text/turtle' }),
    },
    ...(body === undefined ? {} : { body }),
  });
}
async function change(method: string, name: string, body?: string): Promise<void> {
  const answer = await send(method, name, body);
  if (!answer.ok) throw new Error(`${method} ${name}: ${answer.status} ${await answer.text()}`);
  if (body === undefined) stored.delete(name);
  else stored.set(name, body);
}

/** Opens an export and does not read on. */
const openExport = (): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: authorization() };
    get(`${root}.lws/export?format=nquads`, { headers }, (answer) => {
      if (answer.statusCode === 200) resolve(answer.pause());
      else reject(new Error(`The export returned ${answer.statusCode}.`));
    }).once('error', reject);
  });

const ask = (query: string): Promise<Response> =>
  fetch(`${root}.lws/sparql`, {
    method: 'POST',
    headers: {
      ...{ Authorization: authorization(), 'Content-Type': 'application/sparql-query' },
      Accept: 'application/sparql-results+json',
    },
    body: query,
  });

const sorted = (text: string): string => text.split('\n').sort().join('\n').trim();

/** Returns what differs from the acknowledged state, and what is refused. */
async function differences(): Promise<readonly [wrong: readonly string[], refused: readonly string[]]> {
  const [found, refused]: [string[], string[]] = [[], []];
  const names = new Set([...stored.keys(), ...Array.from({ length: changes }, (_, number) => `new${number}`)]);
  for (const name of names) {
    const answer = await send('GET', name);
    const text = await answer.text();
    const expected = stored.get(name);
    if (answer.status >= 500) refused.push(`GET ${name}: ${answer.status}`);
    else if (expected === undefined ? answer.status !== 404 : sorted(text) !== sorted(expected))
      found.push(`GET ${name}: ${answer.status}, ${text.split('\n').length - 1} triples`);
  }
  const query = 'SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s <urn:value> ?o } } GROUP BY ?g';
  let asked: Response | undefined;
  const isReady = async (): Promise<boolean> => {
    asked = await ask(query);
    return asked.status !== 503;
  };
  await until(isReady, 'the index', 60_000).catch(() => {});
  if (!asked) return [found, refused];
  if (asked.status !== 200) return [found, [...refused, `SPARQL: ${asked.status} ${await asked.text()}`]];
  const { results } = (await asked.json()) as {
    readonly results: {
      readonly bindings: readonly { readonly g: { value: string }; readonly n: { value: string } }[];
    };
  };
  for (const { g, n } of results.bindings)
    if (Number(n.value) !== triples || !stored.has(g.value.slice(root.length)))
      found.push(`SPARQL ${g.value}: ${n.value} triples`);
  if (results.bindings.length !== stored.size) found.push(`SPARQL: ${results.bindings.length} graphs`);
  return [found, refused];
}

async function report(when: string): Promise<void> {
  const [wrong, refused] = await differences();
  console.log(`${when}: ${stored.size} graphs, ${wrong.length} wrong answers, ${refused.length} refusals`);
  for (const line of [...wrong, ...refused].slice(0, 20)) console.log(`  ${line}`);
}

let server = await startProcess(options);
for (let number = 0; number < graphs; number++) await change('PUT', `graph${number}`, newGraph(`graph${number}`));
for (let round = 1; round <= Number(rounds); round++) {
  const reading = await openExport();
  for (let number = 0; number < replaced; number++) await change('PUT', `graph${number}`, newGraph(`graph${number}`));
  console.log(reading.errored || reading.closed ? 'The server ended the export.' : 'The export is still open.');
  reading.destroy();
  for (let number = 0; number < added; number++) {
    const name = `new${changes}`;
    await change('PUT', name, newGraph(name));
    await change('DELETE', name);
  }
  await report(`Round ${round}, LevelDB: ${leveldb}`);
}
await server.stop();
server = await startProcess(options);
await report('After a restart');
await server.stop();
console.log(
  `log: ${server.output.stdout.split('\n').filter((line) => /digest|LevelDB/.test(line)).length} lines on digests or LevelDB`,
);
for (const flags of [[], ['--repair'], []]) {
  const { code, stdout } = await runProcess(['check', '--storage=data', ...flags], options);
  console.log(`check ${flags.join(' ')}: ${code}\n${stdout.trim().split('\n').slice(-6).join('\n')}`);
}
rmSync(folder, { recursive: true });
