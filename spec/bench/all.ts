/**
 * Runs the benchmarks of RESULTS.md, and compares their figures with earlier ones: `npm run bench -- [options] [part of a
 * name | 'name arguments']...`. See README.md. It is not a spec and asserts nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bestOf, type Figures, readFigures, worsening } from './figures.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: 'string' },
    runs: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const dist = resolve(import.meta.dirname, '../..');
const sources = resolve(dist, '../spec/bench');
/** Figures of the last run with `--write`, by command. */
const file = join(sources, 'figures.json');
const stored: Record<string, Figures> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
/** Factor from which a figure is marked. */
const marked = 1.05;

/** Returns the benchmarks of RESULTS.md with the arguments of their first mention. */
function commands(): string[] {
  const found = new Map<string, string>();
  // FOLDER is a server that must be installed.
  for (const [, name, args] of readFileSync(join(sources, 'RESULTS.md'), 'utf8').matchAll(
    /`(?:node dist\/spec\/bench\/)?([\w-]+)\.js([^`]*)`/g,
  ))
    if (isBench(name!) && !/[A-Z]/.test(args!)) found.set(name!, found.get(name!)?.trim() || args!);
  return [...found].map(([name, args]) => `${name} ${args}`.replace(/\s+/g, ' ').trim());
}
const isBench = (name: string): boolean => {
  const source = join(sources, `${name}.ts`);
  // Libraries do not name their command.
  return existsSync(source) && readFileSync(source, 'utf8').includes(`spec/bench/${name}.js`);
};

/** Runs a benchmark of a build and returns its figures, or `undefined` if it fails. */
async function run(build: string, command: string): Promise<Figures | undefined> {
  const [name, ...args] = command.split(' ');
  const child = spawn(process.execPath, [join(build, `spec/bench/${name}.js`), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) output += chunk;
  const [code] = await closed;
  if (code === 0) return readFigures(output);
  console.log(`${command}: exit code ${code}\n${output}`);
  return undefined;
}

const all = commands();
const chosen =
  positionals.length === 0
    ? all
    : positionals.flatMap((word) => (word.includes(' ') ? [word] : all.filter((each) => each.includes(word))));
if (values.list) console.log(chosen.join('\n'));
let [worse, compared, failed] = [0, 0, 0];
for (const command of values.list ? [] : chosen) {
  const [own, other]: Figures[][] = [[], []];
  for (let round = 0; round < Number(values.runs); round++) {
    // Alternates, so that other load affects both builds.
    const before = values.against && (await run(resolve(values.against), command));
    const now = await run(dist, command);
    if (before) other!.push(before);
    if (now) own!.push(now);
  }
  if (own!.length === 0) failed++;
  const [figures, earlier] = [bestOf(own!), values.against ? bestOf(other!) : stored[command]];
  console.log(`## ${command}\n\n| figure | ${values.against ? 'other build' : 'last'} | now | |\n|---|---|---|---|`);
  for (const [name, figure] of Object.entries(figures)) {
    const before = earlier?.[name];
    const factor = before && worsening(figure, before);
    if (factor !== undefined) compared++;
    const isWorse = factor !== undefined && factor > marked;
    if (isWorse) worse++;
    const mark = isWorse ? `**${((factor - 1) * 100).toFixed()} % worse**` : '';
    console.log(`| ${[name.replaceAll('|', '/'), before?.value ?? '-', figure.value, mark].join(' | ')} |`);
  }
  console.log('');
  if (!values.write || own!.length === 0) continue;
  stored[command] = figures;
  writeFileSync(file, `${JSON.stringify(stored, undefined, 2)}\n`);
}
console.log(`${worse} of ${compared} compared figures are more than 5 % worse. ${failed} benchmarks failed.`);
process.exitCode = failed === 0 ? 0 : 1;
