/** N3 Patch and required modes of patches with `lws.profile=solid` (rules 20.5, 20.6). */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem, listOf } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { expectGraph } from '../support/rdf.js';
import { aclOf, agent, alice, anybody, as, bob, inSolid, rule, setAcl } from '../support/wac.js';

const n3 = 'text/n3';
const prefixes = '@prefix solid: <http://www.w3.org/ns/solid/terms#> . @prefix : <urn:> .\n';
const patchOf = (clauses: string): string => `${prefixes}_:patch a solid:InsertDeletePatch ; ${clauses} .`;
const send = (s: StorageUnderTest, iri: string, text: string, sender?: Sender, headers = {}): Promise<Answer> =>
  s.send('PATCH', iri, { 'Content-Type': n3, ...headers }, text, sender);
const clausePatch = (s: StorageUnderTest, iri: string, clauses: string, sender?: Sender): Promise<Answer> =>
  send(s, iri, patchOf(clauses), sender);

const content = '<#a> <urn:name> "Ada" ; <urn:knows> <#b> . <#b> <urn:name> "Bob" .';

/** Notation3 documents that are not patches. */
const noPatches: Readonly<Record<string, string>> = {
  'no patch': `${prefixes}<> a solid:Patch ; solid:inserts { <#a> :p 1 } .`,
  nothing: '',
  'two patches': `${prefixes}<#1> a solid:InsertDeletePatch ; solid:inserts { <#a> :p 1 } . <#2> a solid:InsertDeletePatch .`,
  'two of a clause': patchOf('solid:inserts { <#a> :p 1 }, { <#a> :p 2 }'),
  'a clause twice': patchOf('solid:inserts { <#a> :p 1 } ; solid:inserts { <#a> :p 2 }'),
  'an unknown clause': patchOf('solid:insert { <#a> :p 1 }'),
  'triples about something else': `${patchOf('solid:inserts { <#a> :p 1 }')} <#x> :y <#z> .`,
  'a clause that is an IRI': patchOf('solid:inserts <#a>'),
  'a clause that is a string': patchOf('solid:inserts "<#a> <urn:p> 1"'),
  'a clause that is an empty node': patchOf('solid:inserts []'),
  'a clause that is a labelled node': patchOf('solid:inserts _:x'),
  'a clause that is the patch': patchOf('solid:inserts _:patch'),
  'a clause that is a list': patchOf('solid:inserts ({ <#a> :p 1 })'),
  'a clause by a path': patchOf('solid:inserts { <#a> :p 1 }!:x'),
  'a labelled blank node in inserts': patchOf('solid:inserts { _:x :p 1 }'),
  'a blank node in inserts': patchOf('solid:inserts { <#a> :p [ :q 1 ] }'),
  'a list in inserts': patchOf('solid:inserts { <#a> :p (1 2) }'),
  'a path in inserts': patchOf('solid:inserts { <#a> :p <#b>!:q }'),
  'a path back in inserts': patchOf('solid:inserts { <#a>^:q :p <#b> }'),
  'a labelled blank node in deletes': patchOf('solid:deletes { _:x :p 1 }'),
  'a blank node in deletes': patchOf('solid:deletes { <#a> :p [] }'),
  'a list in deletes': patchOf('solid:deletes { <#a> :p (1) }'),
  'a path in deletes': patchOf('solid:deletes { <#a>!:q :p <#b> }'),
  'a blank node in deletes that the conditions have': patchOf(
    'solid:where { _:x :p ?y } ; solid:deletes { _:x :p ?y }',
  ),
  'a variable in inserts alone': patchOf('solid:inserts { <#a> :p ?x }'),
  'a variable in deletes alone': patchOf('solid:where { ?y :name "Ada" } ; solid:deletes { ?y :p ?x }'),
  'a variable in inserts and deletes alone': patchOf('solid:deletes { <#a> :p ?x } ; solid:inserts { <#a> :q ?x }'),
  'a formula in a formula': patchOf('solid:inserts { <#a> :p { <#b> :q 1 } }'),
  'an empty formula in a formula': patchOf('solid:where { <#a> :p {} } ; solid:inserts { <#a> :p 1 }'),
  'a formula that is the subject of one': patchOf('solid:where { { <#a> :p 1 } :says 2 }'),
  'an implication': `${patchOf('solid:inserts { <#a> :p 1 }')} { ?x :p 1 } => { ?x :q 1 } .`,
  'an implication back': `${patchOf('solid:inserts { <#a> :p 1 }')} <#a> <= <#b> .`,
  'an implication in a clause': patchOf('solid:inserts { <#a> => <#b> }'),
  'an equation': `${patchOf('solid:inserts { <#a> :p 1 }')} <#a> = <#b> .`,
  '@forAll': `@forAll <#x> . ${patchOf('solid:where { <#x> :name "Ada" } ; solid:inserts { <#x> :p 1 }')}`,
  '@forSome': `@forSome <#x> . ${patchOf('solid:inserts { <#a> :p 1 }')}`,
  '@forAll in a clause': patchOf('solid:inserts { @forAll <#x> . <#a> :p 1 }'),
  'a patch that is a formula': `${prefixes}{} a solid:InsertDeletePatch ; solid:inserts { <#a> :p 1 } .`,
  'a patch that is a variable': `${prefixes}?patch a solid:InsertDeletePatch ; solid:inserts { <#a> :p 1 } .`,
  'a patch that is a string': `${prefixes}"x" a solid:InsertDeletePatch ; solid:inserts { <#a> :p 1 } .`,
  'a literal as a subject': patchOf('solid:inserts { "a" :p 1 }'),
  'a literal as a subject of a condition': patchOf('solid:where { "a" :p 1 } ; solid:inserts { <#a> :p 1 }'),
  'a literal as a verb': patchOf('solid:inserts { <#a> "p" 1 }'),
  'a blank node as a verb': patchOf('solid:where { <#a> _:p 1 } ; solid:inserts { <#a> :p 1 }'),
  'a triple as a term': patchOf('solid:inserts { << <#a> :p 1 >> :q 1 }'),
};

const conflicts: Readonly<Record<string, string>> = {
  'conditions that hold nowhere': 'solid:where { ?x <urn:name> "Eve" } ; solid:inserts { ?x <urn:p> 1 }',
  'conditions that hold twice': 'solid:where { ?x <urn:name> ?n } ; solid:inserts { ?x <urn:p> 1 }',
  'conditions without a variable that do not hold':
    'solid:where { <#a> <urn:name> "Eve" } ; solid:inserts { <#a> <urn:p> 1 }',
  'a deleted triple that is not there': 'solid:deletes { <#a> <urn:name> "Eve" }',
  'deleted triples of which one is not there': 'solid:deletes { <#a> <urn:name> "Ada", "Eve" }',
  'a deleted triple that is not there, and is inserted':
    'solid:deletes { <#a> <urn:p> 1 } ; solid:inserts { <#a> <urn:p> 1 }',
  'a deleted triple of a condition that is not there':
    'solid:where { ?x <urn:name> "Ada" } ; solid:deletes { ?x <urn:name> "Eve" }',
  'a literal that would become a subject': 'solid:where { <#a> <urn:name> ?n } ; solid:inserts { ?n <urn:p> 1 }',
  'a literal that would become a verb': 'solid:where { <#a> <urn:name> ?n } ; solid:inserts { <#a> ?n 1 }',
};

/** Patches that apply, with the expected result. */
const patches: Readonly<Record<string, readonly [clauses: string, after: string]>> = {
  inserts: [
    'solid:inserts { <#a> <urn:p> 1, "x"@en . <> a <urn:C> }',
    `${content} <#a> <urn:p> 1, "x"@en . <> a <urn:C> .`,
  ],
  'inserts existing triples': ['solid:inserts { <#a> <urn:name> "Ada" }', content],
  deletes: ['solid:deletes { <#a> <urn:knows> <#b> }', '<#a> <urn:name> "Ada" . <#b> <urn:name> "Bob" .'],
  'deletes and inserts': [
    'solid:deletes { <#a> <urn:name> "Ada" } ; solid:inserts { <#a> <urn:name> "Countess" }',
    content.replace('Ada', 'Countess'),
  ],
  'deletes and inserts the same': [
    'solid:deletes { <#a> <urn:name> "Ada" } ; solid:inserts { <#a> <urn:name> "Ada" }',
    content,
  ],
  'changes by a condition': [
    'solid:where { ?x <urn:name> "Ada" } ; solid:deletes { ?x <urn:name> "Ada" } ; solid:inserts { ?x <urn:name> "Countess" }',
    content.replace('Ada', 'Countess'),
  ],
  'changes by two joined conditions': [
    'solid:where { ?x <urn:knows> ?y . ?y <urn:name> ?n } ; solid:deletes { ?x <urn:knows> ?y } ; solid:inserts { ?x <urn:met> ?n }',
    '<#a> <urn:name> "Ada" ; <urn:met> "Bob" . <#b> <urn:name> "Bob" .',
  ],
  'asks without a variable': [
    'solid:where { <#a> <urn:name> "Ada" } ; solid:inserts { <#a> <urn:p> 1 }',
    `${content} <#a> <urn:p> 1 .`,
  ],
  'asks for some node': [
    'solid:where { ?x <urn:knows> [ <urn:name> "Bob" ] } ; solid:inserts { ?x <urn:p> 1 }',
    `${content} <#a> <urn:p> 1 .`,
  ],
  'asks for a node that may be several, of one solution': [
    'solid:where { <#a> <urn:name> ?n . _:any <urn:name> _:name } ; solid:inserts { <#a> <urn:p> ?n }',
    `${content} <#a> <urn:p> "Ada" .`,
  ],
  'asks for a verb': [
    'solid:where { <#a> ?p <#b> } ; solid:deletes { <#a> ?p <#b> } ; solid:inserts { <#b> ?p <#a> }',
    '<#a> <urn:name> "Ada" . <#b> <urn:name> "Bob" ; <urn:knows> <#a> .',
  ],
  'has empty clauses': ['solid:where {} ; solid:deletes {} ; solid:inserts {}', content],
  'has no clause': ['a solid:Patch', content],
};

describeStorage(
  'N3 Patch',
  (s) => {
    it('Accept-Patch and the storage description list it (rule 20.9)', async () => {
      const { iri } = await s.stored('text/turtle', content);
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        expect(listOf(await s.send(method, iri), 'accept-patch')).to.deep.equal(['application/sparql-update', n3]);
      expect(listOf(await s.get(s.fresh()), 'accept-patch')).to.deep.equal(['application/sparql-update', n3]);
      const json = await s.stored('application/json', '{}');
      expect(listOf(await s.get(json.iri), 'accept-patch')).to.not.include(n3);
      const { capability } = JSON.parse((await s.get(`${s.root}.lws/storage-description`)).text);
      const { format } = capability.find(({ type }: { type: string }) => type.endsWith('PatchSupport'));
      expect(format['text/turtle']).to.deep.equal(['application/sparql-update', n3]);
    });

    for (const [what, [clauses, after]] of Object.entries(patches))
      it(`a patch ${what} (rule 20.5)`, async () => {
        const { iri, etag } = await s.stored('text/turtle', content);
        const answer = await clausePatch(s, iri, clauses);
        expect(answer.status, answer.text).to.equal(204);
        await expectGraph(await s.get(iri), iri, after);
        expect((await s.tag(iri)) === etag).to.equal(after === content);
        expect(answer.headers['etag']).to.equal(await s.tag(iri));
      });

    it('equivalent forms of a document (rule 20.5)', async () => {
      const forms = [
        `${prefixes}<> a solid:InsertDeletePatch ; solid:inserts { <#a> :p 1 } .`,
        `${prefixes}[] a solid:InsertDeletePatch ; solid:inserts { <#a> :p 1 . } .`,
        `${prefixes}[ a solid:InsertDeletePatch ; solid:inserts { <#a> :p 1 } ] .`,
        'PREFIX solid: <http://www.w3.org/ns/solid/terms#>\nBASE <urn:>\n[] a solid:InsertDeletePatch; solid:inserts { <HERE#a> <p> 1 }.',
        `${prefixes}# @forAll, => and {\n<#p> a solid:InsertDeletePatch, solid:Patch ; solid:inserts { <#a> :p "@forAll { => " } .`,
      ];
      for (const form of forms) {
        const { iri } = await s.stored('text/turtle', content);
        const answer = await send(s, iri, form.replace('HERE', iri));
        expect(answer.status, `${form}\n${answer.text}`).to.equal(204);
        expect((await s.get(iri)).text).to.match(/urn:p|:p /);
      }
    });

    for (const [what, document] of Object.entries(noPatches))
      it(`${what} is 422 and changes nothing (rule 20.5)`, async () => {
        const { iri, etag } = await s.stored('text/turtle', content);
        expectProblem(await send(s, iri, document), 422, s);
        expect(await s.tag(iri)).to.equal(etag);
        const absent = s.fresh();
        expectProblem(await send(s, absent, document), 422, s);
        await s.expectAbsent(absent);
      });

    for (const [what, clauses] of Object.entries(conflicts))
      it(`${what} is 409 and changes nothing (rule 20.5)`, async () => {
        const { iri, etag } = await s.stored('text/turtle', content);
        expectProblem(await clausePatch(s, iri, clauses), 409, s);
        expect(await s.tag(iri)).to.equal(etag);
        const absent = s.fresh();
        expectProblem(await clausePatch(s, absent, clauses), 409, s);
        await s.expectAbsent(absent);
      });

    it('invalid Notation3 is 400 with a position (rule 20.5)', async () => {
      const { iri } = await s.stored('text/turtle', content);
      for (const text of [
        'no',
        patchOf('solid:inserts { <#a> :p }'),
        patchOf('solid:inserts { <#a> :p 1'),
        `${prefixes}}`,
        patchOf('x:y {}'),
      ]) {
        const answer = await send(s, iri, text);
        expectProblem(answer, 400, s);
        expect(answer.text).to.match(/line \d+/);
      }
    });

    it('non-RDF resources and containers reject it, and JSON keeps its patch formats (rule 20.5)', async () => {
      const text = patchOf('solid:inserts { <#a> :p 1 }');
      const { iri } = await s.stored('text/plain', 'x');
      const json = await s.stored('application/json', '{}');
      for (const target of [iri, json.iri, await s.container()]) expectProblem(await send(s, target, text), 415, s);
    });

    it('an insert-only patch creates, and If-Match is evaluated (rules 20.5, 6.18)', async () => {
      const iri = s.fresh();
      const answer = await clausePatch(s, iri, 'solid:inserts { <#a> <urn:name> "Ada" }');
      expect([answer.status, answer.headers['location']], answer.text).to.deep.equal([201, iri]);
      await expectGraph(await s.get(iri), iri, '<#a> <urn:name> "Ada" .');
      const text = patchOf('solid:inserts { <#a> :p 1 }');
      expectProblem(await send(s, iri, text, undefined, { 'If-Match': '"no"' }), 412, s);
      expectProblem(await send(s, iri, text, undefined, { 'If-None-Match': '*' }), 412, s);
      expectProblem(await send(s, s.fresh(), text, undefined, { 'If-Match': '*' }), 412, s);
      expect((await send(s, iri, text, undefined, { 'If-Match': await s.tag(iri) })).status).to.equal(204);
      const large = Array.from({ length: 900 }, (_, i) => `<#i${i}> <urn:p> "${i}" .`).join('\n');
      expect((await clausePatch(s, s.fresh(), `solid:inserts { ${large} }`)).status).to.equal(201);
    });

    it('graphs and patches of all sizes (rule 20.5)', async () => {
      for (const size of [10, 1_000, 21_000]) {
        const triples = (name: string) =>
          Array.from({ length: size }, (_, i) => `<#i${i}> <urn:${name}> "${i}" .`).join('\n');
        const { iri } = await s.stored('text/turtle', triples('p'));
        expectProblem(await clausePatch(s, iri, 'solid:deletes { <#i1> <urn:p> "none" }'), 409, s);
        expect((await clausePatch(s, iri, 'solid:deletes { <#i1> <urn:p> "1" }')).status).to.equal(204);
        expect(
          (await clausePatch(s, iri, 'solid:where { ?x <urn:p> "2" } ; solid:deletes { ?x <urn:p> "2" }')).status,
        ).to.equal(204);
        expectProblem(
          await clausePatch(s, iri, 'solid:where { ?x <urn:p> ?y } ; solid:inserts { ?x <urn:q> ?y }'),
          409,
          s,
        );
        expect((await clausePatch(s, iri, `solid:inserts { ${triples('q')} }`)).status).to.equal(204);
        expectProblem(await clausePatch(s, iri, `solid:deletes { ${triples('q')} <#i1> <urn:p> "1" }`), 409, s);
        expect(
          (await clausePatch(s, iri, `solid:deletes { ${triples('q')} } ; solid:inserts { <#i1> <urn:p> "1" }`)).status,
        ).to.equal(204);
        const { text } = await s.get(iri, { Accept: 'application/n-triples' });
        expect(text.split('\n').filter(Boolean).length).to.equal(size - 1);
      }
    });

    it('a long invalid document (rule 20.5)', async () => {
      const { iri, etag } = await s.stored('text/turtle', content);
      const many = Array.from({ length: 900 }, (_, i) => `<#i${i}> <urn:p> "${i}" .`).join('\n');
      expectProblem(await clausePatch(s, iri, `solid:inserts { ${many} _:x <urn:p> 1 }`), 422, s);
      expectProblem(await clausePatch(s, iri, `solid:inserts { ${many} } ; solid:deletes { ?x <urn:p> 1 }`), 422, s);
      expectProblem(await send(s, iri, `${patchOf(`solid:inserts { ${many} }`)} {`), 400, s);
      expect(await s.tag(iri)).to.equal(etag);
    });

    it('a patch of an ACL follows the rules of PUT (rule 20.5)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      const give = (mode: string) =>
        `solid:inserts { <#b> a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#agent> <${bob.did}> ;
          <http://www.w3.org/ns/auth/acl#accessTo> <> ; <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#${mode}> }`;
      expectProblem(await clausePatch(s, aclOf(iri), 'solid:deletes { <#b> <urn:p> 1 }'), 409, s);
      await setAcl(s, iri);
      expectProblem(await clausePatch(s, aclOf(iri), give('Read'), as(s, bob)), 403, s);
      expect((await clausePatch(s, aclOf(iri), give('Read'))).status).to.equal(204);
      expect((await s.send('GET', iri, {}, undefined, as(s, bob))).status).to.equal(200);
      expectProblem(await clausePatch(s, aclOf(iri), 'solid:deletes { <#b> <urn:p> 1 }'), 409, s);
      expectProblem(await clausePatch(s, aclOf(iri), 'solid:inserts { <#b> <urn:p> [] }'), 422, s);
      expect(listOf(await s.get(aclOf(iri)), 'accept-patch')).to.deep.equal(['application/sparql-update', n3]);
    });
  },
  inSolid(),
);

describeStorage(
  'N3 Patch over the time limit',
  (s) => {
    it('is aborted and changes nothing (rules 20.5, 6.16)', async () => {
      // From each node to all later ones: hundreds of millions of paths of five steps, none of them a cycle.
      const nodes = Array.from({ length: 150 }, (_, i) => i);
      const later = (from: number): string =>
        nodes
          .slice(from + 1)
          .map((to) => `<#${to}>`)
          .join(', ');
      const graph = nodes
        .slice(0, -1)
        .map((from) => `<#${from}> <urn:to> ${later(from)} .`)
        .join('\n');
      const { iri, etag } = await s.stored('text/turtle', graph);
      const steps = ['a b', 'b c', 'c d', 'd e', 'e f', 'f a'].map((step) => `?${step.replace(' ', ' <urn:to> ?')}`);
      expectProblem(
        await clausePatch(s, iri, `solid:where { ${steps.join(' . ')} } ; solid:inserts { ?a :p 1 }`),
        422,
        s,
      );
      expect(await s.tag(iri)).to.equal(etag);
      expect((await clausePatch(s, iri, 'solid:inserts { <#1> :p 1 }')).status).to.equal(204);
    });
  },
  inSolid({ 'sparql-update.timeout-seconds': '1' }),
);

const update = 'application/sparql-update';
const inserts = 'solid:inserts { <#x> <urn:p> 1 }';
const deletes = 'solid:deletes { <#a> <urn:knows> <#b> }';
const where = 'solid:where { ?x <urn:name> "Ada" } ; solid:inserts { ?x <urn:p> 1 }';
const long = Array.from({ length: 400 }, (_, i) => `<#long${i}> <urn:p> "${'x'.repeat(20)}${i}" .`).join('\n');
/** Patches by effect, and the modes that permit each. */
const needs: readonly [what: string, type: string, text: string, modes: readonly string[]][] = [
  ['inserts', n3, patchOf(inserts), ['Append', 'Write', 'Read Append', 'Read Write']],
  [
    'inserts, of some length',
    n3,
    patchOf(`solid:inserts { ${long} }`),
    ['Append', 'Write', 'Read Append', 'Read Write'],
  ],
  ['deletes', n3, patchOf(deletes), ['Read Write']],
  ['inserts by a condition', n3, patchOf(where), ['Read Append', 'Read Write']],
  [
    'deletes by a condition',
    n3,
    patchOf('solid:where { ?x <urn:knows> ?y } ; solid:deletes { ?x <urn:knows> ?y }'),
    ['Read Write'],
  ],
  ['INSERT DATA', update, 'INSERT DATA { <#x> <urn:p> 1 }', ['Append', 'Write', 'Read Append', 'Read Write']],
  ['INSERT DATA, of some length', update, `INSERT DATA { ${long} }`, ['Append', 'Write', 'Read Append', 'Read Write']],
  ['DELETE DATA', update, 'DELETE DATA { <#a> <urn:knows> <#b> }', ['Write', 'Read Write']],
  ['DELETE DATA of nothing', update, 'DELETE DATA { <#a> <urn:no> <#b> }', ['Write', 'Read Write']],
  [
    'DELETE DATA after INSERT DATA',
    update,
    'INSERT DATA { <#x> <urn:p> 1 } ; DELETE DATA { <#x> <urn:p> 1 }',
    ['Write', 'Read Write'],
  ],
  ['INSERT WHERE', update, 'INSERT { ?x <urn:p> 1 } WHERE { ?x <urn:name> "Ada" }', ['Read Append', 'Read Write']],
  ['DELETE WHERE', update, 'DELETE WHERE { <#a> <urn:knows> ?y }', ['Read Write']],
  ['DELETE WHERE of nothing', update, 'DELETE WHERE { <#a> <urn:no> ?y }', ['Read Write']],
];

describeStorage(
  'Modes required by patches',
  (s) => {
    for (const modes of ['Read', 'Append', 'Write', 'Control', 'Read Append', 'Read Write'])
      it(`with ${modes} (rules 20.6, 2.2)`, async () => {
        const { iri } = await s.stored('text/turtle', content);
        await setAcl(s, iri, rule(modes, agent(bob)));
        for (const [what, type, text, sufficient] of needs) {
          await s.put(iri, 'text/turtle', content);
          const etag = await s.tag(iri);
          const answer = await s.send('PATCH', iri, { 'Content-Type': type }, text, as(s, bob));
          expect(answer.status, `${what}: ${answer.text}`).to.equal(sufficient.includes(modes) ? 204 : 403);
          if (answer.status === 403) expect(await s.tag(iri), what).to.equal(etag);
          expectProblem(await s.send('PATCH', iri, { 'Content-Type': type }, text, as(s, alice)), 403, s);
          expectChallenge(await s.send('PATCH', iri, { 'Content-Type': type }, text, 'anonymous'), s);
        }
      });

    it('callers without read learn nothing of the content or existence of a document (rules 20.6, 4.3)', async () => {
      const { iri } = await s.stored('text/turtle', content);
      await setAcl(s, iri, rule('Append Write', agent(bob)), rule('Append', agent(alice)));
      for (const clauses of [deletes, 'solid:deletes { <#a> <urn:no> 1 }', where, 'solid:where { ?x <urn:no> 1 }'])
        for (const person of [alice, bob]) expectProblem(await clausePatch(s, iri, clauses, as(s, person)), 403, s);
      const hidden = await s.stored('text/turtle', content);
      for (const text of [patchOf(inserts), 'no', noPatches['two patches']!])
        expectProblem(await send(s, hidden.iri, text, as(s, bob)), 403, s);
    });

    it('append does not permit writing links, but permits adding to a graph (rules 20.6, 2.4, 14.10)', async () => {
      const { iri } = await s.stored('text/turtle', content);
      await setAcl(s, iri, rule('Read Append', agent(bob)));
      const links = { Prefer: 'set-linkset', Link: '<urn:x>; rel="describedby"' };
      for (const [type, text] of [
        [n3, patchOf(inserts)],
        [update, 'INSERT DATA { <#x> <urn:p> 1 }'],
      ] as const)
        expectProblem(await s.send('PATCH', iri, { 'Content-Type': type, ...links }, text, as(s, bob)), 403, s);
      expect((await s.get(`${iri}.meta`)).text).to.not.include('urn:x');
      const graph = `${s.root}.lws/graphs?graph=${encodeURIComponent(iri)}`;
      const add = (who: Sender) => s.send('POST', graph, { 'Content-Type': 'text/turtle' }, '<#y> <urn:p> 1 .', who);
      expect((await add(as(s, bob))).status).to.equal(204);
      expectProblem(await add(as(s, alice)), 403, s);
    });

    it('explain returns the modes that a PUT to a deep name needs (rules 20.4, 20.6)', async () => {
      const explain = async (method: string, iri: string) => {
        const query = new URLSearchParams({ as: bob.did, method, iri });
        return JSON.parse((await s.get(`${s.root}.lws/explain?${query}`)).text);
      };
      const container = await s.container();
      expect((await explain('PUT', `${container}a/b/c`)).needs).to.deep.equal({ mode: 'append', iri: container });
    });

    it('append does not permit patches of JSON (rule 20.6)', async () => {
      const { iri } = await s.stored('application/json', '{}');
      await setAcl(s, iri, rule('Append', agent(bob)));
      expectProblem(
        await s.send('PATCH', iri, { 'Content-Type': 'application/merge-patch+json' }, '{"a":1}', as(s, bob)),
        403,
        s,
      );
    });

    it('creates if PUT is permitted, and is rejected otherwise (rules 20.3, 20.5)', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Append', agent(bob)), rule('Read', anybody));
      expect((await clausePatch(s, `${container}b`, inserts, as(s, bob))).status).to.equal(201);
      expectProblem(await clausePatch(s, `${container}a`, inserts, as(s, alice)), 403, s);
      expectChallenge(await clausePatch(s, `${container}a`, inserts, 'anonymous'), s);
      expectProblem(await clausePatch(s, `${container}a/`, inserts), 404, s);
      expectProblem(await clausePatch(s, `${container}a.acl/`, inserts), 409, s);
      await s.expectAbsent(`${container}a`);
    });
  },
  inSolid(),
);
