/** Text search over HTTP (rules 13.8, 13.9, 13.10, 13.11, 13.12). */
import { expect } from 'chai';
import { textIndex } from '../../components/search/text-search/indexer.js';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { credential, ed25519Identity, p256Identity } from '../support/identity.js';
import { imported } from '../support/imports.js';
import { putLinks } from '../support/linkset.js';
import { mediaType } from '../support/rdf.js';
import { lwsContext, lwsJson } from '../support/search.js';

interface TextItem {
  readonly id: string;
  readonly score: number;
  readonly snippet: {
    readonly text: string;
    readonly matches: readonly (readonly [number, number])[];
    readonly [more: string]: unknown;
  };
}

const ifMatch = { 'If-Match': '*' };
const urlOf = (s: StorageUnderTest, parameters: Readonly<Record<string, string>>): string =>
  `${s.root}.lws/text-search?${new URLSearchParams(parameters)}`;

async function page(
  s: StorageUnderTest,
  parameters: Readonly<Record<string, string>>,
  as?: Sender,
): Promise<{ readonly totalItems: number; readonly items: readonly TextItem[] }> {
  const answer = await s.send('GET', urlOf(s, parameters), {}, undefined, as);
  expect(answer.status, answer.text).to.equal(200);
  return JSON.parse(answer.text);
}

const ids = async (
  s: StorageUnderTest,
  parameters: Readonly<Record<string, string>>,
  as?: Sender,
): Promise<string[]> => {
  const { items, totalItems } = await page(s, parameters, as);
  expect(totalItems).to.equal(items.length);
  return items.map(({ id }) => id);
};

const on = { 'text-search.enabled': 'true' };

describeStorage(
  'Text search',
  (s) => {
    it('finds words of literals in any case, all of which must match (rule 13.8)', async () => {
      const { iri: a } = await s.stored(
        'text/turtle',
        '<> <urn:p> "A Neural Network" . <#it> <urn:p> "Crème brûlée" .',
      );
      const { iri: b } = await s.stored('text/turtle', '<> <urn:p> "neural", "Tissue" .');
      expect(await ids(s, { q: 'neural' })).to.have.members([a, b]);
      expect(await ids(s, { q: 'NETWORK neural' })).to.deep.equal([a]);
      expect(await ids(s, { q: 'neural tissue' })).to.deep.equal([b]);
      expect(await ids(s, { q: 'neural absentword' })).to.deep.equal([]);
      expect(await ids(s, { q: 'brûlée' })).to.deep.equal([a]);
    });

    it('finds phrases in one literal, and beginnings of words (rule 13.8)', async () => {
      const { iri } = await s.stored('text/turtle', '<> <urn:p> "quantum field theory", "string quantum" .');
      expect(await ids(s, { q: '"quantum field"' })).to.deep.equal([iri]);
      expect(await ids(s, { q: '"field quantum"' })).to.deep.equal([]);
      expect(await ids(s, { q: '"theory string"' })).to.deep.equal([]);
      expect(await ids(s, { q: 'quant* "field theory"' })).to.deep.equal([iri]);
    });

    it('finds other forms of a word in literals with a language (rule 13.8)', async () => {
      const { iri: english } = await s.stored('text/turtle', '<> <urn:p> "oscillating pendulums"@en-GB .');
      const { iri: german } = await s.stored('text/turtle', '<> <urn:p> "Pendulums"@de .');
      const { iri: plain } = await s.stored('text/turtle', '<> <urn:p> "oscillating pendulums" .');
      expect(await ids(s, { q: 'pendulum' })).to.include(english);
      expect(await ids(s, { q: 'pendulum' })).to.not.include(plain);
      expect(await ids(s, { q: 'oscillate' })).to.deep.equal([english]);
      expect(await ids(s, { q: 'pendulums' })).to.have.members([english, german, plain]);
      expect(await ids(s, { q: 'pendulums', lang: 'en' })).to.deep.equal([english]);
      expect(await ids(s, { q: 'pendulums', lang: 'DE' })).to.deep.equal([german]);
    });

    it('finds Chinese words (rule 13.8)', async () => {
      const { iri } = await s.stored('text/turtle', '<> <urn:p> "机器学习和神经网络"@zh .');
      expect(await ids(s, { q: '神经' })).to.deep.equal([iri]);
    });

    it('finds words beside characters that NFKC replaces, and across elisions and cases (rule 13.8)', async () => {
      const { iri: french } = await s.stored(
        'text/turtle',
        '<> <urn:p> "Quoi\u202f? L’eau d’orge, 12\u202f345 francs\u202f; CO₂"@fr .',
      );
      for (const q of ['quoi', 'eau orge', "l'eau", '"eau orge"', 'francs', '345', 'CO2'])
        expect(await ids(s, { q }), q).to.deep.equal([french]);
      const { iri: other } = await s.stored(
        'text/turtle',
        '<> <urn:p> "a protein’s coat"@en, "IĞDIR, İstanbul"@tr, "ΟΔΟΣΤΡΩΤΗΡΑΣ"@el, "Straßenbau soft\u00adware", "oraș"@ro .',
      );
      for (const q of ['protein', 'ığdır', 'istanbul', 'ΟΔΟΣ*', 'STRASSENBAU', 'software', 'oraş'])
        expect(await ids(s, { q }), q).to.deep.equal([other]);
    });

    it('reports matches in the text as it was written (rule 13.9)', async () => {
      await s.stored('text/turtle', '<> <urn:p> "e\u0301tude ﬁnale de l’agrafeuse\u202f!"@fr .');
      const [found] = (await page(s, { q: 'finale agrafeuse' })).items;
      const { text, matches } = found!.snippet;
      expect(matches.map(([from, to]) => text.slice(from, to))).to.deep.equal(['ﬁnale', 'l’agrafeuse']);
    });

    it('finds a match behind the first characters of a long text (rule 13.9)', async () => {
      await s.stored('text/plain; charset=utf-8', `${'İﬁ filler '.repeat(4_000)} the GROẞMARKT hall`);
      const [found] = (await page(s, { q: 'grossmarkt' })).items;
      const { text, matches } = found!.snippet;
      expect(matches.map(([from, to]) => text.slice(from, to))).to.deep.equal(['GROẞMARKT']);
    });

    it('finds names, titles of links, texts and strings of JSON (rule 13.8)', async () => {
      const named = s.fresh('-Zeppelin_report.txt');
      await s.stored('application/octet-stream', 'x', named);
      expect(await ids(s, { q: 'zeppelin report' })).to.deep.equal([named]);
      const { iri: text } = await s.stored('text/plain', 'Of dirigibles and balloons');
      const { iri: json } = await s.stored(
        'application/json',
        '{"name":["dirigibles", {"a":"gondola"}], "ballast": 1}',
      );
      expect(await ids(s, { q: 'dirigibles' })).to.have.members([text, json]);
      expect(await ids(s, { q: 'gondola' })).to.deep.equal([json]);
      expect(await ids(s, { q: 'ballast' })).to.deep.equal([]);
      await putLinks(s, text, { describedby: [{ href: 'https://a.example/', title: 'Airship manual' }] });
      expect(await ids(s, { q: 'airship manual dirigibles' })).to.deep.equal([text]);
    });

    it('sees every earlier write (rule 13.8)', async () => {
      const { iri } = await s.stored('text/turtle', '<> <urn:p> "ephemeral wombat" .');
      await s.put(iri, 'text/turtle', '<> <urn:p> "lasting wombat" .', ifMatch);
      expect(await ids(s, { q: 'ephemeral' })).to.deep.equal([]);
      expect(await ids(s, { q: 'lasting wombat' })).to.deep.equal([iri]);
      await s.patch(iri, 'application/sparql-update', 'INSERT DATA { <urn:s> <urn:p> "extra marsupial" }');
      expect(await ids(s, { q: 'marsupial lasting' })).to.deep.equal([iri]);
      await s.put(iri, 'text/plain', 'a plain koala', ifMatch);
      expect(await ids(s, { q: 'marsupial' })).to.deep.equal([]);
      expect(await ids(s, { q: 'koala' })).to.deep.equal([iri]);
      await s.put(iri, 'text/plain', 'a plain possum', ifMatch);
      expect(await ids(s, { q: 'koala' })).to.deep.equal([]);
      await s.delete(iri, ifMatch);
      expect(await ids(s, { q: 'possum' })).to.deep.equal([]);
    });

    it('finds moved and copied resources at their new names only (rule 13.8)', async () => {
      const box = await s.container();
      await s.stored('text/turtle', '<#it> <urn:p> "itinerant numbat"@en .', `${box}graph`);
      await s.stored('text/plain', 'a numbat in a text', `${box}text`);
      const [copy, moved] = [s.fresh('/'), s.fresh('/')];
      expect((await s.send('COPY', box, { Destination: copy })).status).to.equal(201);
      expect((await s.send('MOVE', box, { Destination: moved })).status).to.equal(201);
      expect((await page(s, { q: 'numbats itinerant', lang: 'en' })).totalItems).to.equal(2);
      expect(await ids(s, { q: 'numbat', in: moved })).to.have.members([`${moved}graph`, `${moved}text`]);
      expect(await ids(s, { q: 'numbat', in: copy })).to.have.members([`${copy}graph`, `${copy}text`]);
      expect((await page(s, { q: 'numbat' })).totalItems).to.equal(4);
      const faults: string[] = [];
      for await (const fault of textIndex.faultsOf(s.server!.server.store)) faults.push(fault);
      expect(faults).to.deep.equal([]);
    });

    it('returns a container page with scores and snippets, best first (rule 13.9)', async () => {
      const { iri: best } = await s.stored('text/turtle', '<> <urn:label> "axolotl axolotl"@en .');
      const long = `${'filler '.repeat(60)}axolotl ${'more '.repeat(60)}`;
      const { iri: other } = await s.stored('text/turtle', `<#x> <urn:text> "${long}" .`);
      const answer = await s.get(urlOf(s, { q: 'axolotl' }));
      expect(answer.status, answer.text).to.equal(200);
      expect(mediaType(answer)).to.equal(lwsJson);
      const document = JSON.parse(answer.text);
      expect(document).to.include({ '@context': lwsContext, type: 'ContainerPage', totalItems: 2 });
      const [first, second] = document.items as [TextItem, TextItem];
      expect([first.id, second.id]).to.deep.equal([best, other]);
      expect(first.score).to.be.above(second.score);
      expect(first.snippet).to.deep.equal({
        ...{ text: 'axolotl axolotl', language: 'en', subject: best, predicate: 'urn:label' },
        matches: [
          [0, 7],
          [8, 15],
        ],
      });
      expect(second.snippet).to.include({ subject: `${other}#x` });
      expect(second.snippet.text.length).to.be.below(300);
      expect(second.snippet.matches.map(([from, to]) => second.snippet.text.slice(from, to))).to.deep.equal([
        'axolotl',
      ]);
    });

    it('returns pages with links, and 404 for a page that does not exist (rule 13.9)', async () => {
      const iris: string[] = [];
      for (let i = 0; i < 5; i++) iris.push((await s.stored('text/turtle', '<> <urn:p> "paginated" .')).iri);
      const first = await s.get(urlOf(s, { q: 'paginated' }));
      expect(JSON.parse(first.text).totalItems).to.equal(5);
      const [next] = linked(first, 'next');
      const second = await s.get(next!);
      const shown = [first, second].flatMap((answer) =>
        (JSON.parse(answer.text).items as TextItem[]).map(({ id }) => id),
      );
      expect(shown).to.deep.equal(iris);
      expectProblem(await s.get(urlOf(s, { q: 'paginated', page: '4' })), 404);
      expectProblem(await s.get(urlOf(s, { q: 'paginated', page: 'x' })), 404);
      expectProblem(await s.get(urlOf(s, { q: 'paginated', page: '9999999' })), 404);
    });

    it('restricts results to a type and to a container (rule 13.9)', async () => {
      const box = await s.container();
      const { iri: inside } = await s.stored('text/turtle', '<> a <urn:T> ; <urn:p> "okapi" .', `${box}inside`);
      const { iri: outside } = await s.stored('text/turtle', '<> <urn:p> "okapi" .');
      expect(await ids(s, { q: 'okapi' })).to.have.members([inside, outside]);
      expect(await ids(s, { q: 'okapi', type: 'urn:T' })).to.deep.equal([inside]);
      expect(await ids(s, { q: 'okapi', in: box })).to.deep.equal([inside]);
      expect(await ids(s, { q: 'okapi', in: s.scratch, type: 'urn:U' })).to.deep.equal([]);
    });

    it('answers HEAD and OPTIONS, and 405 for other methods (rule 13.11)', async () => {
      const head = await s.head(urlOf(s, { q: 'anything' }));
      expect([head.status, head.text]).to.deep.equal([200, '']);
      expect((await s.options(urlOf(s, {}))).headers['allow']).to.equal('GET, HEAD, OPTIONS');
      expectProblem(await s.post(urlOf(s, { q: 'a' }), lwsJson, '{}'), 405);
    });

    const wrong: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
      'no query': [],
      'an empty query': [['q', ' ']],
      'a query without words': [['q', '... & !']],
      'more than 16 words': [['q', Array.from({ length: 17 }, (_, i) => `w${i}`).join(' ')]],
      'a quotation mark without its counterpart': [['q', '"neural network']],
      'a beginning of one character': [['q', 'n*']],
      'a query of more than 1000 characters': [['q', 'word '.repeat(300)]],
      'an unknown parameter': [
        ['q', 'a'],
        ['sort', 'name'],
      ],
      'a repeated parameter': [
        ['q', 'a'],
        ['q', 'b'],
      ],
      'a wrong language': [
        ['q', 'a'],
        ['lang', 'en_GB'],
      ],
      'a type that is not an IRI': [
        ['q', 'a'],
        ['type', 'T'],
      ],
      'a container of another storage': [
        ['q', 'a'],
        ['in', 'https://elsewhere.example/'],
      ],
    };
    for (const [what, parameters] of Object.entries(wrong))
      it(`returns 400 for ${what} (rule 13.11)`, async () => {
        const query = new URLSearchParams(parameters.map(([name, value]) => [name, value] as [string, string]));
        expectProblem(await s.get(`${s.root}.lws/text-search?${query}`), 400);
      });

    it('is advertised in the storage description (rule 13.8)', async () => {
      const { service } = JSON.parse(
        (await s.get(`${s.root}.lws/storage-description`, { Accept: 'application/json' })).text,
      );
      const endpoints = (service as { type: string; serviceEndpoint: string }[]).map((each) => [
        each.type,
        each.serviceEndpoint,
      ]);
      expect(endpoints).to.deep.include(['https://www.w3.org/ns/lws#TextSearchService', `${s.root}.lws/text-search`]);
      expect(endpoints).to.deep.include(['https://www.w3.org/ns/lws#LabelService', `${s.root}.lws/labels`]);
    });
  },
  { settings: { ...on, 'text-search.page-size': '3' } },
);

const [alice, bob] = [ed25519Identity(), p256Identity()];
const asAlice = (s: StorageUnderTest): Sender => ({ token: credential(alice, { aud: s.root.slice(0, -1) }) });

describeStorage(
  'Text search, views',
  (s) => {
    /** Alice and Bob own the storage and create resources. Then Alice is removed as an owner. */
    before(async () => {
      const put = async (as: Sender | undefined, name: string, body: string): Promise<void> => {
        const answer = await s.send('PUT', s.scratch + name, { 'Content-Type': 'text/turtle' }, body, as);
        expect(answer.status, answer.text).to.equal(201);
      };
      const label = 'http://www.w3.org/2000/01/rdf-schema#label';
      await put(asAlice(s), 'hers1', `<urn:thing> <${label}> "Gazelle"@en . <> <urn:p> "shared gazelle" .`);
      await put(asAlice(s), 'hers2', '<> <urn:p> "shared antelope and much more text than in the other" .');
      for (let i = 0; i < 5; i++)
        await put(
          undefined,
          `his${i}`,
          `<urn:thing> <${label}> "Gazebo ${i}" . <> <urn:p> "shared gazelle secretword" .`,
        );
      const settings = { ...on, owners: bob.did, 'search-index.enabled': 'false' };
      await s.restart({ settings, owner: bob });
    });

    it('shows callers what they can read only, in results, totals and scores (rule 13.10)', async () => {
      const bobs = await page(s, { q: 'shared' });
      expect(bobs.totalItems).to.equal(7);
      const hers = await page(s, { q: 'shared' }, asAlice(s));
      expect(hers.items.map(({ id }) => id)).to.deep.equal([`${s.scratch}hers1`, `${s.scratch}hers2`]);
      expect(hers.totalItems).to.equal(2);
      const before = JSON.stringify(hers);
      for (let i = 0; i < 10; i++) await s.stored('text/turtle', '<> <urn:p> "shared antelope gazelle" .');
      expect(JSON.stringify(await page(s, { q: 'shared' }, asAlice(s)))).to.equal(before);
      expect((await page(s, { q: 'shared' }, s.stranger)).totalItems).to.equal(0);
      expect((await page(s, { q: 'shared' }, 'anonymous')).totalItems).to.equal(0);
    });

    it('answers alike for hidden and absent words (rule 13.10)', async () => {
      const comparable = ({ status, headers, text }: Answer): unknown => {
        const {
          date: _date,
          'request-id': _id,
          'x-request-id': _xid,
          link,
          ...others
        } = headers as Record<string, string>;
        return {
          status,
          others: Object.keys(others).sort(),
          text,
          link: link?.replaceAll(/secretword|absentword/g, ''),
        };
      };
      for (const form of ['WORD', 'shared WORD', '"shared WORD"', 'WORD shared*']) {
        const [hidden, absent] = await Promise.all(
          ['secretword', 'absentword'].map((word) =>
            s.send('GET', urlOf(s, { q: form.replace('WORD', word) }), {}, undefined, asAlice(s)),
          ),
        );
        expect(comparable(hidden!), form).to.deep.equal(comparable(absent!));
      }
      expect(await ids(s, { q: 'secret*' }, asAlice(s))).to.deep.equal([]);
    });

    it('shows labels of readable graphs only (rule 13.12)', async () => {
      const labels = async (parameters: Record<string, string>): Promise<unknown> => {
        const url = `${s.root}.lws/labels?${new URLSearchParams(parameters)}`;
        return JSON.parse((await s.send('GET', url, {}, undefined, asAlice(s))).text).items;
      };
      const predicate = 'http://www.w3.org/2000/01/rdf-schema#label';
      const label = { value: 'Gazelle', language: 'en', predicate };
      expect(await labels({ iri: 'urn:thing' })).to.deep.equal([{ id: 'urn:thing', labels: [label] }]);
      expect(await labels({ prefix: 'gaze' })).to.deep.equal([{ id: 'urn:thing', ...label }]);
    });

    it('returns 400 for a type while the type index is off (rule 13.11)', async () => {
      expectProblem(await s.get(urlOf(s, { q: 'shared', type: 'urn:T' })), 400);
    });

    it('finds nothing and offers no endpoint while it is off, and everything again afterwards (rule 13.8)', async () => {
      await s.restart({ settings: { owners: bob.did }, owner: bob });
      expectProblem(await s.get(urlOf(s, { q: 'shared' })), 404);
      await s.stored('text/turtle', '<> <urn:p> "meanwhile" .');
      await s.restart({ settings: { ...on, owners: bob.did }, owner: bob });
      expect((await page(s, { q: 'meanwhile' })).totalItems).to.equal(1);
      expect((await page(s, { q: 'secretword' })).totalItems).to.equal(5);
    });
  },
  { settings: { ...on, owners: [alice, bob].map(({ did }) => did).join() }, owner: bob, isOncePlaced: true },
);

describeStorage(
  'Labels',
  (s) => {
    const labelsAt = async (query: URLSearchParams | string, headers: Record<string, string> = {}): Promise<Answer> =>
      s.get(`${s.root}.lws/labels?${query}`, headers);
    const values = async (query: string, language?: string): Promise<unknown> => {
      const answer = await labelsAt(query, language === undefined ? {} : { 'Accept-Language': language });
      expect(answer.status, answer.text).to.equal(200);
      return JSON.parse(answer.text).items.map(({ labels }: { labels: { value: string }[] }) =>
        labels.map(({ value }) => value),
      );
    };
    before(async () => {
      await s.stored(
        'text/turtle',
        `@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        <urn:cat> rdfs:label "cat"@en, "Katze"@de ; skos:prefLabel "house cat"@en, "chat"@fr . <urn:dog> rdfs:label "dog" .
        <urn:other> <urn:p> "no label" . _:b rdfs:label "blank" .`,
      );
    });

    it('returns labels by language of the caller, then by predicate (rule 13.12)', async () => {
      expect(
        await values('iri=urn:cat&iri=urn:dog&iri=urn:none&iri=urn:other', 'de;q=0.5, en-GB;q=0, en'),
      ).to.deep.equal([['house cat', 'cat', 'Katze', 'chat'], ['dog']]);
      expect(await values('iri=urn:cat&lang=fr')).to.deep.equal([['chat', 'house cat', 'Katze', 'cat']]);
    });

    it('completes the beginning of a label (rule 13.12)', async () => {
      const { items } = JSON.parse((await labelsAt('prefix=%20CA')).text);
      expect(items).to.deep.equal([
        { id: 'urn:cat', value: 'cat', language: 'en', predicate: 'http://www.w3.org/2000/01/rdf-schema#label' },
      ]);
      expect(JSON.parse((await labelsAt('prefix=cha&lang=en')).text).items).to.deep.equal([]);
      expect(JSON.parse((await labelsAt('prefix=cha&lang=fr')).text).items).to.have.length(1);
    });

    it('returns 400 for wrong parameters (rule 13.12)', async () => {
      const many = Array.from({ length: 201 }, (_, i) => `iri=urn:${i}`).join('&');
      for (const query of [
        '',
        'iri=x',
        'iri=urn:a&prefix=b',
        'prefix=',
        'prefix=a&prefix=b',
        'iri=urn:a&lang=_',
        'iri=urn:a&x=1',
        many,
      ])
        expectProblem(await labelsAt(query), 400);
    });
  },
  { settings: on, isOncePlaced: true },
);

describeStorage(
  'Text search of imported resources',
  (s) => {
    it('finds literals of imported graphs, whatever their subject, and texts (rule 13.8)', async () => {
      const line = (path: string, subject: string, text: string): string =>
        `<${subject}> <urn:p> "${text}" <${s.scratch}${path}> .`;
      const dump = [
        line('one', `${s.scratch}one`, 'imported pangolin'),
        line('two', 'https://elsewhere.example/x', 'another pangolin'),
        ...Array.from({ length: 50 }, (_, i) => line(`many${i}`, `urn:${i}`, `aardvark ${i}`)),
      ];
      expect(await imported(s, dump.join('\n'))).to.include({ status: 'done', created: 52 });
      expect(await ids(s, { q: 'pangolin' })).to.have.members([`${s.scratch}one`, `${s.scratch}two`]);
      const replaced = line('two', 'urn:y', 'replaced tapir');
      expect(await imported(s, replaced, { query: { 'on-conflict': 'replace' } })).to.include({ replaced: 1 });
      expect(await ids(s, { q: 'tapir' })).to.deep.equal([`${s.scratch}two`]);
      expect(await ids(s, { q: 'pangolin' })).to.deep.equal([`${s.scratch}one`]);
      expect((await page(s, { q: 'aardvark' })).totalItems).to.equal(50);
      const faults: string[] = [];
      for await (const fault of textIndex.faultsOf(s.server!.server.store)) faults.push(fault);
      expect(faults).to.deep.equal([]);
    });
  },
  { settings: on, isOncePlaced: true },
);
