/**
 * Cost of an incremental backup compared with a full one: seconds, bytes and memory, with a stopped and with a running server,
 * and the cost of verifying and restoring. Run it with `node dist/spec/bench/backup.js [graphs] [quads a graph] [changed]`. It is
 * not a spec and asserts nothing.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ended, runProcess, startProcess } from '../support/process.js';

const [graphs, each, changed] = [2, 3, 4].map((at, index) => Number(process.argv[at] ?? [50_000, 20, 100][index]));
const environment = { LWS_DEV_OPEN: 'false', LWS_CONSOLE_ENABLED: 'false' };
const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const print = (text: string): void => void process.stdout.write(`${text}\n`);
const dataDir = join(folder, 'data');
let server = await startProcess({ environment, dataDir });
const { root } = server;
const authorization = { Authorization: `Bearer ${/TOKEN='?([\w.-]+)/.exec(server.output.stderr)![1]}` };

function dump(): string {
  let text = '';
  for (let g = 0; g < graphs!; g++) {
    const iri = `${root}data/c${g % 50}/r${g}`;
    for (let i = 0; i < each!; i++) {
      const object =
        i % 2 === 0 ? `<${root}data/r${(g * 31 + i) % graphs!}#it>` : `"a label with the number ${g * i + i}"`;
      text += `<${iri}#it> <https://schema.example/p${i % 12}> ${object} <${iri}> .\n`;
    }
  }
  return text;
}

/** Module that prints peak memory and CPU time of its process on exit. */
const usageReport = `data:text/javascript,process.on('exit',()=>{const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();
process.stderr.write('USED '+maxRSS+' '+(userCPUTime+systemCPUTime)+'\n')})`;

async function run(what: string, words: readonly string[], directory = dataDir): Promise<Ended> {
  const began = performance.now();
  const nodeOptions = [`--import=${usageReport}`];
  const ended = await runProcess(words, { dataDir: directory, root, environment, nodeOptions, seconds: 600 });
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  const [peak, used] = (/USED (\d+) (\d+)/.exec(ended.stderr) ?? []).slice(1).map(Number) as [number, number];
  print(
    `${what}: ${seconds} s, ${(used / 1e6).toFixed(2)} s of CPU time, at most ${peak >> 10} MiB. ` +
      `${ended.code === 0 ? '' : `Exit code ${ended.code}: ${ended.stderr}`}${ended.stdout.trim()}`,
  );
  return ended;
}

async function change(round: number): Promise<void> {
  for (let i = 0; i < changed!; i++) {
    const iri = `${root}data/c${(i * 7) % 50}/r${(i * 7) % graphs!}`;
    const { status } = await fetch(iri, {
      method: 'PATCH',
      headers: { ...authorization, 'Content-Type': 'application/sparql-update', 'If-Match': '*' },
      body: `INSERT DATA { <#it> <https://schema.example/changed> ${round} }`,
    });
    if (status !== 204) throw new Error(`PATCH of ${iri}: ${status}`);
  }
}

const sizes = (backup: string): string =>
  readdirSync(backup)
    .filter((name) => name.endsWith('.gz'))
    .map((name) => `${name.slice(0, 5)} ${statSync(join(backup, name)).size}`)
    .join(', ');

writeFileSync(join(folder, 'dump.nq'), dump());
await run('Import', ['import', join(folder, 'dump.nq')]);
const backup = join(folder, 'backup');
for (const where of ['running server', 'stopped']) {
  if (where === 'stopped') await server.stop();
  await run(`Full, ${where}`, ['backup', backup, '--full']);
  print(sizes(backup));
  if (where === 'stopped') server = await startProcess({ environment, dataDir, root });
  await change(where.length);
  if (where === 'stopped') await server.stop();
  await run(`Increment after ${changed} changes, ${where}`, ['backup', backup]);
  print(sizes(backup));
}
await run('Verify', ['verify', backup]);
await run('Restore', ['restore', backup], join(folder, 'restored'));
print(`Manifest: ${readFileSync(join(backup, 'quadpod-backup.json'), 'utf8').length} bytes.`);
rmSync(folder, { recursive: true });
