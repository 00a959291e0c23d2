/**
 * Current W3C tests of the SPARQL 1.1 Protocol (`W3C_TESTS`), over HTTP against a separate server. Graphs are resources: those of
 * a test are renamed into a container of the test. A CLEAR ALL or DROP ALL before other operations is removed, because it would
 * affect every resource of the storage (rule 14.11) and the container is empty.
 */
import { expect } from 'chai';
import { Parser, Store } from 'n3';
import { type Answer, request } from '../support/http.js';
import { mediaType } from '../support/rdf.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import type { Results } from '../support/sparql.js';
import { currentFiles, currentSuites } from './suites.js';

const mf = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#';
const ht = 'http://www.w3.org/2011/http#';
const cnt = 'http://www.w3.org/2011/content#';
const ut = 'http://www.w3.org/2009/sparql/tests/test-update#';
const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const base = 'https://w3c.example/';

/** Failing tests by reason. */
const skipped: Readonly<Record<string, readonly string[]>> = {
  'rule 14.11: ALL is rejected': ['update_post_form', 'update_post_direct'],
};

interface ProtocolRequest {
  readonly method: string;
  /** Query string after the path of the endpoint, or empty. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly encoding: string;
  /** `2`, `3` or `4`. */
  readonly statusClasses: readonly string[];
  readonly boolean?: boolean;
  readonly format?: string;
}

interface ProtocolTest {
  readonly name: string;
  readonly title: string;
  /** Texts of graphs by name. */
  readonly graphs: ReadonlyMap<string, string>;
  readonly requests: readonly ProtocolRequest[];
}

type Node = Parameters<Store['getObjects']>[0];

class Manifest {
  private readonly files = currentFiles('sparql/sparql11/protocol');
  private readonly store = new Store(
    new Parser({ baseIRI: base }).parse(this.files.get('manifest.ttl')!.toString('utf8')),
  );
  private readonly lists = this.store.extractLists();

  private readonly objects = (node: Node, predicate: string) => this.store.getObjects(node, predicate, null);
  private readonly value = (node: Node, predicate: string): string | undefined =>
    this.objects(node, predicate)[0]?.value;
  private readonly list = (node: Node, predicate: string): readonly Node[] =>
    this.objects(node, predicate).flatMap(({ value }) => this.lists[value] ?? []) as never;

  tests(): ProtocolTest[] {
    return this.list(null, `${mf}entries`).map((test) => {
      const iri = (test as { value: string }).value;
      const graphs = this.objects(test, `${ut}graphData`).map((graph): [string, string] => {
        const file = this.value(graph as never, `${ut}graph`)!.slice(base.length);
        return [this.value(graph as never, label)!, this.files.get(file)!.toString('utf8')];
      });
      const [action] = this.objects(test, `${mf}action`);
      return {
        name: iri.slice(iri.indexOf('#') + 1),
        title: this.value(test, `${mf}name`)!,
        graphs: new Map(graphs),
        requests: this.list(action as never, `${ht}requests`).map((each) => this.request(each)),
      };
    });
  }

  private request(node: Node): ProtocolRequest {
    const [response, body] = ['resp', 'body'].map((name) => this.objects(node, ht + name)[0]) as [
      Node,
      Node | undefined,
    ];
    const headers = this.list(node, `${ht}headers`).map((header): [string, string] => [
      this.value(header, `${ht}fieldName`)!,
      this.value(header, `${ht}fieldValue`)!,
    ]);
    const boolean = this.value(response, `${mf}expectedBoolean`);
    const format = this.value(response, `${mf}expectedFormat`);
    return {
      method: this.value(node, `${ht}methodName`)!,
      search: this.value(node, `${ht}absolutePath`)!.replace(/^\/sparql\//, ''),
      headers: Object.fromEntries(headers),
      encoding: (body && this.value(body, `${cnt}characterEncoding`)) ?? 'UTF-8',
      statusClasses: this.objects(response, `${mf}expectedStatus`).map(({ value }) => /(\d)xx$/.exec(value)![1]!),
      ...(body ? { body: this.value(body, `${cnt}chars`)! } : {}),
      ...(boolean !== undefined && { boolean: boolean === 'true' }),
      ...(format !== undefined && { format }),
    };
  }
}

const tabular = /^(?:application\/sparql-results\+(?:json|xml)|text\/csv|text\/tab-separated-values)$/;
const rdf = /^(?:text\/turtle|application\/(?:n-triples|ld\+json|rdf\+xml|trig))$/;

/** Asserts the expected status, format and boolean of a response. */
function check(answer: Answer, { statusClasses, boolean, format }: ProtocolRequest, sent: string): void {
  const report = `${sent}\n--- ${answer.status} ${answer.text}`;
  expect(statusClasses, report).to.include(String(answer.status).charAt(0));
  if (format === 'RDF') expect(mediaType(answer), report).to.match(rdf);
  else if (format !== undefined) expect(mediaType(answer), report).to.match(tabular);
  if (boolean !== undefined) expect((JSON.parse(answer.text) as Results).boolean, report).to.equal(boolean);
}

if (currentSuites) {
  describe('W3C SPARQL Protocol tests', () => register({}));
  describe('W3C SPARQL Protocol tests with a default graph (rule 14.17)', () =>
    register({ 'sparql.endpoint.default-graph': 'default' }));
}

function register(given: Readonly<Record<string, string>>): void {
  let server: SpecServer;
  before(async () => {
    server = await startSpecServer({ settings: { 'dev.open': 'true', 'sparql.endpoint.update': 'true', ...given } });
  });
  after(() => server.stop());

  const put = async (iri: string, body?: string): Promise<void> => {
    const headers = body === undefined ? {} : { 'Content-Type': 'text/turtle' };
    expect((await request(iri, { method: 'PUT', headers, body })).status).to.equal(201);
  };

  async function run({ name, graphs, requests }: ProtocolTest): Promise<void> {
    const container = `${server.root}${name}/`;
    const renamed = (text: string): string =>
      text
        .replace(/http:\/\/kasei\.us\/2009\/09\/sparql\/data\//g, container)
        .replace(/http%3A%2F%2Fkasei\.us%2F2009%2F09%2Fsparql%2Fdata%2F/g, encodeURIComponent(container))
        .replace(/http:\/\/example\.org\/(protocol-[\w-]+)\//g, `${container}$1`)
        .replace(/\b(?:CLEAR|DROP) ALL ;/g, '');
    await put(container);
    for (const [graph, text] of graphs) await put(renamed(graph), renamed(text));
    for (const each of requests) {
      const body = each.body === undefined ? undefined : renamed(each.body);
      const answer = await request(`${server.root}.lws/sparql${renamed(each.search)}`, {
        method: each.method,
        headers: {
          ...each.headers,
          ...(each.format === 'boolean' ? { Accept: 'application/sparql-results+json' } : {}),
        },
        body: body === undefined ? undefined : Buffer.from(body, each.encoding === 'UTF-16' ? 'utf16le' : 'utf8'),
      });
      check(answer, each, `${each.method} ${renamed(each.search)}\n${body}`);
    }
  }

  const tests = new Manifest().tests();
  const reasons = new Map(Object.entries(skipped).flatMap(([reason, names]) => names.map((name) => [name, reason])));
  it('contains all tests', () => expect(tests).to.have.length(34));
  it('skips existing tests only', () => {
    const known = tests.map(({ name }) => name);
    for (const name of reasons.keys()) expect(known).to.include(name);
  });
  for (const test of tests) {
    const reason = reasons.get(test.name);
    if (reason === undefined) it(`${test.name}: ${test.title}`, () => run(test));
    else
      it(`${test.name}: ${test.title} [fails: ${reason}]`, async () => {
        const passes = await run(test).then(
          () => true,
          () => false,
        );
        expect(passes, 'passes: remove it from the list').to.equal(false);
      });
  }
}
