/**
 * SPARQL Update at the endpoint: each graph is authorized like a write of its own, updates are atomic, and unreadable graphs
 * cause no notification.
 */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { inserting, postUpdate, storedValues, update, updatedBy, updates, valuesOf } from '../support/sparql-update.js';
import { agent, alice, as, bob, inWac, rule, setAcl } from '../support/wac.js';

describeStorage(
  'SPARQL Update and Web Access Control',
  (s) => {
    /** Alice may write in `own/`, read in `seen/`, write but not read in `blind/`, and append to `box/`. She has no access to `shut/`. */
    let [own, seen, blind, box, shut] = ['', '', '', '', ''];
    let sender: Sender;
    before(async () => {
      sender = as(s, alice);
      const open = async (name: string, modes?: string): Promise<string> => {
        const container = await s.container(`${s.scratch}${name}/`);
        await setAcl(s, container, ...(modes === undefined ? [] : [rule(modes, agent(alice))]));
        return container;
      };
      own = await open('own', 'Read Write');
      seen = await open('seen', 'Read');
      blind = await open('blind', 'Write');
      box = await open('box', 'Append');
      shut = await open('shut');
      for (const container of [own, seen, blind, shut]) await storedValues(s, `${container}a`, 'a');
    });

    /** The status, and the error without its volatile parts. */
    const told = async (text: string, by: Sender, headers = {}) => {
      const answer = await postUpdate(s, text, by, headers);
      return `${answer.status} ${answer.text.replace(/urn:uuid:[0-9a-f-]+/g, '').replaceAll('absent', 'hidden')}`;
    };

    it('writes to writable graphs and reads from readable ones', async () => {
      const text = `INSERT { GRAPH <${own}b> { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } FILTER(STRSTARTS(STR(?g), "${s.scratch}")) } ;
        ${inserting(`${blind}a`, 'told')} ; ${inserting(`${own}c`, 'made')}`;
      expect(await update(s, text, sender)).to.deep.equal(['a changed', 'b created', 'c created']);
      expect(await valuesOf(s, `${own}b`)).to.deep.equal(['a']);
      expect(await valuesOf(s, `${blind}a`)).to.deep.equal(['a', 'told']);
      await update(
        s,
        `DROP GRAPH <${own}b> ; DROP GRAPH <${own}c> ; DELETE DATA { GRAPH <${blind}a> { <urn:s> <urn:p> "told" } }`,
        sender,
      );
    });

    it('changes nothing if one of three graphs is not writable', async () => {
      for (const [refused, status] of [
        [inserting(`${seen}a`, 'x'), 403],
        [inserting(`${seen}new`, 'x'), 403],
        [inserting(`${shut}a`, 'x'), 404],
        [inserting(`${shut}new`, 'x'), 404],
        [`DELETE WHERE { GRAPH <${seen}a> { ?s ?p ?o } }`, 403],
        [`DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }`, 403],
        [`CLEAR GRAPH <${seen}a>`, 403],
        [`DROP GRAPH <${seen}a>`, 403],
        [`MOVE <${seen}a> TO <${own}m>`, 403],
        [`COPY <${own}a> TO <${seen}a>`, 403],
        [`COPY <${blind}a> TO <${own}m>`, 404],
        [`ADD <${shut}a> TO <${own}m>`, 404],
        [`LOAD <${shut}a> INTO GRAPH <${own}m>`, 404],
        [`DROP GRAPH <${shut}a>`, 404],
        [`CREATE GRAPH <${shut}a>`, 404],
      ] as const) {
        const text = `${inserting(`${own}a`, 'x')} ; ${refused} ; ${inserting(`${own}z`, 'x')}`;
        const answer = await postUpdate(s, text, sender);
        expect(answer.status, `${refused}\n${answer.text}`).to.equal(status);
        for (const container of [own, seen, blind, shut])
          expect(await valuesOf(s, `${container}a`), container).to.deep.equal(['a']);
        for (const name of ['m', 'z']) await s.expectAbsent(own + name);
      }
    });

    it('creates graphs in containers with append, and does not change existing ones there', async () => {
      expect(await update(s, inserting(`${box}a`, 'x'), sender)).to.deep.equal(['a created']);
      const [change, make] = [inserting(`${box}a`, 'y'), inserting(`${box}b`, 'y')];
      expect((await postUpdate(s, `${make} ; ${change}`, sender)).status).to.equal(404);
      await s.expectAbsent(`${box}b`);
    });

    it('is rejected for unauthorized and anonymous callers', async () => {
      for (const [by, status] of [
        ['anonymous', 401],
        [s.stranger, 404],
      ] as const)
        for (const text of [
          inserting(`${own}a`, 'x'),
          inserting(`${own}new`, 'x'),
          `DROP GRAPH <${own}a>`,
          `CLEAR GRAPH <${own}a>`,
        ])
          expect((await postUpdate(s, text, by)).status, text).to.equal(status);
      expect(await valuesOf(s, `${own}a`)).to.deep.equal(['a']);
    });

    it('returns the same for unreadable and nonexistent graphs', async () => {
      await storedValues(s, `${shut}hidden`, 'x'.repeat(3000));
      await s.stored('application/json', '{}', `${shut}hidden2`);
      const triple = '<urn:s> <urn:p> "a"';
      for (const by of [sender, s.stranger, 'anonymous'] as const)
        for (const of of [
          (g: string) => inserting(g, 'x'),
          (g: string) => `DELETE DATA { GRAPH <${g}> { ${triple} } }`,
          (g: string) => `DELETE DATA { GRAPH <${g}> { ${triple} } } ; ${inserting(g, 'y')}`,
          (g: string) => `DELETE WHERE { GRAPH <${g}> { ?s ?p ?o } }`,
          (g: string) => `WITH <${g}> DELETE { ?s ?p ?o } INSERT { ?s ?p 1 } WHERE { ?s ?p ?o }`,
          (g: string) => `CLEAR GRAPH <${g}>`,
          (g: string) => `CLEAR SILENT GRAPH <${g}>`,
          (g: string) =>
            `CLEAR SILENT GRAPH <${g}> ; INSERT { GRAPH <${own}n> { ?s ?p ?o } } WHERE { GRAPH <${g}> { ?s ?p ?o } }`,
          (g: string) => `DROP GRAPH <${g}>`,
          (g: string) => `DROP SILENT GRAPH <${g}>`,
          (g: string) => `CREATE GRAPH <${g}>`,
          (g: string) => `CREATE SILENT GRAPH <${g}>`,
          (g: string) => `COPY <${g}> TO <${own}n>`,
          (g: string) => `MOVE SILENT <${g}> TO <${own}n>`,
          (g: string) => `COPY <${own}a> TO <${g}>`,
          (g: string) => `LOAD SILENT <${g}> INTO GRAPH <${own}n>`,
          (g: string) =>
            `${inserting(g, 'z')} ; INSERT { GRAPH <${own}n> { ?s ?p ?o } } WHERE { GRAPH <${g}> { ?s ?p ?o } }`,
        ])
          for (const [hidden, absent] of [
            ['hidden', 'absent'],
            ['hidden2', 'absent2'],
          ] as const)
            expect(await told(of(shut + hidden), by), of(shut + hidden)).to.equal(await told(of(shut + absent), by));
      expect(await valuesOf(s, `${shut}hidden`)).to.deep.equal(['x'.repeat(3000)]);
      await s.expectAbsent(`${shut}absent`);
      const tag = await s.tag(`${shut}hidden`);
      for (const state of [tag, '"x"'])
        expect(await told(inserting(`${own}n`, 'x'), sender, { 'LWS-If-Match': `<${shut}hidden> ${state}` })).to.match(
          /^404/,
        );
      await s.expectAbsent(`${own}n`);
    });

    it('does not reveal the content of an unreadable graph by inserting into it', async () => {
      const text = `${inserting(`${shut}a`, 'mine')} ; INSERT { GRAPH <${own}n> { ?s ?p ?o } } WHERE { GRAPH <${shut}a> { ?s ?p ?o } }`;
      expect((await postUpdate(s, text, sender)).status).to.equal(404);
      const told = `${inserting(`${blind}a`, 'mine')} ; INSERT { GRAPH <${own}n> { ?s ?p ?o } } WHERE { GRAPH <${blind}a> { ?s ?p ?o } }`;
      expect(await update(s, told, sender)).to.deep.equal(['a changed']);
      await s.expectAbsent(`${own}n`);
    });

    it('hides graphs from the next update on after read access is revoked', async () => {
      const group = await s.container(`${s.scratch}group/`);
      await storedValues(s, `${group}a`, 'secret');
      await setAcl(s, group, rule('Read', agent(alice, bob)));
      const copy = (to: string) => `INSERT { GRAPH <${to}> { ?s ?p ?o } } WHERE { GRAPH <${group}a> { ?s ?p ?o } }`;
      expect(await update(s, copy(`${own}g1`), sender)).to.deep.equal(['g1 created']);
      await setAcl(s, group, rule('Read', agent(bob)));
      expect(await update(s, copy(`${own}g2`), sender)).to.deep.equal([]);
    });

    it('applies two concurrent updates of one graph', async () => {
      const iri = `${own}count`;
      await s.stored('text/turtle', '<urn:s> <urn:n> 0 .', iri);
      const add = `WITH <${iri}> DELETE { ?s ?p ?n } INSERT { ?s ?p ?m } WHERE { ?s ?p ?n BIND(?n + 1 AS ?m) }`;
      const answers = await Promise.all(Array.from({ length: 8 }, () => postUpdate(s, add, sender)));
      for (const answer of answers) expect(updatedBy(answer)).to.have.length(1);
      expect(await valuesOf(s, iri)).to.deep.equal(['8']);
    });

    it('serializes concurrent updates, patches and replacements', async () => {
      const [a, b] = [`${own}one`, `${own}two`];
      for (const iri of [a, b]) await storedValues(s, iri);
      const move = (from: string, to: string) =>
        `DELETE { GRAPH <${from}> { ?s ?p ?o } } INSERT { GRAPH <${to}> { ?s ?p ?o } } WHERE { GRAPH <${from}> { ?s ?p ?o } }`;
      const answers = await Promise.all([
        ...['1', '2', '3'].map((value) => postUpdate(s, inserting(a, value), sender)),
        ...['4', '5'].map((value) =>
          s.patch(a, 'application/sparql-update', `INSERT DATA { <urn:s> <urn:p> "${value}" }`),
        ),
        postUpdate(s, move(a, b), sender),
        postUpdate(s, move(b, a), sender),
      ]);
      for (const { status, text } of answers) expect(status, text).to.be.oneOf([200, 204]);
      const all = [...(await valuesOf(s, a))!, ...(await valuesOf(s, b))!].sort();
      expect(all).to.deep.equal(['1', '2', '3', '4', '5']);
    });

    it('lets two concurrent updates create one graph', async () => {
      const iri = `${own}once`;
      const answers = await Promise.all(
        ['1', '2', '3', '4'].map((value) => postUpdate(s, inserting(iri, value), sender)),
      );
      expect(answers.flatMap((answer) => updatedBy(answer).map(({ status }) => status)).sort()).to.deep.equal([
        'changed',
        'changed',
        'changed',
        'created',
      ]);
      expect(await valuesOf(s, iri)).to.deep.equal(['1', '2', '3', '4']);
    });
  },
  inWac(updates),
);
