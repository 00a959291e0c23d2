/** Links to shapes: permissions, shapes that cannot be applied, and existing resources (rules 23.2, 23.3, 23.5). */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../../support/conformance.js';
import { linked } from '../../support/expectations.js';
import { grant, policy } from '../../support/grants.js';
import { mergePatch, metaOf } from '../../support/linkset.js';
import {
  constrained,
  constrainedBy,
  linkShapes,
  person,
  personShapes,
  prefixes,
  problemOf,
  withShapes,
} from '../../support/shapes.js';
import { agent, alice, as, bob, inSolid, inWac, rule, setAcl } from '../../support/wac.js';

const turtle = 'text/turtle';
const lenient = { headers: { Prefer: 'handling=lenient' } };
const target = 'a sh:NodeShape ; sh:targetClass ex:Person ;';

/** Shapes that cannot be applied, with a part of the sentence. */
const unusable: readonly (readonly [shapes: string, sentence: string])[] = [
  ['', 'no shape with a target'],
  [`[] ${target} sh:sparql [ sh:select "SELECT * {}" ] .`, 'sh:sparql'],
  [`[] ${target} sh:rule [] .`, 'sh:rule'],
  ['[] a sh:NodeShape ; sh:target [ a sh:SPARQLTarget ] .', 'sh:target'],
  [`[] ${target} sh:js [] .`, 'sh:js'],
  [`[] ${target} sh:memberShape [ sh:nodeKind sh:IRI ] .`, 'sh:memberShape'],
  [`[] ${target} sh:conforms true .`, 'sh:conforms'],
  [`[] ${target} sh:shape ex:Undefined ; sh:node ex:Undefined .`, 'ex:Undefined is used, but'],
  [`ex:C a sh:ConstraintComponent . [] ${target} sh:nodeKind sh:IRI .`, 'sh:ConstraintComponent'],
  [`[] ${target} sh:node ex:Undefined .`, 'ex:Undefined is used, but'],
  [`[] ${target} sh:property [ sh:minCount 1 ] .`, 'has no sh:path'],
  [`[] ${target} sh:property [ sh:path [] ] .`, 'sh:path'],
  [`[] ${target} sh:property [ sh:path ex:p ; sh:minCount "one" ] .`, 'sh:minCount'],
  [`[] ${target} sh:property [ sh:path ex:p ; sh:minCount 1, 2 ] .`, 'more than one sh:minCount'],
  [`[] ${target} sh:property [ sh:path ex:p ; sh:pattern "(" ] .`, 'sh:pattern'],
  [`[] ${target} sh:property [ sh:path ex:p ; sh:pattern "\\\\p{IsNoBlock}" ] .`, 'sh:pattern'],
  [`[] ${target} sh:property [ sh:path ex:p ; sh:pattern "a" ; sh:flags "y" ] .`, 'sh:pattern'],
  [`[] ${target} sh:property [ sh:path ex:p ; sh:pattern ex:p ] .`, 'sh:pattern'],
  [`[] ${target} sh:in ex:a .`, 'sh:in'],
  [`[] ${target} sh:nodeKind ex:Thing .`, 'sh:nodeKind'],
  [`[] ${target} sh:property [ sh:path (${' ex:p'.repeat(80)} ) ; sh:minCount 1 ] .`, '64 steps'],
  [`[] ${target} sh:and (${' [ sh:nodeKind sh:IRI ]'.repeat(1100)} ) .`, '1000 shapes'],
  [`[] ${target} ${'sh:not [ '.repeat(1100)} sh:nodeKind sh:IRI ${']'.repeat(1100)} .`, '1000 shapes'],
  [`[] ${target} sh:property [ sh:path ex:p ; sh:severity "high" ; sh:minCount 1 ] .`, 'sh:severity'],
];

function replacing(s: StorageUnderTest): void {
  it('links are not removed by replacing their resource without control (rule 23.2)', async () => {
    const { iri: document } = await s.stored(turtle, personShapes);
    const container = await s.container();
    const { iri } = await s.stored(turtle, person(), `${container}linked`);
    expect((await linkShapes(s, iri, [document])).status).to.equal(204);
    await grant(s, policy(bob, ['read', 'create', 'modify', 'delete'], container));
    const bad = `${container}bad`;
    const fields = { 'Content-Type': turtle, 'If-None-Match': '*' };
    const made = await s.send('PUT', bad, fields, person('ex:name 1, 2'), as(s, bob));
    expect(made.status).to.equal(201);
    for (const method of ['COPY', 'MOVE']) {
      const answer = await s.send(method, bad, { Destination: iri, Overwrite: 'T' }, undefined, as(s, bob));
      expect(answer.status).to.equal(403);
    }
    expect((await s.get(iri, { Accept: turtle })).text).to.contain('Ada');
  });
}

function shapes(s: StorageUnderTest): void {
  for (const [text, sentence] of unusable)
    it(`rejects shapes with a sentence that names ${sentence} (rule 23.3)`, async () => {
      const { iri } = await s.stored(turtle, prefixes + text);
      const container = await s.container();
      expect(problemOf(await linkShapes(s, container, [iri]), 422, 'unusable-shapes').detail).to.contain(sentence);
      expect(linked(await s.get(container), constrainedBy)).to.deep.equal([]);
      await s.stored(turtle, person('ex:age "x"'), `${container}a`);
    });

  it('rejects absent documents, other kinds, other servers and more than 8 documents (rule 23.2)', async () => {
    const container = await s.container();
    const { iri: json } = await s.stored('application/json', '{}');
    const { iri } = await s.stored(turtle, personShapes);
    const many = Array.from({ length: 9 }, () => s.fresh());
    for (const each of many.slice(1)) await s.stored(turtle, personShapes, each);
    await s.stored(turtle, personShapes, many[0]!);
    for (const links of [[s.fresh()], [json], ['https://e.example/shapes'], [iri, container], many])
      problemOf(await linkShapes(s, container, links), 422, 'unusable-shapes');
    expect((await linkShapes(s, container, many.slice(1))).status).to.equal(204);
  });

  it('rejects all writes while the shapes cannot be applied or are gone (rule 23.3)', async () => {
    const { container, shapes: iri } = await constrained(s);
    const { iri: member } = await s.stored(turtle, person(), `${container}a`);
    expect((await s.put(iri, turtle, prefixes, { 'If-Match': '*' })).status).to.equal(204);
    expect(problemOf(await s.put(`${container}b`, turtle, person()), 422, 'unusable-shapes').detail).to.contain(iri);
    expect((await s.delete(iri)).status).to.equal(204);
    problemOf(await s.put(member, turtle, person(), { 'If-Match': '*' }), 422, 'unusable-shapes');
    expect((await s.delete(member)).status).to.equal(204);
    await s.stored(turtle, personShapes, iri);
    await s.stored(turtle, person(), `${container}b`);
  });
}

function existing(s: StorageUnderTest): void {
  it('rejects shapes that existing resources violate, unless the client is lenient (rule 23.5)', async () => {
    const { iri } = await s.stored(turtle, personShapes);
    const container = await s.container();
    await s.container(`${container}c/`);
    await s.stored(turtle, person('ex:age "x"'), `${container}c/a`);
    await s.stored(turtle, person(), `${container}b`);
    const { resources, detail } = problemOf(await linkShapes(s, container, [iri]), 409, 'conflict');
    expect(resources!.map(({ id }) => id)).to.deep.equal([`${container}c/a`]);
    expect(detail).to.contain('ex:name');
    await s.stored(turtle, person('ex:age "x"'), `${container}d`);
    expect((await linkShapes(s, container, [iri], lenient)).status).to.equal(204);
    problemOf(await s.put(`${container}e`, turtle, person('ex:age "x"')));
  });

  it('accepts shapes that all existing resources conform to, and those of nearer links (rule 23.5)', async () => {
    const { container } = await constrained(s);
    await s.stored(turtle, person('ex:name "Ada" ; ex:age 7'), `${container}a`);
    const text = `${prefixes} [] ${target} sh:property [ sh:path ex:age ; sh:minInclusive 8 ] .`;
    const { iri } = await s.stored(turtle, text);
    const outer = await s.container();
    expect((await linkShapes(s, outer, [iri])).status).to.equal(204);
    problemOf(await linkShapes(s, container, [iri]), 409, 'conflict');
    problemOf(await linkShapes(s, `${container}a`, [iri]), 409, 'conflict');
  });

  it('leaves no violating resource if shapes are linked during writes (rule 23.5)', async () => {
    const { iri } = await s.stored(turtle, personShapes);
    for (let round = 0; round < 5; round++) {
      const container = await s.container();
      const linking = { status: 0 };
      const writes = Array.from({ length: 20 }, async (_, at) => {
        const answer = await s.put(`${container}n${at}`, turtle, person(at % 7 === 6 ? 'ex:age "x"' : undefined));
        expect(answer.status, answer.text).to.be.oneOf([201, 422]);
        if (at === 3 + round) linking.status = (await linkShapes(s, container, [iri])).status;
      });
      await Promise.all(writes);
      expect(linking.status).to.be.oneOf([204, 409]);
      const isLinked = linked(await s.get(container), constrainedBy).length > 0;
      expect(isLinked).to.equal(linking.status === 204);
      const ids = await s.members(container);
      if (isLinked) expect(ids.filter((id) => /n(?:6|13)$/.test(id))).to.deep.equal([]);
      else expect(ids).to.have.length(20);
    }
  });

  it('links shapes while other clients write all the time (rule 23.5)', async () => {
    const { iri } = await s.stored(turtle, personShapes);
    const container = await s.container();
    let isOver = false;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let at = 0; !isOver; at++)
        expect((await s.put(`${container}w${writer}-${at}`, turtle, person())).status).to.equal(201);
    });
    const answers: number[] = [];
    for (const documents of [[iri], [], [iri]]) answers.push((await linkShapes(s, container, documents)).status);
    isOver = true;
    await Promise.all(writers);
    expect(answers).to.deep.equal([204, 204, 204]);
    problemOf(await s.put(`${container}a`, turtle, person('ex:age "x"')));
  });

  it('validates existing resources if links of a container above apply from now on (rule 23.5)', async () => {
    const { container } = await constrained(s);
    const { iri } = await s.stored(turtle, `${prefixes} [] ${target} sh:nodeKind sh:IRI .`);
    const inner = await s.container(`${container}inner/`);
    expect((await linkShapes(s, inner, [iri])).status).to.equal(204);
    await s.stored(turtle, person('ex:age "x"'), `${inner}a`);
    const { resources } = problemOf(await linkShapes(s, inner, []), 409, 'conflict');
    expect(resources!.map(({ id }) => id)).to.deep.equal([`${inner}a`]);
    expect((await linkShapes(s, inner, [], lenient)).status).to.equal(204);
  });

  it('validates a resource that is written with its link (rule 23.2)', async () => {
    const { iri } = await s.stored(turtle, personShapes);
    const Link = `<${iri}>; rel="${constrainedBy}"`;
    problemOf(await s.post(s.scratch, turtle, person('ex:age "x"'), { Link }));
    expect((await s.post(s.scratch, turtle, person(), { Link })).status).to.equal(201);
  });

  it('has the same effect by a patch of the linkset (rule 23.2)', async () => {
    const { iri } = await s.stored(turtle, personShapes);
    const container = await s.container();
    const patch = JSON.stringify({ [constrainedBy]: [{ href: iri }] });
    expect((await s.patch(metaOf(container), mergePatch, patch, { 'If-Match': '*' })).status).to.equal(204);
    problemOf(await s.put(`${container}a`, turtle, person('ex:age "x"')));
  });
}

function permissions(s: StorageUnderTest): void {
  const linkAs = (sender: Sender, iri: string, documents: readonly string[]) =>
    linkShapes(s, iri, documents, { sender });

  it('requires control to set and to remove links, and to replace those of a container above (rule 23.2)', async () => {
    const { iri } = await s.stored(turtle, personShapes);
    const container = await s.container();
    await setAcl(s, container, rule('Read Write', agent(alice)));
    await setAcl(s, iri, rule('Read', agent(alice, bob)));
    expect((await linkAs(as(s, alice), container, [iri])).status).to.equal(403);
    expect((await linkShapes(s, container, [iri])).status).to.equal(204);
    expect((await linkAs(as(s, alice), container, [])).status).to.equal(403);
    const inner = await s.container(`${container}inner/`);
    await setAcl(s, inner, rule('Read Write Control', agent(bob)));
    expect((await linkAs(as(s, bob), inner, [iri])).status).to.equal(403);
    const answer = await s.put(`${container}a`, turtle, person('ex:age "x"'));
    problemOf(answer);
  });

  it('shows neither hidden shapes nor the content of hidden resources (rules 23.2, 23.3, 23.6)', async () => {
    const { container, shapes: iri } = await constrained(s);
    await setAcl(s, container, rule('Write', agent(alice)), rule('Read Write Control', agent(bob)));
    await setAcl(s, iri);
    const write = (who: typeof alice, path: string, headers = {}) =>
      s.send('PUT', container + path, { 'Content-Type': turtle, ...headers }, person('ex:age "x"'), as(s, who));
    const answer = await write(bob, 'a');
    const { violations } = problemOf(answer);
    expect(violations![0]).to.have.property('message');
    expect(violations!.every(({ shape }) => shape === undefined)).to.equal(true);
    expect(linked(answer, constrainedBy)).to.deep.equal([]);
    const report = await write(bob, 'a', { Accept: turtle });
    expect(report.text).to.contain('sh:focusNode').and.not.contain('sourceShape');
    const inner = `ex:PersonShape sh:node ex:Inner ; sh:property [ sh:path ex:role ; sh:message "Told to none." ; sh:in ( "spy" ) ] .
      ex:Inner sh:property [ sh:path ex:rank ; sh:hasValue "general" ] .`;
    expect((await s.put(iri, turtle, personShapes + inner, { 'If-Match': '*' })).status).to.equal(204);
    const data = person('ex:name "Ada" ; ex:role "cook"');
    const refused = [turtle, 'application/problem+json'].map((Accept) =>
      s.send('PUT', `${container}a`, { 'Content-Type': turtle, Accept }, data, as(s, bob)),
    );
    for (const { text } of await Promise.all(refused)) {
      expect(text).to.not.match(/spy|general|Told|Inner|e.example\/rank/);
      expect(text).to.match(/role> of <[^>]*#it> violates the constraint In\b/);
      expect(text).to.match(/(?<!of )<[^>]*#it> violates the constraint Node\b/);
    }
    expect((await s.put(iri, turtle, personShapes, { 'If-Match': '*' })).status).to.equal(204);
    await s.stored(turtle, person(), `${container}kept`);
    const insert = 'INSERT DATA { <#it> <https://e.example/age> "x" }';
    const blind = await s.send(
      'PATCH',
      `${container}kept`,
      { 'Content-Type': 'application/sparql-update' },
      insert,
      as(s, alice),
    );
    expect(problemOf(blind)).to.not.have.property('violations');
    expect(problemOf(blind).detail).to.not.contain('age');
    const hidden = problemOf(await linkAs(as(s, bob), container, [iri, s.fresh()]), 422, 'unusable-shapes').detail;
    const absent = s.fresh();
    const told = problemOf(await linkAs(as(s, bob), container, [absent]), 422, 'unusable-shapes').detail;
    expect(hidden.replace(iri, '')).to.equal(told.replace(absent, ''));
    await s.put(iri, turtle, prefixes, { 'If-Match': '*' });
    const closed = problemOf(await write(alice, 'b'), 422, 'unusable-shapes').detail;
    expect(closed).to.not.contain(iri);
    expect(problemOf(await write(bob, 'b'), 422, 'unusable-shapes').detail).to.contain('no shape with a target');
  });
}

function solid(s: StorageUnderTest): void {
  it('are set by a patch of the metadata, and apply to N3 patches that create resources (rules 23.1, 23.2)', async () => {
    const { iri } = await s.stored(turtle, personShapes);
    const container = await s.container();
    const insert = `INSERT DATA { <${container}> <${constrainedBy}> <${iri}> }`;
    const linking = await s.patch(metaOf(container), 'application/sparql-update', insert);
    expect(linking.status, linking.text).to.equal(204);
    const patch = (
      age: string,
    ): string => `@prefix solid: <http://www.w3.org/ns/solid/terms#> . @prefix ex: <https://e.example/> .
      <> a solid:InsertDeletePatch ; solid:inserts { <#it> a ex:Person ; ex:name "Ada" ; ex:age ${age} } .`;
    problemOf(await s.patch(`${container}new/ada`, 'text/n3', patch('"x"')));
    await s.expectAbsent(`${container}new/`);
    expect((await s.patch(`${container}new/ada`, 'text/n3', patch('7'))).status).to.equal(201);
  });
}

describeStorage('Shapes that cannot be applied', shapes, withShapes);
describeStorage('Links to shapes in the Solid profile', solid, inSolid(withShapes.settings));
describeStorage('Links to shapes where resources exist', existing, withShapes);
describeStorage('Permissions on links to shapes', permissions, inWac(withShapes.settings));

describeStorage('Links to shapes and MOVE', replacing, withShapes);
