/**
 * Random writes by several users under random access control lists, groups and grants, and queries as of random seconds (rule 27.8). The
 * oracle keeps a copy of each state, and evaluates queries naively over those that the caller may read. For a controller these are all
 * states at the time, also of deleted resources. For others they are the states that GET with the same date returns, and which
 * the caller could read while they were the present ones.
 */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { grant, policy, revoke } from '../support/grants.js';
import { naiveResult, type Triple, unionOf } from '../support/naive-sparql/index.js';
import { iri as named, xsd } from '../support/naive-sparql/terms.js';
import '../support/random-seed.js';
import { DataFactory } from 'rdf-data-factory';
import { ask, rowsOf } from '../support/sparql.js';
import { runs } from '../support/speed.js';
import { until } from '../support/until.js';
import { aclOf, agent, alice, anybody, as, authenticated, bob, inWac, rule, setAcl } from '../support/wac.js';

const { QUADPOD_SEED: wanted = '20261121' } = process.env;
let state = wanted === 'random' ? Date.now() % 2 ** 31 : Number(wanted);
/** Linear congruential generator, of which the upper bits are used. */
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;

/** State of a resource: the URL of its version, and its triples. Absent: not RDF. */
interface State {
  readonly url: string;
  readonly triples: readonly Triple[] | undefined;
}

const factory = new DataFactory();
/** Reads N-Triples with IRIs and integers. */
const triplesOf = (text: string): Triple[] =>
  [...text.matchAll(/<([^>]*)> <([^>]*)> (?:<([^>]*)>|"(\d+)"\^\^<[^>]*>) \./g)].map(([, s, p, o, n]) => ({
    subject: named(s!),
    predicate: named(p!),
    object: o === undefined ? factory.literal(n!, named(`${xsd}integer`)) : named(o),
  }));

describeStorage(
  'Queries as of a date, under random writes and permissions',
  (s) => {
    it('equal those over a kept copy of the states that the caller may read (rule 27.8)', async () => {
      const c = await s.container();
      await s.container(`${c}d/`);
      const group = `${c}group`;
      const names = [`${c}x`, `${c}y`, `${c}d/y`, `${c}d/z`, `${c}d/w`];
      const all = [...names, group];
      const places = [c, `${c}d/`, ...names];
      await s.put(group, 'text/turtle', '<#g> a <http://www.w3.org/2006/vcard/ns#Group> .');
      const callers: readonly (Sender | undefined)[] = [undefined, as(s, alice), as(s, bob), 'anonymous'];
      const agents = [
        ...[agent(alice), agent(bob), agent(alice, bob), anybody, anybody, authenticated],
        `acl:agentGroup <${group}#g>`,
      ];
      const grants: string[] = [];
      const trashed: string[] = [];
      const turtle = (): string =>
        Array.from(
          { length: random(6) },
          () => `<http://s.example/${random(3)}> <http://p.example/${random(3)}> ${random(4)} .`,
        ).join('\n');
      const put = async (type: string, body: string): Promise<void> => {
        const iri = pick(names);
        const there = (await s.head(iri)).status === 200;
        await s.put(iri, type, body, there ? { 'If-Match': '*' } : {});
      };
      const steps: readonly (() => Promise<unknown>)[] = [
        ...Array.from({ length: 6 }, () => () => put('text/turtle', turtle())),
        () => put('application/json', '{}'),
        ...Array.from({ length: 2 }, () => () => {
          const body = JSON.stringify({ license: [{ href: `urn:l:${random(9)}` }] });
          return s.patch(`${pick(names)}.meta`, 'application/merge-patch+json', body, { 'If-Match': '*' });
        }),
        ...Array.from({ length: 3 }, () => () => {
          const update = `${pick(['INSERT', 'DELETE'])} DATA { ${turtle()} }`;
          const writer = pick([undefined, as(s, alice)]);
          return s.send('PATCH', pick(names), { 'Content-Type': 'application/sparql-update' }, update, writer);
        }),
        ...Array.from({ length: 4 }, () => async () => {
          const of = pick(places);
          if ((await s.head(of)).status !== 200) return;
          const where = pick(of.endsWith('/') ? ['accessTo', 'default', 'accessTo default'] : ['accessTo']);
          await setAcl(s, of, ...(random(5) ? [rule(pick(['Read', 'Read Write']), pick(agents), where)] : []));
        }),
        () => s.delete(aclOf(pick(places.slice(1)))),
        () => s.delete(pick(names)),
        () => s.send(pick(['MOVE', 'COPY']), pick(names), { Destination: pick(names), Overwrite: pick(['T', 'F']) }),
        async () => {
          const body = JSON.stringify({ iri: pick(names) });
          const answer = await s.send('POST', `${s.root}.lws/trash`, { 'Content-Type': 'application/json' }, body);
          if (answer.status === 201) trashed.push((JSON.parse(answer.text) as { id: string }).id);
        },
        async () => {
          const id = trashed.splice(random(trashed.length), 1)[0];
          if (id !== undefined) await s.send('POST', `${s.root}.lws/trash/${id}`);
        },
        () => {
          const member = `<#g> <http://www.w3.org/2006/vcard/ns#hasMember> <${pick([alice, bob]).did}>`;
          const update = `${pick(['INSERT', 'DELETE'])} DATA { ${member} }`;
          return s.patch(group, 'application/sparql-update', update, { 'If-Match': '*' });
        },
        ...Array.from({ length: 2 }, () => async () => {
          const id = random(2) ? grants.pop() : undefined;
          if (id !== undefined) await revoke(s, id);
          else if (grants.length < 3) grants.push(await grant(s, policy(pick([alice, bob]), 'read', pick(names))));
        }),
      ];

      const now = new Map<string, State>();
      /** Present states by second, at its end. */
      const kept = new Map<number, ReadonlyMap<string, State>>();
      /** URLs of the versions that each caller could read while they were the present states. */
      const couldRead = callers.map(() => new Set<string>());
      const look = async (): Promise<void> => {
        for (const iri of all) {
          const late = { 'Accept-Datetime': 'Fri, 01 Jan 2100 00:00:00 GMT', Accept: 'application/n-triples' };
          const answer = await s.get(iri, late);
          const there = answer.status === 200 || answer.status === 406;
          if (!there) {
            now.delete(iri);
            continue;
          }
          const isRdf = answer.headers['content-type'] === 'application/n-triples';
          const url = answer.headers['content-location'] ?? now.get(iri)?.url ?? '';
          if (now.get(iri)?.url !== url) now.set(iri, { url, triples: isRdf ? triplesOf(answer.text) : undefined });
          for (const [at, who] of callers.entries())
            if ((await s.send('HEAD', iri, {}, undefined, who)).status === 200) couldRead[at]!.add(url);
        }
      };

      const queries: readonly (() => string)[] = [
        () => 'SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }',
        () => 'SELECT ?g { GRAPH ?g {} }',
        () => `SELECT ?s ?o { ?s <http://p.example/${random(3)}> ?o }`,
        () => 'SELECT ?s ?a ?b { ?s <http://p.example/0> ?a . ?s <http://p.example/1> ?b }',
        () => 'SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p',
        () => `SELECT ?s ?p ?o { GRAPH <${pick(all)}> { ?s ?p ?o } }`,
        () => 'SELECT ?s ?o { ?s <http://p.example/0> ?o FILTER NOT EXISTS { ?s <http://p.example/1> ?o } }',
        () =>
          `SELECT ?g ?o FROM <${pick(all)}> FROM NAMED <${pick(all)}> FROM NAMED <${pick(all)}> { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }`,
        () => `SELECT ?g ?n { { SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g } }`,
      ];
      let [compared, found, hidden] = [0, 0, 0];
      const compare = async (second: number): Promise<void> => {
        const then = kept.get(second)!;
        const date = new Date(second * 1000).toUTCString();
        for (const [at, who] of callers.entries()) {
          const graphs = new Map<string, readonly Triple[]>();
          for (const [iri, { url, triples }] of then) {
            if (!triples) continue;
            if (who !== undefined) {
              const answer = await s.send('GET', iri, { 'Accept-Datetime': date }, undefined, who);
              if (answer.status !== 200 || answer.headers['content-location'] !== url) {
                hidden++;
                continue;
              }
              expect([...couldRead[at]!], `${at} ${url}`).to.include(url);
            }
            graphs.set(iri, triples);
          }
          const store = { graphs, defaultGraph: unionOf([...graphs.values()]) };
          for (const query of [pick(queries)(), pick(queries)(), pick(queries)(), queries[0]!()]) {
            const answer = await ask(
              s,
              query,
              { Accept: 'application/sparql-results+json', 'Accept-Datetime': date },
              who,
              who === undefined && random(4) === 0 ? c : undefined,
            );
            const result = await naiveResult(query, store);
            if (result.kind !== 'solutions') throw new Error('a SELECT');
            const expected = result.rows
              .map((row) => result.variables.map((name) => row.get(name)?.value ?? '-').join(' '))
              .sort();
            expect(rowsOf(answer), `${at} ${date} ${query}`).to.deep.equal(expected);
            expect(answer.headers['memento-datetime']).to.equal(date);
            compared++;
            if (at > 0) found += expected.length;
          }
        }
      };

      const rounds = runs(120);
      for (let round = 0; round < rounds; round++) {
        for (let step = 0; step < 8; step++) {
          await pick(steps)();
          await look();
        }
        const second = Math.floor(Date.now() / 1000);
        kept.set(second, new Map(now));
        await until(() => Date.now() >= (second + 1) * 1000);
        for (const each of round % 5 === 4 ? kept.keys() : [pick([...kept.keys()])]) await compare(each);
      }
      for (const each of kept.keys()) await compare(each);
      expect(compared).to.be.greaterThan(rounds * callers.length * 4);
      expect(Math.min(found, hidden)).to.be.greaterThan(rounds);
      for (const id of grants) await revoke(s, id);
    }).timeout(600_000);
  },
  inWac({ 'versions.all': 'true' }),
);
