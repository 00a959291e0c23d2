/**
 * Data and queries of `queries` over HTTP: our server, Oxigraph in memory behind `node:http`, and Virtuoso if `virtuoso-t` is
 * installed. Each is a separate process, and its CPU time is read from `/proc`. Our results are compared with Oxigraph's. Run it
 * with `node dist/spec/bench/endpoints.js [products] [part of a name]`. 4 000 products are a million quads. It is not a spec and
 * asserts nothing.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Term } from '@rdfjs/types';
import { startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';
import { graphsOf, shapeQueries } from './query-shapes.js';

const products = Number(process.argv[2] ?? 400);
const only = process.argv[3] ?? '';
const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const agent = new Agent({ keepAlive: true });
/** Timeout of a query in milliseconds, and the queries that Oxigraph does not finish. */
const [patience, unanswered] = [20_000, /[?]m4/];

interface Sent {
  readonly method: string;
  readonly type: string;
  readonly body: string;
}
interface Got {
  readonly status: number;
  readonly text: string;
}

function send(url: string, { method, type, body }: Sent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': type, Accept: 'application/sparql-results+json' };
    const sent = request(url, { method, agent, headers, timeout: patience }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode!, text }));
    });
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** SPARQL server. */
interface Endpoint {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  /** Prefix of the graph names on this server. */
  readonly graphs: string;
}

const ask = ({ url, graphs }: Endpoint, query: string): Promise<Got> =>
  send(url, {
    method: 'POST',
    type: 'application/x-www-form-urlencoded',
    body: `query=${encodeURIComponent(query.replaceAll('http://bench.example/g/', graphs))}`,
  });

const writeTerm = (term: Term): string => {
  if (term.termType !== 'Literal') return `<${term.value}>`;
  const text = JSON.stringify(term.value);
  return term.datatype.value.endsWith('#string') ? text : `${text}^^<${term.datatype.value}>`;
};
let [quads, graphs] = [0, 0];
const file = join(folder, 'data.nq');
const triplesOf = new Map<string, string[]>();
for (const [graph, own] of graphsOf(products)) {
  graphs++;
  quads += own.length;
  triplesOf.set(
    graph,
    own.map((quad) => [quad.subject, quad.predicate, quad.object].map((term) => writeTerm(term as Term)).join(' ')),
  );
}
writeFileSync(
  file,
  [...triplesOf].map(([graph, lines]) => lines.map((line) => `${line} <${graph}> .\n`).join('')).join(''),
);

async function ours(): Promise<Endpoint> {
  const server = await startProcess({ environment: { LWS_DEV_OPEN: 'true', LWS_LOG_LEVEL: 'warn' } });
  const waiting = [...triplesOf].values();
  const put = async (): Promise<void> => {
    for (const [graph, lines] of waiting) {
      const iri = graph.replace('http://bench.example/', server.root);
      const body = `${lines.join(' .\n')} .`;
      const { status, text } = await send(iri, { method: 'PUT', type: 'text/turtle', body });
      if (status !== 201) throw new Error(`${status} ${text}`);
    }
  };
  await send(`${server.root}g/`, { method: 'PUT', type: 'text/turtle', body: '' });
  await Promise.all(Array.from({ length: 16 }, put));
  return { name: 'ours', pid: server.pid, url: `${server.root}.lws/sparql`, graphs: `${server.root}g/` };
}

async function oxigraph(): Promise<Endpoint> {
  const port = await freePort();
  const script = fileURLToPath(new URL('./oxigraph-server.js', import.meta.url));
  const child = spawn(process.execPath, [script, file, String(port)], { stdio: 'inherit' });
  process.once('exit', () => child.kill('SIGKILL'));
  return { name: 'Oxigraph', pid: child.pid!, url: `http://127.0.0.1:${port}/`, graphs: 'http://bench.example/g/' };
}

/** Starts Virtuoso from Debian's package, with buffers for all data and one thread per query. */
async function virtuoso(): Promise<Endpoint> {
  const [sql, http] = [await freePort(), await freePort()];
  const path = (name: string): string => join(folder, name);
  const parts = {
    Database: [`DatabaseFile=${path('v.db')}`, `ErrorLogFile=${path('v.log')}`, `LockFile=${path('v.lck')}`],
    DatabaseMore: [`TransactionFile=${path('v.trx')}`, `xa_persistent_file=${path('v.pxa')}`],
    TempDatabase: [`DatabaseFile=${path('t.db')}`, `TransactionFile=${path('t.trx')}`],
    Parameters: [`ServerPort=${sql}`, 'NumberOfBuffers=170000', 'MaxDirtyBuffers=130000', `DirsAllowed=${folder}`],
    ParametersMore: ['ThreadsPerQuery=1'],
    HTTPServer: [`ServerPort=${http}`],
    SPARQL: ['ResultSetMaxRows=1000000'],
  };
  const sections = ['Database', 'TempDatabase', 'Parameters', 'HTTPServer', 'SPARQL'] as const;
  const more: Readonly<Record<string, readonly string[]>> = {
    Database: parts.DatabaseMore,
    Parameters: parts.ParametersMore,
  };
  const ini = sections.map((name) => `[${name}]\n${[...parts[name], ...(more[name] ?? [])].join('\n')}\n`).join('\n');
  writeFileSync(path('virtuoso.ini'), ini);
  const child = spawn('virtuoso-t', ['-f', '-c', path('virtuoso.ini')], { stdio: 'ignore', cwd: folder });
  process.once('exit', () => child.kill('SIGKILL'));
  const run = (command: string): unknown =>
    execFileSync('isql-vt', [String(sql), 'dba', 'dba', `exec=${command}`], { stdio: 'ignore', timeout: 600_000 });
  for (let attempt = 0; ; attempt++)
    try {
      run('select 1;');
      break;
    } catch (error) {
      if (attempt === 60) throw error;
      await sleep(1_000);
    }
  run(`DB.DBA.TTLP_MT(file_to_string_output('${file}'), '', 'http://bench.example/', 512); checkpoint;`);
  return {
    name: 'Virtuoso',
    pid: child.pid!,
    url: `http://127.0.0.1:${http}/sparql`,
    graphs: 'http://bench.example/g/',
  };
}

/** Returns the CPU time of a process, in milliseconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

interface Cost {
  readonly cpu: number;
  readonly rows: readonly string[];
}

/** Returns rows in a normal form for comparisons between engines. */
function rowsOf(text: string): readonly string[] {
  const { boolean, results } = JSON.parse(text) as {
    boolean?: boolean;
    results?: { bindings: Record<string, { value: string }>[] };
  };
  if (boolean !== undefined) return [String(boolean)];
  const plain = (value: string): string => (/^-?\d+\.\d+$/.test(value) ? String(Number(value)) : value);
  return results!.bindings
    .map((row) =>
      Object.values(row)
        .map(({ value }) => plain(value))
        .sort()
        .join(' '),
    )
    .sort();
}

/** Returns the mean CPU time of a query in milliseconds, over one second of CPU time after a warm-up of the same length. */
async function cost(endpoint: Endpoint, query: string): Promise<Cost | string> {
  let rows: readonly string[] = [];
  const run = async (most: number): Promise<number> => {
    const [began, start] = [cpuOf(endpoint.pid), performance.now()];
    let count = 0;
    for (let spent = 0; spent < most && performance.now() - start < 8 * most; spent = cpuOf(endpoint.pid) - began) {
      const { status, text } = await ask(endpoint, query);
      if (status !== 200) throw new Error(`${status}: ${text.slice(0, 60).replace(/\s+/g, ' ')}`);
      if (count++ === 0) rows = rowsOf(text);
    }
    return (cpuOf(endpoint.pid) - began) / count;
  };
  try {
    await run(1000);
    return { cpu: await run(1000), rows };
  } catch (error) {
    return (error as Error).message;
  }
}

const hasVirtuoso = (process.env['PATH'] ?? '').split(':').some((place) => existsSync(join(place, 'virtuoso-t')));
const endpoints = [await ours(), await oxigraph(), ...(hasVirtuoso ? [await virtuoso()] : [])];
for (const endpoint of endpoints)
  for (let attempt = 0; attempt < 600; attempt++) {
    const isThere = await ask(endpoint, 'ASK { ?s ?p ?o }').then(
      ({ text }) => /true/.test(text),
      () => false,
    );
    if (isThere) break;
    await sleep(100);
  }
// Warm-up: the first queries load modules, and so does the idle server afterwards.
for (let round = 0; round < 3000; round++)
  for (const endpoint of endpoints) await ask(endpoint, shapeQueries[round % 12]![1]);
await sleep(5_000);

console.log(`${quads} quads in ${graphs} graphs, CPU time of the server in ms for a query over HTTP`);
console.log(`| query | rows | ${endpoints.map(({ name }) => name).join(' | ')} | to Oxigraph |`);
console.log(`|---|---|${endpoints.map(() => '---|').join('')}---|`);
const ratios: number[] = [];
for (const [name, text] of shapeQueries.filter(([each]) => each.includes(only))) {
  const costs: (Cost | string)[] = [];
  for (const endpoint of endpoints)
    costs.push(endpoint.name === 'Oxigraph' && unanswered.test(text) ? 'not run' : await cost(endpoint, text));
  const [own, other] = costs as [Cost | string, Cost | string];
  const isBoth = typeof own !== 'string' && typeof other !== 'string';
  const isSame = !isBoth || own.rows.join('\n') === other.rows.join('\n');
  if (isBoth) ratios.push(own.cpu / other.cpu);
  const count = typeof own === 'string' ? '-' : own.rows.length;
  const shown = costs.map((each) => (typeof each === 'string' ? each : each.cpu.toFixed(2)));
  const ratio = isBoth ? (own.cpu / other.cpu).toFixed(2) : '-';
  console.log(`| ${[name, isSame ? count : `${count}, DIFFERENT ROWS`, ...shown, ratio].join(' | ')} |`);
}
const mean = Math.exp(ratios.reduce((sum, each) => sum + Math.log(each), 0) / ratios.length);
console.log(`geometric mean of the ratios: ${mean.toFixed(2)}`);
rmSync(folder, { recursive: true, force: true });
process.exit();
