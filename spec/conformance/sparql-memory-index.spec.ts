/** Rule 14.7: with the index in memory queries answer as without, and see every write that was acknowledged. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { putLinks } from '../support/linkset.js';
import { graphsSeen, holds, rows } from '../support/sparql.js';
import { below, build, e, half, revokesAtOnce, wholeTree } from '../support/sparql-views.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

const withIndex = (quads: number) => inWac({ 'sparql.endpoint.memory-index-quads': String(quads) });

async function logged(s: StorageUnderTest, text: string): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if (s.server!.log.some(({ msg }) => String(msg).includes(text))) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`The log does not say: ${text}`);
}

const ready = 'The index in memory is ready';

describeStorage(
  'SPARQL from the index in memory',
  (s) => {
    before(async () => {
      expect(s.server!.log.some(({ msg }) => String(msg).includes(ready))).to.equal(false);
      await graphsSeen(s);
      await logged(s, ready);
      await build(s);
      await setAcl(s, `${s.scratch}open/`, rule('Read', agent(alice)));
    });

    describe('for one who may read a half', () => half(s, () => as(s, alice)));

    it('shows the owner everything', async () => {
      expect(await graphsSeen(s)).to.deep.equal(below(s, wholeTree));
    });

    const valuesOf = (iri: string): Promise<string[]> => rows(s, `SELECT ?v { GRAPH <${iri}> { ?s <${e}v> ?v } }`);
    const typesOf = (iri: string): Promise<string[]> => rows(s, `SELECT ?t { GRAPH <${iri}.meta> { ?s a ?t } }`);

    it('sees every kind of write at once', async () => {
      for (let round = 0; round < 5; round++) {
        const { iri } = await s.stored('text/turtle', `<> <${e}v> ${round} .`);
        expect(await valuesOf(iri)).to.deep.equal([String(round)]);
        expect((await s.put(iri, 'text/turtle', `<> <${e}v> "x" .`, { 'If-Match': '*' })).status).to.equal(204);
        expect(await valuesOf(iri)).to.deep.equal(['x']);
        const update = `INSERT DATA { <${iri}> <${e}v> "y" }`;
        expect((await s.patch(iri, 'application/sparql-update', update)).status).to.equal(204);
        expect(await valuesOf(iri)).to.deep.equal(['x', 'y']);
        for (const type of [`${e}A`, `${e}B`]) {
          expect((await putLinks(s, iri, { type: [{ href: type }] })).status).to.equal(204);
          expect(await typesOf(iri)).to.include(type);
          expect(await holds(s, `ASK { <${iri}> a <${e}A> }`)).to.equal(type === `${e}A`);
        }
        expect((await s.delete(iri)).status).to.equal(204);
        expect([...(await valuesOf(iri)), ...(await typesOf(iri))]).to.deep.equal([]);
      }
    });

    it('sees a container go with all that is in it', async () => {
      const container = await s.container();
      await s.container(`${container}in/`);
      for (const name of ['a', 'in/b']) await s.stored('text/turtle', `<> <${e}gone> 1 .`, container + name);
      await putLinks(s, `${container}in/`, { type: [{ href: `${e}Gone` }] });
      expect(await rows(s, `SELECT ?s { { ?s <${e}gone> 1 } UNION { ?s a <${e}Gone> } }`)).to.have.length(3);
      expect((await s.delete(container, { Depth: 'infinity' })).status).to.equal(204);
      expect(await rows(s, `SELECT ?s { { ?s <${e}gone> 1 } UNION { ?s a <${e}Gone> } }`)).to.deep.equal([]);
    });

    it('shows nothing that was revoked', () => revokesAtOnce(s));

    it('is there again after a restart', async () => {
      await s.restart(withIndex(100_000));
      expect(await graphsSeen(s)).to.include.members(below(s, wholeTree));
      await logged(s, ready);
      expect(await graphsSeen(s)).to.include.members(below(s, wholeTree));
      const { iri } = await s.stored('text/turtle', `<> <${e}v> 1 .`);
      expect(await valuesOf(iri)).to.deep.equal(['1']);
      await s.delete(iri);
      await s.restart(withIndex(0));
      expect(await graphsSeen(s)).to.include.members(below(s, wholeTree));
      expect(s.server!.log.some(({ msg }) => String(msg).includes('index in memory'))).to.equal(false);
    });
  },
  withIndex(100_000),
);

describeStorage(
  'SPARQL with more quads than the index in memory may have',
  (s) => {
    it('answers without it, and says so', async () => {
      const triples = Array.from({ length: 50 }, (_, number) => `<> <${e}v> ${number} .`).join(' ');
      const { iri } = await s.stored('text/turtle', triples);
      await s.restart(withIndex(40));
      expect(await graphsSeen(s)).to.include(iri);
      await logged(s, 'more than 40 quads');
      expect(await rows(s, `SELECT ?v { GRAPH <${iri}> { ?s <${e}v> ?v } }`)).to.have.length(50);
    });
  },
  withIndex(40),
);
