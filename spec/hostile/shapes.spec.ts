/** Hostile shapes and data: each validation ends in time, and other clients see no effect (rules 23.3, 23.11). */
import { expect } from 'chai';
import { by, expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { slowness } from '../support/patience.js';
import type { ServerProcess } from '../support/process.js';
import { constrainedBy, prefixes } from '../support/shapes.js';

const owner = ed25519Identity();
const times = (count: number, part: (at: number) => string, joint = ' '): string =>
  Array.from({ length: count }, (_, at) => part(at)).join(joint);
const target = 'a sh:NodeShape ; sh:targetNode ex:n0 ;';
const property = (content: string): string => `ex:S ${target} sh:property [ ${content} ] .`;
const ring = (count: number): string => times(count, (at) => `ex:n${at} ex:p ex:n${(at + 1) % count} .`);
const values = (predicate: string, count: number): string =>
  `ex:n0 ex:${predicate} ${times(count, (at) => String(at), ', ')} .`;
/** Each shape has the next one twice: 2^count evaluations. */
const doubling = (count: number): string =>
  times(count, (at) => `ex:D${at} sh:and ( [ sh:node ex:D${at + 1} ] ex:D${at + 1} ) .`);

interface Attack {
  readonly shapes: string;
  readonly data: string;
  /** Statuses of the link and of the write. */
  readonly link?: 422;
  readonly write?: readonly number[];
}

const attacks: Readonly<Record<string, Attack>> = {
  'a pattern with exponential backtracking': {
    shapes: property('sh:path ex:p ; sh:pattern "^(a+)+$"'),
    data: `ex:n0 ex:p "${'a'.repeat(60)}!" .`,
  },
  'many patterns with polynomial backtracking': {
    shapes: property(`sh:path ex:p ; sh:or (${times(500, (at) => `[ sh:pattern "^(.*a.*){${at % 20}}.*b$" ]`)} )`),
    data: `ex:n0 ex:p "${'a'.repeat(20_000)}" .`,
  },
  'shapes that double at each level': {
    shapes: `ex:S ${target} sh:node ex:D0 . ${doubling(60)} ex:D60 sh:nodeKind sh:IRI .`,
    data: ring(3),
  },
  'a recursive shape over a long chain': {
    shapes: `ex:S ${target} sh:property [ sh:path ex:p ; sh:node ex:S ] .`,
    data: ring(19_000),
  },
  'a closure from every node of a ring': {
    shapes: `ex:S a sh:NodeShape ; sh:targetSubjectsOf ex:p ; sh:property [ sh:path [ sh:zeroOrMorePath ex:p ] ; sh:maxCount 100000 ] .`,
    data: ring(15_000),
  },
  'nested closures over a ring': {
    shapes: property(`sh:path ${'[ sh:zeroOrMorePath '.repeat(30)}ex:p${' ]'.repeat(30)} ; sh:maxCount 100000`),
    data: ring(3_000),
  },
  'pairs of 10 000 by 10 000 values': {
    shapes: property('sh:path ex:p ; sh:lessThanOrEquals ex:q'),
    data: `${values('p', 9_000)} ex:n0 ex:q ${times(9_000, (at) => String(100_000 + at), ', ')} .`,
  },
  'values that must differ from 10 000 others': {
    shapes: property('sh:path ex:p ; sh:disjoint ex:q ; sh:equals ex:q'),
    data: `${values('p', 9_900)} ex:n0 ex:q ${times(9_900, (at) => String(100_000 + at), ', ')} .`,
    write: [422],
  },
  'a path of 10 000 steps': {
    shapes: property(`sh:path (${' ex:p'.repeat(9_000)} ) ; sh:minCount 1`),
    data: ring(3),
    link: 422,
    write: [201],
  },
  'a path of 60 steps over a ladder': {
    shapes: property(`sh:path (${' ex:p'.repeat(60)} ) ; sh:minCount 1`),
    data: times(
      60,
      (at) => `ex:n${at} ex:p ex:n${at + 1}, ex:m${at + 1} . ex:m${at} ex:p ex:n${at + 1}, ex:m${at + 1} .`,
    ),
    write: [201],
  },
  '1 100 shapes': {
    shapes: `ex:S ${target} sh:and (${times(1_100, () => '[ sh:nodeKind sh:IRI ]')} ) .`,
    data: ring(3),
    link: 422,
    write: [201],
  },
  'a path that contains itself': {
    shapes: `ex:S ${target} sh:property [ sh:path _:p ; sh:minCount 1 ] . _:p sh:inversePath _:p .`,
    data: ring(3),
    link: 422,
    write: [201],
  },
};

describe('Hostile shapes', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  before(async () => {
    server = await startOwned(owner, { LWS_SHAPES_ENABLED: 'true' });
  });
  after(() => server.stop());

  const put = (path: string, body: string | undefined, type = 'text/turtle'): Promise<Answer> =>
    request(server.root + path, {
      method: 'PUT',
      headers: { ...by(server, owner), ...(body === undefined ? {} : { 'Content-Type': type }), 'If-Match': '*' },
      body,
    });
  const create = (path: string, body?: string): Promise<Answer> =>
    request(server.root + path, {
      method: 'PUT',
      headers: { ...by(server, owner), ...(body === undefined ? {} : { 'Content-Type': 'text/turtle' }) },
      body,
    });

  for (const [at, [title, { shapes, data, link, write = [201, 422] }]] of Object.entries(attacks).entries())
    it(`${title}: the write ends in time (rule 23.11)`, async () => {
      expect((await create(`shapes${at}`, prefixes + shapes)).status).to.equal(201);
      expect((await create(`c${at}/`)).status).to.equal(201);
      const links = { linkset: [{ [constrainedBy]: [{ href: `${server.root}shapes${at}` }] }] };
      const linked = await put(`c${at}/.meta`, JSON.stringify(links), 'application/linkset+json');
      expect(linked.status, linked.text).to.equal(link ?? 204);
      const impact = await measureImpact(server, async () => {
        const began = performance.now();
        const answer = await create(`c${at}/data`, prefixes + data);
        return { answer, ms: performance.now() - began };
      });
      const { answer, ms } = impact.result;
      expect(answer.status, answer.text.slice(0, 500)).to.be.oneOf([...write]);
      expect(ms, 'duration of the write, in ms').to.be.below(3_000 * slowness);
      expectNoImpact(impact);
    });
});
