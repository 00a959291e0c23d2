/**
 * Noisy neighbour of `neighbours`, a separate process: a hundred clients with heavy queries, four with large JSON-LD documents,
 * and imports.
 */
import { Agent, request } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const { port, token } = JSON.parse(process.env['NOISE']!) as { port: number; token: string };
// The parent process has a higher priority.
setPriority(0, 0);
const agent = new Agent({ keepAlive: true, maxSockets: 200 });
let count = 0;

function ask(method: string, path: string, type: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      Host: `localhost:${port}`,
      Authorization: `Bearer ${token}`,
      'Content-Type': type,
      'Content-Length': body.length,
    };
    const req = request({ port, host: '127.0.0.1', method, path: `/noisy/${path}`, agent, headers });
    req.once('error', reject).once('response', (res) => {
      res.resume().once('end', () => resolve(res.statusCode ?? 0));
    });
    req.end(body);
  });
}

let isOver = false;
const answers: Record<string, number> = {};
const again = async (work: () => Promise<number>): Promise<void> => {
  while (!isOver) {
    const status = await work().catch(() => 0);
    answers[status] = (answers[status] ?? 0) + 1;
    // Approximates Retry-After.
    if (status >= 400) await sleep(500 + 1000 * Math.random());
  }
};
const heavy = Buffer.from(
  'SELECT (COUNT(*) AS ?n) { ?a <http://e.example/p> ?x . ?b <http://e.example/p> ?y FILTER (?x != ?y && ?a != ?b) }',
);
const jsonLd = Buffer.from(
  JSON.stringify(
    Array.from({ length: 40_000 }, (_, each) => ({
      '@id': `#n${each}`,
      'http://e.example/p': [{ '@value': `text ${each}` }],
    })),
  ),
);
const quads = Buffer.from(
  Array.from(
    { length: 400_000 },
    (_, each) => `<http://e.example/s${each}> <http://e.example/p> "${each}" <http://e.example/g${each >> 4}> .`,
  ).join('\n'),
);
process.once('message', () => {
  isOver = true;
  setTimeout(() => {
    console.log('responses to the noisy neighbour:', answers);
    process.exit();
  }, 500);
});
for (let each = 0; each < 100; each++) void again(() => ask('POST', '.lws/sparql', 'application/sparql-query', heavy));
for (let each = 0; each < 4; each++)
  void again(() => ask('PUT', `large${each}-${count++}`, 'application/ld+json', jsonLd));
void again(() => ask('POST', '.lws/import?name=a.nq&on-conflict=replace', 'application/n-quads', quads));
