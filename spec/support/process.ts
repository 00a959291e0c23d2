/** Runs the built server as a process, to be killed, limited and measured. Independent of how it handles requests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { patience } from './patience.js';
import { freePort } from './server.js';
import { storeSettings } from './shared-storage.js';

const script = fileURLToPath(new URL('../../components/main.js', import.meta.url));
/** The server as one script, if `spec/run.mjs` built it. */
const { QUADPOD_SPECS_SERVER: bundled = script } = process.env;

export interface ProcessOptions {
  /** Data directory. Default: a new one. */
  readonly dataDir?: string;
  /** Root IRI of an earlier process, to serve it again. */
  readonly root?: string;
  /** More settings as environment variables: `{LWS_LOG_LEVEL: 'info'}`. `undefined` removes one. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Options of Node, such as `--import=FILE`. */
  readonly nodeOptions?: readonly string[];
  /** File descriptor for the standard output. The output is then not captured. */
  readonly stdout?: number;
  /** Time limit of a command in seconds, before `patience`. Default: 20. */
  readonly seconds?: number;
  /** Working directory. */
  readonly cwd?: string;
  /** File `cgroup.procs` of a control group. The process joins it before its first instruction. */
  readonly group?: string | undefined;
  /** Drops the capabilities by which root ignores file modes, so that modes also apply if the specs run as root. */
  readonly isConfined?: boolean;
}

export interface ServerProcess {
  readonly root: string;
  readonly dataDir: string;
  readonly pid: number;
  /** Output so far: the log on stdout, messages to the operator on stderr. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Sends SIGTERM and waits until it has drained. @returns the exit code */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const alive = new Set<ChildProcess>();
// Kills the servers however the specs end.
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

interface Launched {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<Ended>;
}

/** Settings of the shared storage for a data directory, if the run uses a database. */
const storeOf = (dataDir: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(storeSettings(dataDir)).map(([name, value]) => [
      `LWS_${name.toUpperCase().replace('.', '_')}`,
      value,
    ]),
  );

function launch(
  words: readonly string[],
  { environment = {}, nodeOptions, stdout, cwd, group, isConfined }: ProcessOptions,
): Launched {
  const { LWS_DATA_DIR: dataDir } = environment;
  const store = dataDir === undefined ? {} : storeOf(dataDir);
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:LWS_|NODE_)/.test(name));
  const enter = group === undefined ? [] : ['sh', '-c', 'echo $$ > "$0" && exec "$@"', group];
  // Preloaded scripts and third-party components import modules of the server as files.
  const program = nodeOptions || environment['LWS_COMPONENTS'] ? script : bundled;
  const node = [process.execPath, '--enable-source-maps', ...(nodeOptions ?? []), program];
  const isRoot = isConfined && process.getuid?.() === 0;
  const confine = isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
  const [file, ...args] = [...enter, ...confine, ...node, ...words];
  const child = spawn(file!, args, {
    env: { ...Object.fromEntries(inherited), ...store, ...environment },
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  alive.add(child);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => {
      alive.delete(child);
      resolve({ code, ...output });
    });
  });
  return { child, output, ended };
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'quadpod-process-'));

/**
 * Runs a command, or a server that is expected to fail, until it exits. After 20 s or `seconds`, or if it starts to listen, it is
 * killed and its code is null.
 */
export async function runProcess(words: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const { dataDir = newFolder(), root } = options;
  const base = root?.slice(0, -1) ?? `http://localhost:${await freePort()}`;
  const environment = { LWS_BASE_URI: base, LWS_DATA_DIR: dataDir, LWS_DEV_OPEN: 'true', ...options.environment };
  const { child, ended } = launch(words, { ...options, environment });
  const kill = (): void => void child.kill('SIGKILL');
  const limit = setTimeout(kill, (options.seconds ?? 20) * 1000 * patience);
  listening(child, ended).then(kill, () => {});
  return ended.finally(() => clearTimeout(limit));
}

/** Starts the server in open mode. @throws Error with its output if it exits before it listens */
export async function startProcess(options: ProcessOptions = {}): Promise<ServerProcess> {
  const { dataDir = newFolder() } = options;
  const root = options.root ?? `http://localhost:${await freePort()}/`;
  const environment = {
    LWS_BASE_URI: root.slice(0, -1),
    LWS_DATA_DIR: dataDir,
    LWS_DEV_OPEN: 'true',
    LWS_LOG_LEVEL: 'warn',
    ...options.environment,
  };
  const { child, output, ended } = launch([], { ...options, environment });
  await listening(child, ended);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return (await ended).code;
  };
  const kill = async (): Promise<void> => void (await end('SIGKILL'));
  return { root, dataDir, pid: child.pid!, output, stop: () => end('SIGTERM'), kill };
}

/**
 * Starts a process on the data directory of an earlier one and kills it.
 * @param when delay in milliseconds, or a condition
 * @param words command to run instead of the server. Its exit code is null if it was killed
 */
export async function killStart(
  { dataDir, root }: Pick<ServerProcess, 'dataDir' | 'root'>,
  when: number | (() => boolean),
  words: readonly string[] = [],
): Promise<Ended> {
  const environment = { LWS_BASE_URI: root.slice(0, -1), LWS_DATA_DIR: dataDir, LWS_DEV_OPEN: 'true' };
  const { child, ended } = launch(words, { environment });
  const kill = (): void => void child.kill('SIGKILL');
  const timer = typeof when === 'number' ? setTimeout(kill, when) : setInterval(() => when() && kill(), 5);
  return ended.finally(() => clearTimeout(timer));
}

/** Waits for the banner, printed when the server listens. */
function listening(child: ChildProcess, ended: Promise<Ended>): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const onText = (text: string): void => {
      printed += text;
      if (!printed.includes('Quadpod serves')) return;
      child.stderr!.off('data', onText);
      resolve();
    };
    child.stderr!.on('data', onText);
    void ended.then(({ code, stderr }) => reject(new Error(`The server exited with code ${code}: ${stderr}`)));
  });
}
