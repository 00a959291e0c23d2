/** The pattern `text:query` in SPARQL (rule 14.18). */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { credential, ed25519Identity, p256Identity } from '../support/identity.js';

const [alice, bob] = [ed25519Identity(), p256Identity()];
const prologue = 'PREFIX text: <http://jena.apache.org/text#> PREFIX ex: <https://v.example/>';

describeStorage(
  'text:query',
  (s) => {
    const ask = (query: string, as?: Sender): Promise<Answer> =>
      s.send(
        'POST',
        `${s.root}.lws/sparql`,
        { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' },
        `${prologue} ${query}`,
        as,
      );
    async function rows(query: string, as?: Sender): Promise<Record<string, { value: string; 'xml:lang'?: string }>[]> {
      const answer = await ask(query, as);
      expect(answer.status, answer.text).to.equal(200);
      return JSON.parse(answer.text).results.bindings;
    }
    const values = async (query: string, name: string, as?: Sender): Promise<string[]> =>
      (await rows(query, as)).map((row) => row[name]!.value);
    const asAlice = (storage: StorageUnderTest): Sender => ({
      token: credential(alice, { aud: storage.root.slice(0, -1) }),
    });

    before(async () => {
      await s.stored(
        'text/turtle',
        `<https://v.example/a> <https://v.example/title> "Neural networks"@en ; <https://v.example/note> "neural" ; a <https://v.example/Paper> .
         <https://v.example/b> <https://v.example/title> "A network of neural networks, neural indeed"@en .
         <https://v.example/c> <https://v.example/title> "Cellules nerveuses"@fr . [] <https://v.example/title> "neural network" .`,
      );
      const answer = await s.send(
        'PUT',
        `${s.scratch}hers`,
        { 'Content-Type': 'text/turtle' },
        '<urn:hers> <urn:p> "neural paths" .',
        asAlice(s),
      );
      expect(answer.status).to.equal(201);
      await s.restart({ settings: { 'text-search.enabled': 'true', owners: bob.did }, owner: bob });
    });

    it('counts no literals of blank nodes towards the limit (rule 14.18)', async () => {
      const best = '[] <urn:p> "zebra" . [] <urn:p> "zebra zebra" .';
      const { iri } = await s.stored('text/turtle', `<#a> <urn:p> "a zebra in the long savannah grass" . ${best}`);
      expect(await values('SELECT * { (?s ?score) text:query ("zebra" 1) }', 's')).to.deep.equal([`${iri}#a`]);
    });

    it('rejects patterns that match more text than a query may receive (rule 14.18)', async () => {
      for (let at = 0; at < 9; at++) await s.stored('text/turtle', `<#a> <urn:p> "${'x'.repeat(1 << 20)} manatee" .`);
      const answer = await ask('SELECT ?s { ?s text:query "manatee" } LIMIT 1');
      expect([answer.status, answer.text.includes('The limit of text:query is fixed')]).to.deep.equal([400, true]);
      expect(await values('SELECT ?s { ?s text:query ("manatee" 2) }', 's')).to.have.length(2);
    });

    it('binds subject, score and literal, best first (rule 14.18)', async () => {
      const found = await rows('SELECT * { (?s ?score ?literal) text:query "neural network" } ORDER BY DESC(?score)');
      expect(found.map(({ s: subject }) => subject!.value)).to.deep.equal([
        'https://v.example/b',
        'https://v.example/a',
      ]);
      expect(found[1]!['literal']).to.include({ value: 'Neural networks', 'xml:lang': 'en' });
      expect(Number(found[0]!['score']!.value)).to.be.above(Number(found[1]!['score']!.value));
    });

    it('joins with other patterns, in groups, OPTIONAL and subqueries (rule 14.18)', async () => {
      expect(await values('SELECT ?s { ?s text:query "neural" ; a ex:Paper }', 's')).to.deep.equal(
        Array(2).fill('https://v.example/a'),
      );
      expect(
        await values('SELECT DISTINCT ?s { GRAPH ?g { ?s a ex:Paper . ?s text:query ("networks" 5) } }', 's'),
      ).to.deep.equal(['https://v.example/a']);
      const optional = 'SELECT ?t ?score { ?t a ex:Paper OPTIONAL { (?t ?score) text:query "absentword" } }';
      expect(await rows(optional)).to.have.length(1);
      expect((await rows(optional))[0]).to.not.have.property('score');
      expect(await values('SELECT ?s { { SELECT ?s { ?s text:query "indeed" } } }', 's')).to.deep.equal([
        'https://v.example/b',
      ]);
      expect(await values('SELECT ?score { (ex:b ?score) text:query "neural" }', 'score')).to.have.length(1);
    });

    it('takes a property, a limit and a language (rule 14.18)', async () => {
      const [title, note] = ['title', 'note'].map((name) => `SELECT ?s { ?s text:query (ex:${name} "neural") }`);
      expect(await values(note!, 's')).to.deep.equal(['https://v.example/a']);
      expect(await values(title!, 's')).to.have.members(['https://v.example/a', 'https://v.example/b']);
      expect(await values('SELECT ?s { ?s text:query ("neural" 1) }', 's')).to.have.length(1);
      expect(await values('SELECT ?s { ?s text:query ("nerveuses" "lang:fr") }', 's')).to.deep.equal([
        'https://v.example/c',
      ]);
      expect(await values('SELECT ?s { ?s text:query (ex:title "nerveuses" 10 "lang:en") }', 's')).to.deep.equal([]);
    });

    it('matches what the caller can read only (rule 14.18)', async () => {
      const query = 'SELECT ?s ?score { (?s ?score) text:query "neural" }';
      expect(await values(query, 's'))
        .to.include('urn:hers')
        .and.have.length(4);
      expect(await values(query, 's', asAlice(s))).to.deep.equal(['urn:hers']);
      expect(await values(query, 's', s.stranger)).to.deep.equal([]);
    });

    it('answers ASK and CONSTRUCT, and queries of a resource (rule 14.18)', async () => {
      expect(JSON.parse((await ask('ASK { ?s text:query "neural" }')).text).boolean).to.equal(true);
      const at = await s.send(
        'QUERY',
        `${s.scratch}hers`,
        { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' },
        `${prologue} SELECT ?s { ?s text:query "neural" }`,
      );
      expect(JSON.parse(at.text).results.bindings.map((row: { s: { value: string } }) => row.s.value)).to.deep.equal([
        'urn:hers',
      ]);
    });

    for (const [what, pattern] of Object.entries({
      'words that are no string': '?s text:query ?words',
      'no words': '?s text:query "..."',
      'an unpaired quotation mark': `?s text:query '"neural'`,
      'four variables': '(?s ?a ?b ?c) text:query "neural"',
      'a repeated variable': '(?s ?s) text:query "neural"',
      'an unknown argument': '?s text:query ("neural" "highlight:x")',
      'five patterns': Array.from({ length: 5 }, (_, i) => `?s${i} text:query "neural"`).join(' . '),
    }))
      it(`returns 400 for ${what} (rule 14.18)`, async () => expectProblem(await ask(`SELECT * { ${pattern} }`), 400));

    it('is an ordinary pattern while text search is off (rule 14.18)', async () => {
      await s.restart({ settings: { owners: bob.did }, owner: bob });
      expect(await values('SELECT ?s { ?s text:query "neural" }', 's')).to.deep.equal([]);
    });
  },
  {
    settings: { 'text-search.enabled': 'true', owners: [alice, bob].map(({ did }) => did).join() },
    owner: bob,
    isOncePlaced: true,
  },
);
