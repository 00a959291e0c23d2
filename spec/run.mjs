/**
 * Runs the specs in groups of folders, one mocha per group and three at a time, and sums up their results: the quick specs, or
 * all of them with the argument `all`, or only the given files.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quickServer } from './quick-server.mjs';

// `npm run mocha -- FILE` is `npx mocha FILE`, also for a source file.
const given = process.argv.slice(2).filter((word) => /\.spec\.[jt]s$/.test(word));

const root = fileURLToPath(new URL('..', import.meta.url));
const built = join(root, 'dist/spec');
const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');

const isAll = process.argv[2] === 'all';
if (given.length > 0) {
  const files = given.map((file) => file.replace(/^(?:\.\/)?spec\//, 'dist/spec/').replace(/\.ts$/, '.js'));
  const { status } = spawnSync(process.execPath, ['--enable-source-maps', mocha, ...files], {
    cwd: root,
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}

/**
 * Groups of folders, with the number of parts of each. A part takes one or two minutes: shorter parts would load the modules of
 * the server more often, and the last of longer parts would run alone. Thorough groups kill servers, drive a browser or run
 * third-party suites, and run with `all` only.
 */
const thorough = { crash: 4, hostile: 4, 'console clients': 4, 'w3c real': 1 };
const quick = { conformance: isAll ? 6 : 3, properties: isAll ? 2 : 1 };
const partsOfOthers = isAll ? 9 : 3;
const named = new Set([
  ...Object.keys({ ...quick, ...thorough }).flatMap((folders) => folders.split(' ')),
  'support',
  'bench',
]);
const others = readdirSync(built, { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && !named.has(entry.name),
);
const groups = { ...(isAll ? thorough : {}), ...quick, [others.map(({ name }) => name).join(' ')]: partsOfOthers };
/** Specs that take more than 10 s each, together half of the time of a quick run. They run with `all` only. */
const slow = [
  'components/agents/command',
  'components/connect/command',
  'components/connect/proxy',
  'components/shapes/imports',
  'components/shared-storage/several-servers',
  'components/shared-storage/standby',
  'components/data/transfer/commands',
  'components/data/transfer/export-stream',
  'components/data/transfer/import-life',
  'components/webdav/rclone',
  'conformance/agents',
  'conformance/coded-responses',
  'conformance/graph-sizes',
  'conformance/large-graphs',
  'conformance/large-moves',
  'conformance/solid-absent',
  'conformance/sparql-isolation',
  'conformance/sparql-limits',
  'conformance/sparql-service-hostile',
  'conformance/subject-documents',
  'conformance/transfer',
  'conformance/trash',
  'lib/documents',
  'lib/query/engine',
  'lib/query/index-file',
  'lib/query/memory-index',
  'lib/query/state-before',
  'lib/resources/patch',
  'lib/server/wrong-start',
  'simulation/simulation',
].map((name) => join(built, `${name}.spec.js`));
for (const file of slow)
  if (!existsSync(file)) throw new Error(`${file} is listed in spec/run.mjs and does not exist.`);
const isWanted = (file) => isAll || !slow.includes(file);

const queue = Object.entries(groups).flatMap(([folders, count]) => {
  const files = folders
    .split(' ')
    .flatMap((folder) => specsIn(join(built, folder)))
    .filter(isWanted);
  return Array.from({ length: count }, (_, part) => ({
    title: folders + (count > 1 ? ` ${part + 1} of ${count}` : ''),
    part,
    files: files.filter((_file, index) => index % count === part),
  })).filter((group) => group.files.length > 0);
});
// Runs one part of each group before the second part of any, because parts of the same group compete for the same resources.
queue.sort((one, other) => one.part - other.part);

/**
 * Data directories are in memory if it has enough space, because specs otherwise wait for disks half of the time. Durability is
 * tested by the crash specs, which kill processes and need no disk.
 */
const inMemory = '/dev/shm';
const roomy = 6 * 2 ** 30;
function newFolder() {
  const { bavail, bsize } = existsSync(inMemory) ? statfsSync(inMemory) : { bavail: 0, bsize: 0 };
  const isInMemory = process.env.TMPDIR === undefined && bavail * bsize >= roomy;
  const made = mkdtempSync(join(isInMemory ? inMemory : tmpdir(), 'quadpod-specs-'));
  // PostgreSQL runs as another user and needs access to its directory inside.
  chmodSync(made, 0o711);
  return made;
}
const folder = newFolder();
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const { measuredSlowness } = await import(join(built, 'support/patience.js'));
const env = {
  ...process.env,
  ...(isAll ? { QUADPOD_SPECS: 'all' } : {}),
  TMPDIR: folder,
  QUADPOD_SPECS_SERVER: await quickServer(mkdtempSync(join(folder, 'quick-server-'))),
};

/** Records results for `report.mjs`. */
const recorder = process.env.QUADPOD_RESULTS ? ['--require', join(root, 'spec/recorder.mjs')] : [];

const totals = { passing: 0, pending: 0, failing: 0 };
/** Failure reports of mocha, repeated at the end of the output. */
const failures = [];
let hasFailed = false;

/** End of the time limit in epoch milliseconds. A group that still runs then is killed and reported, so that a hanging spec is identified. */
const deadline = Date.now() + 60 * 60_000;

async function run({ title, files }) {
  // Measured for each group, because other load on the machine varies during a run.
  const patience = process.env.QUADPOD_PATIENCE ?? String(measuredSlowness());
  console.log(`# ${title}: ${files.length} files, time limits multiplied by ${patience} (QUADPOD_PATIENCE)`);
  const began = Date.now();
  // A separate process group, so that servers and browsers of the specs end with it.
  const child = spawn(process.execPath, ['--enable-source-maps', mocha, '--color=false', ...recorder, ...files], {
    cwd: root,
    env: { ...env, QUADPOD_PATIENCE: patience },
    detached: true,
  });
  running.add(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const overdue = setTimeout(() => end(child.pid), Math.max(0, deadline - began));
  const code = await new Promise((resolve) => {
    child.once('close', resolve);
    // A leftover process of a spec keeps the output open, but must not delay the run.
    child.once('exit', (status) => setTimeout(() => resolve(status), 2000).unref());
  });
  clearTimeout(overdue);
  end(child.pid);
  running.delete(child.pid);
  process.stdout.write(output);
  const counts = {};
  for (const word of Object.keys(totals)) {
    counts[word] = Number(new RegExp(`^ {2}(\\d+) ${word}`, 'm').exec(output)?.[1] ?? 0);
    totals[word] += counts[word];
  }
  // A process that exits before it reports counts is a failure, too.
  if (code !== 0) {
    hasFailed = true;
    if (counts.failing === 0) totals.failing += 1;
    if (counts.passing === 0) totals.passing += output.split('✔').length - 1;
    const summary = output.search(/^ {2}\d+ failing$/m);
    failures.push(
      `# ${title}: exit ${code}\n${summary < 0 ? output.slice(-4000) : output.slice(summary).slice(0, 8000)}`,
    );
  }
  console.log(`# ${title}: ${counts.passing} passing in ${Math.round((Date.now() - began) / 1000)} s, exit ${code}\n`);
}

/** Kills a group with all processes that its specs started. */
function end(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const pid of running) end(pid);
    process.exit(1);
  });

function specsIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.spec.js'))
    .sort()
    .map((name) => join(folder, name));
}

async function work() {
  for (let next = queue.shift(); next; next = queue.shift()) await run(next);
}
// More groups than processors, because they are often idle.
await Promise.all([work(), work(), work()]);

for (const failure of failures) console.log(failure);
console.log(`  ${totals.passing} passing`);
if (totals.pending > 0) console.log(`  ${totals.pending} pending`);
if (totals.failing > 0) console.log(`  ${totals.failing} failing`);
// Not process.exit(), which would lose output that is still in a pipe.
process.exitCode = hasFailed ? 1 : 0;
