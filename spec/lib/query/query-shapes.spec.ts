/** Shapes of queries: which parts of a text are constants, and that queries of one shape only see their own. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { MemoryLayers, type MemoryView } from '../../../lib/query/memory/memory-layers.js';
import { MemoryMatches } from '../../../lib/query/memory/memory-matches.js';
import { parseQuery } from '../../../lib/query/parse/parse-query.js';
import { fixedTerms, queryShapeOf } from '../../../lib/query/parse/query-shape.js';
import { loadStockEngine } from '../../../lib/query/query-engine.js';
import type { Level, LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import {
  base,
  engineAnswer,
  graphNames,
  queryWithAlgebra,
  type SpecLevel,
  type SpecTriple,
  type SpecView,
  specLevel,
  writeAnswer,
} from './engine-dataset.js';
import { inFiles } from './engine-memory.js';

const factory = new DataFactory<Quad>();

const constantsOf = (text: string): string[] => [...queryShapeOf(text)!.constants.values()];
const prefix = 'PREFIX ex: <http://example.org/>';

describe('Shape of a query', () => {
  const withConstants: readonly (readonly [text: string, constants: readonly string[]])[] = [
    ['SELECT * { <http://a/b> ?p "x", \'y"\', "" }', ['http://a/b', 'x', 'y"', '']],
    ['ASK { <a:b> <a:b> "a:b", \'a:b\' }', ['a:b', 'a:b']],
    [`${prefix} ASK { ex:a a <a:b> }`, ['a:b']],
    ['ASK { ?s ?p "1"^^<a:type>, "x"@en FILTER(?o<"k"&&?s>"l") }', ['1', 'x', 'k', 'l']],
    ['ASK FROM <a:b> FROM NAMED <a:c> { GRAPH <a:d> { ?s ?p 12, true, _:x } }', ['a:d']],
    ['BASE <a:b> ASK { <c> ?p <../d> }', []],
    ['SELECT (GROUP_CONCAT(?s; SEPARATOR = ",") AS ?c) { ?s ?p "x" }', ['x']],
    ['ASK { ?s ?p ?o FILTER(<a:f>("x") = <a:g> ("y")) }', ['x', 'y']],
    ['ASK { ?s ?p """x""", \'\'\'y\'\'\' }', []],
    ['ASK { <a:b> ?p "\\u0041" }', []],
    ['ASK { <a:b> ?p "x" } # "y"', []],
    ['ASK { ?s ?p "\u{1f600}", <a:\u{1f600}> }', []],
    ['ASK { <<<a:b> <a:c> "x">> ?p ?o }', []],
    ['VERSION "1.2" ASK { <a:b> ?p "1.2" }', ['a:b', '1.2']],
  ];
  for (const [text, constants] of withConstants)
    it(`has the constants ${JSON.stringify(constants)} for ${text}`, () => {
      expect(constantsOf(text)).to.deep.equal(constants);
    });

  it('is shared by texts that differ in constants only', async () => {
    const [one, two, other] = [
      await queryWithAlgebra('ASK { <a:b> ?p "x" }'),
      await queryWithAlgebra('ASK { <a:c> ?p "y" }'),
      await queryWithAlgebra('ASK { <a:b> ?p "x"@en }'),
    ];
    expect(two.shape).to.equal(one.shape);
    expect(other.shape).not.to.equal(one.shape);
    expect(JSON.stringify(two.algebra)).to.contain('"a:c"').and.to.contain('"y"').and.not.to.contain('"a:b"');
  });

  it('distinguishes texts whose constants are equal to each other, or to another term', async () => {
    const [apart, equal, fixed] = await Promise.all(
      ['<a:b> ex:p <a:c>', '<a:b> ex:p <a:b>', `<a:b> ex:p <${base}p>`].map((triple) =>
        parseQuery(`${prefix} ASK { ${triple} }`, base),
      ),
    );
    expect(new Set([apart, equal, fixed].map((query) => query!.shape)).size).to.equal(3);
    expect(fixed!.constants.size).to.equal(0);
  });

  it('keeps its own separator of GROUP_CONCAT, dataset and prefixes', async () => {
    for (const name of ['b', 'c']) {
      const text = `PREFIX x: <a:${name}> SELECT (GROUP_CONCAT(?s; SEPARATOR="${name}") AS ?o) FROM <a:${name}> { ?s <a:p> "${name}" }`;
      const { algebra, from, prefixes } = await queryWithAlgebra(text);
      expect([from!.defaultGraphs, prefixes]).to.deep.equal([[`a:${name}`], { x: `a:${name}` }]);
      expect(JSON.stringify(algebra)).to.contain(`"separator":"${name}"`);
    }
  });

  it('is not used if the parser finds a constant where it is not a term', async () => {
    for (const name of ['b', 'c']) {
      const { from, constants } = await parseQuery(`ASKFROM <a:${name}> { ?s ?p "x" }`, base);
      expect([from!.defaultGraphs, constants.size]).to.deep.equal([[`a:${name}`], 0]);
    }
    const { constants } = queryShapeOf('ASK { ?s ?p "x" }')!;
    const [placeholder] = constants.keys();
    const literal = { termType: 'Literal', value: placeholder };
    expect(fixedTerms({ literal }, constants)).to.deep.equal(new Set());
    for (const parts of [{}, { separator: placeholder, literal }, { name: literal }, { literal, from: [placeholder] }])
      expect(fixedTerms(parts, constants), JSON.stringify(parts)).to.equal(undefined);
  });

  it('is not used for a text with the character of placeholders', async () => {
    const text = 'ASK { <urn:\ue0000> ?p <urn:\ue0001> }';
    expect(queryShapeOf(text)).to.equal(undefined);
    const [own, other] = [await parseQuery(text, base), await parseQuery('ASK { <a:b> ?p <a:c> }', base)];
    expect(own.constants.size).to.equal(0);
    expect(own.shape).not.to.equal(other.shape);
  });

  const faults: readonly (readonly [text: string, error: string])[] = [
    ['ASK { <a:first> ?p "x" ', 'unexpected end of the text; expected } (line 1, column '],
    ['ASK { <a:first>\n ?p "x" "y" }', 'unexpected "\\"y\\""; expected'],
    ['ASK { <a:first> ?p "x }', 'a string begins here and does not end on its line (line 1, column '],
    ['ASK { <a:first> ?p\n ex:o, "x" }', 'ex: is not declared'],
  ];
  for (const [text, error] of faults)
    it(`reports the error of the text itself: ${error}`, async () => {
      for (const subject of ['a:first', 'a:second/longer']) {
        const own = text.replace('a:first', subject);
        const { message } = await parseQuery(own, base).then(
          () => new Error(),
          (thrown: Error) => thrown,
        );
        expect(message).to.contain(error);
        if (error.endsWith('column '))
          expect(message).to.contain(`column ${(error.startsWith('a string') ? own.indexOf('"') : own.length) + 1})`);
      }
    });
});

describe('Queries of one shape', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
    const term = (value: string) => ({ termType: 'NamedNode', value }) as never;
    const subjects = ['a', 'b', 'c'].map((name) => `${base}${name}`);
    const triples = subjects.map((name) => ({
      subject: term(name),
      predicate: term('a:p'),
      object: term(`${name}/o`),
    }));
    await store.fill(new Map([[graphNames[0]!, triples]]));
  });
  after(() => store.close());

  const forms = [
    'SELECT ?o { <IRI> <a:p> ?o }',
    'SELECT ?o { ?s <a:p> ?o FILTER(?s = <IRI>) }',
    'SELECT ?o { VALUES ?s { <IRI> } ?s <a:p> ?o }',
    'SELECT ?o { ?s (<a:p>|<a:q>)+ ?o FILTER EXISTS { ?s <a:p> ?o FILTER(?s IN (<IRI>)) } }',
    'SELECT (IF(?s = <IRI>, "IRI", "no") AS ?o) { ?s <a:p> ?x } ORDER BY DESC(?s = <IRI>) LIMIT 1',
    'SELECT ?o { ?s <a:p> ?o OPTIONAL { ?s <a:p> ?x FILTER(?s = <IRI>) } FILTER(BOUND(?x)) }',
    'SELECT ?o { BIND(IRI(CONCAT("IRI", "/o")) AS ?o) }',
    'CONSTRUCT { <IRI> <a:q> ?o } { <IRI> <a:p> ?o }',
    'DESCRIBE <IRI>',
  ];
  for (const form of forms)
    for (const loadEngine of [undefined, loadStockEngine])
      it(`return their own results at the same time${loadEngine ? ' in the stock engine' : ''}: ${form}`, async () => {
        const answers = await Promise.all(
          ['a', 'b', 'c', 'a'].map(async (name) => {
            const view = { readable: new Set(graphNames), loadEngine };
            return writeAnswer(
              await engineAnswer(
                store.level,
                view,
                form.replaceAll('IRI>', `${base}${name}>`).replaceAll('"IRI"', `"${base}${name}"`),
              ),
            );
          }),
        );
        for (const [at, name] of ['a', 'b', 'c', 'a'].entries()) {
          expect(answers[at]).to.have.length(1);
          for (const other of ['a', 'b', 'c'])
            expect(answers[at]![0]!.includes(`${base}${other}`), `${other} in ${answers[at]}`).to.equal(other === name);
        }
      });

  it('report errors that depend on their own constants', async () => {
    const lengths = [10, 4000];
    const codes = lengths.map(async (length) => {
      const query = `ASK { FILTER(STRLEN(REPLACE("${'a'.repeat(length)}", "a", "${'b'.repeat(length)}")) = 100) }`;
      const answer = engineAnswer(store.level, { readable: new Set(graphNames) }, query);
      return answer.then(writeAnswer, ({ code }) => code);
    });
    expect(await Promise.all(codes)).to.deep.equal([['true'], 'query-limit']);
  });

  it('are rejected if they cannot be compiled', async () => {
    for (const text of ['x', 'y'])
      expect(
        await engineAnswer(
          store.level,
          { readable: new Set(graphNames) },
          `ASK { <a:${text}> <a:p> ?o FILTER(<http://www.w3.org/2001/XMLSchema#integer>("${text}", ?o)) }`,
        ).catch(({ code }) => code),
      ).to.equal('bad-request');
  });
});

describe('Estimates of a cached plan', () => {
  const data = (name: string): [string, readonly SpecTriple[]] => [
    graphNames[0]!,
    Array.from({ length: 900 }, (_, at) => ({
      subject: factory.namedNode(`${base}${name}${at}`),
      predicate: factory.namedNode(`${base}p${at % 3}`),
      object: factory.namedNode(`${base}${name}${(at * 7) % 900}`),
    })),
  ];
  const text = `ASK { ?a <${base}p0> ?b . ?b <${base}p1> ?c . ?c <${base}p2> <${base}s0> }`;
  const all = new Set(graphNames);
  const { estimate, sample } = MemoryMatches.prototype;
  let counted = 0;
  let store: SpecLevel;
  const layers = new MemoryLayers();
  before(async () => {
    store = await specLevel();
    await store.fill(new Map([data('s')]));
    layers.use({ version: 1, sequence: 0, data: await inFiles(store.level, store.level.snapshot()) });
    Object.assign(MemoryMatches.prototype, {
      estimate(this: MemoryMatches, ...of: Parameters<typeof estimate>) {
        counted++;
        return estimate.apply(this, of);
      },
      sample(this: MemoryMatches, ...of: Parameters<typeof sample>) {
        counted++;
        return sample.apply(this, of);
      },
    });
  });
  after(async () => {
    Object.assign(MemoryMatches.prototype, { estimate, sample });
    await store.close();
  });

  const viewOf =
    (unsettled: readonly string[] = []) =>
    async (level: Level, snapshot: LevelSnapshot): Promise<MemoryView> =>
      (await layers.view({ version: 1, sequence: 1 }, unsettled, { level, snapshot }))!;
  /** Number of estimates and samples of a query. */
  async function estimates(
    query = text,
    { view = {}, unsettled }: { readonly view?: Partial<SpecView>; readonly unsettled?: readonly string[] } = {},
  ): Promise<number> {
    counted = 0;
    await engineAnswer(store.level, { readable: all, ...view }, query, viewOf(unsettled));
    return counted;
  }

  it('are kept for the next query with the same constants, and shared by patterns with others', async () => {
    expect(await estimates()).to.be.above(2);
    expect(await estimates()).to.equal(0);
    // Only the number of matches of the pattern with the other constant is not known.
    expect(await estimates(text.replace('s0', 's1'))).to.equal(1);
    expect(await estimates()).to.equal(0);
    // Another query with a known pattern.
    expect(await estimates(`ASK { ?a <${base}p0> ?b . ?c <${base}p2> ?a }`)).to.be.below(3);
  });

  it('are kept with the plan in the engine of query threads, too', async () => {
    const view = { loadEngine: loadStockEngine };
    const other = text.replace('s0', 's2');
    expect(await estimates(other, { view })).to.equal(1);
    expect(await estimates(other, { view })).to.equal(0);
  });

  it('are made for each query of a caller without full read access, and for a dataset of the query or the request', async () => {
    const views: readonly Partial<SpecView>[] = [
      { readable: new Set(graphNames.slice(0, 4)) },
      { defaultGraphs: [graphNames[0]!] },
      { namedGraphs: [graphNames[0]!] },
    ];
    for (const view of views) {
      await estimates();
      for (const _again of [1, 2]) expect(await estimates(text, { view }), JSON.stringify(view)).to.be.above(2);
      expect(await estimates()).to.equal(0);
    }
  });

  it('are made again after a change of another graph, and while a change may not be on disk', async () => {
    await estimates();
    expect(await estimates()).to.equal(0);
    const record = (): void => layers.record({ graphs: [[graphNames[1]!, 1]], unsettled: [] });
    record();
    expect(await estimates()).to.be.above(2);
    expect(await estimates()).to.equal(0);
    record();
    for (const _again of [1, 2]) expect(await estimates(text, { unsettled: [graphNames[1]!] })).to.be.above(2);
  });
});
