/**
 * SPARQL servers as separate processes, for benchmarks over HTTP: ours, Oxigraph in memory behind `node:http`, and Virtuoso from
 * Debian's package. Must not depend on the data or the queries.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { credential, ed25519Identity, type Identity, nowSeconds } from '../support/identity.js';
import { startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';

const agent = new Agent({ keepAlive: true });

export interface Sent {
  readonly method: string;
  readonly type: string;
  readonly body: string;
  /** Timeout in milliseconds (default: 20 000). */
  readonly patience?: number;
  readonly authorization?: string | undefined;
}
export interface Got {
  readonly status: number;
  readonly text: string;
}

export function send(url: string, { method, type, body, patience = 20_000, authorization }: Sent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': type,
      Accept: 'application/sparql-results+json',
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    };
    const sent = request(url, { method, agent, headers, timeout: patience }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode!, text }));
    });
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** SPARQL server. */
export interface Endpoint {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  /** Prefix of the graph names on this server. */
  readonly graphs: string;
  /** Returns the credential of the caller, if it has one. */
  readonly authorization?: () => string;
}

/** Caller of the queries: nobody in open mode, an owner, or a signed-in user who may read the graphs. */
export type BenchCaller = 'open' | 'owner' | 'user';

export const ask = ({ url, graphs, authorization }: Endpoint, query: string, patience?: number): Promise<Got> =>
  send(url, {
    method: 'POST',
    type: 'application/x-www-form-urlencoded',
    body: `query=${encodeURIComponent(query.replaceAll('http://bench.example/g/', graphs))}`,
    authorization: authorization?.(),
    ...(patience === undefined ? {} : { patience }),
  });

/** Returns a function that returns a credential with a validity of 5 minutes, renewed after 2. */
function credentialOf(caller: Identity, root: string): () => string {
  let [made, text] = [0, ''];
  return () => {
    if (nowSeconds() - made > 120) {
      made = nowSeconds();
      text = `Bearer ${credential(caller, { aud: root.slice(0, -1) })}`;
    }
    return text;
  };
}

/**
 * Starts our server and writes each graph as a resource, with 16 requests at a time.
 * @param graphs names below `http://bench.example/g/`, with the lines of their triples without the final dot
 */
export async function ours(
  graphs: Iterable<readonly [graph: string, lines: readonly string[]]>,
  environment: Readonly<Record<string, string>> = {},
  caller: BenchCaller = 'open',
): Promise<Endpoint> {
  const [owner, user] = [ed25519Identity(), ed25519Identity()];
  const mode: Record<string, string> = caller === 'open' ? { LWS_DEV_OPEN: 'true' } : { LWS_OWNERS: owner.did };
  if (caller === 'user') mode['LWS_ACCESS_CONTROL'] = 'wac';
  const server = await startProcess({ environment: { ...mode, LWS_LOG_LEVEL: 'warn', ...environment } });
  const asOwner = caller === 'open' ? undefined : credentialOf(owner, server.root);
  const waiting = graphs[Symbol.iterator]();
  const put = async (): Promise<void> => {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      const [graph, lines] = next.value;
      const iri = graph.replace('http://bench.example/', server.root);
      const body = `${lines.join(' .\n')} .`;
      const { status, text } = await send(iri, {
        method: 'PUT',
        type: 'text/turtle',
        body,
        authorization: asOwner?.(),
      });
      if (status !== 201) throw new Error(`${status} ${text}`);
    }
  };
  const write = (path: string, body: string): Promise<Got> =>
    send(server.root + path, { method: 'PUT', type: 'text/turtle', body, authorization: asOwner?.() });
  await write('g/', '');
  if (caller === 'user') {
    const rule = (agent: Identity, modes: string): string =>
      `[] a acl:Authorization ; acl:agent <${agent.did}> ; acl:mode ${modes} ; acl:accessTo <> ; acl:default <> .`;
    const { status } = await write(
      'g/.acl',
      `@prefix acl: <http://www.w3.org/ns/auth/acl#> . ${rule(owner, 'acl:Read, acl:Write, acl:Control')} ${rule(user, 'acl:Read')}`,
    );
    if (status >= 300) throw new Error(`The access control list: ${status}`);
  }
  await Promise.all(Array.from({ length: 16 }, put));
  const authorization = caller === 'user' ? credentialOf(user, server.root) : asOwner;
  return {
    name: 'ours',
    pid: server.pid,
    url: `${server.root}.lws/sparql`,
    graphs: `${server.root}g/`,
    ...(authorization ? { authorization } : {}),
  };
}

/** @param file N-Quads */
export async function oxigraph(file: string): Promise<Endpoint> {
  const port = await freePort();
  const script = fileURLToPath(new URL('./oxigraph-server.js', import.meta.url));
  const child = spawn(process.execPath, [script, file, String(port)], { stdio: 'inherit' });
  process.once('exit', () => child.kill('SIGKILL'));
  return { name: 'Oxigraph', pid: child.pid!, url: `http://127.0.0.1:${port}/`, graphs: 'http://bench.example/g/' };
}

export const hasVirtuoso = (process.env['PATH'] ?? '')
  .split(':')
  .some((place) => existsSync(join(place, 'virtuoso-t')));

/**
 * Starts Virtuoso from Debian's package, with buffers for all data and one thread per query.
 * @param file N-Quads, in the folder for its database
 */
export async function virtuoso(file: string, folder: string): Promise<Endpoint> {
  const [sql, http] = [await freePort(), await freePort()];
  const path = (name: string): string => join(folder, name);
  const parts = {
    Database: [`DatabaseFile=${path('v.db')}`, `ErrorLogFile=${path('v.log')}`, `LockFile=${path('v.lck')}`],
    DatabaseMore: [`TransactionFile=${path('v.trx')}`, `xa_persistent_file=${path('v.pxa')}`],
    TempDatabase: [`DatabaseFile=${path('t.db')}`, `TransactionFile=${path('t.trx')}`],
    Parameters: [`ServerPort=${sql}`, 'NumberOfBuffers=170000', 'MaxDirtyBuffers=130000', `DirsAllowed=${folder}`],
    ParametersMore: ['ThreadsPerQuery=1'],
    HTTPServer: [`ServerPort=${http}`],
    SPARQL: ['ResultSetMaxRows=20000000'],
  };
  const sections = ['Database', 'TempDatabase', 'Parameters', 'HTTPServer', 'SPARQL'] as const;
  const more: Readonly<Record<string, readonly string[]>> = {
    Database: parts.DatabaseMore,
    Parameters: parts.ParametersMore,
  };
  const ini = sections.map((name) => `[${name}]\n${[...parts[name], ...(more[name] ?? [])].join('\n')}\n`).join('\n');
  writeFileSync(path('virtuoso.ini'), ini);
  const child = spawn('virtuoso-t', ['-f', '-c', path('virtuoso.ini')], { stdio: 'ignore', cwd: folder });
  process.once('exit', () => child.kill('SIGKILL'));
  const run = (command: string): unknown =>
    execFileSync('isql-vt', [String(sql), 'dba', 'dba', `exec=${command}`], { stdio: 'ignore', timeout: 3_600_000 });
  for (let attempt = 0; ; attempt++)
    try {
      run('select 1;');
      break;
    } catch (error) {
      if (attempt === 60) throw error;
      await sleep(1_000);
    }
  run(`DB.DBA.TTLP_MT(file_to_string_output('${file}'), '', 'http://bench.example/', 512); checkpoint;`);
  return {
    name: 'Virtuoso',
    pid: child.pid!,
    url: `http://127.0.0.1:${http}/sparql`,
    graphs: 'http://bench.example/g/',
  };
}

/** Returns the CPU time of a process, in milliseconds. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Waits until the server has data. */
export async function ready(endpoint: Endpoint): Promise<void> {
  for (let attempt = 0; attempt < 6000; attempt++) {
    const isThere = await ask(endpoint, 'ASK { ?s ?p ?o }').then(
      ({ text }) => /true/.test(text),
      () => false,
    );
    if (isThere) return;
    await sleep(100);
  }
}
