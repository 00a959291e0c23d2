/**
 * Queries of a vocabulary maintainer (rule 14.2) over real-world ontologies. Every result equals that of Oxigraph, as owner of
 * all resources and as reader of half of them, with the other half masked. Oxigraph serves as the reference implementation of
 * SPARQL. Must not depend on the evaluation of queries.
 */
import type { Quad, Quad_Object, Quad_Subject, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory, Parser, Writer } from 'n3';
import { quad as oxigraphQuad, Store } from 'oxigraph';
import { StorageUnderTest } from '../support/conformance.js';
import { grant, policy } from '../support/grants.js';
import { ask, askByGet, encoded, endpointOf, formType, resultsJson } from '../support/sparql.js';
import { alice, as, owner } from '../support/wac.js';
import { type Outcome, readOutcome } from '../w3c/outcomes.js';
import { outcomeText, sameOutcome } from '../w3c/same-outcome.js';
import { loadOntology, names } from './ontologies.js';
import { catalogue, prefixes, queries, type VocabularyQuery } from './queries.js';

/** Resources that alice can read: half of them, not contiguous in any index. */
const half: ReadonlySet<string> = new Set(['catalogue', 'dcat', 'foaf', 'prov', 'schema', 'skos', 'time']);

type Graphs = ReadonlyMap<string, readonly Quad[]>;

/** Renames blank nodes by graph, so that a union keeps them apart. */
function renamed(name: string, quads: readonly Quad[]): Quad[] {
  const own = (term: Term): Term =>
    term.termType === 'BlankNode' ? DataFactory.blankNode(`${name}-${term.value}`.replaceAll('-', '_')) : term;
  return quads.map(({ subject, predicate, object }) =>
    DataFactory.quad(own(subject) as Quad_Subject, predicate, own(object) as Quad_Object),
  );
}

/** Oxigraph store with one named graph per resource, and their union without duplicates as the default graph. */
function oxigraphOf(container: string, graphs: Graphs): Store {
  const store = new Store();
  const lines = [...graphs].flatMap(([name, quads]) =>
    quads.flatMap(({ subject, predicate, object }) => [
      DataFactory.quad(subject, predicate, object, DataFactory.namedNode(container + name)),
      DataFactory.quad(subject, predicate, object),
    ]),
  );
  store.load(new Writer({ format: 'N-Quads' }).quadsToString(lines), { format: 'application/n-quads' });
  return store;
}

const isGraph = (query: string): boolean => /^\s*(?:CONSTRUCT|DESCRIBE)/.test(query);

async function expectedOf(store: Store, container: string, request: VocabularyQuery): Promise<Outcome> {
  const { query, parameters, merged } = request;
  // Oxigraph counts a triple once per FROM graph, so query the union of the graphs.
  if (merged) {
    const lines = merged.flatMap((name) =>
      store.match(null, null, null, DataFactory.namedNode(container + name) as never),
    );
    const union = new Store(
      lines.map(({ subject, predicate, object }) => oxigraphQuad(subject, predicate as never, object)),
    );
    return expectedOf(union, container, { name: request.name, query: query.replace(/FROM <[^>]*>/g, '') });
  }
  const iris = (wanted: string) =>
    parameters?.flatMap(([name, value]) =>
      name === wanted ? [DataFactory.namedNode(container + value)] : [],
    ) as never;
  const type = isGraph(query) ? 'application/n-triples' : resultsJson;
  const text = store.query(prefixes + query, {
    base_iri: container,
    results_format: type,
    ...(parameters ? { default_graph: iris('default-graph-uri'), named_graphs: iris('named-graph-uri') } : {}),
  });
  return readOutcome(text as string, type, container);
}

const xsd = 'http://www.w3.org/2001/XMLSchema#';
const integers = /#(?:integer|int|long|short|byte|(?:unsigned|positive|negative|non)\w+)$/;
const numbers = /#(?:decimal|double|float)$/;

/** Normalizes numbers, because Oxigraph stores them by value, and all integer types as xsd:integer. */
function byValue(term: Term): Term {
  if (term.termType !== 'Literal') return term;
  const { value } = term.datatype;
  const type = integers.test(value) ? `${xsd}integer` : numbers.test(value) ? value : undefined;
  return type ? DataFactory.literal(String(Number(term.value)), DataFactory.namedNode(type)) : term;
}

function comparable(outcome: Outcome, lists?: readonly string[]): Outcome {
  if (outcome.kind === 'boolean') return outcome;
  if (outcome.kind === 'solutions') {
    const rows = outcome.rows.map((row) => new Map([...row].map(([name, term]) => [name, byValue(term)])));
    return sorted({ ...outcome, rows }, lists);
  }
  const quads = outcome.quads.map(({ subject, predicate, object }) =>
    DataFactory.quad(subject as Quad_Subject, predicate as never, byValue(object) as Quad_Object),
  );
  return { ...outcome, quads };
}

/** Sorts the items of unordered lists. */
function sorted(outcome: Outcome, lists: readonly string[] = []): Outcome {
  if (outcome.kind !== 'solutions' || lists.length === 0) return outcome;
  const tidy = (term: Term): Term => DataFactory.literal(term.value.split('|').sort().join('|'));
  const rows = outcome.rows.map(
    (row) => new Map([...row].map(([name, term]) => [name, lists.includes(name) ? tidy(term) : term])),
  );
  return { ...outcome, rows };
}

const sizeOf = (outcome: Outcome): number =>
  outcome.kind === 'boolean' ? 1 : outcome.kind === 'graph' ? outcome.quads.length : outcome.rows.length;

/** Formats the rows that only one outcome has, for an assertion message. */
function difference(actual: Outcome, expected: Outcome): string {
  const [ours, theirs] = [actual, expected].map((outcome) => outcomeText(outcome).split('\n')) as [string[], string[]];
  const only = (a: readonly string[], b: readonly string[]): string =>
    a
      .filter((line) => !b.includes(line))
      .slice(0, 5)
      .join('\n');
  return `${sizeOf(actual)} results, expected ${sizeOf(expected)}\nonly ours:\n${only(ours, theirs)}\nonly Oxigraph's:\n${only(theirs, ours)}`;
}

const formats = [resultsJson, 'application/sparql-results+xml', 'text/tab-separated-values'] as const;
const truthFormats = [formats[0], formats[1]];
const graphFormats = ['text/turtle', 'application/n-triples', 'application/ld+json'] as const;

describe('Queries over real ontologies', function () {
  this.timeout(60_000);
  const s = new StorageUnderTest();
  let container = '';
  let all: Store;
  let seen: Store;

  before(async () => {
    await s.open({ settings: { owners: owner.did }, owner });
    container = await s.container();
    const graphs = new Map<string, readonly Quad[]>();
    for (const name of names) graphs.set(name, renamed(name, (await loadOntology(name)).quads));
    graphs.set('skos-copy', renamed('copy', graphs.get('skos')!));
    graphs.set('catalogue', renamed('catalogue', new Parser({ baseIRI: `${container}catalogue` }).parse(catalogue)));
    const writer = new Writer({ format: 'N-Triples' });
    for (const [name, quads] of graphs)
      await s.stored('application/n-triples', writer.quadsToString([...quads]), container + name);
    await grant(
      s,
      policy(
        alice,
        'read',
        [...half].map((name) => container + name),
      ),
    );
    all = oxigraphOf(container, graphs);
    seen = oxigraphOf(container, new Map([...graphs].filter(([name]) => half.has(name))));
  });
  after(() => s.close());

  async function answerOf({ query, parameters }: VocabularyQuery, type: string, isOwner: boolean): Promise<Outcome> {
    const text = `BASE <${container}> ${prefixes} ${query}`;
    const sender = isOwner ? undefined : as(s, alice);
    const fields = (parameters ?? []).map(([name, value]) => [name, container + value] as const);
    const form = encoded([['query', text], ...fields]);
    const answer = isOwner
      ? parameters
        ? await askByGet(s, [['query', text], ...fields], { Accept: type })
        : await ask(s, text, { Accept: type })
      : await s.send('POST', endpointOf(s), { 'Content-Type': formType, Accept: type }, form, sender);
    expect(answer.status, answer.text.slice(0, 1000)).to.equal(200);
    expect(answer.headers['content-type']?.split(';')[0]).to.equal(type);
    return readOutcome(answer.text, type, container);
  }

  queries.forEach((each, index) => {
    for (const isOwner of [true, false]) {
      const choice = isGraph(each.query) ? graphFormats : each.query.startsWith('ASK') ? truthFormats : formats;
      const type = choice[(index + (isOwner ? 0 : 1)) % choice.length]!;
      it(`${each.name}: equals Oxigraph for ${isOwner ? 'the owner' : 'a reader of half'}, as ${type} (rule 14.3)`, async () => {
        const expected = comparable(await expectedOf(isOwner ? all : seen, container, each), each.lists);
        if (isOwner && !each.mayBeEmpty) expect(sizeOf(expected), 'the expected result is empty').to.be.above(0);
        const actual = comparable(await answerOf(each, type, isOwner), each.lists);
        const how = { isOrdered: each.isOrdered ?? false };
        if (!sameOutcome(actual, expected, how)) expect.fail(difference(actual, expected));
      });
    }
  });

  it('expects other results for a reader of half in most queries (rule 14.2)', async () => {
    const sizes = await Promise.all(
      queries.map(async (each) => {
        const [whole, part] = await Promise.all([all, seen].map((store) => expectedOf(store, container, each)));
        return outcomeText(whole!) === outcomeText(part!) ? 0 : 1;
      }),
    );
    expect(sizes.reduce<number>((sum, one) => sum + one, 0)).to.be.above(queries.length / 2);
  });
});
