/**
 * The queries of Sparqloscope (ad-freiburg/sparqloscope) on data of DBLP's form over HTTP: our server, Oxigraph in memory, and
 * Virtuoso if `virtuoso-t` is installed. Results are compared. `SPARQLOSCOPE` names the file with the queries: lines of a name with
 * its description, a tab, and the query. Run it with `node dist/spec/bench/sparqloscope.js [triples] [part of a name]`.
 * `SPARQLOSCOPE_SERVERS=ours,virtuoso` selects servers. It is not a spec and asserts nothing.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, cpuOf, type Endpoint, hasVirtuoso, ours, oxigraph, ready, virtuoso } from './sparql-servers.js';
import { dblpGraphs } from './sparqloscope-data.js';

const triples = Number(process.argv[2] ?? 1_000_000);
const only = process.argv[3] ?? '';
const { SPARQLOSCOPE: source, SPARQLOSCOPE_SERVERS: servers = 'ours,oxigraph,virtuoso' } = process.env;
if (source === undefined) throw new Error('SPARQLOSCOPE must name the file with the queries.');
const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const file = join(folder, 'data.nq');
/** Timeout of a query in other servers (ours has its own), and least CPU time of the measured runs, in milliseconds. */
const [patience, least] = [60_000, 300];

const queries = readFileSync(source, 'utf8')
  .split('\n')
  .map((line) => line.split('\t'))
  .filter((cells) => cells.length === 2 && cells[0]!.includes(only))
  .map(([title, text]) => [title!.split(' [')[0]!, text!] as const);

let [quads, graphs] = [0, 0];
const output = await open(file, 'w');
for (const [graph, lines] of dblpGraphs(triples)) {
  graphs++;
  quads += lines.length;
  await output.write(lines.map((line) => `${line} <${graph}> .\n`).join(''));
}
await output.close();

interface Cost {
  readonly cpu: number;
  readonly result: string;
}

/** Returns the part of a result that is the same for all engines, in a normal form. */
function resultOf(query: string, text: string): string {
  const { bindings } = (JSON.parse(text) as { results: { bindings: Record<string, { value: string }>[] } }).results;
  const plain = (value: string): string => (Number.isNaN(Number(value)) ? value : String(Number(value)));
  if (!/LIMIT/.test(query))
    return bindings.map((row) => Object.values(row).map(({ value }) => plain(value))).join('\n');
  // Rows of equal order may be any.
  const counts = bindings.map(({ count }) => count?.value);
  return counts[0] === undefined ? `${counts.length} rows` : counts.join(' ');
}

async function cost(endpoint: Endpoint, query: string): Promise<Cost | string> {
  const run = async (): Promise<string> => {
    const { status, text } = await ask(endpoint, query, patience);
    if (status !== 200) throw new Error(`${status}: ${text.slice(0, 200).replace(/\s+/g, ' ')}`);
    return text;
  };
  try {
    const result = resultOf(query, await run());
    // The second run is part of the warm-up, unless the query is slow.
    let [began, count] = [cpuOf(endpoint.pid), 0];
    await run();
    if (cpuOf(endpoint.pid) - began < least) {
      await run();
      began = cpuOf(endpoint.pid);
      while (cpuOf(endpoint.pid) - began < least && count < 300) {
        await run();
        count++;
      }
    } else count = 1;
    return { cpu: (cpuOf(endpoint.pid) - began) / count, result };
  } catch (error) {
    return (error as Error).message;
  }
}

const endpoints: Endpoint[] = [];
if (servers.includes('ours')) endpoints.push(await ours(dblpGraphs(triples)));
if (servers.includes('oxigraph')) endpoints.push(await oxigraph(file));
if (servers.includes('virtuoso') && hasVirtuoso) endpoints.push(await virtuoso(file, folder));
for (const endpoint of endpoints) await ready(endpoint);

console.log(`${quads} quads in ${graphs} graphs, CPU time of the server in ms for a query over HTTP`);
const others = endpoints.slice(1).map(({ name }) => name);
console.log(`| query | ${[...endpoints.map(({ name }) => name), ...others.map((name) => `to ${name}`)].join(' | ')} |`);
console.log(`|---|${endpoints.map(() => '---|').join('')}${others.map(() => '---|').join('')}`);
const ratios = new Map(others.map((name) => [name, new Map<string, number>()]));
const remarks: string[] = [];
for (const [name, text] of queries) {
  const costs: (Cost | string)[] = [];
  for (const endpoint of endpoints) costs.push(await cost(endpoint, text));
  const [own] = costs;
  const shown = costs.map((each, at) => {
    if (typeof each !== 'string') return each.cpu.toFixed(2);
    remarks.push(`${name}: ${endpoints[at]!.name} failed, ${each}`);
    return 'failed';
  });
  const compared = costs.slice(1).map((each, at) => {
    if (typeof own !== 'object' || typeof each !== 'object') return '-';
    if (own.result !== each.result)
      remarks.push(`${name}: other result than ${others[at]}: ${own.result.slice(0, 80)}; ${each.result.slice(0, 80)}`);
    // The clock of the system has steps of 10 ms, a few hundredths of which are a run.
    const ratio = Math.max(0.05, own.cpu) / Math.max(0.05, each.cpu);
    ratios.get(others[at]!)!.set(name, ratio);
    return ratio.toFixed(2);
  });
  console.log(`| ${[name, ...shown, ...compared].join(' | ')} |`);
}
for (const [name, each] of ratios) {
  const mean = Math.exp([...each.values()].reduce((sum, ratio) => sum + Math.log(ratio), 0) / each.size);
  const worst = [...each].sort((a, b) => b[1] - a[1]).slice(0, 8);
  console.log(`geometric mean of ${each.size} ratios to ${name}: ${mean.toFixed(2)}`);
  console.log(`worst: ${worst.map(([query, ratio]) => `${query} ${ratio.toFixed(1)}`).join(', ')}`);
}
for (const remark of remarks) console.log(remark);
rmSync(folder, { recursive: true, force: true });
process.exit();
