/**
 * W3C tests of SPARQL Update (data/README.md), over HTTP against a separate server.
 *
 * Graphs are resources: `http://example.org/g1` becomes `g1` in a container of the test, in updates and in data. The default
 * graph of this server is a read-only union. The default graph of a test is therefore a graph of the container, too, and the
 * update names it: DEFAULT becomes that graph, LOAD and data without GRAPH refer to it, and operations with WHERE get WITH, USING
 * and USING NAMED unless they have them. Operations are not changed otherwise. An absent graph is empty. With
 * `lws.sparql.endpoint.default-graph` (rule 14.17), only names of graphs are changed.
 *
 * Syntax tests are sent unchanged. A valid update may be rejected for other reasons than its syntax.
 */

import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { type GraphFiles, readUpdateFile, textOfGraph, type UpdateTest, updateTests } from './update-manifests.js';

const names = ['default', 'g1', 'g2', 'g3', 'g4'];

/** Failing tests by reason. A listed test that passes fails the spec. */
const skipped: Readonly<Record<string, readonly string[]>> = {
  'ALL and NAMED are rejected: they would affect every resource of the storage': [
    'clear#dawg-clear-all-01',
    'clear#dawg-clear-named-01',
    'drop#dawg-drop-all-01',
    'drop#dawg-drop-named-01',
  ],
};
const reasons = new Map(Object.entries(skipped).flatMap(([reason, ids]) => ids.map((id) => [id, reason] as const)));

/** Returns the update with a name for the default graph. */
function withNames(text: string, base: string): string {
  const graph = `<${base}default>`;
  const named = names
    .slice(1)
    .map((name) => `USING NAMED <${base}${name}>`)
    .join(' ');
  const inGraph = (operation: string): string => {
    const plain = operation.replace(/\bDEFAULT\b/g, `GRAPH ${graph}`);
    if (/\bLOAD\b/.test(plain) && !/\bINTO\b/.test(plain)) return `${plain} INTO GRAPH ${graph}`;
    const data = /^(.*\b(?:DATA|DELETE\s+WHERE)\s*)\{(.*)\}(\s*)$/is.exec(plain);
    if (data) return /\bGRAPH\b/i.test(data[2]!) ? plain : `${data[1]}{ GRAPH ${graph} {${data[2]}} }${data[3]}`;
    if (!/\bWHERE\b/i.test(plain) || /\bWITH\b/i.test(plain)) return plain;
    const own = plain.replace(/\b(?:DELETE|INSERT)\b/i, (word) => `WITH ${graph} ${word}`);
    return /\bUSING\b/i.test(own) ? own : own.replace(/\bWHERE\b/i, `USING ${graph} ${named} WHERE`);
  };
  return text
    .replace(/^\s*#.*$/gm, '')
    .split(/;(?=\s*(?:INSERT|DELETE|DROP)\b)/i)
    .map(inGraph)
    .join(';');
}

for (const [title, hasDefault] of [
  ['W3C SPARQL Update tests', false],
  ['W3C SPARQL Update tests with a default graph (rule 14.17)', true],
] as const)
  describe(title, () => register(hasDefault));

function register(hasDefault: boolean): void {
  let server: SpecServer;
  before(async () => {
    const given = hasDefault ? { 'sparql.endpoint.default-graph': 'default' } : {};
    server = await startSpecServer({ settings: { 'dev.open': 'true', 'sparql.endpoint.update': 'true', ...given } });
  });
  after(() => server.stop());

  const send = (update: string) =>
    request(`${server.root}.lws/sparql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sparql-update' },
      body: update,
    });

  const put = (iri: string, body?: string) =>
    request(iri, { method: 'PUT', headers: body === undefined ? {} : { 'Content-Type': 'text/turtle' }, body });

  const clear = (iri: string) => request(iri, { method: 'DELETE', headers: { Depth: 'infinity' } });

  const renamed = (text: string, base: string): string =>
    text.replace(/http:\/\/(?:www\.)?example(?:\.(?:org|com))?(?:\/?(?=>)|\/)/g, (name) =>
      name.endsWith('/') && !name.includes('www') ? base : `${base}w`,
    );

  async function graph(iri: string): Promise<Quad[]> {
    const answer = await request(iri, { headers: { Accept: 'application/n-triples' } });
    if (answer.status === 404) return [];
    expect(answer.status, answer.text).to.equal(200);
    return new Parser().parse(answer.text);
  }

  async function evaluate({ id, update, before, after }: UpdateTest): Promise<void> {
    // A name without SPARQL keywords, because withNames() searches the update for them.
    const base = `${server.root}t${hasDefault ? '' : updateTests.findIndex((test) => test.id === id)}/`;
    const textOf = (files: GraphFiles, name: string): string => renamed(textOfGraph(files, name), base);
    const iriOf = (name: string): string => (hasDefault && name === 'default' ? server.root : base) + name;
    if (hasDefault) for (const iri of [iriOf('default'), base]) await clear(iri);
    expect((await put(base)).status).to.equal(201);
    const inFile = names.filter((name) => textOf(before, name) !== '');
    for (const name of new Set(['default', ...before.keys(), ...inFile]))
      expect((await put(iriOf(name), textOf(before, name))).status).to.be.oneOf([201, 428]);
    const named = renamed(readUpdateFile(update), base);
    const sent = hasDefault ? named : withNames(named, base);
    const answer = await send(sent);
    expect(answer.status, `${sent}\n--- ${answer.text}`).to.equal(200);
    for (const name of names) {
      const wanted = new Parser({ baseIRI: iriOf(name) }).parse(textOf(after, name));
      const found = await graph(iriOf(name));
      const report = `${sent}\n--- ${name} has ${found.length} triples, expected ${wanted.length}`;
      expect(isomorphic(found, wanted), report).to.equal(true);
    }
  }

  async function parse({ update, kind }: UpdateTest): Promise<void> {
    const { status, text } = await send(readUpdateFile(update));
    const isUnreadable = status === 400 && text.includes(':malformed-body');
    expect(isUnreadable, `${readUpdateFile(update)}\n--- ${status} ${text}`).to.equal(kind === 'negative');
  }

  it('contains all tests', () => expect(updateTests.length).to.be.at.least(156));
  for (const test of updateTests) {
    const title = `${test.id}: ${test.name}`;
    const reason = reasons.get(test.id);
    const run = (): Promise<void> => (test.kind === 'evaluation' ? evaluate(test) : parse(test));
    if (reason === undefined) it(title, run);
    else
      it(`${title} [fails: ${reason}]`, async () => {
        const passes = await run().then(
          () => true,
          () => false,
        );
        expect(passes, 'passes: remove it from the list').to.equal(false);
      });
  }
}
