/**
 * Current W3C tests of SHACL Core (`W3C_TESTS`), over HTTP: the report of a dry run, and a write where the shapes are linked. Only
 * the properties of results that the suite compares are compared.
 */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory, Parser, Store } from 'n3';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { type Answer, request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { constrainedBy } from '../support/shapes.js';
import { currentFiles, currentSuites } from './suites.js';

const mf = 'http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#';
const sht = 'http://www.w3.org/ns/shacl-test#';
const sh = 'http://www.w3.org/ns/shacl#';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const base = 'https://w3c.example/';
const { namedNode, quad } = DataFactory;

interface ShapesTest {
  readonly id: string;
  readonly title: string;
  readonly data: string;
  readonly shapes: string;
  readonly report: Quad[];
  /** The report has a result with the severity sh:Violation. */
  readonly isRejected: boolean;
}

const named = (iri: string) => namedNode(iri);
const ofResult = ['focusNode', 'resultPath', 'value', 'resultSeverity', 'sourceConstraintComponent', 'sourceShape'];

/** Returns the report with the compared properties. */
function reportOf(store: Store, report: Term, withMessages: boolean): Quad[] {
  const found: Quad[] = [];
  const copy = (subject: Term, predicates: readonly string[] | undefined): Term[] => {
    const quads = store.getQuads(subject as never, null, null, null);
    const kept = quads.filter(({ predicate }) => !predicates || predicates.includes(predicate.value));
    for (const { predicate, object } of kept) found.push(quad(subject as never, predicate, object));
    return kept.map(({ object }) => object);
  };
  const copyPath = (node: Term): void => {
    if (node.termType === 'BlankNode') for (const inner of copy(node, undefined)) copyPath(inner);
  };
  copy(report, [`${sh}conforms`, `${sh}result`]);
  const compared = [...ofResult, ...(withMessages ? ['resultMessage'] : [])].map((name) => sh + name);
  for (const result of store.getObjects(report as never, named(`${sh}result`), null)) {
    copy(result, compared);
    for (const path of store.getObjects(result, named(`${sh}resultPath`), null)) copyPath(path);
  }
  return found;
}

function testsOf(files: Map<string, Buffer>): ShapesTest[] {
  return [...files].flatMap(([path, bytes]) => {
    if (!path.endsWith('.ttl')) return [];
    const store = new Store(new Parser({ baseIRI: base + path }).parse(bytes.toString()));
    return store.getSubjects(named(rdfType), named(`${sht}Validate`), null).map((test): ShapesTest => {
      const one = (node: Term, predicate: string): Term =>
        store.getObjects(node as never, named(predicate), null)[0] as Term;
      const text = (of: string): string =>
        files.get(one(one(test as Term, `${mf}action`), sht + of).value.slice(base.length))!.toString();
      const result = one(test as Term, `${mf}result`);
      const hasMessages = store.getQuads(null, named(`${sh}resultMessage`), null, null).length > 0;
      const report = reportOf(store, result, hasMessages);
      const isRejected = report.some(({ object }) => object.value === `${sh}Violation`);
      const title = one(test as Term, 'http://www.w3.org/2000/01/rdf-schema#label').value;
      return {
        title,
        id: path.replace(/\.ttl$/, ''),
        data: text('dataGraph'),
        shapes: text('shapesGraph'),
        report,
        isRejected,
      };
    });
  });
}

function expectReport(answer: Answer, { report }: ShapesTest): void {
  const store = new Store(new Parser({ baseIRI: base }).parse(answer.text));
  const [node] = store.getSubjects(named(rdfType), named(`${sh}ValidationReport`), null);
  const hasMessages = report.some(({ predicate }) => predicate.value === `${sh}resultMessage`);
  const actual = reportOf(store, node as Term, hasMessages);
  expect(isomorphic(actual, report), answer.text).to.equal(true);
}

const turtle = { 'Content-Type': 'text/turtle', Accept: 'text/turtle' };

/** Registers the tests in a block with a server. */
function describeTests(title: string, check: (server: Owned, test: ShapesTest) => Promise<void>): void {
  describe(title, function () {
    this.timeout(30_000);
    const tests = testsOf(currentFiles('data-shapes-test-suite/tests/core'));
    let server: Owned;
    before(async () => {
      server = new Owned(await startSpecServer({ settings: { 'shapes.enabled': 'true' } }));
    });
    after(() => server.server.stop());
    it('are 98', () => {
      expect(tests).to.have.length(98);
    });
    for (const test of tests) it(`${test.id}: ${test.title}`, () => check(server, test));
  });
}

class Owned {
  constructor(readonly server: SpecServer) {}

  send(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> {
    const { root, ownerToken } = this.server;
    return request(root + path, { method, headers: { ...headers, Authorization: `Bearer ${ownerToken}` }, body });
  }

  /** Stores the shapes of a test. @returns their IRI */
  async shapesOf({ id, shapes }: ShapesTest): Promise<string> {
    const path = `shapes-of-${id.replaceAll('/', '-')}`;
    expect((await this.send('PUT', path, turtle, shapes)).status).to.equal(201);
    return this.server.root + path;
  }
}

if (currentSuites) {
  describeTests('W3C tests of SHACL Core', async (server, test) => {
    const path = `.lws/validate?shapes=${encodeURIComponent(await server.shapesOf(test))}`;
    const answer = await server.send('POST', path, turtle, test.data);
    expect(answer.status, answer.text).to.equal(200);
    expectReport(answer, test);
  });

  describeTests('W3C tests of SHACL Core as writes', async (server, test) => {
    const href = await server.shapesOf(test);
    const container = `${test.id.replaceAll('/', '-')}/`;
    expect((await server.send('PUT', container, {})).status).to.equal(201);
    const links = { linkset: [{ [constrainedBy]: [{ href }] }] };
    const fields = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
    const linked = await server.send('PUT', `${container}.meta`, fields, JSON.stringify(links));
    expect(linked.status, linked.text).to.equal(204);
    const answer = await server.send('PUT', `${container}data`, turtle, test.data);
    expect(answer.status, answer.text).to.equal(test.isRejected ? 422 : 201);
    if (test.isRejected) expectReport(answer, test);
  });
}
