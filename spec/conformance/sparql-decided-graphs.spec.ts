/** Rules 14.2 and 14.7: queries with an index in files, for callers whose access is decided graph by graph. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { constraint, grant, policy, revoke } from '../support/grants.js';
import { rowsBothWays } from '../support/sparql.js';
import { alice, as, bob, owner } from '../support/wac.js';

const e = 'http://example.org/';

/** The large graph has more quads than an index in memory (50 000). The others have predicates of their own. */
async function fill(s: StorageUnderTest): Promise<void> {
  for (const [name, count] of [
    ['a', 52_000],
    ['b', 100],
    ['c', 100],
  ] as const) {
    const lines = Array.from({ length: count }, (_, at) => `<${e}${name}${at}> <${e}p${name}> ${at} .`);
    await s.stored('text/turtle', [`<${e}s> <${e}of${name}> 1 .`, ...lines].join('\n'), s.scratch + name);
  }
}

/** Asserts the values of each position for a caller that may read the three graphs and no other. */
async function expectAllValues(s: StorageUnderTest, sender: Sender): Promise<void> {
  const found = async (query: string): Promise<string[]> => {
    const values = (await rowsBothWays(s, query, sender)).map((value) => value.slice(value.lastIndexOf('/') + 1));
    return values.filter((value) => /^(?:p|of|)[abc]$/.test(value));
  };
  const graphs = ['a', 'b', 'c'];
  for (const [query, expected] of [
    ['SELECT DISTINCT ?p { ?s ?p ?o }', ['ofa', 'ofb', 'ofc', 'pa', 'pb', 'pc']],
    [`SELECT DISTINCT ?p { <${e}s> ?p ?o }`, ['ofa', 'ofb', 'ofc']],
    ['SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }', graphs],
    ['SELECT ?g { GRAPH ?g { } }', graphs],
    [`SELECT ?g { GRAPH ?g { <${e}s> ?p 1 } }`, graphs],
  ] as const)
    expect(await found(query), query).to.deep.equal(expected);
}

describeStorage(
  'SPARQL with an index in files and grants that are decided for each resource',
  (s) => {
    before(async function () {
      this.timeout(60_000);
      await fill(s);
      await s.stored('text/turtle', `<${e}s> <${e}ofhidden> 1 .`, `${s.root}hidden`);
    });

    for (const [what, type, limits] of [
      ['for data resources', 'DataResource', []],
      ['for a format', 'StorageResource', [constraint('format', 'eq', 'text/turtle')]],
      ['for resources without a type', 'StorageResource', [constraint('type', 'neq', `${e}T`)]],
    ] as const)
      it(`returns every value to a caller with a grant ${what} (rules 14.2, 17.4)`, async function () {
        this.timeout(60_000);
        const made = await grant(s, policy(alice, 'read', s.scratch, type, ...limits));
        await expectAllValues(s, as(s, alice));
        expect(await rowsBothWays(s, `SELECT ?g { GRAPH ?g { <${e}s> ?p 1 } }`, as(s, bob))).to.deep.equal([]);
        await revoke(s, made);
      });
  },
  { settings: { owners: owner.did }, owner, isOncePlaced: true },
);
