/** Rule 14.9, SPARQL 1.1 Federated Query: endpoints that fail, hang or return malicious responses. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { slowness } from '../support/patience.js';
import { ask, endpointOf, holds, rows, rowsOf } from '../support/sparql.js';
import { startSparqlEndpoint } from '../support/sparql-endpoint.js';
import { until } from '../support/until.js';
import { owner } from '../support/wac.js';

const e = 'https://e.example/hostile/';
const remote = await startSparqlEndpoint();
const foreign = await startSparqlEndpoint();
const unused = createServer();
await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve));
const closedPort = (unused.address() as AddressInfo).port;
await new Promise((resolve) => unused.close(resolve));
after(() => {
  remote.close();
  foreign.close();
});

const x = { type: 'literal', value: 'x' };
const body = (bindings: unknown): string => JSON.stringify({ head: { vars: ['v'] }, results: { bindings } });
const term = (value: unknown): string => body([{ v: x }, { v: value }]);
const url = (path: string): string => `http://${remote.authority}${path}`;

/** Failures by cause, and their status without SILENT. */
const failures: (readonly [what: string, endpoint: string, status: number])[] = [
  ...([400, 401, 404, 500, 503, 204, 206] as const).map(
    (status) =>
      [`the status ${status}`, remote.text(`/status${status}`, status === 204 ? '' : body([]), status), 502] as const,
  ),
  ['a refused connection', `http://127.0.0.1:${closedPort}/`, 502],
  ['a name that does not exist', 'http://no-such-name.invalid/', 502],
  ['a connection that is broken', remote.answer('/broken', (res) => res.socket?.destroy()), 502],
  [
    'an aborted response',
    remote.answer('/short', (res) => {
      res.writeHead(200, { 'Content-Length': 1000 });
      res.write('{"head":{}', () => res.socket?.destroy());
    }),
    502,
  ],
  ...([301, 302, 303, 307, 308] as const).map(
    (status) =>
      [
        `a redirect (${status})`,
        remote.answer(`/redirect${status}`, (res) => res.writeHead(status, { Location: foreign.url }).end()),
        502,
      ] as const,
  ),
  ['a redirect to itself', remote.answer('/loop', (res) => res.writeHead(307, { Location: url('/loop') }).end()), 502],
  [
    'a response with a content coding',
    remote.answer('/gzip', (res) => res.writeHead(200, { 'Content-Encoding': 'gzip' }).end('x')),
    502,
  ],
  [
    'a response with an excessive Content-Length',
    remote.answer('/announced', (res) =>
      res.writeHead(200, { 'Content-Length': 9 << 20 }).end(Buffer.alloc(9 << 20, ' ')),
    ),
    422,
  ],
  [
    'an endless response',
    remote.answer('/endless', (res) => {
      const more = (): void => {
        if (!res.destroyed) res.write(Buffer.alloc(1 << 20, ' '), () => setImmediate(more));
      };
      res.writeHead(200);
      more();
    }),
    422,
  ],
  ['a missing response', remote.answer('/never', () => {}), 502],
  [
    'a very slow response',
    remote.answer('/drip', (res) => {
      res.writeHead(200);
      const timer = setInterval(() => res.write(' '), 100);
      res.on('close', () => clearInterval(timer));
    }),
    502,
  ],
  ...(
    [
      ['nothing', ''],
      ['HTML', '<!DOCTYPE html><p>top-secret-page</p>'],
      ['XML', '<sparql xmlns="http://www.w3.org/2005/sparql-results#"/>'],
      ['JSON that is cut', body([{ v: x }]).slice(0, -1)],
      ['a number', '1'],
      ['null', 'null'],
      ['an array', '[]'],
      ['a boolean result', '{"head":{},"boolean":true}'],
      ['no bindings', '{"head":{},"results":{}}'],
      ['bindings that are not an array', body({})],
      ['a binding that is not an object', body([1])],
      ['a binding that is null', body([null])],
      ['a term that is null', term(null)],
      ['a term that is a text', term('x')],
      ['a term without a type', term({ value: 'x' })],
      ['a term of another type', term({ type: 'thing', value: 'x' })],
      ['a term of an inherited type', term({ type: 'constructor', value: 'x' })],
      ['a triple term', term({ type: 'triple', value: { subject: x, predicate: x, object: x } })],
      ['a value that is a number', term({ type: 'literal', value: 1 })],
      ['a relative IRI', term({ type: 'uri', value: 'x' })],
      ['an IRI with a blank', term({ type: 'uri', value: 'http://x/ y' })],
      ['an IRI that breaks out', term({ type: 'uri', value: 'http://x/> } INSERT' })],
      ['an IRI with U+0000', term({ type: 'uri', value: 'http://x/\u0000\u0000y' })],
      ['an IRI that looks like a token', term({ type: 'uri', value: '\u00013000x' })],
      ['an IRI that is too long', term({ type: 'uri', value: `http://x/${'y'.repeat(1_700_000)}` })],
      ['a literal that is too long', term({ type: 'literal', value: 'y'.repeat(1_700_000) })],
      ['a lone surrogate', body([{ v: x }]).replace('"x"', '"\\ud800"')],
      ['an invalid language', term({ type: 'literal', value: 'x', 'xml:lang': 'e\u0000n' })],
      ['a language that is empty', term({ type: 'literal', value: 'x', 'xml:lang': '' })],
      ['a language that is a number', term({ type: 'literal', value: 'x', 'xml:lang': 1 })],
      ['an invalid datatype', term({ type: 'literal', value: 'x', datatype: 'a b' })],
      ['a datatype that is a number', term({ type: 'literal', value: 'x', datatype: 1 })],
      ['a datatype with U+0000', term({ type: 'literal', value: 'x', datatype: 'a:\u0000' })],
      [
        'a language without a language',
        term({ type: 'literal', value: 'x', datatype: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString' }),
      ],
      ['an unknown base direction', term({ type: 'literal', value: 'x', 'xml:lang': 'en', 'its:dir': 'up' })],
      ['a triple term that is not one', term({ type: 'triple', value: { subject: { type: 'literal', value: 'x' } } })],
      ['an object as value', term({ type: 'bnode', value: {} })],
    ] as const
  ).map(([what, text], index) => [what, remote.text(`/garbage${index}`, text), 502] as const),
  [
    'bytes that are not UTF-8',
    remote.text('/latin', Buffer.from(term({ type: 'literal', value: 'é' }), 'latin1')),
    502,
  ],
  ['an array nested too deeply', remote.text('/deep', '['.repeat(1_000_000)), 502],
];

const settings = {
  owners: owner.did,
  'sparql.endpoint.timeout-seconds': '5',
  'sparql.endpoint.max-concurrent': '2',
  'sparql.endpoint.allowed-services': `${remote.authority},127.0.0.1:${closedPort},no-such-name.invalid`,
};

describeStorage(
  'SPARQL SERVICE of hostile endpoints',
  (s) => {
    before(async () => {
      await s.stored('text/turtle', `<${e}a> <${e}p> "own" .`);
      await holds(s, 'ASK {}');
    });
    beforeEach(() => {
      remote.forget();
      foreign.forget();
    });

    for (const [what, endpoint, status] of failures) {
      it(`SPARQL 1.1 Federated Query 2.3, rule 14.9: ${what} is an error that reveals no address`, async () => {
        const answer = await ask(s, `SELECT * { ?a <${e}p> ?b . SERVICE <${endpoint}> { ?a ?p ?v } }`);
        expectProblem(answer, status, s);
        const { detail } = JSON.parse(answer.text) as { detail: string };
        expect(detail).to.include(endpoint);
        expect(detail.replaceAll(endpoint, '')).not.to.match(
          /127\.0\.0\.1|::1|localhost|ECONN|ENOTFOUND|secret|DOCTYPE/,
        );
        expect(foreign.connections).to.equal(0);
      });

      it(`SPARQL 1.1 Federated Query 2.3: ${what} with SILENT is one empty solution`, async () => {
        const silent = `SERVICE SILENT <${endpoint}>`;
        expect(await rows(s, `SELECT ?b ?v { ?a <${e}p> ?b . ${silent} { ?a ?p ?v } }`)).to.deep.equal(['own -']);
        expect(foreign.connections).to.equal(0);
      });
    }

    it('several hanging SILENT endpoints leave time for the result (rule 14.9)', async () => {
      const hanging = [1, 2, 3].map((n) => `SERVICE SILENT <${url('/never')}> { ?a${n} ?p${n} ?v }`).join(' ');
      const started = Date.now();
      expect(await rows(s, `SELECT ?b ?v { ?a <${e}p> ?b . ${hanging} }`)).to.deep.equal(['own -']);
      expect(Date.now() - started).to.be.below(5000 * slowness);
    });

    it('queries that wait for remote endpoints do not block other clients (rule 14.7)', async () => {
      const waiting = Array.from({ length: 4 }, () => ask(s, `ASK { SERVICE <${url('/never')}> { ?s ?p ?o } }`));
      await until(() => remote.asked.length > 0);
      expect((await s.get(s.scratch)).status).to.equal(200);
      for (const answer of await Promise.all(waiting)) expectProblem(answer, 502, s);
      expect(await holds(s, 'ASK {}')).to.equal(true);
    });

    it('a response of 8 MB is read, and the server continues (rule 14.9)', async () => {
      const many = Array.from({ length: 60_000 }, (_, i) => ({ v: { type: 'uri', value: `${e}${i}` }, w: x }));
      const text = body(many);
      expect(text.length).to.be.within(5 << 20, 8 << 20);
      const endpoint = remote.text('/large', text);
      expect(await rows(s, `SELECT (COUNT(DISTINCT ?v) AS ?n) { SERVICE <${endpoint}> { ?v ?w ?x } }`)).to.deep.equal([
        '60000',
      ]);
      expect(await rows(s, `SELECT ?b { SERVICE <${endpoint}> { ?v ?w ?x } ?v <${e}p> ?b }`)).to.deep.equal([]);
    });

    it('millions of empty rows end at a limit (rule 14.7)', async () => {
      const endpoint = remote.text('/empty', `{"results":{"bindings":[${'{},'.repeat(2_700_000)}{}]}}`);
      const wide = Array.from({ length: 100 }, (_, i) => `?s${i} ?p${i} ?o${i} .`).join(' ');
      const answer = await ask(s, `SELECT (COUNT(*) AS ?n) { SERVICE <${endpoint}> { ${wide} } }`);
      expectProblem(answer, 422, s);
      expect(await holds(s, 'ASK {}')).to.equal(true);
    });

    it('terms are returned unchanged, and unrequested variables are dropped (rule 14.9)', async () => {
      const xsd = 'http://www.w3.org/2001/XMLSchema#';
      const terms = [
        { type: 'literal', value: '' },
        { type: 'literal', value: 'a\u0000b\u0001\uffff "\\\n\u{1f600}' },
        { type: 'literal', value: 'x', 'xml:lang': 'en-gb' },
        { type: 'literal', value: '010', datatype: `${xsd}integer` },
        { type: 'literal', value: 'abc', datatype: `${xsd}integer` },
        { type: 'literal', value: 'not a day', datatype: `${xsd}dateTime` },
        { type: 'literal', value: '2024-01-01T00:00:00Z', datatype: `${xsd}dateTime` },
        { type: 'literal', value: '<b/>', datatype: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral' },
        { type: 'literal', value: 'y'.repeat(100_000) },
        { type: 'uri', value: 'urn:x:é' },
        { type: 'uri', value: 'javascript:alert(1)' },
      ];
      const endpoint = remote.rows(
        '/terms',
        terms.map((v) => ({ v, __proto__: x, other: x, constructor: x })),
      );
      const answer = await ask(s, `SELECT * { SERVICE <${endpoint}> { ?v ?constructor2 ?toString } }`);
      rowsOf(answer);
      const { results } = JSON.parse(answer.text) as { results: { bindings: { v: unknown }[] } };
      const sorted = (list: readonly unknown[]): string[] =>
        list.map((one) => JSON.stringify(one, Object.keys(one as object).sort())).sort();
      expect(sorted(results.bindings.map(({ v }) => v))).to.deep.equal(sorted(terms));
      expect(results.bindings.every((binding) => Object.keys(binding).join() === 'v')).to.equal(true);
    });

    it('RDF 1.1 Semantics 5, rule 14.9: blank nodes of different responses and of the storage are distinct', async () => {
      const { iri } = await s.stored('text/turtle', `<${e}blank> <${e}b> [ <${e}c> 1 ] .`);
      const [label] = await rows(s, `SELECT ?v { <${e}blank> <${e}b> ?v }`);
      const node = (value: string) => ({ v: { type: 'bnode', value }, w: { type: 'bnode', value: `${value}w` } });
      const one = remote.rows('/bnodes1', [node(label!), node('b0'), node('b0')]);
      const two = remote.rows('/bnodes2', [node('b0'), node('a b\u0000\n<>')]);
      const all = await ask(s, `SELECT * { SERVICE <${one}> { ?v ?p ?w } }`);
      const labels = (
        JSON.parse(all.text) as { results: { bindings: { v: { value: string } }[] } }
      ).results.bindings.map(({ v }) => v.value);
      expect(new Set(labels).size).to.equal(2);
      expect(labels.includes(label!)).to.equal(false);
      expect(labels.every((text) => /^\w+$/.test(text))).to.equal(true);
      expect(await rows(s, `SELECT * { SERVICE <${one}> { ?v ?p ?w } SERVICE <${two}> { ?v ?q ?x } }`)).to.deep.equal(
        [],
      );
      expect(await rows(s, `SELECT * { SERVICE <${one}> { ?v ?p ?w } ?v <${e}c> ?x }`)).to.deep.equal([]);
      expect(await rows(s, `SELECT * { <${e}blank> <${e}b> ?v . SERVICE <${one}> { ?v ?p ?w } }`)).to.deep.equal([]);
      expect(remote.asked.at(-1)!.query).not.to.include('VALUES');
      await s.delete(iri);
    });

    it('a response that contradicts its request changes no local row (rule 14.6)', async () => {
      const endpoint = remote.rows('/liar', [
        { a: { type: 'uri', value: `${e}other` }, b: x },
        { b: { type: 'literal', value: 'own' } },
        {},
      ]);
      const query = `SELECT ?a ?b { ?a <${e}p> ?b . SERVICE <${endpoint}> { ?a ?p ?b } }`;
      expect(await rows(s, query)).to.deep.equal([`${e}a own`, `${e}a own`]);
      const optional = `SELECT ?a ?b ?c { ?a <${e}p> ?b OPTIONAL { SERVICE <${endpoint}> { ?a ?c ?b } FILTER(?b = "none") } }`;
      expect(await rows(s, optional)).to.deep.equal([`${e}a own -`]);
    });

    for (const [what, expression] of [
      ['an invalid IRI', 'IRI("http://x/> } } SELECT * { ?s ?p ?o } #")'],
      ['an invalid datatype', 'STRDT("x", IRI("a:> } #"))'],
      ['an escape that some read early', '"\\\\u0022 } #"'],
      ['a quotation mark', '"\\") } #"'],
      ['a blank node', 'BNODE()'],
    ] as const)
      it(`computed terms do not break out of VALUES: ${what} (rule 14.6)`, async () => {
        const endpoint = remote.rows('/values', []);
        const answer = await ask(
          s,
          `SELECT * { { SELECT (${expression} AS ?v) { ?a <${e}p> ?b } } SERVICE <${endpoint}> { ?s ?p ?v } }`,
        );
        if (answer.status === 422) return;
        rowsOf(answer);
        const [, values = ''] = remote.asked[0]!.query.split('VALUES');
        expect(values).to.match(/^$|^ \(\?v\) \{ \("\\"\) \} #"\) \}$/);
      });

    it('the log contains details of failures that the client does not see (rule 14.9)', async () => {
      expectProblem(await ask(s, `ASK { SERVICE <http://127.0.0.1:${closedPort}/> { ?s ?p ?o } }`), 502, s);
      const line = s.server!.log.find(({ msg }) => msg === 'a SERVICE failed');
      expect(line).to.include({ service: `127.0.0.1:${closedPort}` });
      expect(line!['reason']).to.include('ECONNREFUSED');
    });
  },
  { settings, owner },
);

describeStorage(
  'SPARQL SERVICE of itself',
  (s: StorageUnderTest) => {
    it('is queried like another endpoint, and recursion ends (rule 14.9)', async () => {
      const own = endpointOf(s);
      // Both threads are loaded, which counts against the time of a waiting query.
      await Promise.all([ask(s, 'ASK {}'), ask(s, 'ASK {}', {}, s.stranger)]);
      const inner = `SERVICE SILENT <${own}> { ?s ?p ?o }`;
      expect(await rows(s, `SELECT (COUNT(*) AS ?n) { ${inner} }`)).to.deep.equal(['0']);
      const deep = Array.from({ length: 8 }).reduce<string>(
        (text) => `SERVICE SILENT <${own}> { ${text} }`,
        '?s ?p ?o',
      );
      expect((await ask(s, `SELECT * { ${deep} }`)).status).to.equal(200);
      expect(await holds(s, 'ASK {}')).to.equal(true);
    });
  },
  {
    settings: {
      owners: owner.did,
      'sparql.endpoint.timeout-seconds': '3',
      'sparql.endpoint.max-concurrent': '2',
      'sparql.endpoint.allowed-services': 'localhost',
    },
    owner,
  },
);
