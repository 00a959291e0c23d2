/** Folding against properties of Unicode that regular expressions know: simple case folding, and what NFKC_Casefold changes. */
import { expect } from 'chai';
import { folded, foldedText } from '../../../../components/search/text-search/folding.js';

/** All assigned characters. */
const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => /\P{Cn}/u.test(character));
const cased = characters.filter((character) => /\p{CWCF}|\p{CWCM}|\p{Cased}/u.test(character));

describe('Folding of a text', () => {
  it('makes characters equal that differ by simple case folding (Unicode, section 3.13)', () => {
    const all = cased.join('');
    for (const character of cased) {
      const same = all.match(new RegExp(character.replace(/[\\^$.*+?()[\]{}|]/, '\\$&'), 'giu')) ?? [];
      for (const other of same) expect(foldedText(other), `${character} ${other}`).to.equal(foldedText(character));
    }
  });

  it('changes what NFKC_Casefold changes, and besides apostrophes, dotless i and Romanian letters (rule 13.8)', () => {
    const own = /[\u2018\u2019\u02bcı\u0219\u021b]/;
    /** Cherokee is folded to small letters instead of capitals. */
    const cherokee = /\p{Script=Cherokee}/u;
    const differing = characters.filter(
      (character) =>
        !own.test(character) &&
        !cherokee.test(character) &&
        (foldedText(character) !== character) !== /\p{CWKCF}/u.test(character),
    );
    expect(differing).to.deep.equal([]);
  });

  it('is the same when it is repeated', () => {
    for (const character of characters) {
      const once = foldedText(character);
      expect(foldedText(once), character).to.equal(once);
    }
  });

  it('folds characters to several (CaseFolding.txt, status F)', () => {
    for (const [character, expected] of [
      ['ß', 'ss'],
      ['ẞ', 'ss'],
      ['ŉ', "'n"],
      ['ǰ', 'ǰ'],
      ['ΐ', 'ΐ'],
      ['և', 'եւ'],
      ['ẗ', 'ẗ'],
      ['ẚ', 'aʾ'],
      ['ὒ', 'ὒ'],
      ['ᾳ', 'αι'],
      ['ᾼ', 'αι'],
      ['ῷ', 'ῶι'],
      ['ﬃ', 'ffi'],
      ['ﬗ', 'մխ'],
    ] as const)
      expect(foldedText(character), character).to.equal(expected.normalize('NFKC'));
  });

  it('does not distinguish final sigma, dotted and dotless i, comma and cedilla (rule 13.8)', () => {
    expect(folded('ΟΔΟΣ')).to.equal(folded('οδοσ'));
    expect(folded('οδος')).to.equal('οδοσ');
    for (const word of ['İIiı', 'i\u0307ııi']) expect(folded(word.normalize('NFKC'))).to.equal('iiii');
    expect(folded('ȘȚșț')).to.equal('şţşţ');
  });
});
