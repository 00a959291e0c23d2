/**
 * The W3C tests of SPARQL queries (data/README.md), over HTTP against a server of their own.
 *
 * A file of theirs becomes a resource: `data-r2/graph/data-g1.ttl` is PUT to `{storage root}data-r2/graph/data-g1.ttl`, so
 * that relative IRIs in it, in queries and in results are resolved as the tests want, with that folder for base. A query
 * gets `BASE <IRI of its file>` put before it: it is sent to the endpoint, whose IRI would be its base otherwise. The
 * default graph of this server is a union, so the dataset of a test is always named: `default-graph-uri` for its default
 * graph, `named-graph-uri` for the others, FROM and FROM NAMED where the query has them, and an unknown graph, which is an
 * empty one, where there is nothing. A result is asked for in the format in which the test states it, as JSON where the
 * server has no such format; so the formats are tested as well.
 *
 * Solutions are compared in their order where the result is numbered or ORDER BY ends the query, and else as a multiset.
 * Language tags are the same in any case. What does not pass is in skipped.ts.
 */
import { expect } from 'chai';
import { request } from '../support/http.js';
import { mediaType } from '../support/rdf.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { encoded, formType, resultsJson } from '../support/sparql.js';
import { type EvaluationTest, readDataFile, type SyntaxTest, type W3cTest, w3cTests } from './manifests.js';
import { isNumbered, mediaTypeOf, readOutcome } from './outcomes.js';
import { outcomeText, sameOutcome } from './same-outcome.js';
import { comparedByValue, comparedWithoutOrder, knownFailing, otherwise } from './skipped.js';
import { currentSuites } from './suites.js';

type Parameters = readonly (readonly [string, string])[];

/** Whether a test passes with what is allowed to it, and without; and what there is to say about it. */
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
    for (const folder of ['data-r2/', 'data-sparql11/', ...folders]) await put(folder, {});
  });
  after(() => server.stop());

  const iriOf = (path: string): string => server.root + path;

  async function put(path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<void> {
    const answer = await request(iriOf(path), { method: 'PUT', headers, body });
    expect(answer.status, `${path}: ${answer.text}`).to.equal(201);
  }

  async function store(path: string): Promise<void> {
    if (stored.has(path)) return;
    stored.add(path);
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
    // A query with FROM names its dataset itself; parameters would replace it.
    const named =
      from.length > 0
        ? []
        : [
            ...test.data.map((path) => ['default-graph-uri', iriOf(path)] as const),
            ...test.graphs.map((path) => ['named-graph-uri', iriOf(path)] as const),
          ];
    const type = mediaTypeOf(test.result);
    const answer = await send(
      `BASE <${iriOf(test.query)}> ${text}`,
      named.length > 0 || from.length > 0 ? named : nothing(),
      `${type}, text/turtle;q=0.5, ${resultsJson};q=0.5`,
    );
    const { status } = answer;
    if (status !== 200) return { passes: false, passesStrictly: false, status, report: `${text}\n--- ${answer.text}` };
    const actual = await readOutcome(answer.text, mediaType(answer), iriOf(test.query));
    const expected = await readOutcome(readDataFile(test.result), type, iriOf(test.result));
    const isOrdered = isNumbered(expected) || /\bORDER\s+BY\b/i.test(text.slice(text.lastIndexOf('}')));
    const [isLax, byValue] = [test.isLax, comparedByValue.includes(test.id)];
    const allowed = { isLax, byValue, isOrdered: isOrdered && !comparedWithoutOrder.includes(test.id) };
    return {
      passes: sameOutcome(actual, expected, allowed),
      passesStrictly: sameOutcome(actual, expected, { isLax, isOrdered }),
      status,
      report: `${text}\n--- gave\n${outcomeText(actual)}\n--- and not\n${outcomeText(expected)}`,
    };
  }

  /** A query that is none is 400; what another has for an answer does not count. */
  async function parse({ query, kind }: SyntaxTest): Promise<Verdict> {
    const answer = await send(readDataFile(query), nothing(), '*/*');
    const { status } = answer;
    // SERVICE is 422 (rule 14.9).
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
        expect(passes, `${report}\n--- passes, and is to leave skipped.ts`).to.equal(false);
        if (rightly.has(test.id)) expect(status, report).to.be.oneOf([200, 400]);
      });
    else
      it(title, async () => {
        const { passes, passesStrictly, report } = await run(test);
        expect(passes, report).to.equal(true);
        expect(passesStrictly, `${report}\n--- passes strictly or not`).to.equal(!loose.includes(test.id));
      });
  }

  it('names only tests that there are in skipped.ts, and each once', () => {
    const named = [otherwise, knownFailing].flatMap((reasons) => Object.values(reasons).flat()).concat(loose);
    const known = new Set(w3cTests.map(({ id }) => id));
    expect(named.filter((id) => !known.has(id))).to.deep.equal([]);
    expect(named.filter((id, index) => named.indexOf(id) !== index)).to.deep.equal([]);
  });

  it('finds all tests of the data', () => {
    const count = (kind: W3cTest['kind']) => w3cTests.filter((test) => test.kind === kind).length;
    const least = currentSuites ? [518, 212, 90] : [431, 209, 85];
    for (const [at, kind] of (['evaluation', 'positive', 'negative'] as const).entries())
      expect(count(kind), kind).to.be.at.least(least[at]!);
    expect(new Set(w3cTests.map(({ id }) => id)).size).to.equal(w3cTests.length);
  });
});
