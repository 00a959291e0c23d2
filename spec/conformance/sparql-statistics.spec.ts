/** Rule 14.13: VoID and DCAT in the service description: statistics of the readable data. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { graphOf } from '../support/rdf.js';
import { ask, endpointOf, resultsOf } from '../support/sparql.js';
import { until } from '../support/until.js';
import { agent, alice, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const voidTerms = 'http://rdfs.org/ns/void#';
const e = 'https://example.org/';

interface ReportedImport {
  readonly sums: Readonly<Record<string, number>>;
  /** By property or class. */
  readonly parts: Readonly<Record<string, number>>;
}

/** Statistics in the description, undefined if there are none. */
async function told(s: StorageUnderTest, by?: Sender): Promise<ReportedImport | undefined> {
  const answer = await s.send('GET', endpointOf(s), { Accept: 'application/n-triples' }, undefined, by);
  expect(answer.status, answer.text).to.equal(200);
  const quads = await graphOf(answer, endpointOf(s));
  const sums: Record<string, number> = {};
  const parts: Record<string, number> = {};
  for (const { subject, predicate, object } of quads) {
    const name = predicate.value.slice(voidTerms.length);
    if (subject.termType === 'NamedNode' && ['triples', 'properties', 'classes'].includes(name))
      sums[name] = Number(object.value);
    if (name !== 'property' && name !== 'class') continue;
    const count = quads.find(
      (other) => other.subject.equals(subject) && /#(?:triples|entities)$/.test(other.predicate.value),
    );
    parts[object.value] = Number(count!.object.value);
  }
  return 'triples' in sums ? { sums, parts } : undefined;
}

/** Waits for statistics of the current state. */
async function counted(
  s: StorageUnderTest,
  holds: (found: ReportedImport) => boolean,
  by?: Sender,
): Promise<ReportedImport> {
  let found: ReportedImport | undefined;
  await until(async () => {
    found = await told(s, by);
    return found !== undefined && holds(found);
  }, 'the description says what there is');
  return found!;
}

describeStorage(
  'Service description with statistics',
  (s) => {
    let open: string;
    before(async () => {
      open = await s.container();
      await setAcl(s, open, rule('Read', agent(alice, bob)));
      await s.stored('text/turtle', `<#a> a <${e}C>, <${e}D> ; <${e}p> 1, 2 . <#b> a <${e}C> .`, `${open}one`);
      // The same triple in two resources is one triple of the default graph.
      await s.stored('text/turtle', `<urn:x> <${e}shared> 1 .`, `${open}two`);
      await s.stored('text/turtle', `<urn:x> <${e}shared> 1 .`, `${open}three`);
      await s.container(`${open}hidden/`);
      await setAcl(s, `${open}hidden/`, rule('Read', agent(alice)));
      await s.stored('text/turtle', `<#s> a <${e}Secret> ; <${e}p> 3 .`, `${open}hidden/secret`);
    });

    it('lists counts of triples, classes and predicates, and the triples of each', async () => {
      const { sums, parts } = await counted(s, ({ parts }) => parts[`${e}Secret`] === 1);
      const query = 'SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?p) AS ?m) { ?s ?p ?o }';
      const [row] = resultsOf(await ask(s, query)).results!.bindings;
      expect([sums['triples'], sums['properties']]).to.deep.equal(
        [row!['n'], row!['m']].map((term) => Number(term!.value)),
      );
      expect(parts).to.include({ [`${e}p`]: 3, [`${e}C`]: 2, [`${e}D`]: 1, [`${e}shared`]: 1 });
    });

    it('counts the readable data of each caller, immediately after a change', async () => {
      const hidden = await counted(s, () => true, as(s, bob));
      expect(hidden.parts)
        .to.include({ [`${e}p`]: 2, [`${e}C`]: 2 })
        .and.not.to.have.property(`${e}Secret`);
      const all = await counted(s, () => true, as(s, alice));
      expect(all.parts).to.include({ [`${e}p`]: 3, [`${e}Secret`]: 1 });
      expect(all.sums['triples']! - hidden.sums['triples']!).to.be.at.least(2);
      await setAcl(s, `${open}hidden/`);
      expect((await told(s, as(s, alice)))?.parts ?? {}).not.to.have.property(`${e}Secret`);
      expect((await counted(s, () => true, as(s, alice))).parts).to.include({ [`${e}p`]: 2 });
      expect((await told(s, 'anonymous'))!.sums).to.deep.equal({ triples: 0, properties: 0, classes: 0 });
    });

    it('is a catalog of the storage, with the endpoint as its service', async () => {
      const { text } = await s.get(endpointOf(s), { Accept: 'application/n-triples' });
      const dcat = 'http://www.w3.org/ns/dcat#';
      expect(text).to.contain(`<${s.root}> <${dcat}service> <${endpointOf(s)}>`);
      expect(text).to.contain(`<${endpointOf(s)}> <${dcat}endpointURL> <${endpointOf(s)}>`);
    });
  },
  inWac(),
);
