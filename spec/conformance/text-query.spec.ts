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

    it('returns each triple once outside of GRAPH, and in each graph within (rule 14.18)', async () => {
      const quoll = '<urn:q> <urn:p> "spotted quoll"';
      const { iri: one } = await s.stored('text/turtle', `${quoll} .`);
      const { iri: two } = await s.stored('text/turtle', `${quoll}, "quoll" .`);
      const { iri: other } = await s.stored('text/turtle', '<urn:q> <urn:p> "other" .');
      const subjects = (count: number): string[] => Array(count).fill('urn:q');
      const found = (pattern: string, from = '', as?: Sender) => values(`SELECT ?s ${from} { ${pattern} }`, 's', as);
      expect(await found('?s text:query "quoll"')).to.deep.equal(subjects(2));
      expect(await found('?s text:query "spotted"')).to.deep.equal(subjects(1));
      expect(await found('?s text:query ("quoll" 1)')).to.deep.equal(subjects(1));
      expect(await values('SELECT ?g { GRAPH ?g { ?s text:query "spotted" } }', 'g')).to.have.members([one, two]);
      expect(await values('SELECT ?g { GRAPH ?g { (?s ?score ?l) text:query "quoll" } }', 'g')).to.have.members([
        ...[one, two, two],
      ]);
      expect(await values('SELECT ?g { GRAPH ?g { <urn:q> text:query "spotted" } }', 'g')).to.have.members([one, two]);
      expect(await values('SELECT ?g { GRAPH ?g { { SELECT ?s { ?s text:query "quoll" } } } }', 'g')).to.have.length(3);
      for (const [graph, count] of [
        [one, 1],
        [two, 2],
        [other, 0],
      ] as const) {
        expect(await found(`GRAPH <${graph}> { ?s text:query "quoll" }`), graph).to.deep.equal(subjects(count));
        expect(await found('?s text:query "quoll"', `FROM <${graph}>`), graph).to.deep.equal(subjects(count));
        expect(await found(`GRAPH <${graph}> { ?s text:query "quoll" }`, `FROM <${graph}>`)).to.deep.equal([]);
        expect(await found('GRAPH ?g { ?s text:query "quoll" }', `FROM NAMED <${graph}>`)).to.have.length(count);
        expect(await found(`?x a <urn:none> GRAPH <${graph}> { ?s text:query "quoll" }`)).to.deep.equal([]);
      }
      expect(await found(`GRAPH <${two}> { ?s text:query ("spotted" 1) }`)).to.deep.equal(subjects(1));
      const all = await rows('SELECT * { GRAPH ?g { ?s text:query "spotted" } }');
      expect(Object.keys(all[0]!).sort()).to.deep.equal(['g', 's']);
    });

    for (const [what, prefixes, predicate] of [
      ['a base', 'BASE <http://jena.apache.org/>', '<text#query>'],
      ['a base of another path', 'BASE <http://jena.apache.org/a/b>', '<../text#query>'],
      ['a base with the name', 'BASE <http://jena.apache.org/text>', '<#query>'],
      ['an escaped character', '', '<http://jena.ap\\u0061che.org/tex\\u0074#query>'],
      ['an escaped local name', 'PREFIX j: <http://jena.apache.org/>', 'j:text\\#query'],
      ['a prefix that ends within the host', 'PREFIX j: <http://jena.ap>', 'j:ache.org\\/text\\#query'],
      ['a prefix for the whole name', 'PREFIX j: <http://jena.apache.org/text#query>', 'j:'],
      ['a prefix relative to a base', 'BASE <http://jena.apache.org/x> PREFIX j: <text#>', 'j:query'],
    ] as const)
      it(`recognizes the IRI with ${what} (rule 14.18)`, async () => {
        const query = `${prefixes} SELECT ?s { ?s ${predicate} ("nerveuses") }`;
        const sent = { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' };
        const answer = await s.send('POST', `${s.root}.lws/sparql`, sent, query);
        expect(answer.status, answer.text).to.equal(200);
        expect(JSON.parse(answer.text).results.bindings).to.have.length(1);
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
      'a number as words': '?s text:query 5',
      'a Boolean as words': '?s text:query (true)',
      'a number before the words': '?s text:query (5 "neural")',
      'a decimal as limit': '?s text:query ("neural" 5.0)',
      'two limits': '?s text:query ("neural" 5 6)',
      'two languages': '?s text:query ("neural" "lang:en" "lang:de")',
      'five arguments': '?s text:query (ex:title "neural" 5 "lang:en" "x")',
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
