/** Rules 4.3, 15.1, 15.4, 15.8, 15.11: did:key. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import {
  type CredentialOptions,
  credential,
  ed25519Identity,
  hmacCredential,
  type Identity,
  nowSeconds,
  p256Identity,
  unsignedCredential,
} from '../support/identity.js';

const ed = ed25519Identity();
const p256 = p256Identity();
const mallory = ed25519Identity();
const owners = { settings: { owners: `${ed.did},${p256.did}` }, owner: ed };

const bearer = (s: StorageUnderTest, token: string): Promise<Answer> =>
  request(s.scratch, { headers: { Authorization: `Bearer ${token}` } });
const base = (s: StorageUnderTest): string => s.root.slice(0, -1);
const from = (seconds: number): number => nowSeconds() + seconds;
const fragment = (id: Identity): string => id.kid.slice(id.kid.indexOf('#') + 1);
const flipped = (token: string, part: number): string => {
  const parts = token.split('.');
  const text = parts[part]!;
  const at = Math.floor(text.length / 2);
  parts[part] = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
  return parts.join('.');
};

type Variation = (s: StorageUnderTest, id: Identity) => CredentialOptions;
const accepted: Readonly<Record<string, Variation>> = {
  'names the base URI as audience': (s) => ({ aud: base(s) }),
  'names the storage URI, with its slash': (s) => ({ aud: s.root }),
  'names us among others': (s) => ({ aud: ['https://elsewhere.example', base(s)] }),
  'has the fragment of the method as kid': (s, id) => ({ aud: base(s), header: { kid: fragment(id) } }),
  'has the fragment with its # as kid': (s, id) => ({ aud: base(s), header: { kid: `#${fragment(id)}` } }),
  'lives for just the longest time': (s) => ({ aud: base(s), claims: { iat: from(0), exp: from(3600) } }),
  'expired within the skew of 60 s': (s) => ({ aud: base(s), claims: { iat: from(-100), exp: from(-20) } }),
  'was issued a little in the future': (s) => ({ aud: base(s), claims: { iat: from(20), exp: from(300) } }),
  'has no typ': (s) => ({ aud: base(s), header: { typ: undefined } }),
  'has claims that we do not know': (s) => ({ aud: base(s), claims: { extra: { a: [1] } } }),
};
const refused: Readonly<Record<string, Variation>> = {
  'names another audience': () => ({ aud: 'https://elsewhere.example' }),
  'names no audience': () => ({ aud: undefined }),
  'names an empty list of audiences': () => ({ aud: [] }),
  'names an audience that begins like ours': (s) => ({ aud: `${base(s)}.evil.example` }),
  'names an audience below ours': (s) => ({ aud: `${s.root}x` }),
  'names an audience that is no text': () => ({ aud: 5 }),
  'has expired': (s) => ({ aud: base(s), claims: { iat: from(-600), exp: from(-120) } }),
  'has no exp': (s) => ({ aud: base(s), claims: { exp: undefined } }),
  'has no iat': (s) => ({ aud: base(s), claims: { iat: undefined } }),
  'has an exp that is no number': (s) => ({ aud: base(s), claims: { exp: String(from(300)) } }),
  'lives for too long': (s) => ({ aud: base(s), claims: { iat: from(0), exp: from(3700) } }),
  'has lived for too long in all': (s) => ({ aud: base(s), claims: { iat: from(-3500), exp: from(300) } }),
  'was issued in the future': (s) => ({ aud: base(s), claims: { iat: from(300), exp: from(600) } }),
  'is not valid yet': (s) => ({ aud: base(s), claims: { nbf: from(200) } }),
  'is signed by another key': (s) => ({ aud: base(s), signer: mallory }),
  'has the kid of another key': (s) => ({ aud: base(s), header: { kid: mallory.kid } }),
  'has a kid of nothing': (s) => ({ aud: base(s), header: { kid: 'x' } }),
  'has a kid that is no text': (s) => ({ aud: base(s), header: { kid: 5 } }),
  'has another issuer': (s) => ({ aud: base(s), claims: { iss: mallory.did } }),
  'has no issuer': (s) => ({ aud: base(s), claims: { iss: undefined } }),
  'has another client': (s) => ({ aud: base(s), claims: { client_id: mallory.did } }),
  'has no client': (s) => ({ aud: base(s), claims: { client_id: undefined } }),
  'has no subject': (s) => ({ aud: base(s), claims: { sub: undefined } }),
  'has another subject than its key': (s) => ({ aud: base(s), signer: mallory, header: { kid: mallory.kid } }),
  'needs an extension that we do not know': (s) => ({ aud: base(s), header: { crit: ['x'], x: 1 } }),
  'claims the algorithm of another kind of key': (s, id) => ({
    aud: base(s),
    header: { alg: id.alg === 'ES256' ? 'EdDSA' : 'ES256' },
  }),
  'claims an RSA algorithm': (s) => ({ aud: base(s), header: { alg: 'RS256' } }),
};

describeStorage(
  'Credentials',
  (s) => {
    for (const [kind, id] of [
      ['Ed25519', ed],
      ['P-256', p256],
    ] as const) {
      for (const [what, options] of Object.entries(accepted))
        it(`Credentials, did:key ${kind}: accepts one that ${what}`, async () => {
          const answer = await bearer(s, credential(id, options(s, id)));
          expect(answer.status, answer.text).to.equal(200);
        });

      for (const [what, options] of Object.entries(refused))
        it(`Credentials, did:key ${kind}: rejects one that ${what} with 401 invalid_token`, async () => {
          expectChallenge(await bearer(s, credential(id, options(s, id))), s, 'invalid_token');
        });

      for (const [what, part] of [
        ['header', 0],
        ['claims', 1],
        ['signature', 2],
      ] as const)
        it(`Credentials, did:key ${kind}: rejects one with tampered ${what}`, async () => {
          const token = credential(id, { aud: base(s) });
          expect((await bearer(s, token)).status).to.equal(200);
          expectChallenge(await bearer(s, flipped(token, part)), s, 'invalid_token');
        });

      it(`a non-canonical encoding of the signature is rejected (${kind}) (rule 15.18)`, async () => {
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
        const token = credential(id, { aud: base(s) });
        const other = token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) ^ 1];
        const bytesOf = (jws: string): Buffer => Buffer.from(jws.split('.')[2]!, 'base64url');
        expect(bytesOf(other).equals(bytesOf(token))).to.equal(true);
        for (const spelt of [other, `${token}=`, `${token}==`])
          expectChallenge(await bearer(s, spelt), s, 'invalid_token');
        expect((await bearer(s, token)).status).to.equal(200);
      });

      it(`Suites: alg none is rejected (${kind})`, async () => {
        const token = unsignedCredential(id, base(s));
        expectChallenge(await bearer(s, token), s, 'invalid_token');
        expectChallenge(await bearer(s, `${token}AAAA`), s, 'invalid_token');
      });

      it(`Suites, rule 15.9: HMAC with the public key as its secret is rejected (${kind})`, async () => {
        expectChallenge(await bearer(s, hmacCredential(id, base(s))), s, 'invalid_token');
      });

      it(`Credentials, did:key ${kind}: claims with the signature of another credential are rejected`, async () => {
        const [first, second] = [credential(id, { aud: base(s) }), credential(id, { aud: base(s) })];
        const mixed = [...first.split('.').slice(0, 2), second.split('.')[2]].join('.');
        expectChallenge(await bearer(s, mixed), s, 'invalid_token');
      });
    }

    it('Credentials: a valid one does not make its subject an owner', async () => {
      expectProblem(await bearer(s, credential(mallory, { aud: base(s) })), 404, s);
    });

    for (const token of [
      'x',
      'a.b.c',
      'a.b',
      '....',
      'e30.e30.e30',
      'bnVsbA.bnVsbA.',
      'W10.W10.W10',
      `${'A'.repeat(6000)}.B.C`,
    ])
      it(`Credentials: a token like ${token.slice(0, 20)} (${token.length} characters) is rejected`, async () => {
        expectChallenge(await bearer(s, token), s, 'invalid_token');
      });

    for (const field of [
      'Basic dXNlcjpwYXNz',
      'Digest x="y"',
      'Bearer',
      'Bearer ',
      'bearer',
      'Bearer a b',
      'Token x',
      ',',
      'Bearer =x',
      '"',
    ])
      it(`Authorization: ${field} is an unknown or malformed scheme: 401 invalid_request (rule 4.6)`, async () => {
        const answer = await request(s.scratch, { headers: { Authorization: field } });
        expectChallenge(answer, s, 'invalid_request');
      });

    it('RFC 9110 11.1: the scheme is case-insensitive', async () => {
      const Authorization = `bEaReR ${s.token}`;
      expect((await request(s.scratch, { headers: { Authorization } })).status).to.equal(200);
    });

    it('an invalid credential is 401 also on the public description (rule 4.6)', async () => {
      const headers = { Authorization: 'Bearer x' };
      expectChallenge(await request(s.root, { headers }), s, 'invalid_token');
    });

    it('a credential may be used more than once (rule 15.8)', async () => {
      const token = credential(ed, { aud: base(s) });
      for (let i = 0; i < 3; i++) expect((await bearer(s, token)).status).to.equal(200);
    });

    it('Challenge: names the failed check and does not repeat the credential', async () => {
      const token = credential(ed, { aud: base(s), claims: { iat: from(-600), exp: from(-120) } });
      const answer = await bearer(s, token);
      expect(answer.headers['www-authenticate']).to.match(/error_description="[^"]{5,}"/);
      expect(JSON.stringify(answer)).not.to.include(token.split('.')[2]);
    });

    it('Credentials: an accepted one is rejected after it expired', async () => {
      const token = credential(ed, { aud: base(s), claims: { iat: from(-100), exp: from(-58) } });
      expect((await bearer(s, token)).status).to.equal(200);
      await new Promise((resolve) => setTimeout(resolve, 2200));
      expectChallenge(await bearer(s, token), s, 'invalid_token');
    });
  },
  owners,
);

describeStorage(
  'Credentials with other settings',
  (s) => {
    it('a value of lws.audience is an audience (rule 15.8)', async () => {
      expect((await bearer(s, credential(ed, { aud: 'https://alias.example/' }))).status).to.equal(200);
      expectChallenge(await bearer(s, credential(ed, { aud: 'https://elsewhere.example' })), s, 'invalid_token');
    });

    it('with lws.audience.require=false a credential need not name an audience (rule 15.8)', async () => {
      expect((await bearer(s, credential(ed, { aud: undefined }))).status).to.equal(200);
    });

    it('lws.token.max-lifetime-seconds caps self-signed credentials (rule 15.11)', async () => {
      expect((await bearer(s, credential(ed, { aud: base(s), claims: { exp: from(400) } }))).status).to.equal(200);
      const long = credential(ed, { aud: base(s), claims: { iat: from(0), exp: from(500) } });
      expectChallenge(await bearer(s, long), s, 'invalid_token');
    });
  },
  {
    settings: {
      owners: ed.did,
      audience: 'https://alias.example/',
      'audience.require': 'false',
      'token.max-lifetime-seconds': '400',
    },
    owner: ed,
  },
);
