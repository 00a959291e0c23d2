/**
 * A thread that reads one small resource again and again and notes how long each read took; told to stop, it reports.
 * It has a thread of its own because a pause of the spec's must not count; it must not know what continues meanwhile.
 */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Milliseconds until the whole answer is there. */
function read(iri: string): Promise<number> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    get(iri, { agent }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - start);
        else reject(new Error(`${iri} answers ${response.statusCode}`));
      });
    }).once('error', reject);
  });
}

const waits: number[] = [];
let over = false;
parentPort!.once('message', () => {
  over = true;
});
// The connection is made and the code is warm before it counts.
for (let i = 0; i < 5; i++) await read(workerData as string);
parentPort!.postMessage('ready');
while (!over) {
  waits.push(await read(workerData as string));
  await sleep(2);
}
parentPort!.postMessage(waits.sort((a, b) => b - a));
agent.destroy();
