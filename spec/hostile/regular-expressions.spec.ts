/** All regular expressions of the server match in linear time. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { check } from 'recheck';
import { decodeEscapes } from '../../lib/query/parse/code-point-escapes.js';
import { resolveReferences } from '../../lib/query/parse/sparql-parser.js';
import { nameFromSlug } from '../../lib/resources/names.js';
import type { FoundExpression } from '../support/regular-expressions.js';

const program = fileURLToPath(new URL('../support/regular-expressions.js', import.meta.url));

describe('Regular expressions', () => {
  it('are all linear', async function () {
    this.timeout(120_000);
    const lines = execFileSync(process.execPath, [program], { encoding: 'utf8', maxBuffer: 1 << 24 })
      .trim()
      .split('\n');
    const expressions = lines.map((line) => JSON.parse(line) as FoundExpression);
    expect(expressions.length).to.be.above(200);
    expect(expressions.some(({ place }) => /data-update/.test(place))).to.equal(true);
    const slow: string[] = [];
    for (const { source, flags, place } of expressions) {
      let verdict = await check(source, flags, { timeout: 10_000 });
      // The detector is randomized, so a finding must be reproducible.
      if (verdict.status === 'vulnerable' && verdict.checker === 'fuzz')
        verdict = await check(source, flags, { timeout: 10_000, randomSeed: 4711 });
      if (verdict.status === 'vulnerable')
        slow.push(`${place}: /${source}/${flags} ${verdict.complexity.summary}: ${verdict.attack.pattern}`);
    }
    expect(slow).to.deep.equal([]);
  });

  it('would be detected if they were not linear', async () => {
    const { status } = await check('^(?:/(?:[^~]|~[01])*)*$', '');
    expect(status).to.equal('vulnerable');
  });

  it('for a Slug process a million slashes', () => {
    expect(nameFromSlug(`${'/'.repeat(1_000_000)}a`)).to.equal('a');
  });

  it('for strings in a query process a million unterminated quotes', () => {
    for (const quotes of ["\\'0", "'''", '"""a', "'", '"\\']) {
      const text = `SELECT * { <../a> \\u0041 ${quotes.repeat(300_000)}`;
      expect(decodeEscapes(text)).to.have.length.above(300_000);
      expect(resolveReferences(text, 'https://a.example/')).to.have.length.above(300_000);
    }
  });

  it('distinguish quotes in names and IRIs from those of strings', () => {
    expect(decodeEscapes("<it's> ex:it\\'s ex:\\u0041 'b'")).to.equal("<it's> ex:it\\'s ex:A 'b'");
    const references = "SELECT * { <it's> ex:it\\'s <../a> }";
    expect(resolveReferences(references, 'https://a.example/b/c')).to.equal(
      references.replace('../a', 'https://a.example/a'),
    );
  });
});
