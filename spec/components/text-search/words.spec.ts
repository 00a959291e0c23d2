/** Words of texts, terms of queries and accepted languages. */
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { positionsOf, putStatement, readPosting } from '../../../components/text-search/entries.js';
import { textStatement } from '../../../components/text-search/statements.js';
import { loadStemmers, stemOf } from '../../../components/text-search/stems.js';
import { lookupsOf, matchesWord, parseTerms } from '../../../components/text-search/terms.js';
import { longestToken, tokensOf, wordsOf } from '../../../components/text-search/tokens.js';
import { acceptedLanguages } from '../../../lib/fields/accept-language.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import { partsOfEntry } from '../../../lib/storage/keys/records.js';
import { runs } from '../../support/speed.js';

const tokens = (text: string, latin = true): string[] => [...wordsOf(text, latin)].map(({ token }) => token);

describe('Words of a text', () => {
  it('finds in Latin text the words that Intl.Segmenter finds', () => {
    const character = fc.oneof(
      fc.constantFrom(...`ab1 9_.,:;'’‘·¸-–"“”()&@é߀…\n\t\u00a0×÷ªµºǅ`),
      fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      fc.integer({ min: 0xa0, max: 0x24f }).map((code) => String.fromCharCode(code)),
    );
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 40 }), (text) => {
        const words = [...wordsOf(text, false)];
        expect([...wordsOf(text)], JSON.stringify(text)).to.deep.equal(words);
        expect(tokensOf(text), JSON.stringify(text)).to.deep.equal(words.map(({ token }) => token));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('folds case and compatible characters, and reports offsets of the written form', () => {
    expect(tokens('Straße ÉTÉ ﬁne ＡＢＣ')).to.deep.equal(['straße', 'été', 'fine', 'abc']);
    expect([...wordsOf('Ünë, two')]).to.deep.equal([
      { token: 'ünë', position: 0, start: 0, end: 3 },
      { token: 'two', position: 1, start: 5, end: 8 },
    ]);
  });

  it('segments Chinese, Japanese and Thai', () => {
    expect(tokens('神经网络')).to.deep.equal(['神经', '网络']);
    expect(tokens('東京都に住む').length).to.be.above(1);
    expect(tokens('สวัสดีครับ').length).to.be.above(1);
  });

  it('counts a word that is too long without a token', () => {
    const long = 'x'.repeat(longestToken + 1);
    expect([...wordsOf(`a ${long} b`)].map(({ token, position }) => [token, position])).to.deep.equal([
      ['a', 0],
      ['b', 2],
    ]);
  });

  it('keeps words at the boundaries of pieces whole', () => {
    const text = 'mark '.repeat(3_000);
    expect(new Set(tokens(text))).to.deep.equal(new Set(['mark']));
    expect(tokens(text)).to.have.length(3_000);
    for (const [part, words] of [
      ['神经网络，', ['神经', '网络']],
      ['alpha-beta-', ['alpha', 'beta']],
      ['\u{1f600}mark\u{1f600}', ['mark']],
    ] as const) {
      const found = tokens(part.repeat(3_000));
      expect(new Set(found)).to.deep.equal(new Set(words));
      expect(found).to.have.length(3_000 * words.length);
    }
  });

  it('takes linear time for runs without spaces', () => {
    for (const run of ['字', 'a.', "a'", '1,', 'ก', '_', '\ud83d\ude00']) {
      const began = performance.now();
      for (const _ of wordsOf(run.repeat(100_000)));
      expect(performance.now() - began, run).to.be.below(5_000);
    }
  });
});

describe('Postings of a text', () => {
  before(() => loadStemmers());

  it('have positions of words and of stems', () => {
    const factory = new DataFactory();
    const [iri, entries] = ['https://a.example/x', new Map<string, string>()];
    const quad = factory.quad(
      factory.namedNode(`${iri}#it`),
      factory.namedNode('urn:p'),
      factory.literal('Network of networks', 'EN-gb'),
    );
    const [key] = encodeGraph(iri, [quad as never]);
    expect(textStatement(key!)).to.include({ text: 'Network of networks', language: 'en-gb', subject: `${iri}#it` });
    expect(putStatement(iri, key!, { put: (entry, value) => entries.set(entry, value) })).to.equal(3);
    const postings = [...entries.keys()].map(partsOfEntry).filter(([space]) => space === 'text');
    const read = new Map(
      postings.map(([, token, , place, positions]) => [token, readPosting(`${place}\u0000${positions}`)]),
    );
    expect([...read.keys()].sort()).to.deep.equal(['network', 'networks', 'of']);
    expect(read.get('network')).to.include({ language: 'en-gb', written: '0', stems: '2' });
    expect(read.get('networks')).to.include({ written: '2', stems: '' });
    expect(positionsOf('0,a')).to.deep.equal([0, 10]);
  });

  it('are found by exactly the words that match', () => {
    const word = fc.constantFrom(
      ...'network networks networking run running ran runs generously generous die dies sky skies'.split(' '),
    );
    const language = fc.constantFrom('', 'en', 'en-gb', 'de', 'fr', 'zh', 'tr');
    fc.assert(
      fc.property(word, language, word, fc.constantFrom(undefined, 'en', 'de', 'zh'), (written, of, asked, lang) => {
        const stems = new Map([
          ['en', 'english'],
          ['de', 'german'],
          ['fr', 'french'],
          ['tr', 'turkish'],
        ]);
        const stemmer = stems.get(of.split('-')[0]!);
        const stem = stemmer === undefined ? written : stemOf(written, stemmer);
        // Lists in which the word has a posting.
        const own: [string, boolean][] = [
          [written, false],
          ...(stem === written ? [] : [[stem, true] as [string, boolean]]),
        ];
        const found = lookupsOf(asked, { lang }).reduce(
          (sum, { token, accepts }) =>
            sum + own.filter(([list, isStem]) => list === token && accepts(of, isStem)).length,
          0,
        );
        const inRange = lang === undefined || of === lang || of.startsWith(`${lang}-`);
        expect(found).to.equal(inRange && matchesWord(written, of, asked) ? 1 : 0);
      }),
      { numRuns: runs(3_000) },
    );
  });
});

describe('Terms of a query', () => {
  it('are words, phrases and beginnings, each once', () => {
    expect(parseTerms('Neural-net "two words" net* neural word')).to.deep.equal([
      { kind: 'word', token: 'neural' },
      { kind: 'word', token: 'net' },
      { kind: 'phrase', tokens: ['two', 'words'] },
      { kind: 'prefix', token: 'net' },
      { kind: 'word', token: 'word' },
    ]);
  });
});

describe('Accepted languages', () => {
  it('are ordered by weight, without malformed ones', () => {
    expect(acceptedLanguages('de;q=0.5, en-GB, *, fr;q=0, x_y, it;q=0.7')).to.deep.equal(['en-gb', 'it', 'de']);
    expect(acceptedLanguages('')).to.deep.equal([]);
  });
});
