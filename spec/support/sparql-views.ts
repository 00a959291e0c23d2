/** A storage with a readable and an unreadable half, and the SPARQL results of its callers (rules 2.1, 4.3, 14.2). */
import { expect } from 'chai';
import type { Sender, StorageUnderTest } from './conformance.js';
import { putLinks } from './linkset.js';
import { visible } from './masking.js';
import { ask, askByGet, graphsSeen, holds, rows } from './sparql.js';
import { agent, as, bob, rule, setAcl } from './wac.js';

export const e = 'https://e.example/';

const prefix = `PREFIX e: <${e}> `;

/**
 * Creates the tree. Alice may read one half of it. Both halves contain the same triple, and a chain of triples leads through the
 * unreadable half.
 */
export async function build(s: StorageUnderTest): Promise<void> {
  for (const path of ['open/', 'shut/', 'shut/inner/']) await s.container(s.scratch + path);
  await s.stored('text/turtle', `<${e}a> <${e}next> <${e}b> ; <${e}same> 1 ; <${e}n> 10 .`, `${s.scratch}open/a`);
  await s.stored('text/turtle', `<${e}c> <${e}next> <${e}d> ; <${e}n> 30 .`, `${s.scratch}open/c`);
  await s.stored('text/turtle', `<${e}b> <${e}next> <${e}c> ; <${e}n> 20 .`, `${s.scratch}shut/b`);
  await s.stored('text/turtle', `<${e}a> <${e}same> 1 ; <${e}secret> "s3cret" .`, `${s.scratch}shut/a`);
  await s.stored('text/turtle', `<${e}a> <${e}same> 1 .`, `${s.scratch}shut/inner/a`);
  for (const path of ['open/a', 'shut/a', 'shut/inner/'])
    expect((await putLinks(s, s.scratch + path, { type: [{ href: `${e}T` }] })).status).to.equal(204);
}

export const wholeTree = [
  'open/a',
  'open/a.meta',
  'open/c',
  'shut/a',
  'shut/a.meta',
  'shut/b',
  'shut/inner/.meta',
  'shut/inner/a',
];
export const below = (s: StorageUnderTest, paths: readonly string[]): string[] =>
  paths.map((path) => s.scratch + path).sort();

/** Registers the specs of a client that may read `open/` but not `shut/`. */
export function half(s: StorageUnderTest, sender: () => Sender): void {
  const seen = (query: string): Promise<string[]> => rows(s, prefix + query, sender());
  const told = (query: string): Promise<boolean> => holds(s, prefix + query, sender());

  it('Dataset, rule 14.4: GRAPH ?g returns the readable graphs only', async () => {
    expect(await graphsSeen(s, sender())).to.deep.equal(below(s, ['open/a', 'open/a.meta', 'open/c']));
  });

  it('Dataset, rule 14.2: an unreadable copy of a triple neither hides nor duplicates the readable one', async () => {
    expect(await seen('SELECT ?s ?o { ?s e:same ?o }')).to.deep.equal([`${e}a 1`]);
    expect(await seen('SELECT (COUNT(*) AS ?n) { ?s e:same ?o }')).to.deep.equal(['1']);
    expect(await seen('SELECT ?g { GRAPH ?g { ?s e:same 1 } }')).to.deep.equal([`${s.scratch}open/a`]);
    expect(await told('ASK { e:a e:same 1 }')).to.equal(true);
  });

  for (const [query, expected] of [
    ['SELECT (COUNT(*) AS ?c) { ?s e:n ?o }', '2'],
    ['SELECT (COUNT(DISTINCT ?s) AS ?c) { ?s e:next|e:n|e:secret ?o }', '2'],
    ['SELECT (SUM(?o) AS ?c) { ?s e:n ?o }', '40'],
    ['SELECT (MIN(?o) AS ?c) { ?s e:n ?o FILTER(?o > 10) }', '30'],
    ['SELECT (AVG(?o) = 20 AS ?c) { ?s e:n ?o }', 'true'],
    ['SELECT (COUNT(*) AS ?c) { GRAPH ?g { ?s e:n ?o } }', '2'],
    ['SELECT (COUNT(DISTINCT ?g) AS ?c) { GRAPH ?g { ?s e:n|e:same ?o } }', '2'],
    ['SELECT (COUNT(*) AS ?c) { ?s ?p "s3cret" }', '0'],
    ['SELECT (COUNT(*) AS ?c) { ?s a e:T }', '1'],
    ['SELECT (GROUP_CONCAT(STR(?s); separator=",") AS ?c) { ?s a e:T }', 'open/a'],
    ['SELECT (SAMPLE(?o) AS ?c) { e:b ?p ?o }', '-'],
    ['SELECT (COUNT(*) AS ?c) { { SELECT ?s { ?s e:n ?o } ORDER BY DESC(?o) LIMIT 2 } ?s e:next ?x }', '2'],
    ['SELECT (COUNT(*) AS ?c) { ?s e:n ?o } HAVING (COUNT(*) > 2)', ''],
  ] as const)
    it(`Aggregates and subselects, rule 14.2: ${query}`, async () => {
      const got = await seen(query);
      const value = expected.startsWith('open') ? s.scratch + expected : expected;
      expect(got).to.deep.equal(value === '' ? [] : [value]);
    });

  for (const [query, expected] of [
    ['SELECT ?x { e:a e:next+ ?x }', ['b']],
    ['SELECT ?x { e:a e:next* ?x }', ['a', 'b']],
    ['SELECT ?x { e:a e:next/e:next ?x }', []],
    ['SELECT ?x { ?x e:next+ e:d }', ['c']],
    ['SELECT ?x { ?x ^e:next ?y }', ['b', 'd']],
    ['SELECT ?x { ?x !(e:n|e:same|a) ?y FILTER(STRSTARTS(STR(?x), STR(e:))) }', ['a', 'c']],
    ['SELECT ?x { ?x e:n ?n FILTER EXISTS { ?x e:next ?y } }', ['a', 'c']],
    ['SELECT ?x { ?x e:n ?n FILTER EXISTS { ?y e:next ?x } }', []],
    ['SELECT ?x { ?x e:n ?n FILTER NOT EXISTS { ?x e:secret ?y } }', ['a', 'c']],
    ['SELECT ?x { ?x e:n ?n MINUS { ?x e:secret ?y } }', ['a', 'c']],
    ['SELECT ?x { ?x e:n ?n MINUS { GRAPH ?g { ?x e:secret ?y } } }', ['a', 'c']],
    ['SELECT ?x { VALUES ?x { e:a e:b e:c } ?x e:n ?n }', ['a', 'c']],
    ['SELECT ?x { { ?x e:n 20 } UNION { ?x e:n 30 } }', ['c']],
    ['SELECT ?x { e:a e:next ?x OPTIONAL { ?x e:next ?y } FILTER(!BOUND(?y)) }', ['b']],
    ['SELECT ?x { ?x e:n ?n BIND(EXISTS { ?s e:secret ?o } AS ?e) FILTER(?e) }', []],
    ['SELECT ?x { ?x e:n ?n } ORDER BY (EXISTS { ?s e:secret ?o }) LIMIT 9', ['a', 'c']],
  ] as const)
    it(`Paths, EXISTS and MINUS, rule 14.2: ${query}`, async () => {
      expect(await seen(query)).to.deep.equal(expected.map((name) => e + name));
    });

  for (const name of ['shut/a', 'shut/a.meta', 'shut/inner/a', 'shut/inner/.meta', 'shut/', 'nothing-here'])
    it(`FROM and GRAPH, rule 14.4: ${name} is as empty as a nonexistent graph`, async () => {
      const g = s.scratch + name;
      expect(await told(`ASK { GRAPH <${g}> { ?s ?p ?o } }`)).to.equal(false);
      expect(await told(`ASK { GRAPH <${g}> { } }`)).to.equal(await told(`ASK { GRAPH <${s.scratch}absent> { } }`));
      expect(await told(`ASK { GRAPH <${g}> { e:a e:next* ?o } }`)).to.equal(
        await told(`ASK { GRAPH <${s.scratch}absent> { e:a e:next* ?o } }`),
      );
      for (const clause of [`FROM <${g}>`, `FROM NAMED <${g}>`, `FROM <${g}> FROM NAMED <${g}>`]) {
        const select = (pattern: string): Promise<string[]> => seen(`SELECT * ${clause} { ${pattern} }`);
        expect(await select('?s ?p ?o'), clause).to.deep.equal([]);
        expect(await select('GRAPH ?g { ?s ?p ?o }'), clause).to.deep.equal([]);
        expect(await select('GRAPH ?g { }'), clause).to.deep.equal(
          await seen(`SELECT * ${clause.replaceAll(g, `${s.scratch}absent`)} { GRAPH ?g { } }`),
        );
      }
      for (const parameter of ['default-graph-uri', 'named-graph-uri']) {
        const send = async (graph: string) => {
          const query = 'SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }';
          const answer = await askByGet(
            s,
            [
              ['query', query],
              [parameter, graph],
            ],
            {},
            sender(),
          );
          return visible(answer, encodeURIComponent(graph));
        };
        expect(await send(g)).to.deep.equal(await send(`${s.scratch}absent`));
      }
    });

  it('an RDF resource without triples is a graph for authorized callers (rule 14.2)', async () => {
    const [open, shut] = ['open/empty', 'shut/empty'].map((name) => s.scratch + name);
    for (const iri of [open!, shut!]) await s.stored('text/turtle', '', iri);
    const some = `FILTER(STRSTARTS(STR(?g), "${s.scratch}") && STRENDS(STR(?g), "/empty"))`;
    expect(await seen(`SELECT ?g { GRAPH ?g { } ${some} }`)).to.deep.equal([open]);
    expect(await seen(`SELECT ?g FROM NAMED <${open}> FROM NAMED <${shut}> { GRAPH ?g { } }`)).to.deep.equal([open]);
    expect(await seen(`SELECT ?g { VALUES ?g { <${open}> <${shut}> } GRAPH ?g { } }`)).to.deep.equal([open]);
    expect(await told(`ASK { GRAPH <${open}> { } }`)).to.equal(true);
    expect(await told(`ASK { GRAPH <${shut}> { } }`)).to.equal(false);
    for (const iri of [open!, shut!]) expect((await s.delete(iri)).status).to.equal(204);
    expect(await told(`ASK { GRAPH <${open}> { } }`)).to.equal(false);
  });

  it('FROM a readable and an unreadable graph returns the readable one (rule 14.4)', async () => {
    const from = `FROM <${s.scratch}open/a> FROM <${s.scratch}shut/a>`;
    expect(await seen(`SELECT (COUNT(*) AS ?n) ${from} { ?s ?p ?o }`)).to.deep.equal(['3']);
    expect(await seen(`SELECT ?o ${from} { e:a e:secret ?o }`)).to.deep.equal([]);
  });

  it('CONSTRUCT and DESCRIBE return nothing of unreadable graphs (rule 14.3)', async () => {
    for (const query of [
      'CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }',
      'CONSTRUCT WHERE { ?s ?p ?o }',
      'DESCRIBE e:a',
      'DESCRIBE ?s { ?s ?p ?o }',
      `DESCRIBE <${s.scratch}shut/a>`,
      `DESCRIBE e:b`,
    ]) {
      const { status, text } = await ask(s, prefix + query, { Accept: 'application/n-triples' }, sender());
      expect(status, text).to.equal(200);
      expect(text, query).not.to.match(/secret|s3cret|shut|"20"/);
    }
  });

  it('the response for an unreadable graph equals that for a nonexistent one (rules 4.1, 14.2)', async () => {
    for (const query of [
      'ASK { GRAPH <G> { ?s ?p ?o } }',
      'SELECT * FROM <G> { ?s ?p ?o }',
      'DESCRIBE <G>',
      'ASK { <G> ?p ?o }',
      'ASK { ?s ?p <G> }',
      'SELECT * { GRAPH <G> { ?s ?p ?o } } ORDER BY',
      'SELECT * FROM NAMED <G> { SERVICE <https://x.example/> {} }',
    ]) {
      const answers = [];
      for (const name of ['shut/a', 'shut/inner/a', 'no-such'])
        answers.push(visible(await ask(s, query.replaceAll('G', s.scratch + name), {}, sender()), s.scratch + name));
      // Positions in the text depend on the length of the name.
      const [hidden, deep, absent] = answers.map((answer) => JSON.stringify(answer).replace(/\d+/g, '#'));
      expect([hidden, deep], query).to.deep.equal([absent, absent]);
    }
  });
}

/** Asserts that granting and revoking access affects the next query. */
export async function expectImmediateRevocation(s: StorageUnderTest): Promise<void> {
  const { iri } = await s.stored('text/turtle', `<${e}r> <${e}revoked> 1 .`);
  for (let round = 0; round < 3; round++) {
    await setAcl(s, iri, rule('Read', agent(bob)));
    expect(await holds(s, `ASK { ?s <${e}revoked> ?o }`, as(s, bob))).to.equal(true);
    await setAcl(s, iri);
    expect(await holds(s, `ASK { ?s <${e}revoked> ?o }`, as(s, bob))).to.equal(false);
  }
  await s.delete(iri);
}
