/**
 * Timing side channel of hidden data, over HTTP: latency of queries with a name in 100 000 hidden triples, compared with a
 * nonexistent name, for several kinds of callers. Run it with `node
 * dist/spec/bench/hidden-timing.js [seconds for each form] [MiB of the index in memory]
 * [name of forms]`. It is not a spec and asserts nothing.
 */

import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { credential, ed25519Identity, type Identity } from '../support/identity.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';

const seconds = Number(process.argv[2] ?? 2);
const indexMb = process.argv[3] ?? '64';
const e = 'https://e.example/hidden/';
const hidden = 100_000;
const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const reifies = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies';
const [owner, alice, bob, carol] = [ed25519Identity(), ed25519Identity(), ed25519Identity(), ed25519Identity()];
const print = (...words: readonly string[]): void => void process.stdout.write(`${words.join('  ')}\n`);

async function start(environment: Record<string, string>): Promise<ServerProcess> {
  return startProcess({
    environment: {
      LWS_OWNERS: owner.did,
      LWS_LOG_LEVEL: 'info',
      LWS_INDEX_MEMORY_MB: indexMb,
      LWS_TEXT_SEARCH_ENABLED: 'true',
      ...environment,
    },
  });
}

const bearer = ({ root }: ServerProcess, caller: Identity): string =>
  `Bearer ${credential(caller, { aud: root.slice(0, -1) })}`;

async function put(server: ServerProcess, path: string, body?: string): Promise<void> {
  const answer = await fetch(server.root + path, {
    method: 'PUT',
    headers: { Authorization: bearer(server, owner), ...(body === undefined ? {} : { 'Content-Type': 'text/turtle' }) },
    ...(body === undefined ? {} : { body }),
  });
  if (!answer.ok) throw new Error(`PUT ${path}: ${answer.status} ${await answer.text()}`);
}

const times = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const acl = (caller: Identity): string =>
  `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
  [] a acl:Authorization ; acl:agent <${owner.did}> ; acl:mode acl:Read, acl:Write, acl:Control ; acl:accessTo <> ; acl:default <> .
  [] a acl:Authorization ; acl:agent <${caller.did}> ; acl:mode acl:Read ; acl:accessTo <> ; acl:default <> .`;

/**
 * Half of the hidden triples share one graph, one subject and a word. The other half are in graphs of 100 triples and share one object.
 * Each of these graphs has 100 words of its own with the same beginning, and 100 reifiers of one triple.
 */
async function fill(server: ServerProcess, hasAcls: boolean): Promise<void> {
  await put(server, 'secret/');
  await put(
    server,
    'secret/large',
    times(hidden / 2, (i) => `<${e}hs> <${e}hp> "hiddenword ${i}" .`),
  );
  for (let i = 0; i < hidden / 200; i++)
    await put(
      server,
      `secret/n${i}`,
      `${times(100, (j) => `<${e}${i}-${j}> <${e}hp> <${e}ho> . <${e}${i}-r${j}> <${reifies}> <<( <${e}hs> <${e}hp> <${e}ho> )>> .`)} <${e}${i}> <${label}> "hiddenword of ${i}", "${times(100, (j) => `hidden${i}x${j}`).replaceAll('\n', ' ')}" .`,
    );
  const open = (count: number, start: string): string =>
    times(
      count,
      (i) => `<${e}${start}${i}> <${e}p> ${i} ; <${label}> "word ${i % 7}" ; <${e}knows> <${e}${start}${i + 1}> .`,
    );
  for (const [caller, container, graphs, triples] of [
    [alice, 'few/', 20, 10],
    [bob, 'many/', 30, 1000],
  ] as const) {
    await put(server, container);
    if (hasAcls) await put(server, `${container}.acl`, acl(caller));
    for (let i = 0; i < graphs; i++) await put(server, `${container}${i}`, open(triples, `${container}${i}-`));
  }
}

/** Sends a query, or a request for a path of the system, over one connection, and returns its latency in milliseconds. */
function ask(server: ServerProcess, query: string, caller: Identity | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const isQuery = !query.startsWith('/');
    const req = request(`${server.root}.lws${isQuery ? '/sparql' : query}`, {
      method: isQuery ? 'QUERY' : 'GET',
      headers: {
        ...(isQuery && { 'Content-Type': 'application/sparql-query' }),
        ...(!isQuery || query.startsWith('DESCRIBE') ? {} : { Accept: 'application/sparql-results+json' }),
        ...(caller && { Authorization: bearer(server, caller) }),
      },
    });
    req.once('error', reject);
    req.once('response', (response) => {
      response.resume();
      response.once('end', () =>
        response.statusCode === 200
          ? resolve(performance.now() - began)
          : reject(new Error(`${response.statusCode}: ${query}`)),
      );
    });
    req.end(isQuery ? query : undefined);
  });
}

/** Queries by the position of the name: graph, predicate, object or subject. */
const allForms: Readonly<Record<string, (names: Names) => string>> = {
  'ASK GRAPH': ({ graph }) => `ASK { GRAPH <${graph}> { ?s ?p ?o } }`,
  'COUNT GRAPH': ({ graph }) => `SELECT (COUNT(*) AS ?n) { GRAPH <${graph}> { ?s ?p ?o } }`,
  'GRAPH, a graph of 100': ({ small }) => `SELECT * { GRAPH <${small}> { ?s ?p ?o } }`,
  FROM: ({ graph }) => `ASK FROM <${graph}> { ?s ?p ?o }`,
  'FROM NAMED': ({ graph }) => `SELECT * FROM NAMED <${graph}> { GRAPH ?g { ?s ?p ?o } }`,
  'ASK predicate': ({ predicate }) => `ASK { ?s <${predicate}> ?o }`,
  'GRAPH ?g predicate': ({ predicate }) => `ASK { GRAPH ?g { ?s <${predicate}> ?o } }`,
  'COUNT predicate': ({ predicate }) => `SELECT (COUNT(*) AS ?n) { ?s <${predicate}> ?o }`,
  'join with a predicate': ({ predicate }) => `SELECT * { ?s <${predicate}> ?o . ?s <${e}p> ?x }`,
  'path of a predicate': ({ predicate }) => `ASK { ?s <${predicate}>+ ?o }`,
  'ASK object': ({ object }) => `ASK { ?s ?p <${object}> }`,
  'COUNT object': ({ object }) => `SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p <${object}> } }`,
  'ASK subject': ({ subject }) => `ASK { <${subject}> ?p ?o }`,
  'subject and predicate': ({ subject, predicate }) => `SELECT * { <${subject}> <${predicate}> ?o }`,
  'DISTINCT of a subject': ({ subject }) => `SELECT DISTINCT ?p { <${subject}> ?p ?o }`,
  'reifiers of a triple term': ({ subject, predicate, object }) =>
    `SELECT * { ?r <${reifies}> <<( <${subject}> <${predicate}> <${object}> )>> }`,
  'annotations of a triple': ({ subject, predicate }) => `SELECT * { <${subject}> <${predicate}> ?o {| ?q ?v |} }`,
  'triple terms with a variable': ({ subject, predicate }) =>
    `SELECT * { ?r <${reifies}> <<( <${subject}> <${predicate}> ?o )>> }`,
  'TRIPLE of terms': ({ subject, predicate, object }) =>
    `ASK { BIND(TRIPLE(<${subject}>, <${predicate}>, <${object}>) AS ?t) ?r <${reifies}> ?t }`,
  DESCRIBE: ({ subject }) => `DESCRIBE <${subject}>`,
  'text search, a word': ({ word }) => `/text-search?q=${word}`,
  'text search, two words': ({ word }) => `/text-search?q=word+${word}`,
  'text search, a phrase': ({ word }) => `/text-search?q=%22${word}+of%22`,
  'text search, a beginning': ({ word }) => `/text-search?q=${word.slice(0, 5)}*`,
  'text search, beginnings of each other': ({ word }) =>
    `/text-search?q=${[2, 3, 4, 5, 6].map((length) => `${word.slice(0, length)}*`).join('+')}`,
  'text:query': ({ word }) => `SELECT * { ?s <http://jena.apache.org/text#query> "${word}" }`,
  'labels of an IRI': ({ labelled }) => `/labels?iri=${encodeURIComponent(labelled)}`,
  'labels of 100 IRIs': ({ labelled }) =>
    `/labels?${Array.from({ length: 100 }, (_, i) => `iri=${encodeURIComponent(labelled + i)}`).join('&')}`,
  'labels with a beginning': ({ word }) => `/labels?prefix=${word}`,
};

/** Forms to compare: all, or those whose name contains the third argument. */
const forms = Object.fromEntries(Object.entries(allForms).filter(([form]) => form.includes(process.argv[4] ?? '')));

interface Names {
  readonly graph: string;
  readonly small: string;
  readonly predicate: string;
  readonly object: string;
  readonly subject: string;
  readonly word: string;
  readonly labelled: string;
}

const median = (all: readonly number[]): number => [...all].sort((a, b) => a - b)[all.length >> 1]!;

async function compare(server: ServerProcess, name: string, caller: Identity | undefined): Promise<void> {
  const secret: Names = {
    ...{ graph: `${server.root}secret/large`, small: `${server.root}secret/n7` },
    ...{ predicate: `${e}hp`, object: `${e}ho`, subject: `${e}hs`, word: 'hiddenword', labelled: `${e}7` },
  };
  const absent: Names = {
    ...{ graph: `${server.root}secret/largf`, small: `${server.root}secret/m7` },
    ...{ predicate: `${e}hq`, object: `${e}hr`, subject: `${e}ht`, word: 'absentword', labelled: `${e}x` },
  };
  print(`\n${name}`);
  print('| form | hidden ms | absent ms | difference ms | hidden slower, % of pairs |\n|---|---|---|---|---|');
  for (const [form, queryOf] of Object.entries(forms)) {
    const [slow, quick]: number[][] = [[], []];
    const end = performance.now() + seconds * 1000;
    for (let i = 0; i < 5; i++) for (const names of [secret, absent]) await ask(server, queryOf(names), caller);
    while (performance.now() < end || slow!.length < 15)
      // Alternates, so that other load affects both.
      for (const [names, all] of slow!.length % 2 === 0
        ? ([
            [secret, slow!],
            [absent, quick!],
          ] as const)
        : ([
            [absent, quick!],
            [secret, slow!],
          ] as const))
        all.push(await ask(server, queryOf(names), caller));
    const [a, b] = [median(slow!), median(quick!)];
    const slower = slow!.filter((ms, i) => ms > quick![i]!).length / slow!.length;
    print(`| ${[form, a.toFixed(2), b.toFixed(2), (a - b).toFixed(2), (100 * slower).toFixed()].join(' | ')} |`);
  }
}

async function indexed(server: ServerProcess): Promise<void> {
  await ask(server, 'ASK {}', owner);
  await until(() => server.output.stdout.includes(`"quads":1`)).catch(() => {});
}

for (const [mode, readers] of [
  [
    'wac',
    [
      ['without read access', carol],
      ['with 400 readable triples in 20 graphs', alice],
      ['with 60 000 readable triples in 30 graphs', bob],
    ],
  ],
  ['owner', [['that is not an owner', carol]]],
] as const) {
  const server = await start({ LWS_ACCESS_CONTROL: mode });
  await fill(server, mode === 'wac');
  await indexed(server);
  for (const [name, caller] of readers) await compare(server, `Caller ${name} (${mode})`, caller);
  await server.stop();
  rmSync(server.dataDir, { recursive: true, force: true });
}
