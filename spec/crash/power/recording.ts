/** Server with recorded operations on its directory while clients write, and their writes. It must not know how the recording is used. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../lib/tools/threads/package-root.js';
import { freePort } from '../../support/free-port.js';
import { request } from '../../support/http.js';
import { credential, ed25519Identity } from '../../support/identity.js';
import { type ServerProcess, startProcess } from '../../support/process.js';
import type { Operation } from './disk.js';

/** Stored recording, for machines without a compiler. */
export const recorded = join(packageRoot, 'spec/crash/power/recorded.br');
const source = join(packageRoot, 'spec/crash/power/operations.c');

export interface Version {
  readonly type: string;
  readonly body: string;
  /** Accept field of the request. */
  readonly accept: string;
}

/** State of a resource, encoded in a name and a number: `rdf-0`, `large-0`, `json-0`, `text-0`. */
export function versionOf(iri: string, version: number): Version {
  const [kind] = iri.slice(iri.lastIndexOf('/') + 1).split('-');
  if (kind === 'json') return json(`{"version":${version},"filler":"${'j'.repeat(500)}"}`);
  if (kind === 'text') return { ...plain, body: `version ${version} ${'t'.repeat(20_000)}` };
  const filler = kind === 'large' ? 'x'.repeat(200_000) : 'r'.repeat(100);
  const lines = [0, 1, 2].map((at) => `<${iri}> <urn:version:${version}> "${at}${filler}" .\n`);
  return { type: 'text/turtle', accept: 'application/n-triples', body: lines.join('') };
}

const plain = { type: 'text/plain', accept: 'text/plain' };
const json = (body: string): Version => ({ type: 'application/json', accept: 'application/json', body });

/** Number of a state. */
export const numberIn = (body: string): number => Number(/version\D{1,2}(\d+)/.exec(body)?.[1]);

/** Graphs for an import: more than are stored before the kill. */
export function importedGraphs(iri: string): readonly { readonly path: string; readonly body: string }[] {
  const { origin } = new URL(iri);
  return Array.from({ length: 8 }, (_, graph) => {
    const path = `/imported-${graph}`;
    const lines = Array.from({ length: 3000 }, (_, at) => `<${origin}${path}> <urn:imported> "${graph} ${at}" .\n`);
    return { path, body: lines.join('') };
  });
}

/** Imports are restricted to owners, also in open mode. */
export const owner = ed25519Identity();
export const signedIn = (root: string): { readonly Authorization: string } => ({
  Authorization: `Bearer ${credential(owner, { aud: root.slice(0, -1) })}`,
});

/** Starts an import that is in progress when the server is killed. */
async function beginImport(root: string): Promise<void> {
  const body = importedGraphs(root)
    .map((each) => each.body.replaceAll(' .\n', ` <${new URL(each.path, root).href}> .\n`))
    .join('');
  const headers = { ...signedIn(root), 'Content-Type': 'application/n-quads' };
  const { status, text } = await request(`${root}.lws/import`, { method: 'POST', headers, body });
  if (status !== 202) throw new Error(`POST of an import: ${status} ${text}`);
}

/** Compiles the recorder. @returns the shared object, or `undefined` without a compiler */
function compiled(folder: string): string | undefined {
  const object = join(folder, 'operations.so');
  try {
    execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', object, source, '-ldl', '-lpthread'], { stdio: 'pipe' });
    return object;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Starts the server of a recording. */
type Start = () => Promise<ServerProcess>;

/** Runs a server twice on one directory, the first time until it is killed. */
async function writeMuch(start: Start, root: string): Promise<void> {
  const clients = ['rdf', 'json', 'text', 'large'].map((kind) => new Client(`${root}${kind}-`));
  for (const end of ['kill', 'stop'] as const) {
    const server = await start();
    await Promise.all(clients.map((client) => client.run(end === 'kill' ? 16 : 10)));
    if (end === 'kill') await beginImport(root);
    await server[end]();
  }
}

/** Runs a server on a directory until it is killed after its first writes. */
export async function writeFirst(start: Start, root: string): Promise<void> {
  const server = await start();
  await new Client(`${root}rdf-`).run(1);
  await server.kill();
}

/**
 * Records what servers do.
 * @param prepare writes the content of the data directory
 * @returns the log, or `undefined` without a compiler
 */
export async function record(
  run = writeMuch,
  prepare: (dataDir: string) => void = () => {},
): Promise<{ log: Buffer; root: string } | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-power-'));
  try {
    const object = compiled(folder);
    if (!object) return undefined;
    const [dataDir, log, boot] = ['data', 'operations', 'boot'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(dataDir);
    prepare(dataDir);
    writeFileSync(boot, '00000000-0000-4000-8000-000000000000\n');
    const environment = {
      ...{ LD_PRELOAD: object, POWER_FOLDER: dataDir, POWER_LOG: log, POWER_BOOT_ID: boot },
      LWS_OWNERS: owner.did,
      LWS_REQUIRE_CONDITIONAL_WRITES: 'false',
    };
    const root = `http://localhost:${await freePort()}/`;
    await run(() => startProcess({ dataDir, root, environment }), root);
    return { log: readFileSync(log), root };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resource written by the request of a response, if any. */
export function writtenBy({ type, one }: Operation): string | undefined {
  const text = one.toString('latin1');
  return type === 'A' && /^HTTP\/1.1 20[14] /.test(text)
    ? /<([^<>]+)\.meta>; rel="linkset"/.exec(text)?.[1]
    : undefined;
}

/** Writes one version after the other. */
class Client {
  private written = 0;
  constructor(private readonly prefix: string) {}

  async run(rounds: number): Promise<void> {
    const isLarge = this.prefix.endsWith('large-');
    const identity = signedIn(new URL('/', this.prefix).href);
    for (let at = 0; at < rounds * (isLarge ? 1 : 4); at++) {
      const iri = `${this.prefix}${this.written % 4}`;
      const { type, body } = versionOf(iri, 1 + Math.floor(this.written++ / 4));
      const { status } = await request(iri, { method: 'PUT', headers: { ...identity, 'Content-Type': type }, body });
      if (status !== 201 && status !== 204) throw new Error(`PUT ${iri}: ${status}`);
    }
  }
}
