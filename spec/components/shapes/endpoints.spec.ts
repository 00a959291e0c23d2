/** Dry runs and the list of violations (rules 23.9, 23.10, 12.5). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../lib/tools/threads/package-root.js';
import { describeStorage, type Sender, type StorageUnderTest } from '../../support/conformance.js';
import { expectProblem } from '../../support/expectations.js';
import {
  constrained,
  linkShapes,
  person,
  personShapes,
  prefixes,
  problemOf,
  withShapes,
} from '../../support/shapes.js';
import { agent, alice, as, inWac, rule, setAcl } from '../../support/wac.js';

const turtle = 'text/turtle';
const lenient = { headers: { Prefer: 'handling=lenient' } };

interface Report {
  readonly isAccepted: boolean;
  readonly conforms: boolean;
  readonly shapes: readonly string[];
  readonly results: readonly { readonly message: string; readonly severity: string }[];
}

interface Violations {
  readonly items: readonly { readonly id: string; readonly violations: readonly { readonly message: string }[] }[];
  readonly problems: readonly string[];
  readonly next?: string;
}

const target = (s: StorageUnderTest, name: string, query: Readonly<Record<string, string>>): string =>
  `${s.root}.lws/${name}?${new URLSearchParams(query)}`;

async function dryRun(
  s: StorageUnderTest,
  query: Readonly<Record<string, string>>,
  body: string,
  sender?: Sender,
): Promise<Report> {
  const answer = await s.send('POST', target(s, 'validate', query), { 'Content-Type': turtle }, body, sender);
  expect(answer.status, answer.text).to.equal(200);
  return JSON.parse(answer.text) as Report;
}

async function violationsOf(s: StorageUnderTest, of: string, sender?: Sender): Promise<Violations> {
  const answer = await s.send('GET', target(s, 'violations', { of }), {}, undefined, sender);
  expect(answer.status, answer.text).to.equal(200);
  return JSON.parse(answer.text) as Violations;
}

function validating(s: StorageUnderTest): void {
  it('returns the report of a write without writing (rule 23.9)', async () => {
    const { container, shapes } = await constrained(s);
    for (const query of [{ as: `${container}a` }, { shapes }]) {
      const { results, ...rejected } = await dryRun(s, query, person('ex:age "x"'));
      expect(rejected).to.deep.equal({ isAccepted: false, conforms: false, shapes: [shapes] });
      expect(results).to.have.length(2);
      expect((await dryRun(s, query, person())).conforms).to.equal(true);
    }
    await s.expectAbsent(`${container}a`);
  });

  it('accepts warnings, which do not conform (rule 23.9)', async () => {
    const { shapes } = await constrained(s, `${personShapes} ex:AgeShape sh:severity sh:Warning .`);
    const report = await dryRun(s, { shapes }, person('ex:name "Ada" ; ex:age "x"'));
    expect(report).to.include({ isAccepted: true, conforms: false });
    expect(report.results[0]).to.include({ severity: 'Warning' });
  });

  it('warns about undefined properties of the SHACL namespace in JSON (rules 23.3, 23.9)', async () => {
    const { shapes, container } = await constrained(s, `${personShapes} ex:AgeShape sh:shape ex:Other .`);
    for (const query of [{ shapes }, { as: `${container}a` }]) {
      const report = await dryRun(s, query, person());
      expect(report).to.deep.include({
        ...{ isAccepted: true, conforms: true },
        warnings: ['sh:shape, which the shape ex:AgeShape has, is not a property of SHACL. It is ignored'],
      });
    }
  });

  it('accepts everything where no shapes apply, and documents of shapes themselves (rule 23.9)', async () => {
    const { container, shapes } = await constrained(s);
    for (const iri of [s.fresh(), shapes])
      expect(await dryRun(s, { as: iri }, person('ex:age "x"'))).to.include({ isAccepted: true, conforms: true });
    expect(container).to.be.a('string');
  });

  it('rejects other bodies, names and documents (rule 23.9)', async () => {
    const { container, shapes } = await constrained(s);
    const send = (query: Record<string, string>, type = turtle, body = person()) =>
      s.post(target(s, 'validate', query), type, body);
    for (const query of [{}, { as: `${container}a`, shapes }, { as: container }, { as: `${container}a?b` }] as Record<
      string,
      string
    >[])
      expectProblem(await send(query), 400, s);
    expectProblem(await send({ shapes }, 'application/json', '{}'), 415, s);
    expectProblem(await send({ shapes }, turtle, '<a> <b>'), 400, s);
    expectProblem(await send({ shapes: s.fresh() }), 404, s);
    expectProblem(await send({ as: 'https://e.example/a' }), 404, s);
    expectProblem(await send({ shapes: container }), 422, s);
    expectProblem(await send({ shapes }, turtle, `${person()}${'#'.repeat(9 << 20)}`), 413, s);
    expectProblem(await s.get(target(s, 'validate', { shapes })), 405, s);
  });

  it('is advertised in the storage description (rule 12.5)', async () => {
    const { service, capability } = JSON.parse((await s.get(s.root)).text) as Record<string, { type: string }[]>;
    const types = service!.map(({ type }) => type);
    expect(types).to.include.members(
      ['ShapeValidationService', 'ShapeViolationService'].map((name) => `https://www.w3.org/ns/lws#${name}`),
    );
    expect(capability!.map(({ type }) => type)).to.include('https://www.w3.org/TR/shacl/');
  });
}

function listing(s: StorageUnderTest): void {
  it('lists violating resources at any depth, in pages (rule 23.10)', async () => {
    const container = await s.container();
    await s.container(`${container}c/`);
    const bad = Array.from(
      { length: 120 },
      (_, at) => `${container}${at % 2 ? 'c/' : ''}n${String(at).padStart(3, '0')}`,
    );
    for (const iri of bad) await s.stored(turtle, person('ex:age "x"'), iri);
    await s.stored(turtle, person(), `${container}good`);
    const { iri } = await s.stored(turtle, personShapes);
    expect((await linkShapes(s, container, [iri], lenient)).status).to.equal(204);
    const found: string[] = [];
    let url: string | undefined = target(s, 'violations', { of: container });
    let pages = 0;
    for (; url; pages++) {
      const page = JSON.parse((await s.get(url)).text) as Violations;
      found.push(...page.items.map(({ id }) => id));
      url = page.next;
    }
    expect([...found].sort()).to.deep.equal([...bad].sort());
    expect(pages).to.be.above(1);
    expect((await violationsOf(s, bad[0]!)).items[0]!.violations).to.have.length(2);
    expect((await violationsOf(s, `${container}good`)).items).to.deep.equal([]);
  });

  it('continues behind resources that are not RDF (rule 23.10)', async () => {
    const container = await s.container();
    for (let at = 0; at < 150; at++) await s.stored('text/plain', 'x', `${container}a${at}`);
    await s.stored(turtle, person('ex:age "x"'), `${container}z`);
    const { iri } = await s.stored(turtle, personShapes);
    expect((await linkShapes(s, container, [iri], lenient)).status).to.equal(204);
    const { items } = await violationsOf(s, container);
    expect(items.map(({ id }) => id)).to.deep.equal([`${container}z`]);
  });

  it('says which shapes cannot be applied (rule 23.10)', async () => {
    const { container, shapes } = await constrained(s);
    await s.stored(turtle, person(), `${container}a`);
    expect((await s.delete(shapes)).status).to.equal(204);
    const { items, problems } = await violationsOf(s, container);
    expect(items).to.deep.equal([]);
    expect(problems[0]).to.contain(shapes);
  });

  it('rejects absent resources and missing parameters (rule 23.10)', async () => {
    expectProblem(await s.get(target(s, 'violations', { of: s.fresh() })), 404, s);
    expectProblem(await s.get(target(s, 'violations', {})), 400, s);
    expectProblem(await s.get(target(s, 'violations', { of: s.scratch, after: 'https://e.example/' })), 400, s);
  });
}

function hiding(s: StorageUnderTest): void {
  it('lists readable resources only, and validates with readable shapes only (rules 23.9, 23.10)', async () => {
    const { container, shapes } = await constrained(s);
    expect((await linkShapes(s, container, [])).status).to.equal(204);
    for (const name of ['open', 'hidden']) await s.stored(turtle, person('ex:age "x"'), container + name);
    expect((await linkShapes(s, container, [shapes], lenient)).status).to.equal(204);
    await setAcl(s, container, rule('Read', agent(alice)));
    await setAcl(s, `${container}hidden`);
    const ids = async (sender?: Sender) => (await violationsOf(s, container, sender)).items.map(({ id }) => id);
    expect(await ids()).to.have.members([`${container}open`, `${container}hidden`]);
    expect(await ids(as(s, alice))).to.deep.equal([`${container}open`]);
    await setAcl(s, shapes);
    const { items } = await violationsOf(s, container, as(s, alice));
    expect(items[0]).to.not.have.property('shapes');
    const asked = (query: Record<string, string>) =>
      s.send('POST', target(s, 'validate', query), { 'Content-Type': turtle }, person(), as(s, alice));
    expectProblem(await asked({ shapes }), 404, s);
    expectProblem(await asked({ as: `${container}new` }), 403, s);
    await setAcl(s, container, rule('Read Write', agent(alice)));
    expectProblem(await asked({ as: `${container}new` }), 404, s);
    await setAcl(s, shapes, rule('Read', agent(alice)));
    expect(await dryRun(s, { as: `${container}new` }, person(), as(s, alice))).to.include({ isAccepted: true });
  });

  it('does not name a page by a hidden resource (rule 23.10)', async () => {
    const container = await s.container();
    for (let at = 0; at < 60; at++) await s.stored(turtle, person('ex:age "x"'), `${container}n${at}`);
    await s.stored(turtle, person('ex:age "x"'), `${container}z-hidden`);
    await setAcl(s, container, rule('Read', agent(alice)));
    await setAcl(s, `${container}z-hidden`);
    const { iri } = await s.stored(turtle, personShapes);
    expect((await linkShapes(s, container, [iri], lenient)).status).to.equal(204);
    expect((await violationsOf(s, container)).next).to.contain('z-hidden');
    const { next } = await violationsOf(s, container, as(s, alice));
    expect(next).to.be.a('string').and.not.contain('z-hidden');
  });

  it('limits dry runs of unauthorized callers (rule 23.9)', async () => {
    const { shapes } = await constrained(s);
    await setAcl(s, shapes, rule('Read', 'acl:agentClass <http://xmlns.com/foaf/0.1/Agent>'));
    const statuses: number[] = [];
    for (let count = 0; count < 62; count++)
      statuses.push(
        (await s.send('POST', target(s, 'validate', { shapes }), { 'Content-Type': turtle }, '', 'anonymous')).status,
      );
    expect(statuses.filter((status) => status === 200)).to.have.length(60);
    expect(statuses.at(-1)).to.equal(429);
  });
}

function example(s: StorageUnderTest): void {
  const text = readFileSync(join(packageRoot, 'docs/shapes.md'), 'utf8');
  const fileOf = (name: string): string => new RegExp(`\`${name}\`\n\n\`\`\`\\w+\n([^]*?)\`\`\``).exec(text)![1]!;

  it('of docs/shapes.md is rejected, and accepted after the correction (rules 23.1, 23.4, 23.9)', async () => {
    const [shapes, container] = [`${s.root}dataset-shapes`, `${s.root}datasets/`];
    await s.stored(turtle, fileOf('dataset-shapes.ttl'), shapes);
    await s.container(container);
    const links = fileOf('links.json').replace('/dataset-shapes', shapes);
    const linked = await s.put(`${container}.meta`, 'application/linkset+json', links, { 'If-Match': '*' });
    expect(linked.status, linked.text).to.equal(204);
    const data = fileOf('rivers.ttl');
    const { violations } = problemOf(await s.put(`${container}rivers`, turtle, data));
    const [, sentence] = /\n {4}(dct:issued of .*)\n/.exec(text)!;
    expect(violations!.map(({ message }) => message)).to.include(sentence!.replace('http://localhost:8080/', s.root));
    const correct = data.replace('"June 2026"', '"2026-06-01"^^xsd:date');
    const { results, ...report } = await dryRun(s, { as: `${container}rivers` }, correct);
    expect(report).to.include({ isAccepted: true, conforms: false });
    expect(results.map(({ severity }) => severity)).to.deep.equal(['Warning']);
    await s.stored(turtle, correct, `${container}rivers`);
  });
}

function off(s: StorageUnderTest): void {
  it('adds nothing while it is off (rule 12.5)', async () => {
    const { iri } = await s.stored(turtle, personShapes);
    const container = await s.container();
    expect((await linkShapes(s, container, [iri])).status).to.equal(204);
    await s.stored(turtle, person('ex:age "x"'), `${container}a`);
    expect((await s.get(`${container}a`)).headers['link']).to.not.contain('constrainedBy');
    expect((await s.get(s.root)).text).to.not.contain('hape');
    expectProblem(await s.get(target(s, 'violations', { of: container })), 404, s);
    await s.restart(withShapes);
    problemOf(await s.put(`${container}b`, turtle, person('ex:age "x"')));
    expect((await violationsOf(s, container)).items.map(({ id }) => id)).to.deep.equal([`${container}a`]);
    expect(prefixes).to.contain('sh:');
  });
}

describeStorage('Dry runs of validation', validating, withShapes);
describeStorage('Lists of violations', listing, withShapes);
describeStorage('Hidden shapes and resources in validations', hiding, inWac(withShapes.settings));
describeStorage('The example', example, withShapes);
describeStorage('Shapes while the component is off', off, { settings: { 'shapes.enabled': 'false' } });
