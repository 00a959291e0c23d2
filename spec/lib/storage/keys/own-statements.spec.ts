/** Statements of a graph about its own resource, never those about similar subjects. */
import type { Quad, Quad_Object, Quad_Subject } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { ownStatements } from '../../../../lib/storage/keys/subject-statements.js';

const f = new DataFactory<Quad>();
const iri = 'http://spec.example/c/r';
const p = 'http://v.example/p';
const target = 'http://v.example/target';
const xsd = 'http://www.w3.org/2001/XMLSchema#';

const triple = (subject: Quad_Subject, object: Quad_Object = f.namedNode(target), predicate = p): Quad =>
  f.quad(subject, f.namedNode(predicate), object);
const about = (reference: string): Quad => triple(f.namedNode(iri + reference));

async function statements(graph: string, quads: readonly Quad[]): Promise<(readonly [string, string])[]> {
  const found: (readonly [string, string])[] = [];
  for await (const block of ownStatements(graph, encodeGraph(graph, quads))) found.push(...block);
  return found;
}

describe('storage/own-statements', () => {
  for (const reference of ['', '#', '#me', '#me#twice', '#a/b?c', '#é𝄞'])
    it(`returns statements about the resource${reference && ` and its fragment ${reference}`}`, async () => {
      expect(await statements(iri, [about(reference)])).to.deep.equal([[p, target]]);
    });

  for (const reference of ['?', '?x', '?x#me', '/', '/#me', 'x', '.meta', '%23me', '2#me'])
    it(`omits statements about <r${reference}>`, async () => {
      expect(await statements(iri, [about(reference)])).to.deep.equal([]);
    });

  it('omits statements about IRIs that are prefixes of the resource, and others', async () => {
    const others = ['http://spec.example/c/', 'http://spec.example/c', 'urn:x:y', `urn:${iri}`];
    expect(
      await statements(
        iri,
        others.map((other) => triple(f.namedNode(other))),
      ),
    ).to.deep.equal([]);
  });

  for (const label of [iri, `${iri}#me`, '', 'b0', '#me'])
    it(`omits statements about a blank node with the label "${label}"`, async () => {
      expect(await statements(iri, [triple(f.blankNode(label))])).to.deep.equal([]);
    });

  const literals: readonly Quad_Object[] = [
    f.literal(target),
    f.literal(target, 'en'),
    f.literal(target, f.namedNode(`${xsd}anyURI`)),
    f.literal(target, f.namedNode(target)),
    ...['integer', 'double', 'dateTime'].map((name) => f.literal(target, f.namedNode(xsd + name))),
    f.literal('17', f.namedNode(`${xsd}integer`)),
    f.literal('2026-01-01T00:00:00', f.namedNode(`${xsd}dateTime`)),
    f.literal(''),
    f.literal(`a\u0000\u0000${target}`),
    f.blankNode(target),
    f.blankNode('b'),
  ];
  it('omits literals of any kind and blank nodes, even if they look like an IRI', async () => {
    for (const object of literals)
      expect(await statements(iri, [triple(f.namedNode(iri), object)]), JSON.stringify(object)).to.deep.equal([]);
  });

  it('returns the IRI among such objects, with any keys', async () => {
    const quads = [...literals.map((object) => triple(f.namedNode(iri), object)), about('')];
    expect(await statements(iri, quads)).to.deep.equal([[p, target]]);
  });

  it('returns predicates and objects unchanged: non-ASCII, long, and the resource itself', async () => {
    const long = `http://v.example/${'x'.repeat(65_000)}`;
    const expected = [
      ['http://v.example/é', 'http://v.example/𝄞'],
      ['urn:p', iri],
      [long, `${iri}#me`],
    ] as const;
    const quads = expected.map(([predicate, object]) => triple(f.namedNode(iri), f.namedNode(object), predicate));
    expect(await statements(iri, quads)).to.have.deep.members(expected);
  });

  it('distinguishes a graph from one with a longer IRI', async () => {
    for (const graph of [iri, `${iri}2`, `${iri}#`, `${iri}/`])
      for (const subject of [iri, `${iri}2`, `${iri}/`]) {
        const found = await statements(graph, [triple(f.namedNode(subject))]);
        expect(found.length, `${subject} in ${graph}`).to.equal(subject === graph ? 1 : 0);
      }
  });

  it('supports a resource whose IRI is not ASCII, or has separator characters', async () => {
    for (const graph of ['http://spec.example/ü𝄞', 'http://spec.example/0000000a', 'http://spec.example/%00'])
      expect(await statements(graph, [triple(f.namedNode(`${graph}#me`))]), graph).to.deep.equal([[p, target]]);
  });

  it('reads large graphs in blocks, and yields between them', async () => {
    const quads = Array.from({ length: 12_000 }, (_, i) =>
      triple(f.namedNode(`${iri}#${i}`), f.namedNode(`urn:o:${i}`)),
    );
    let turns = 0;
    const pulse = setInterval(() => turns++, 0);
    const sizes: number[] = [];
    for await (const block of ownStatements(iri, encodeGraph(iri, quads))) {
      sizes.push(block.length);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    clearInterval(pulse);
    expect(sizes).to.deep.equal([5000, 5000, 2000]);
    expect(turns).to.be.above(1);
    expect(await statements(iri, [])).to.deep.equal([]);
  });
});
