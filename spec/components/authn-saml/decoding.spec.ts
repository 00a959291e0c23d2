/** Detection and decoding of a credential: strict, bounded, and safe for any text. */
import { expect } from 'chai';
import fc from 'fast-check';
import { decodeCredential, looksLikeXml, maxBytes } from '../../../components/authn-saml/saml-suite.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { runs } from '../../support/speed.js';
import { credential } from './tampering.js';
import { expectRefusal } from './trust.js';

const base64 = Buffer.from(credential).toString('base64');
const neither = /^neither XML nor base64 nor base64url: /;
const leftOver = /^the base64 is truncated or has extra bits at its end$/;

describe('authn-saml: decoding', () => {
  it('recognizes XML, raw and in base64, by its first characters', () => {
    for (const text of [
      credential,
      base64,
      `\n${credential}`,
      '<?xml version="1.0"?>',
      Buffer.from('\n <a').toString('base64url'),
      '<!DOCTYPE',
    ])
      expect(looksLikeXml(text), text.slice(0, 20)).to.equal(true);
  });

  it('recognises no token of another kind', () => {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const jwt = `${part({ alg: 'ES256' })}.${part({ sub: 'x' })}.c2ln`;
    for (const text of ['', ' ', 'a', jwt, 'opaque', 'PQ', '< a', 'x<a', part({}), '\0<a', '\ufeff<a', '<', '</a>'])
      expect(looksLikeXml(text), text).to.equal(false);
  });

  it('refuses base64 that is cut, or with bits left over', async () => {
    await expectRefusal(base64.slice(0, 401), leftOver);
    await expectRefusal(base64.slice(0, 400), /^the (?:document ends|start tag of|end tag)/);
    await expectRefusal('PGF', /^the base64 is truncated/);
    await expectRefusal('PGE-PG', leftOver);
  });

  it('refuses wrong padding', async () => {
    const bare = Buffer.from(`${credential}${' '.repeat((4 - (credential.length % 3)) % 3)}`)
      .toString('base64')
      .replace(/=+$/, '');
    expect(bare.length % 4).to.equal(2);
    await expectRefusal(`${bare}=`, /^the padding of the base64 is wrong$/);
    await expectRefusal(`${bare}===`, neither);
    await expectRefusal(`=${bare}`, neither);
    await expectRefusal(`${bare.slice(0, 8)}=${bare.slice(8)}`, neither);
  });

  it('refuses characters outside the alphabet, and two alphabets at once', async () => {
    for (const text of [
      '',
      `${base64.slice(0, 8)}\n${base64.slice(8)}`,
      ` ${base64}`,
      `${base64.slice(0, -4)} `,
      `${base64}%3D`,
      'PGE+PGE-',
      'PGE/PGE_',
      'ＰＧＥ',
    ])
      await expectRefusal(text, neither);
  });

  it('refuses compressed input, as in the redirect binding', () =>
    expectRefusal(Buffer.from('78dab3b1afc8cd51284b2d2ace', 'hex').toString('base64'), /^the bytes are not UTF-8$/));

  it('refuses more than 64 KiB, in any encoding', async () => {
    const fits = credential + ' '.repeat(maxBytes - credential.length);
    expect(decodeCredential(fits)).to.equal(fits);
    expect(decodeCredential(Buffer.from(fits).toString('base64'))).to.equal(fits);
    await expectRefusal(`${fits} `, /^at least 65537 bytes of XML, the maximum is 65536$/);
    await expectRefusal(`${fits.slice(0, -1)}é`, /^at least 65537 bytes of XML/);
    await expectRefusal(
      Buffer.from(`${fits}    `).toString('base64'),
      /^873\d\d characters of base64, the maximum is \d+$/,
    );
    await expectRefusal(`<a>${'x'.repeat(2 ** 20)}</a>`, /^at least 1048583 bytes of XML/);
  });

  it('throws only LwsError, for any text', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.string().map((text) => `<${text}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(looksLikeXml(text)).to.be.a('boolean');
        try {
          decodeCredential(text);
        } catch (error) {
          expect(error).to.be.instanceOf(LwsError);
        }
      }),
      { numRuns: runs(1000) },
    );
  });
});
