/**
 * CPU time and latency of PUT where shapes apply, in alternating rounds: the component off, on without a link, and ten shapes for 20
 * triples. Run it with `node dist/spec/bench/shapes.js [requests of a round]`. It is not a spec and asserts nothing.
 */
import { readFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { by, startOwned } from '../support/attack.js';
import { ed25519Identity } from '../support/identity.js';

const constrainedBy = 'http://www.w3.org/ns/ldp#constrainedBy';
const count = Number(process.argv[2] ?? 2000);
/** Rounds that are measured, after those that load and optimize code. */
const [rounds, warm] = [7, 4];
const properties = Array.from({ length: 10 }, (_, at) => at);
const shapes = `@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <https://e.example/> .
${properties
  .map(
    (at) => `ex:S${at} a sh:NodeShape ; sh:targetClass ex:Thing ;
  sh:property [ sh:path ex:p${at} ; sh:minCount 1 ; sh:datatype <http://www.w3.org/2001/XMLSchema#string> ; sh:pattern "^value" ] .`,
  )
  .join('\n')}`;
const data = `@prefix ex: <https://e.example/> .
<#it> a ex:Thing ; ${Array.from({ length: 19 }, (_, at) => `ex:p${at} "value ${at}"`).join(' ; ')} .`;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const owner = ed25519Identity();
const start = async (isOn: boolean) => {
  const server = await startOwned(owner, { LWS_SHAPES_ENABLED: String(isOn) });
  return { ...server, fields: by(server, owner) };
};
type Server = Awaited<ReturnType<typeof start>>;

async function put({ root, fields }: Server, path: string, sent: Readonly<Record<string, string>> = {}, body?: string) {
  const status = await new Promise<number>((resolve, reject) => {
    send(root + path, { method: 'PUT', agent, headers: { ...fields, ...sent } }, (response) =>
      response.resume().once('end', () => resolve(response.statusCode!)),
    )
      .once('error', reject)
      .end(body);
  });
  if (status !== 201 && status !== 204) throw new Error(`PUT ${path}: ${status}`);
}

/** CPU time of a process in ms, threads included. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const turtle = { 'Content-Type': 'text/turtle' };
const [off, on] = [await start(false), await start(true)];
await put(on, 'shapes', turtle, shapes);
for (const server of [off, on]) for (const name of ['free/', 'bound/']) await put(server, name);
const links = JSON.stringify({ linkset: [{ [constrainedBy]: [{ href: `${on.root}shapes` }] }] });
await put(on, 'bound/.meta', { 'Content-Type': 'application/linkset+json', 'If-Match': '*' }, links);

// Both servers get as many requests.
const cases: Readonly<Record<string, readonly [Server, string]>> = {
  off: [off, 'free/'],
  'on, no link': [on, 'free/'],
  'off again': [off, 'bound/'],
  'ten shapes': [on, 'bound/'],
};
const measured = new Map(Object.keys(cases).map((name) => [name, [] as [cpu: number, ms: number][]]));
let made = 0;
for (let round = 0; round <= rounds + warm; round++)
  for (const [name, [server, container]] of Object.entries(cases)) {
    const [cpu, began] = [cpuOf(server.pid), performance.now()];
    for (let at = 0; at < count; at++) await put(server, `${container}n${++made}`, turtle, data);
    if (round > warm)
      measured.get(name)!.push([(cpuOf(server.pid) - cpu) / count, (performance.now() - began) / count]);
  }
const median = (values: number[]): string => values.sort((a, b) => a - b)[values.length >> 1]!.toFixed(3);
for (const [name, found] of measured)
  process.stdout.write(
    `${name}: ${median(found.map(([cpu]) => cpu))} ms CPU, ${median(found.map(([, ms]) => ms))} ms\n`,
  );
for (const server of [off, on]) await server.stop();
agent.destroy();
