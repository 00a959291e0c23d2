/** Signatures with disallowed algorithms, with untrusted keys, and over changed content. */
import { createAlgorithms } from '../../../components/authn-saml/algorithms.js';
import { certificateOf, ecSigner, pemOf } from '../../support/x509.js';
import { assertionXml, mallory, nameIdOf } from './assertions.js';
import {
  dsNamespace,
  hmacWith,
  insertAfterIssuer,
  rsaSha256,
  type SignatureParts,
  sha256,
  signatureOf,
  signed,
} from './signing.js';
import { replace } from './tampering.js';
import { attacker, expectRefusal, provider, trusted } from './trust.js';

const assertion = assertionXml();
const by = (parts: Partial<SignatureParts>): string => signed(assertion, { signer: provider, ...parts });
const notOurs = /^none of the \d currently valid certificates of lws\.saml\.idp-certificates verifies it$/;
const more = 'http://www.w3.org/2001/04/xmldsig-more#';

describe('authn-saml: algorithms and keys', () => {
  it('refuses HMAC with the public key or the certificate as the secret', async () => {
    const certificate = certificateOf(provider, { from: 0, to: 4e12 });
    const spki = provider.publicKey.export({ type: 'spki', format: 'pem' });
    for (const [hash, method] of [
      ['sha1', `${dsNamespace}hmac-sha1`],
      ['sha256', `${more}hmac-sha256`],
      ['sha512', `${more}hmac-sha512`],
    ] as const)
      for (const secret of [pemOf(certificate), certificate, spki])
        await expectRefusal(
          by({ method, signWith: hmacWith(hash, secret) }),
          /^the signature algorithm ".*hmac-sha\d+" is not allowed$/,
          { algorithms: createAlgorithms(true) },
        );
  });

  it('rejects MD5, and SHA-1 unless it is allowed', async () => {
    const sha1 = `${dsNamespace}sha1`;
    await expectRefusal(
      by({ method: `${dsNamespace}rsa-sha1` }),
      /^the signature algorithm ".*rsa-sha1" is not allowed$/,
    );
    await expectRefusal(by({ digestMethod: sha1, hash: 'sha1' }), /^the digest algorithm ".*#sha1" is not allowed$/);
    const algorithms = createAlgorithms(true);
    await expectRefusal(by({ method: `${more}rsa-md5` }), /^the signature algorithm ".*rsa-md5" is not allowed$/, {
      algorithms,
    });
    await expectRefusal(
      by({ digestMethod: `${more}md5`, hash: 'md5' }),
      /^the digest algorithm ".*md5" is not allowed$/,
      { algorithms },
    );
    await expectRefusal(by({ method: `${dsNamespace}dsa-sha1` }), /dsa-sha1" is not allowed$/, { algorithms });
  });

  it('refuses names that are none, members of Object.prototype among them', async () => {
    for (const method of [
      '',
      'none',
      'constructor',
      '__proto__',
      'toString',
      `${rsaSha256} `,
      rsaSha256.toUpperCase(),
    ]) {
      await expectRefusal(
        by({ method, signWith: () => Buffer.of(1) }),
        /^the signature algorithm ".*" is not allowed$/,
      );
      await expectRefusal(by({ digestMethod: method }), /^the digest algorithm ".*" is not allowed$/);
    }
  });

  it('refuses parameters of an algorithm', async () => {
    const truncated = '<ds:HMACOutputLength>0</ds:HMACOutputLength>';
    await expectRefusal(
      by({ signedInfo: replace(`<ds:SignatureMethod Algorithm="${rsaSha256}">`, `$&${truncated}`) }),
      /^SignatureMethod contains "HMACOutputLength", expected ""$/,
    );
    await expectRefusal(
      by({ signedInfo: replace(`<ds:DigestMethod Algorithm="${sha256}">`, '$&<ds:X></ds:X>') }),
      /^DigestMethod contains "X", expected ""$/,
    );
  });

  it("refuses the attacker's key, also when KeyInfo brings it", async () => {
    const der = certificateOf(attacker, { from: 0, to: 4e12 });
    const { n, e } = attacker.publicKey.export({ format: 'jwk' });
    for (const content of [
      '',
      `<ds:X509Data><ds:X509Certificate>${der.toString('base64')}</ds:X509Certificate></ds:X509Data>`,
      `<ds:KeyValue><ds:RSAKeyValue><ds:Modulus>${n}</ds:Modulus><ds:Exponent>${e}</ds:Exponent></ds:RSAKeyValue></ds:KeyValue>`,
      '<ds:RetrievalMethod URI="https://mallory.example/key"></ds:RetrievalMethod>',
      '<ds:KeyName>idp.pem</ds:KeyName>',
    ])
      await expectRefusal(by({ signer: attacker, keyInfo: `<ds:KeyInfo>${content}</ds:KeyInfo>` }), notOurs);
  });

  it('refuses a signature by a key of another kind, or under another algorithm than it says', async () => {
    const ec = ecSigner();
    const certificates = [trusted(provider), trusted(ec)];
    const ecdsa = `${more}ecdsa-sha256`;
    await expectRefusal(by({ signer: ec, method: ecdsa }), notOurs);
    const asRsa = by({ signer: ec, method: ecdsa, signature: replace(ecdsa, rsaSha256) });
    await expectRefusal(asRsa, notOurs, { certificates });
    for (const method of [`${more}rsa-sha512`, 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1', ecdsa])
      await expectRefusal(by({ signature: replace(rsaSha256, method) }), notOurs, { certificates });
  });

  it('refuses an ECDSA signature in DER, of zeros, or too long', async () => {
    const ec = ecSigner();
    const certificates = [trusted(ec)];
    const ecdsa = { signer: ec, method: `${more}ecdsa-sha256` };
    for (const signature of [Buffer.alloc(64), Buffer.alloc(65, 1), Buffer.from('3006020101020101', 'hex')])
      await expectRefusal(by({ ...ecdsa, signWith: () => signature }), notOurs, { certificates });
  });

  it('refuses a signature value that is empty, cut, in another alphabet, or of another assertion', async () => {
    for (const value of ['', ' ', '=', 'AAA', 'not!base64'])
      await expectRefusal(
        by({ signatureValue: () => value }),
        /^SignatureValue (?:is not base64|contains something other than one text)$/,
      );
    await expectRefusal(by({ signatureValue: (value) => value.replace('=', '') }), /^SignatureValue is not base64$/);
    await expectRefusal(by({ signatureValue: (value) => `${value}AAAA` }), /^SignatureValue is not base64$/);
    for (const bytes of [1, 255, 256, 257, 8192])
      await expectRefusal(by({ signatureValue: () => Buffer.alloc(bytes).toString('base64') }), notOurs);
    const other = signatureOf(assertionXml({ nameId: nameIdOf(mallory) }), { signer: provider });
    await expectRefusal(insertAfterIssuer(assertion, other), /^the digest does not match the assertion$/);
  });

  it('refuses any change of SignedInfo that keeps its shape', async () => {
    await expectRefusal(by({ signature: replace('<ds:SignatureMethod', ' <ds:SignatureMethod') }), notOurs);
    await expectRefusal(by({ signature: replace('<ds:SignedInfo>', '<ds:SignedInfo Id="x">') }), notOurs);
    await expectRefusal(by({ signature: replace('<ds:Reference ', '<ds:Reference Type="x" ') }), notOurs);
  });

  it('refuses a forged digest: a changed assertion with a digest to match', async () => {
    const forged = assertionXml({ nameId: nameIdOf(mallory) });
    const [digest] = /<ds:DigestValue>[^<]*/.exec(signatureOf(forged, { signer: attacker }))!;
    const signature = signatureOf(assertion, { signer: provider, signature: replace(/<ds:DigestValue>[^<]*/, digest) });
    await expectRefusal(insertAfterIssuer(forged, signature), notOurs);
  });

  it('refuses a certificate that is not valid now, and says so when none is', async () => {
    const [past, future] = [
      { ...trusted(provider), validTo: Date.UTC(2026, 10, 20) },
      { ...trusted(provider), validFrom: Date.UTC(2026, 10, 22) },
    ];
    for (const certificate of [past, future]) {
      await expectRefusal(by({}), /^no certificate of lws.saml.idp-certificates is currently valid$/, {
        certificates: [certificate],
      });
      await expectRefusal(by({}), notOurs, { certificates: [certificate, trusted(attacker)] });
    }
  });
});
