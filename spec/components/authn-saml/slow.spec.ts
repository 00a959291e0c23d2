/** Inputs designed to take long: each is rejected, or accepted, within a time limit. */
import { expect } from 'chai';
import { looksLikeXml } from '../../../components/authn-saml/saml-suite.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { slowness } from '../../support/patience.js';
import { assertionXml, nameIdOf, usualStatements } from './assertions.js';
import { signed } from './signing.js';
import { provider, verify } from './trust.js';

const size = 60_000;
const fill = (unit: string, length = size): string => unit.repeat(Math.floor(length / unit.length));
const plain = signed(assertionXml(), { signer: provider });
const inside = (part: string): string => plain.replace('<saml:Subject>', `<saml:Subject>${part}`);
const tag = (attributes: string): string => plain.replace('<saml:Subject>', `<saml:Subject ${attributes}>`);

/** Time limit in milliseconds. One signature takes about 1. A busy machine takes longer. */
const bound = 1000;

const inputs: Readonly<Record<string, () => string>> = {
  'white space before the root': () => fill(' ') + plain,
  'white space after the root': () => plain + fill(' ', size - plain.length),
  'white space in a tag': () => tag(fill(' ', 50_000)),
  'white space in an end tag': () => plain.replace('</saml:Subject>', `</saml:Subject${fill(' ', 50_000)}x>`),
  'white space around "="': () => tag(`a${fill(' ', 25_000)}=${fill(' ', 25_000)}b`),
  'white space in the XML declaration': () => `<?xml version="1.0"${fill(' ', 50_000)}x?>${plain}`,
  'one long name': () => inside(`<${fill('a', 50_000)}>`),
  'one long attribute': () => tag(`a="${fill('x', 50_000)}"`),
  'an attribute that does not end': () => tag(`a="${fill('x', 50_000)}`),
  'many references': () => inside(fill('&amp;', 50_000)),
  'many character references': () => inside(fill('&#65;', 50_000)),
  'many ampersands': () => inside(fill('&', 50_000)),
  'many "<"': () => inside(fill('<', 50_000)),
  'many ">"': () => inside(fill('>', 50_000)),
  'many open tags': () => inside(fill('<a>', 50_000)),
  'many comments': () => fill('<!---->'),
  'an assertion of many elements': () => withStatements(fill('<saml:A></saml:A>', 950 * 17)),
  'an assertion of deep elements': () => withStatements(fill('<saml:A>', 28 * 8) + fill('</saml:A>', 28 * 9)),
  'an assertion of many attributes': () =>
    withStatements(`<saml:A ${Array.from({ length: 1900 }, (_, index) => `a${index}=""`).join(' ')}></saml:A>`),
  'an assertion of many prefixes on many elements': () =>
    withStatements(
      `<saml:A ${Array.from({ length: 60 }, (_, index) => `xmlns:p${index}="urn:p${index}"`).join(' ')}>${Array.from({ length: 900 }, (_, index) => `<p${index % 60}:a></p${index % 60}:a>`).join('')}</saml:A>`,
    ),
  'an assertion of many declarations': () =>
    withStatements(
      `<saml:A ${Array.from({ length: 60 }, (_, index) => `xmlns:p${index}="urn:p"`).join(' ')}></saml:A>`.repeat(32),
    ),
  'an assertion of long text': () => withStatements(`<saml:A>${fill('x', 55_000)}</saml:A>`),
  'an assertion with a long name': () =>
    signed(assertionXml({ nameId: nameIdOf(fill('a:', 55_000)) }), { signer: provider }),
  'base64 that is all padding': () => `PGF${fill('=')}`,
  'base64 that is too long': () => fill('PGFh', 1 << 20),
  'a mebibyte of XML': () => `<a>${fill('x', 1 << 20)}</a>`,
};

/** For an assertion that is not in canonical form, the signature is not valid, but the same work is done. */
const withStatements = (content: string): string =>
  signed(assertionXml({ statements: `${usualStatements}<saml:Advice>${content}</saml:Advice>` }), { signer: provider });

describe('authn-saml: slow inputs', () => {
  for (const [name, make] of Object.entries(inputs))
    it(`answers within ${bound} ms: ${name}`, async () => {
      const text = make();
      const start = performance.now();
      looksLikeXml(text);
      const outcome: unknown = await verify(text).catch((error: unknown) => error);
      expect(performance.now() - start).to.be.below(bound * slowness);
      if (outcome instanceof Error) expect(outcome).to.be.instanceOf(LwsError);
    });
});
