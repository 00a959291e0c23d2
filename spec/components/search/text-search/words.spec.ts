/** Words of texts, terms of queries and accepted languages. */
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { positionsOf, putStatement, putText, readPosting } from '../../../../components/search/text-search/entries.js';
import { formsOf, queryWord } from '../../../../components/search/text-search/forms.js';
import { textStatement } from '../../../../components/search/text-search/statements.js';
import { loadStemmers } from '../../../../components/search/text-search/stems.js';
import { isMatch, lookupsOf, parseTerms } from '../../../../components/search/text-search/terms.js';
import { foldedToken, longestToken, wordsOf, writtenWords } from '../../../../components/search/text-search/tokens.js';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { partsOfEntry } from '../../../../lib/storage/keys/records.js';
import { acceptedLanguages } from '../../../../lib/tools/fields/accept-language.js';
import { runs } from '../../../support/speed.js';

const tokens = (text: string, latin = true): string[] =>
  [...wordsOf(text, latin)].map(({ written }) => foldedToken(written));
const tokensOf = (text: string): string[] => [...writtenWords(text)].flatMap(({ words }) => words.map(foldedToken));

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
        expect(tokensOf(text), JSON.stringify(text)).to.deep.equal(words.map(({ written }) => foldedToken(written)));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('folds case and compatible characters, and reports offsets of the original text', () => {
    expect(tokens('Straße ÉTÉ ﬁne ＡＢＣ')).to.deep.equal(['strasse', 'été', 'fine', 'abc']);
    const found = (text: string): [string, string][] =>
      [...wordsOf(text)].map(({ written, start, end }) => [foldedToken(written), text.slice(start, end)]);
    expect([...wordsOf('Ünë, two')]).to.deep.equal([
      { written: 'Ünë', position: 0, start: 0, end: 3 },
      { written: 'two', position: 1, start: 5, end: 8 },
    ]);
    expect(found('ﬁne, e\u0301te\u0301 co\u00adop H₂O ½')).to.deep.equal([
      ['fine', 'ﬁne'],
      ['été', 'e\u0301te\u0301'],
      ['coop', 'co\u00adop'],
      ['h2o', 'H₂O'],
      ['1⁄2', '½'],
    ]);
  });

  it('normalizes before it divides (rule 13.8)', () => {
    for (const [text, expected] of [
      ['Quoi\u202f? Bonjour\u202f! 12\u202f345 francs\u202f;', ['quoi', 'bonjour', '12', '345', 'francs']],
      [
        'data\u2060base soft\u00adware zero\u200djoiner co\u034fmbining',
        ['database', 'software', 'zerojoiner', 'combining'],
      ],
      ['CO₂ H₂O m² 2½ x¹', ['co2', 'h2o', 'm2', '2', '1⁄2', 'x1']],
      ['می\u200cخواهم', ['میخواهم']],
      ['zero\u200bwidth', ['zero', 'width']],
      ['O’Reilly O‘Reilly OʼReilly O＇Reilly', ["o'reilly", "o'reilly", "o'reilly", "o'reilly"]],
      ['ﾊﾟﾝ パン', ['パン', 'パン']],
      ['\u1112\u1161\u11ab 한', ['한', '한']],
    ] as const) {
      expect(tokens(text), text).to.deep.equal(expected);
      expect(tokensOf(text), text).to.deep.equal(expected);
      expect(tokens(text, false), text).to.deep.equal(expected);
    }
  });

  it('has the same words with and without offsets, of texts of every script', () => {
    const character = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom(...'aéßｶﾞ\u0301\u0316\u200d\u00ad\u2060\u1100\u1161\u11a8\u3131\u314f字ก่ำ ½’'),
    );
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 400 }), (text) => {
        expect(tokens(text), JSON.stringify(text)).to.deep.equal(tokensOf(text));
      }),
      { numRuns: runs(500) },
    );
  });

  it('segments Chinese, Japanese and Thai', () => {
    expect(tokens('神经网络')).to.deep.equal(['神经', '网络']);
    expect(tokens('東京都に住む').length).to.be.above(1);
    expect(tokens('สวัสดีครับ').length).to.be.above(1);
  });

  it('counts a word that is too long without a token', () => {
    const long = 'x'.repeat(longestToken + 1);
    expect(tokens(`a ${long} b`)).to.deep.equal(['a', '', 'b']);
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
      expect(tokensOf(part.repeat(3_000))).to.deep.equal(found);
    }
  });

  it('gives the segmenter at most 1152 characters, and the event loop a turn after each such piece', async () => {
    await loadStemmers();
    const { segment } = Intl.Segmenter.prototype;
    let [longest, inTurn, mostInTurn] = [0, 0, 0];
    Intl.Segmenter.prototype.segment = function (text) {
      longest = Math.max(longest, text.length);
      inTurn += text.length;
      mostInTurn = Math.max(mostInTurn, inTurn);
      return segment.call(this, text);
    };
    try {
      for (const [language, run] of [
        ['ja', '東京都に住む人々は神経網を研究している。'],
        ['th', 'สวัสดีครับผมชื่อจอห์นและผมเป็นนักเรียน'],
        ['km', 'សួស្តីខ្ញុំឈ្មោះចនហើយខ្ញុំជាសិស្ស'],
        ['', '\u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7}'],
        ['', '字'],
        ['', 'ﷺ'],
      ] as const) {
        inTurn = 0;
        const pause = async (): Promise<void> => {
          inTurn = 0;
        };
        const place = { iri: 'urn:a', place: 'b', language };
        await putText({ ...place, text: run.repeat(200_000 / run.length) }, { put: () => undefined, pause });
      }
    } finally {
      Intl.Segmenter.prototype.segment = segment;
    }
    expect(longest).to.be.within(1_000, 1_152);
    expect(mostInTurn).to.be.within(1_000, 2 * 1_152);
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
    const put = (entry: string, value: string): void => void entries.set(entry, value);
    const target = { put, pause: async () => undefined };
    const quad = factory.quad(
      factory.namedNode(`${iri}#it`),
      factory.namedNode('urn:p'),
      factory.literal('Network of networks', 'EN-gb'),
    );
    const [key] = encodeGraph(iri, [quad as never]);
    expect(textStatement(key!)).to.include({ text: 'Network of networks', language: 'en-gb', subject: `${iri}#it` });
    expect(putStatement(iri, key!, target)).to.equal(3);
    const postings = [...entries.keys()].map(partsOfEntry).filter(([space]) => space === 'text');
    const read = new Map(
      postings.map(([, token, , place, positions]) => [token, readPosting(`${place}\u0000${positions}`)]),
    );
    expect([...read.keys()].sort()).to.deep.equal(['network', 'networks', 'of']);
    expect(read.get('network')).to.include({ language: 'en-gb', written: '0', stems: '0,2' });
    expect(read.get('networks')).to.include({ written: '2', stems: '' });
    expect(positionsOf('0,a')).to.deep.equal([0, 10]);
  });

  it('are found by exactly the words that match', () => {
    const word = fc.constantFrom(
      ...'network networks networking run running ran runs generously generous die dies sky skies'.split(' '),
      ..."L'eau eau l'eaux eaux dell'arte arte protein's protein O'Reilly reilly qu'l'eau".split(' '),
      ...'ığdır IĞDIR Iğdır İstanbul istanbul ISTANBUL kızlar kizlar KIZLAR kız kiz'.split(' '),
      ...'naţiunile națiunile Straße STRASSE'.split(' '),
    );
    const language = fc.constantFrom('', 'en', 'en-gb', 'de', 'fr', 'it', 'ro', 'zh', 'tr');
    fc.assert(
      fc.property(
        word,
        language,
        word,
        fc.constantFrom(undefined, 'en', 'de', 'zh', 'tr'),
        (written, of, asked, lang) => {
          const { tokens: own, stems } = formsOf(written, of);
          const query = queryWord(asked);
          const found = lookupsOf(query, { lang }).reduce(
            (sum, { token, accepts }) =>
              sum +
              (own.includes(token) && accepts(of, false) ? 1 : 0) +
              (stems.includes(token) && accepts(of, true) ? 1 : 0),
            0,
          );
          const inRange = lang === undefined || of === lang || of.startsWith(`${lang}-`);
          expect(found).to.equal(inRange && isMatch(written, of, { kind: 'word', ...query }) ? 1 : 0);
        },
      ),
      { numRuns: runs(5_000) },
    );
  });

  it('are found across elisions, possessives and cases, in their language (rule 13.8)', () => {
    const isFound = (text: string, language: string, query: string): boolean =>
      parseTerms(query).every((term) => tokensWritten(text).some((written) => isMatch(written, language, term)));
    const tokensWritten = (text: string): string[] => [...writtenWords(text)].flatMap(({ words }) => [...words]);
    for (const [text, language, query, expected = true] of [
      ["L'eau d'orge", 'fr', 'eau orge'],
      ['L’eau d’orge', 'fr-ca', "l'eau d'orge"],
      ['L’eaux', 'fr', 'eau'],
      ["L'eau", 'en', 'eau', false],
      ["L'eau", '', 'eau'],
      ["don't", '', 't', false],
      ["dell'arte", 'it', 'arte'],
      ['l’aigua', 'ca', 'aigua'],
      ["d'fhág", 'ga', 'fhág'],
      ['protein’s', 'en', 'protein'],
      ['protein’s', '', 'protein'],
      ['PROTEIN’S', 'en-us', 'proteins'],
      ['foto’s', 'nl', 'foto'],
      ['O’Reilly', 'en', "O'Reilly"],
      ["İstanbul'da", 'tr', 'istanbul'],
      ['İstanbul', 'tr', 'istanbul'],
      ['İstanbul', '', 'istanbul'],
      ['istanbul', 'en', 'İSTANBUL'],
      ['IĞDIR', 'tr', 'ığdır'],
      ['ığdır', 'tr', 'IĞDIR'],
      ['IĞDIR', '', 'ığdır'],
      ['Kızlar', 'tr', 'kız'],
      ['KIZLAR', 'tr', 'kızlar'],
      ['kızlar', 'tr', 'kizlar'],
      ['ΟΔΟΣΤΡΩΤΗΡΑΣ', 'el', 'ΟΔΟΣ*'],
      ['οδοστρωτήρας', 'el', 'ΟΔΟΣ*'],
      ['ΟΔΟΣ', 'el', 'οδος'],
      ['Straße', '', 'STRASSE'],
      ['STRASSE', 'fr', 'Straße'],
      ['Straßen', 'de', 'STRASSE'],
      ['STRA\u1e9eE', '', 'strasse'],
      ['orașelor', 'ro', 'oraş'],
      ['oraşelor', 'ro', 'oraș'],
      ['Țara', '', 'ţara'],
      ['обʼєкт', 'uk', "об'єкт"],
    ] as const)
      expect(isFound(text, language, query), `${text}@${language}: ${query}`).to.equal(expected);
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
