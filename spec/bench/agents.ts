/**
 * Cost of a tool call: CPU time of the server for `tools/call`, and for the same request over HTTP, in alternating rounds. Run it
 * with `node dist/spec/bench/agents.js [rounds] [seconds]`. It asserts nothing.
 */
import { request } from '../support/http.js';
import { startProcess } from '../support/process.js';
import { cpuOf, load } from './load.js';

const [rounds, seconds] = [Number(process.argv[2] ?? 5), Number(process.argv[3] ?? 2)];
const turtle = `<#it> ${Array.from({ length: 20 }, (_, i) => `<http://example.org/p${i}> "value ${i}"`).join(' ; ')} .`;

const environment = { LWS_LOG_LEVEL: 'warn', LWS_DEV_OPEN: 'true', LWS_AGENTS_ENABLED: 'true' };
const { root, pid, kill } = await startProcess({ environment });
const put = (path: string, body = '') =>
  request(root + path, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body });
await put('c/');
for (let i = 0; i < 100; i++) await put(`c/r${i}`, turtle);

const messageOf = (method: string, path: string, fields: string, body = ''): string =>
  `${method} ${new URL(root).pathname}${path} HTTP/1.1\r\nHost: ${new URL(root).host}\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
function call(name: string, given: object): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });
  const fields = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n';
  return messageOf('POST', '.lws/mcp', `${fields}MCP-Protocol-Version: 2025-11-25\r\n`, body);
}
const query = `SELECT ?p ?o { <${root}c/r7#it> ?p ?o }`;
const queryFields = 'Content-Type: application/sparql-query\r\nAccept: text/tab-separated-values\r\n';

const pairs: Readonly<Record<string, readonly [http: string, tool: string]>> = {
  'read, 20 triples': [messageOf('GET', 'c/r7', 'Accept: text/turtle\r\n'), call('read', { iri: '/c/r7' })],
  'list, 100 members': [
    messageOf('GET', 'c/?page=1', 'Accept: application/lws+json\r\n'),
    call('list', { iri: '/c/' }),
  ],
  'sparql, a lookup': [messageOf('POST', '.lws/sparql', queryFields, query), call('sparql', { query })],
};

const port = Number(new URL(root).port);
async function cost(head: string, duration: number): Promise<number> {
  const before = cpuOf(pid);
  const { count, others } = await load({ port, head: () => head, connections: 4, seconds: duration });
  if (others > 0) throw new Error(`${others} responses were not 200.`);
  return (cpuOf(pid) - before) / count;
}
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

// Modules and short queries are loaded in the first seconds.
for (const heads of Object.values(pairs)) for (const head of heads) await cost(head, 3);
process.stdout.write('| | HTTP, CPU us | tool, CPU us | ratio | difference |\n|---|---|---|---|---|\n');
for (const [name, heads] of Object.entries(pairs)) {
  const costs: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++)
    for (const [index, head] of heads.entries()) costs[index]!.push(await cost(head, seconds));
  const [http, tool] = costs.map(median) as [number, number];
  process.stdout.write(
    `| ${[name, http.toFixed(0), tool.toFixed(0), (tool / http).toFixed(2), (tool - http).toFixed(0)].join(' | ')} |\n`,
  );
}
await kill();
