/**
 * CPU time and latency of PUT where shapes apply, in alternating rounds: the component off, on without a link, and ten shapes for 20
 * triples. Run it with `node dist/spec/bench/shapes.js [requests of a round]`. It is not a spec and asserts nothing.
 */
import { readFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { startProcess } from '../support/process.js';

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
const put = (url: string, type?: string, body?: string, match?: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { ...(type && { 'Content-Type': type }), ...(match && { 'If-Match': match }) };
    send(url, { method: 'PUT', agent, headers }, (response) =>
      response.resume().once('end', () => resolve(response.statusCode!)),
    )
      .once('error', reject)
      .end(body);
  });

/** CPU time of a process in ms, threads included. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const start = (isOn: boolean) =>
  startProcess({ environment: { LWS_DEV_OPEN: 'true', LWS_SHAPES_ENABLED: String(isOn) } });
const [off, on] = [await start(false), await start(true)];
await put(`${on.root}shapes`, 'text/turtle', shapes);
for (const { root } of [off, on]) for (const name of ['free/', 'bound/']) await put(root + name);
const links = JSON.stringify({ linkset: [{ [constrainedBy]: [{ href: `${on.root}shapes` }] }] });
await put(`${on.root}bound/.meta`, 'application/linkset+json', links, '*');

// Both servers get as many requests.
const cases = {
  off: `${off.root}free/`,
  'on, no link': `${on.root}free/`,
  'off again': `${off.root}bound/`,
  'ten shapes': `${on.root}bound/`,
};
const measured = new Map(Object.keys(cases).map((name) => [name, [] as [cpu: number, ms: number][]]));
let made = 0;
for (let round = 0; round <= rounds + warm; round++)
  for (const [name, container] of Object.entries(cases)) {
    const { pid } = name.startsWith('off') ? off : on;
    const [cpu, began] = [cpuOf(pid), performance.now()];
    for (let at = 0; at < count; at++) {
      const status = await put(`${container}n${++made}`, 'text/turtle', data);
      if (status !== 201) throw new Error(`${name}: ${status}`);
    }
    if (round > warm) measured.get(name)!.push([(cpuOf(pid) - cpu) / count, (performance.now() - began) / count]);
  }
const median = (values: number[]): string => values.sort((a, b) => a - b)[values.length >> 1]!.toFixed(3);
for (const [name, found] of measured)
  process.stdout.write(
    `${name}: ${median(found.map(([cpu]) => cpu))} ms CPU, ${median(found.map(([, ms]) => ms))} ms\n`,
  );
for (const server of [off, on]) await server.stop();
agent.destroy();
