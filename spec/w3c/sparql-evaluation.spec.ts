/**
 * W3C tests of SPARQL queries (data/README.md), over HTTP against a separate server.
 *
 * Each file of a test becomes a resource: `data-r2/graph/data-g1.ttl` is PUT to `{storage root}data-r2/graph/data-g1.ttl`, so
 * that relative IRIs in files, queries and results resolve against that folder. Queries are prefixed with `BASE <IRI of the
 * file>`, because their base would otherwise be the endpoint. The default graph of this server is a union, so each request names
 * its dataset: `default-graph-uri` for the default graph and `named-graph-uri` for the others, unless the query has FROM or FROM
 * NAMED. An empty dataset is a nonexistent graph. Results are requested in the format of the expected result, or as JSON if the
 * server does not support that format. Thus the formats are tested, too.
 *
 * A named graph of a TriG file is a resource, too, whose IRI is replaced by the name in the result.
 *
 * Solutions are compared in order if the result is numbered or the query ends with ORDER BY, otherwise as a multiset. Language
 * tags are case-insensitive. Deviations are in skipped.ts.
 */
import { expect } from 'chai';
import { request } from '../support/http.js';
import { mediaType } from '../support/rdf.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { encoded, formType, resultsJson } from '../support/sparql.js';
import { graphsOfFile, hasNamedGraphs, linesOf } from './datasets.js';
import { type EvaluationTest, readDataFile, type SyntaxTest, type W3cTest, w3cTests } from './manifests.js';
import { isNumbered, mediaTypeOf, readOutcome } from './outcomes.js';
import { outcomeText, sameOutcome } from './same-outcome.js';
import { comparedByValue, comparedWithoutOrder, knownFailing, otherwise } from './skipped.js';
import { currentSuites } from './suites.js';

type Parameters = readonly (readonly [string, string])[];

/** Result of a test with and without its exceptions, with a report for the assertion message. */
interface Verdict {
  readonly passes: boolean;
  readonly passesStrictly: boolean;
  readonly status: number;
  readonly report: string;
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

const reasonsOf = (reasons: Readonly<Record<string, readonly string[]>>): Map<string, string> =>
  new Map(Object.entries(reasons).flatMap(([reason, ids]) => ids.map((id) => [id, reason] as const)));

describe('W3C SPARQL tests', () => {
  let server: SpecServer;
  const stored = new Set<string>();
  before(async () => {
    server = await startSpecServer({ settings: { 'dev.open': 'true' } });
    const folders = new Set(w3cTests.map(({ query }) => folderOf(query)));
    for (const folder of ['data-r2/', 'data-sparql11/', 'data-sparql12/', ...folders]) await put(folder, {});
  });
  after(() => server.stop());

  const iriOf = (path: string): string => server.root + path;

  async function put(path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<void> {
    const answer = await request(iriOf(path), { method: 'PUT', headers, body });
    expect(answer.status, `${path}: ${answer.text}`).to.equal(201);
  }

  /** Names of the resources for named graphs in files, with the names in the files. */
  const namesInFiles = new Map<string, string>();
  const namesIn = (path: string): string[] => [...namesInFiles.keys()].filter((name) => name.startsWith(`${path}.`));

  async function store(path: string): Promise<void> {
    if (stored.has(path)) return;
    stored.add(path);
    if (hasNamedGraphs(path)) {
      const { own, named } = await graphsOfFile(path, iriOf(path));
      const type = { 'Content-Type': 'application/n-triples' };
      await put(path, type, linesOf(own));
      for (const [name, quads] of named) {
        const resource = `${path}.${name.slice(name.lastIndexOf('/') + 1)}`;
        namesInFiles.set(resource, name);
        await put(resource, type, linesOf(quads));
      }
      return;
    }
    await put(path, { 'Content-Type': mediaTypeOf(path) }, readDataFile(path));
  }

  const send = (query: string, dataset: Parameters, Accept: string) =>
    request(`${server.root}.lws/sparql`, {
      method: 'POST',
      headers: { 'Content-Type': formType, Accept },
      body: encoded([['query', query], ...dataset]),
    });

  const nothing = (): Parameters => [['default-graph-uri', iriOf('nothing')]];

  async function evaluate(test: EvaluationTest): Promise<Verdict> {
    const text = readDataFile(test.query);
    const from = [...text.matchAll(/\bFROM\s+(?:NAMED\s+)?<([^>]*)>/gi)].map(([, iri]) => folderOf(test.query) + iri);
    for (const path of [...test.data, ...test.graphs, ...from]) await store(path);
    // Parameters would replace the dataset of a query with FROM.
    const named =
      from.length > 0
        ? []
        : [
            ...test.data.map((path) => ['default-graph-uri', iriOf(path)] as const),
            ...[...test.graphs, ...test.data.flatMap(namesIn)].map((path) => ['named-graph-uri', iriOf(path)] as const),
          ];
    const type = mediaTypeOf(test.result);
    const answer = await send(
      `BASE <${iriOf(test.query)}> ${text}`,
      named.length > 0 || from.length > 0 ? named : nothing(),
      `${type}, text/turtle;q=0.5, ${resultsJson};q=0.5`,
    );
    const { status } = answer;
    if (status !== 200) return { passes: false, passesStrictly: false, status, report: `${text}\n--- ${answer.text}` };
    const renamed = test.data
      .flatMap(namesIn)
      .reduce((all, path) => all.replaceAll(iriOf(path), namesInFiles.get(path)!), answer.text);
    const actual = await readOutcome(renamed, mediaType(answer), iriOf(test.query));
    const expected = await readOutcome(readDataFile(test.result), type, iriOf(test.result));
    const isOrdered = isNumbered(expected) || /\bORDER\s+BY\b/i.test(text.slice(text.lastIndexOf('}')));
    const [isLax, byValue] = [test.isLax, comparedByValue.includes(test.id)];
    const allowed = { isLax, byValue, isOrdered: isOrdered && !comparedWithoutOrder.includes(test.id) };
    return {
      passes: sameOutcome(actual, expected, allowed),
      passesStrictly: sameOutcome(actual, expected, { isLax, isOrdered }),
      status,
      report: `${text}\n--- returned\n${outcomeText(actual)}\n--- expected\n${outcomeText(expected)}`,
    };
  }

  /** Expects 400 for an invalid query, and ignores the result of a valid one. */
  async function parse({ query, kind }: SyntaxTest): Promise<Verdict> {
    const answer = await send(readDataFile(query), nothing(), '*/*');
    const { status } = answer;
    // SERVICE returns 422 (rule 14.9).
    const passes = kind === 'positive' ? status === 200 || status === 422 : status === 400;
    return { passes, passesStrictly: passes, status, report: `${readDataFile(query)}\n--- ${status}: ${answer.text}` };
  }

  const run = (test: W3cTest): Promise<Verdict> => (test.kind === 'evaluation' ? evaluate(test) : parse(test));

  const rightly = reasonsOf(otherwise);
  const failing = new Map([...rightly, ...reasonsOf(knownFailing)]);
  const loose = [...comparedByValue, ...comparedWithoutOrder];

  for (const test of w3cTests) {
    const title = `${test.id}: ${test.name}`;
    const reason = failing.get(test.id);
    if (reason !== undefined)
      it(`${title} [fails: ${reason}]`, async () => {
        const { passes, status, report } = await run(test);
        expect(passes, `${report}\n--- passes: remove it from skipped.ts`).to.equal(false);
        if (rightly.has(test.id)) expect(status, report).to.be.oneOf([200, 400]);
      });
    else
      it(title, async () => {
        const { passes, passesStrictly, report } = await run(test);
        expect(passes, report).to.equal(true);
        expect(passesStrictly, `${report}\n--- passes the strict comparison`).to.equal(!loose.includes(test.id));
      });
  }

  it('lists existing tests only in skipped.ts, each once', () => {
    const named = [otherwise, knownFailing].flatMap((reasons) => Object.values(reasons).flat()).concat(loose);
    const known = new Set(w3cTests.map(({ id }) => id));
    expect(named.filter((id) => !known.has(id))).to.deep.equal([]);
    expect(named.filter((id, index) => named.indexOf(id) !== index)).to.deep.equal([]);
  });

  it('finds all tests of the suites', () => {
    const count = (kind: W3cTest['kind']) => w3cTests.filter((test) => test.kind === kind).length;
    const least = currentSuites ? [518, 212, 90] : [431, 209, 85];
    for (const [at, kind] of (['evaluation', 'positive', 'negative'] as const).entries())
      expect(count(kind), kind).to.be.at.least(least[at]!);
    expect(new Set(w3cTests.map(({ id }) => id)).size).to.equal(w3cTests.length);
  });
});
