/**
 * Latency of PUTs before, during and after the index build of a storage (one index to four). Target: p99 during the build is at
 * most 1.5 times that before. Run it with `node dist/spec/bench/growth-latency.js [resources before, 8000] [connections, 4]`.
 */
import { readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { startProcess } from '../support/process.js';

const [before, connections] = [Number(process.argv[2] ?? 8_000), Number(process.argv[3] ?? 4)];
const quadsOfGraph = 20;
const limit = Math.round(((before * 2 * quadsOfGraph) / 0.8 / 1000) * 1000);
// The index build starts at 80 % of the index limit, with twice as many resources as are written before the measurement.
const environment = { LWS_SPARQL_ENDPOINT_MEMORY_INDEX_QUADS: String(limit) };
const server = await startProcess({ environment });
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const body = Array.from({ length: quadsOfGraph }, (_, i) => `<#${i >> 2}> <urn:p${i % 5}> "value ${i}" .`).join('\n');
const { hostname, port } = new URL(server.root);

const put = (number: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const headers = { 'Content-Type': 'text/turtle', 'Content-Length': Buffer.byteLength(body) };
    request({ hostname, port, path: `/r${number}`, method: 'PUT', agent, headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 201) resolve(performance.now() - began);
        else reject(new Error(String(response.statusCode)));
      });
    })
      .on('error', reject)
      .end(body);
  });

let number = 0;
/** Sends PUTs until isOver returns true, and returns their sorted latencies. */
async function times(isOver: (count: number) => boolean): Promise<readonly number[]> {
  const all: number[] = [];
  const one = async (): Promise<void> => {
    while (!isOver(all.length)) all.push(await put(number++));
  };
  await Promise.all(Array.from({ length: connections }, one));
  return all.sort((a, b) => a - b);
}
const at = (all: readonly number[], share: number): string => (all[Math.floor(all.length * share)] ?? 0).toFixed(1);
const print = (name: string, all: readonly number[]): void =>
  console.log(
    `${name}: ${all.length} PUTs, p50 ${at(all, 0.5)} ms, p99 ${at(all, 0.99)} ms, max ${at(all, 0.99999)} ms`,
  );

/** The file that describes the indexes to other programs is written at the end of the build. */
const isWhole = (): boolean =>
  JSON.parse(readFileSync(join(server.dataDir, 'quadstore.json'), 'utf8')).indexes.length === 4;
const beginning = before * 2;

await times((count) => count >= before);
print('before', await times(() => number >= beginning - connections));
print('during', await times(isWhole));
print('after ', await times((count) => count >= before));
await server.stop();
rmSync(server.dataDir, { recursive: true, force: true });
agent.destroy();
