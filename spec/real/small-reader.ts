/**
 * Thread that reads a small resource in a loop, and reports the duration of each read on stop. A separate thread, so that pauses
 * of the spec do not count. Must not depend on the concurrent operation.
 */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Returns the duration of a complete GET, in milliseconds. */
function read(iri: string): Promise<number> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    get(iri, { agent }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - start);
        else reject(new Error(`GET ${iri} returned ${response.statusCode}`));
      });
    }).once('error', reject);
  });
}

const waits: number[] = [];
let over = false;
parentPort!.once('message', () => {
  over = true;
});
// Warms up the connection and the code before the measurement.
for (let i = 0; i < 5; i++) await read(workerData as string);
parentPort!.postMessage('ready');
while (!over) {
  waits.push(await read(workerData as string));
  await sleep(2);
}
parentPort!.postMessage(waits.sort((a, b) => b - a));
agent.destroy();
