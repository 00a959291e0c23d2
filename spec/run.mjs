/**
 * Runs the specs, a mocha for each group of folders and three of them at a time, and adds up what they say: the quick ones, or with
 * the argument `all` everything. `npx mocha FILE ...`, after a build, runs some of them.
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quickServer } from './quick-server.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = join(root, 'dist/spec');
const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');

const isAll = process.argv[2] === 'all';

/**
 * Groups of folders with the number of parts that each runs in, of one or two minutes: shorter ones would load the modules of the server
 * more often, and of longer ones the last would run alone. Some kill servers, drive a browser, or run the suites of others: only with everything.
 */
const thorough = { crash: 4, hostile: 4, 'console clients': 4, 'w3c real': 1 };
const quick = { conformance: isAll ? 5 : 3, properties: isAll ? 2 : 1 };
const partsOfOthers = isAll ? 5 : 3;
const named = new Set([
  ...Object.keys({ ...quick, ...thorough }).flatMap((folders) => folders.split(' ')),
  'support',
  'bench',
]);
const others = readdirSync(built, { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && !named.has(entry.name),
);
const groups = { ...(isAll ? thorough : {}), ...quick, [others.map(({ name }) => name).join(' ')]: partsOfOthers };
const queue = Object.entries(groups).flatMap(([folders, count]) => {
  const files = folders.split(' ').flatMap((folder) => specsIn(join(built, folder)));
  return Array.from({ length: count }, (_, part) => ({
    title: folders + (count > 1 ? ` ${part + 1} of ${count}` : ''),
    part,
    files: files.filter((_file, index) => index % count === part),
  })).filter((group) => group.files.length > 0);
});
// One part of each before the second of any: those of a kind, which want the same, seldom run at the same time.
queue.sort((one, other) => one.part - other.part);

/**
 * Folders of storages lie in memory where there is room: half of the time goes by waiting for disks otherwise. What a sync does is
 * for the crash specs to find out, which kill processes and need no disk.
 */
const inMemory = '/dev/shm';
const roomy = 6 * 2 ** 30;
function newFolder() {
  const { bavail, bsize } = existsSync(inMemory) ? statfsSync(inMemory) : { bavail: 0, bsize: 0 };
  const isInMemory = process.env.TMPDIR === undefined && bavail * bsize >= roomy;
  const made = mkdtempSync(join(isInMemory ? inMemory : tmpdir(), 'quadpod-specs-'));
  // PostgreSQL runs as another user, who has to get to its folder in it.
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

const totals = { passing: 0, pending: 0, failing: 0 };
/** What mocha says of failures, to be read again at the end of a long output. */
const failures = [];
let hasFailed = false;

/** Milliseconds from the start until a group that still runs is ended: whoever waits for these specs hears which one hangs. */
const deadline = Date.now() + 60 * 60_000;

async function run({ title, files }) {
  // Measured for each group: other work on the machine comes and goes during a run.
  const patience = process.env.QUADPOD_PATIENCE ?? String(measuredSlowness());
  console.log(`# ${title}: ${files.length} files, time limits multiplied by ${patience} (QUADPOD_PATIENCE)`);
  const began = Date.now();
  // A process group of its own, so that servers and browsers of its specs end with it.
  const child = spawn(process.execPath, ['--enable-source-maps', mocha, '--color=false', ...files], {
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
    // What a spec left behind holds the output open, and does not hold up the others.
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
  // A process that ended before it could count is a failure of its own.
  if (code !== 0) {
    hasFailed = true;
    if (counts.failing === 0) totals.failing += 1;
    if (counts.passing === 0) totals.passing += output.split('✔').length - 1;
    const told = output.search(/^ {2}\d+ failing$/m);
    failures.push(`# ${title}: exit ${code}\n${told < 0 ? output.slice(-4000) : output.slice(told).slice(0, 8000)}`);
  }
  console.log(`# ${title}: ${counts.passing} passing in ${Math.round((Date.now() - began) / 1000)} s, exit ${code}\n`);
}

/** Ends a group and whatever its specs started. */
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
// More than there are processors, since much of the time goes by waiting.
await Promise.all([work(), work(), work()]);

for (const failure of failures) console.log(failure);
console.log(`  ${totals.passing} passing`);
if (totals.pending > 0) console.log(`  ${totals.pending} pending`);
if (totals.failing > 0) console.log(`  ${totals.failing} failing`);
// What was written to a pipe is still on its way.
process.exitCode = hasFailed ? 1 : 0;
