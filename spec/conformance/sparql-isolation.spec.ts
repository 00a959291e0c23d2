/**
 * Rule 14.7: isolation of queries: other clients are served meanwhile, limits end a query, memory is bounded, and a query sees
 * one snapshot. The server is a separate process, so that only its own work can delay it. The spec must not know how the work is
 * divided.
 */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { slowness } from '../support/patience.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import type { Results } from '../support/sparql.js';
import { begin, read, readsDuring, residentMb } from '../support/sparql-stream.js';

const e = 'https://e.example/isolation/';
const rows = 420;
/** Above the square of `rows`. */
const maxResults = 180_000;

function inServer(environment: Readonly<Record<string, string>>, body: (server: () => ServerProcess) => void): void {
  let server: ServerProcess;
  before(async () => {
    const names = Object.entries(environment).map(([name, value]) => [`LWS_SPARQL_ENDPOINT_${name}`, value]);
    server = await startProcess({ environment: Object.fromEntries(names) });
    await put(`${server.root}small`, '<#it> <urn:is> "small" .');
    const lines = Array.from(
      { length: rows },
      (_, i) => `<${e}${i}> <${e}p> ${i} ; <${e}long> "${'x'.repeat(250)}${i}" .`,
    );
    const bombs = Array.from({ length: 20 }, (_, i) => `<${e}${i}> <${e}bomb> "${'a'.repeat(40 + i)}!" .`);
    await put(`${server.root}data`, [...lines, ...bombs].join('\n'));
    await read(server.root, 'ASK {}');
  });
  after(async () => {
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });
  body(() => server);
}

async function put(iri: string, turtle: string, fields: Readonly<Record<string, string>> = {}): Promise<void> {
  const answer = await fetch(iri, {
    method: 'PUT',
    headers: { 'Content-Type': 'text/turtle', ...fields },
    body: turtle,
  });
  expect(answer.ok, `PUT ${iri}: ${answer.status} ${answer.ok ? '' : await answer.text()}`).to.equal(true);
}

async function bindings(root: string, query: string): Promise<Record<string, string>[]> {
  const { status, text } = await read(root, query);
  expect(status, text).to.equal(200);
  const { results } = JSON.parse(text) as Results;
  return results!.bindings.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, { value }]) => [name, value])),
  );
}

const answersAsk = async ({ root }: ServerProcess): Promise<void> => {
  const { status, text } = await read(root, `ASK { <${e}1> <${e}p> 1 }`);
  expect(status, text).to.equal(200);
  expect(JSON.parse(text)).to.have.property('boolean', true);
};

const crossOf = (names: string): string => [...names].map((v) => `?${v} <${e}p> ?${v}o . `).join('');

describe('SPARQL isolation', function () {
  this.timeout(40_000);

  describe('within limits of time and memory', () => {
    inServer({ TIMEOUT_SECONDS: '2', MEMORY_MB: '64', MAX_RESULTS: '1000000000', MAX_CONCURRENT: '2' }, (server) => {
      for (const [what, query] of [
        ['a cross join', `SELECT (COUNT(*) AS ?n) { ${crossOf('abcdef')} FILTER(?ao != ?fo) }`],
        ['an expression that takes exponential time', `SELECT ?s { ?s <${e}bomb> ?t FILTER(REGEX(?t, "^(a+)+$")) }`],
      ] as const)
        it(`while ${what} runs, small reads are answered; it ends in time, and the next query succeeds (rule 14.7)`, async () => {
          // The terminated threads have been replaced.
          for (let i = 0; i < 2; i++) await answersAsk(server());
          const started = Date.now();
          const query$ = read(server().root, query);
          const waits = await readsDuring(`${server().root}small`, query$);
          const { status, text, isWhole } = await query$;
          expect(Date.now() - started, 'the end of the query').to.be.below(5000 * slowness);
          if (status === 200) expect(isWhole, text.slice(0, 200)).to.equal(false);
          else expect(status, text).to.equal(422);
          expect(waits.length, 'small reads').to.be.above(0);
          expect(waits[0], 'the longest small read').to.be.below(2000 * slowness);
          await answersAsk(server());
        });

      const texts = `?a <${e}long> ?at . ?b <${e}long> ?bt . ?c <${e}p> ?co`;
      for (const [what, query] of [
        ['GROUP_CONCAT', `SELECT (GROUP_CONCAT(?at; SEPARATOR = "") AS ?all) { ${texts} . ?d <${e}p> ?do }`],
        ['ORDER BY', `SELECT * { ${texts} } ORDER BY ?bt DESC(?co)`],
        ['DISTINCT', `SELECT (COUNT(DISTINCT ?text) AS ?n) { ${texts} BIND(CONCAT(?at, ?bt, STR(?co)) AS ?text) }`],
      ] as const)
        it(`large ${what} ends at a limit, and the server continues (rule 14.7)`, async () => {
          const query$ = read(server().root, query);
          const waits = await readsDuring(`${server().root}small`, query$);
          const { status, text, isWhole } = await query$;
          if (status === 200) expect(isWhole, text.slice(0, 200)).to.equal(false);
          else expect(status, text).to.equal(422);
          expect(waits[0], 'the longest small read').to.be.below(2000 * slowness);
          expect(residentMb(server().pid)).to.be.below(1024);
          await answersAsk(server());
        });
    });
  });

  describe('with other clients', () => {
    inServer(
      { TIMEOUT_SECONDS: '20', MAX_CONCURRENT: '2', MAX_RESULTS: String(maxResults), MAX_ANSWER_MB: '512' },
      (server) => {
        const select = `SELECT ?ao ?bo { ${crossOf('abc')} }`;
        for (const [type, complete] of [
          ['application/sparql-results+json', (text: string) => JSON.parse(text)],
          ['application/sparql-results+xml', (text: string) => expect(text).to.match(/<\/sparql>\s*$/)],
          ['text/csv', undefined],
          ['text/tab-separated-values', undefined],
        ] as const)
          it(`rows above max-results abort ${type} (rule 14.6)`, async () => {
            const { status, text, isWhole } = await read(server().root, select, type);
            expect(status, text.slice(0, 500)).to.equal(200);
            expect(text.length).to.be.above(100_000);
            expect(isWhole, 'whole').to.equal(false);
            if (complete) expect(() => complete(text)).to.throw();
          });

        for (const [type, isStreamed] of [
          ['text/turtle', true],
          ['application/n-triples', true],
          ['application/trig', true],
          ['application/ld+json', false],
          ['application/rdf+xml', false],
        ] as const)
          it(`triples over max-results ${isStreamed ? 'break' : 'are 422 for'} ${type} (rule 14.6)`, async () => {
            const construct = `CONSTRUCT { ?a <${e}with> ?b . ?b <${e}of> ?a } { ${crossOf('ab')} }`;
            const { status, text, isWhole } = await read(server().root, construct, type);
            expect(status, text.slice(0, 500)).to.equal(isStreamed ? 200 : 422);
            expect(isWhole, 'whole').to.equal(!isStreamed);
          });

        it('an aborted HTTP/1.0 response is reset, since the end of the connection ends its body (rule 14.6)', async () => {
          const query = encodeURIComponent(`SELECT ?ao ?bo { ${crossOf('abc')} }`);
          const { host, hostname, port } = new URL(server().root);
          const ending = await new Promise((resolve) => {
            const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
            socket.write(`GET /.lws/sparql?query=${query} HTTP/1.0\r\nHost: ${host}\r\nAccept: text/csv\r\n\r\n`);
            socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
            // libuv reports a reset that arrives together with data as an end, and returns the error on the next write.
            socket
              .on('end', () => socket.write('?', (error) => resolve(error ? 'ECONNRESET' : 'as if it were whole')))
              .resume();
          });
          expect(ending).to.equal('ECONNRESET');
        });

        it('exactly max-results rows are returned complete (rule 14.7)', async () => {
          const query = `SELECT ?ao ?bo { ${crossOf('abc')} } LIMIT ${maxResults}`;
          const { status, text, isWhole } = await read(server().root, query, 'text/csv');
          expect([status, isWhole, text.split('\r\n').length - 2]).to.deep.equal([200, true, maxResults]);
        });

        it('a client that disconnects during its response ends its query (rule 14.7)', async () => {
          for (let i = 0; i < 2; i++) {
            const begun = await begin(server().root, `SELECT * { ${crossOf('abcd')} }`);
            expect(begun.status).to.equal(200);
            begun.abort();
          }
          const started = Date.now();
          await answersAsk(server());
          expect(Date.now() - started).to.be.below(15_000 * slowness);
        });

        it('a client that disconnects while queued releases its slot (rule 14.7)', async () => {
          const query = `SELECT (COUNT(*) AS ?n) { ${crossOf('abcdef')} }`;
          const leave = new AbortController();
          const many = Array.from({ length: 50 }, () =>
            fetch(`${server().root}.lws/sparql`, {
              method: 'POST',
              headers: { 'Content-Type': 'application/sparql-query' },
              body: query,
              signal: leave.signal,
            }).then(
              ({ status, headers }) => [status, headers.get('Retry-After')] as const,
              () => undefined,
            ),
          );
          // The first request without a slot is rejected immediately, and the others end with it.
          await Promise.race(many);
          await sleep(500);
          leave.abort();
          const answers = (await Promise.all(many)).filter((one) => one !== undefined);
          // One was running and 32 were queued.
          expect(answers.length).to.be.above(0);
          for (const [status, after] of answers) expect([status, Number(after) > 0]).to.deep.equal([503, true]);
          const started = Date.now();
          await answersAsk(server());
          expect(Date.now() - started).to.be.below(15_000 * slowness);
        });

        const size = 200;
        const version = (number: number): string =>
          Array.from({ length: size }, (_, i) => `<#t${i}> <${e}version> ${number} .`).join('\n');

        it('no query sees part of a PUT (rule 14.7)', async () => {
          const names = ['v0', 'v1', 'v2'].map((name) => server().root + name);
          for (const iri of names) await put(iri, version(0));
          let isOver = false;
          let written = 0;
          const writers = names.map(async (iri) => {
            for (let number = 1; !isOver; number++) {
              await put(iri, version(number), { 'If-Match': '*' });
              written++;
            }
          });
          const query = `SELECT ?g ?v (COUNT(?s) AS ?n) { GRAPH ?g { ?s <${e}version> ?v } } GROUP BY ?g ?v`;
          const other = `SELECT ?v (COUNT(*) AS ?n) { ?s <${e}version> ?v . ?s <${e}version> ?w } GROUP BY ?v`;
          const seen = new Set<string>();
          for (const until = Date.now() + 2000; Date.now() < until; ) {
            const found = await bindings(server().root, query);
            expect(found.map(({ g }) => g).sort()).to.deep.equal(names);
            for (const { g, v, n } of found) {
              expect(Number(n), `version ${v} of ${g}`).to.equal(size);
              seen.add(`${g} ${v}`);
            }
            const sum = (await bindings(server().root, other)).reduce((total, { n }) => total + Number(n), 0);
            expect(sum, 'a join of a resource with itself').to.equal(size * names.length);
          }
          isOver = true;
          await Promise.all(writers);
          expect(written).to.be.above(20);
          expect(seen.size, 'versions seen').to.be.above(1);
        });

        it('no query sees part of a recursive DELETE (rule 14.7)', async () => {
          const counts = new Set<number>();
          const query = `SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { ?s <${e}member> ?o } }`;
          for (let round = 0; round < 3; round++) {
            const container = `${server().root}tree${round}/`;
            await fetch(container, { method: 'PUT' });
            await Promise.all(
              Array.from({ length: 60 }, (_, i) => put(`${container}m${i}`, `<#it> <${e}member> ${i}, ${i + 1} .`)),
            );
            let isGone = false;
            const deletion = (async () => {
              await sleep(20 * round);
              const { status } = await fetch(container, { method: 'DELETE', headers: { Depth: 'infinity' } });
              expect(status).to.equal(204);
              isGone = true;
            })();
            const ask = async (): Promise<void> => {
              while (!isGone) counts.add(Number((await bindings(server().root, query))[0]!['n']));
              counts.add(Number((await bindings(server().root, query))[0]!['n']));
            };
            await Promise.all([ask(), ask(), deletion]);
          }
          expect([...counts].sort()).to.deep.equal([0, 60]);
        });

        it('a response that began before a write shows the state before it (rule 14.7)', async () => {
          const iri = `${server().root}slow`;
          await put(iri, `<#it> <${e}old> "${'o'.repeat(500)}" .`);
          // The written term comes last, after megabytes that the client has not read yet.
          const query = `SELECT ?t ?old ?new { { ${crossOf('ab')} ?a <${e}long> ?t } UNION { <${iri}#it> <${e}old> ?old }
          UNION { <${iri}#it> <${e}new> ?new } }`;
          const begun = await begin(server().root, query);
          await put(iri, `<#it> <${e}new> "${'n'.repeat(500)}" .`, { 'If-Match': '*' });
          const { text, isWhole } = await begun.rest();
          expect(isWhole).to.equal(true);
          expect(text.length).to.be.above(20_000_000);
          expect(text).to.include('o'.repeat(500));
          expect(text).not.to.include('n'.repeat(500));
          const after = await read(server().root, `SELECT * { <${iri}#it> ?p ?o }`);
          expect(after.text).to.include('n'.repeat(500));
        });

        it('a long response is not buffered, also for a slow client (rule 14.7)', async () => {
          const query = `SELECT ?t ?bo { ${crossOf('ab')} ?a <${e}long> ?t }`;
          expect((await read(server().root, query)).text.length).to.be.above(50_000_000);
          const before = residentMb(server().pid);
          const slow = await begin(server().root, query);
          await sleep(1500);
          const held = residentMb(server().pid);
          let most = held;
          let length = 0;
          let chunks = 0;
          for await (const chunk of slow.response) {
            length += (chunk as Buffer).length;
            if (++chunks % 32 === 0) most = Math.max(most, residentMb(server().pid));
          }
          expect(length).to.be.above(50_000_000);
          expect(held - before, 'while nothing is read').to.be.below(150);
          expect(most - before, 'while it is read').to.be.below(150);
        });
      },
    );
  });

  // A hundred million characters from a query of 2 KB: a single step over them cannot be interrupted.
  for (const [what, expression] of [
    ['STRLEN', 'STRLEN(?t17)'],
    ['SHA256', 'SHA256(?t17)'],
    ['REPLACE', 'STRLEN(REPLACE(?t17, "x", "yy"))'],
  ] as const)
    describe(`of ${what} of a text that doubles repeatedly`, () => {
      inServer({ TIMEOUT_SECONDS: '2' }, (server) => {
        it('ends in time, and the server continues (rule 14.7)', async () => {
          const doubled = Array.from({ length: 17 }, (_, i) => `BIND(CONCAT(?t${i}, ?t${i}) AS ?t${i + 1})`).join(' ');
          const query = `SELECT (${expression} AS ?r) { VALUES ?t0 { "${'x'.repeat(1000)}" } ${doubled} }`;
          const answer = read(server().root, query).then(({ status }) => status);
          const late = sleep(8000, 'no answer', { ref: false });
          expect(await Promise.race([answer, late])).to.be.oneOf([200, 422]);
          await answersAsk(server());
        });
      });
    });
});
