/**
 * Rate of creating resources without HTTP: ten loops of PUT on a LevelDB, each synced. Run it with `node
 * dist/spec/bench/replace.js [seconds]`. It is not a spec and asserts nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replace } from '../../lib/resources/replace.js';
import { ensureRoot } from '../../lib/resources/storage-root.js';
import { openLevel } from '../../lib/storage/level/durable-level.js';
import { Store } from '../../lib/storage/transactions/store.js';
import { root } from '../support/memory-store.js';
import { body, specStorage } from '../support/storage.js';

const seconds = Number(process.argv[2] ?? 5);
const triples = Array.from({ length: 19 }, (_, i) => `    ex:p${i} "value ${i}"`).join(' ;\n');
const turtle = `@prefix ex: <http://example.org/v#> .\n\n<#it> a ex:Thing ;\n${triples} .\n`;

const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const level = await openLevel(join(folder, 'level'));
const store = await Store.open(level, folder, root);
await ensureRoot(store, root, Date.now());
const memory = {
  store,
  level,
  folder,
  reopen: () => Promise.reject(new Error('not here')),
  dispose: () => store.close(),
};
const spec = await specStorage({ memory });

let made = 0;
const put = (): Promise<unknown> =>
  replace(spec.storage, {
    iri: `${root}n${made++}`,
    access: {},
    preconditions: {},
    model: undefined,
    body: body(turtle),
  });
for (let round = 1; round <= 3; round++) {
  const [before, cpu, started] = [made, process.cpuUsage(), performance.now()];
  const loop = async (): Promise<void> => {
    while (performance.now() - started < seconds * 1000) await put();
  };
  await Promise.all(Array.from({ length: 10 }, loop));
  const { user, system } = process.cpuUsage(cpu);
  const count = made - before;
  const rate = Math.round((count / (performance.now() - started)) * 1000);
  process.stdout.write(`round ${round}: ${rate} per second, ${Math.round((user + system) / count)} us of CPU each\n`);
}
await spec.dispose();
rmSync(folder, { recursive: true, force: true });
