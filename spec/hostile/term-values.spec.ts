/** JSON-LD with terms that `jsonld` expands to non-strings: their keys would be read as other terms, even in another graph. */
import { expect } from 'chai';
import { largeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { ed25519Identity } from '../support/identity.js';
import { rows } from '../support/sparql.js';

const owner = ed25519Identity();
const jsonLd = 'application/ld+json';
const p = 'http://data.example/p';
const two = ['http://data.example/a', 'http://data.example/b'];
const byType = { '@context': { p: { '@id': p, '@container': '@type' } } };

/** Addition to a normal document, and the term that the error names. */
const attacks: Readonly<Record<string, readonly [document: object, named: string]>> = {
  'a literal with two datatypes': [{ [p]: { '@value': 'v', '@type': two } }, 'invalid typed value'],
  'a number with two datatypes': [{ [p]: { '@value': 1, '@type': two } }, 'invalid typed value'],
  'a literal with two datatypes in a list': [
    { [p]: { '@list': [{ '@value': 'v', '@type': two }] } },
    'invalid typed value',
  ],
  'a literal with two datatypes in an included node': [
    { '@included': { [p]: { '@value': 'v', '@type': two } } },
    'invalid typed value',
  ],
  'a number in a type map': [{ ...byType, p: { [two[0]!]: 5 } }, 'invalid typed value'],
  'a typed literal in a type map': [
    { ...byType, p: { [two[0]!]: { '@value': 'v', '@type': two[1] } } },
    'invalid typed value',
  ],
  'a list in a type map': [{ ...byType, p: { [two[0]!]: { '@list': ['v'] } } }, 'invalid set or list object'],
  'a set with a type': [{ [p]: { '@set': ['v'], '@type': two[0] } }, 'invalid set or list object'],
  'a node whose @id is a number': [{ [p]: { '@id': 5 } }, '@id'],
  'a node whose @id is a list': [{ [p]: { '@id': two } }, '@id'],
  'a type map whose node has a number as @id': [{ ...byType, p: { [two[0]!]: { '@id': 5 } } }, '@id'],
  'a graph whose @id is a list': [{ '@graph': [{ '@id': two, '@graph': [{ [p]: 1 }] }] }, '@id'],
  'two languages': [{ [p]: { '@value': 'v', '@language': ['en', 'de'] } }, '@language'],
  'a list of directions': [{ [p]: { '@value': 'v', '@direction': ['ltr'] } }, '@direction'],
  'a type that is a list of lists': [{ '@type': [two] }, '@type'],
  'a list in a list with a null': [{ [p]: { '@list': [{ '@id': '@type' }, 'v'] } }, 'absolute IRI'],
};

const many = Array.from({ length: largeGraph + 1 }, (_, at) => ({
  '@id': `http://data.example/s${at}`,
  [p]: { '@value': String(at), '@type': 'http://data.example/t' },
}));

/** A literal with a key that reads as the triple `<s> <p> "x"^^<a:>` of another graph, if lengths are those of the list. */
function forged(victim: string): object {
  const key = ['a:', 'x', victim, 's:', 'p:'].join('\u0000\u0000');
  return { '@id': 's:', 'p:': { '@value': 'x', '@type': [key, 'b:'] } };
}

function suite(s: StorageUnderTest): void {
  const seen = (sender?: 'anonymous') => rows(s, 'SELECT ?g ?s { GRAPH ?g { ?s ?p "x"^^<a:> } }', sender);

  for (const [what, [attack, named]] of Object.entries(attacks))
    for (const size of ['small', 'large'])
      it(`rejects ${what} in a ${size} document with 400 and stores nothing (rule 1.6)`, async () => {
        const iri = s.fresh();
        const document = [{ '@id': 'http://data.example/s', ...attack }, ...(size === 'large' ? many : [])];
        const answer = await s.put(iri, jsonLd, JSON.stringify(document));
        expectProblem(answer, 400, s);
        expect(answer.text)
          .to.include(named)
          .and.not.match(/is not a function|Cannot read|undefined/);
        await s.expectAbsent(iri);
      });

  for (const size of ['small', 'large'])
    it(`shows no forged triple of another resource after a ${size} document (rule 1.6)`, async () => {
      const { iri: victim } = await s.stored('text/turtle', '<s:> <p:> "own" .');
      const iri = victim.replace(/.$/, 'z');
      const document = [forged(victim), ...(size === 'large' ? many : [])];
      const answer = await s.put(iri, jsonLd, JSON.stringify(document));
      expect(await seen()).to.deep.equal([]);
      expect(await seen('anonymous')).to.deep.equal([]);
      expectProblem(answer, 400, s);
      if (s.server) expect((await checkStore(s.server.server.store)).faults).to.deep.equal([]);
    });
}

/** Texts that end like part of a key, in string terms. */
const partsOfKeys: Readonly<
  Record<string, readonly [literal: (key: string) => object, asked: string, status: number]>
> = {
  'a datatype': [(key) => ({ '@value': 'x', '@type': `a:${key}` }), '"x"^^<a:>', 400],
  'a literal': [(key) => ({ '@value': key.slice(2) }), '"x"', 201],
  'a literal with a language': [(key) => ({ '@value': key.slice(2), '@language': 'en' }), '"x"@en', 201],
  'a typed literal': [(key) => ({ '@value': key.slice(2), '@type': 'a:' }), '"x"^^<a:>', 201],
};

function keyParts(s: StorageUnderTest): void {
  for (const [what, [literal, asked, status]] of Object.entries(partsOfKeys))
    it(`shows no triple of another resource if ${what} contains U+0000 (rule 1.6)`, async () => {
      const { iri: victim } = await s.stored('text/turtle', '<s:> <p:> "own" .');
      const key = ['', 'x', victim, 's:', 'p:'].join('\u0000\u0000');
      const iri = victim.replace(/.$/, 'z');
      const answer = await s.put(iri, jsonLd, JSON.stringify({ '@id': 's:', 'p:': literal(key) }));
      for (const sender of [undefined, 'anonymous'] as const)
        for (const query of [
          `SELECT ?g ?s { GRAPH ?g { ?s ?p ${asked} } }`,
          `SELECT ?s { GRAPH <${victim}> { ?s ?p ${asked} } }`,
          `SELECT ?o { GRAPH <${victim}> { <s:> ?p ?o FILTER(?o != "own") } }`,
        ])
          expect(await rows(s, query, sender), query).to.deep.equal([]);
      expect(answer.status, answer.text).to.equal(status);
      expect((await s.delete(iri)).status).to.equal(status === 201 ? 204 : 404);
    });
}

describeStorage('Terms that forge keys', (s) => [suite, keyParts].forEach((add) => void add(s)), {
  settings: { owners: owner.did, 'public-read': 'true' },
  owner,
  isOncePlaced: true,
});
