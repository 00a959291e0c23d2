/** Rules 4.3, 15.4, 15.7: valid and invalid access tokens of a trusted issuer. */
import { createPublicKey, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { ed25519Identity, nowSeconds } from '../support/identity.js';
import { hmacJws, type Json, jws, privateJwk, signingKey } from '../support/jwt.js';
import { baseOf, bearer, TrustedIssuer } from '../support/oauth.js';
import { remote } from '../support/remote.js';

const algs = ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const owner = ed25519Identity();
const sub = owner.did;
const another = (): TrustedIssuer => new TrustedIssuer();
const [issuer, other, root] = [another(), another(), new TrustedIssuer(remote, '')];
const unlisted = another();
const every = algs.map((alg) => signingKey(alg));
const oct = Buffer.from(randomUUID());
const special = {
  encryption: signingKey('ES256', 'encryption'),
  operation: signingKey('ES256', 'operation'),
  otherAlg: signingKey('PS256', 'other-alg'),
};
issuer.publish([
  issuer.key.jwk,
  ...every.map(({ jwk }) => jwk),
  { kty: 'oct', kid: 'oct', k: oct.toString('base64url'), alg: 'HS256' },
  { ...special.encryption.jwk, use: 'enc' },
  { ...special.operation.jwk, key_ops: ['encrypt'] },
  special.otherAlg.jwk,
]);
const settings = {
  ...remote.settings,
  owners: sub,
  'oauth.trusted-issuers': [issuer, other, root].map((each) => each.issuer).join(','),
};

const from = (seconds: number): number => nowSeconds() + seconds;
const mallory = signingKey('ES256');
type Make = (s: StorageUnderTest) => string;
const withClaims =
  (claims: Json): Make =>
  (s) =>
    issuer.token(s.root, sub, claims);
/** Times in seconds, relative to the start of the test. */
const withTimes =
  (times: Readonly<Record<string, number>>): Make =>
  (s) =>
    issuer.token(
      s.root,
      sub,
      Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, from(seconds)])),
    );
const withHeader =
  (header: Json): Make =>
  (s) =>
    issuer.token(s.root, sub, {}, header);
/** Claims or header as text, with additions before the closing brace. */
const appended = (object: Json, text: string): string => `${JSON.stringify(object).slice(0, -1)},${text}}`;
const headerOf = ({ key }: TrustedIssuer): Json => ({ typ: 'at+jwt', alg: key.alg, kid: key.kid });

const accepted: Readonly<Record<string, Make>> = {
  'is good': withClaims({}),
  'names the base URI without the slash as audience': (s) => issuer.token(baseOf(s), sub),
  'has a list of one audience': (s) => issuer.token([s.root], sub),
  'has the long form of its typ': withHeader({ typ: 'application/at+jwt' }),
  'expired within the skew of 60 s': withTimes({ exp: -30, iat: -300, nbf: -300 }),
  'begins within the skew of 60 s': withTimes({ nbf: 30, iat: 30 }),
  'has claims that we do not know': withClaims({ scope: 'x', extra: { a: [1] } }),
  'comes from an issuer without a path': (s) => root.token(s.root, sub),
  ...Object.fromEntries(
    every.map((key) => [`is signed with ${key.alg}`, (s: StorageUnderTest) => issuer.token(s.root, sub, {}, {}, key)]),
  ),
};

const refused: Readonly<Record<string, Make>> = {
  'is signed by another key': (s) => issuer.token(s.root, sub, {}, { kid: issuer.key.kid }, mallory),
  'is signed by a key that is not published': (s) => issuer.token(s.root, sub, {}, {}, mallory),
  'is not signed': (s) => withHeader({ alg: 'none' })(s).replace(/[^.]*$/, ''),
  'says that it is not signed': withHeader({ alg: 'none' }),
  'says so in another case': withHeader({ alg: 'nOnE' }),
  'has no alg': withHeader({ alg: undefined }),
  'has a list of algs': withHeader({ alg: ['ES256'] }),
  'claims another alg than its key': withHeader({ alg: 'ES384' }),
  'claims HMAC': withHeader({ alg: 'HS256' }),
  'is an HMAC under the public key as PEM': (s) => {
    const key = createPublicKey({ key: issuer.key.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    return hmacJws(key.toString(), headerOf(issuer), issuer.claims(s.root, sub));
  },
  'is an HMAC under the public key as JWK': (s) =>
    hmacJws(JSON.stringify(issuer.key.jwk), headerOf(issuer), issuer.claims(s.root, sub)),
  'is an HMAC under a secret that the issuer published': (s) =>
    hmacJws(oct, { typ: 'at+jwt', kid: 'oct' }, issuer.claims(s.root, sub)),
  'is signed by a key for encryption': (s) => issuer.token(s.root, sub, {}, {}, special.encryption),
  'is signed by a key for another operation': (s) => issuer.token(s.root, sub, {}, {}, special.operation),
  'is signed by an RSA key with another alg than the key has': (s) =>
    issuer.token(s.root, sub, {}, {}, { ...special.otherAlg, alg: 'RS256' }),
  'comes from the issuer of another key': (s) => other.token(s.root, sub, { iss: issuer.issuer }),
  'comes from the issuer of another key, and says which key': (s) =>
    issuer.token(s.root, sub, {}, { kid: issuer.key.kid }, other.key),
  'has no issuer': withClaims({ iss: undefined }),
  'claims to come from us': (s) => issuer.token(s.root, sub, { iss: baseOf(s) }),
  'has an issuer that is no text': withClaims({ iss: [issuer.issuer] }),
  'has a longer issuer': withClaims({ iss: `${issuer.issuer}/other` }),
  'has an issuer with two slashes at its end': withClaims({ iss: `${issuer.issuer}//` }),
  'has no typ': withHeader({ typ: undefined }),
  'has the typ of a plain JWT': withHeader({ typ: 'JWT' }),
  'has the typ of a DPoP proof': withHeader({ typ: 'dpop+jwt' }),
  'has a critical extension': withHeader({ crit: ['x'], x: 1 }),
  'has a critical claim': withHeader({ crit: ['exp'], exp: 1 }),
  'has an empty list of critical extensions': withHeader({ crit: [] }),
  'has an unencoded payload': withHeader({ crit: ['b64'], b64: false }),
  'brings its own key': (s) => issuer.token(s.root, sub, {}, { jwk: mallory.jwk }, mallory),
  'brings its own private key': (s) => issuer.token(s.root, sub, {}, { jwk: privateJwk(mallory) }, mallory),
  'brings the private key of its issuer': withHeader({ jwk: privateJwk(issuer.key) }),
  'names two audiences': (s) => issuer.token([s.root, 'https://elsewhere.example/'], sub),
  'names us twice': (s) => issuer.token([s.root, s.root], sub),
  'names no audience': withClaims({ aud: undefined }),
  'names an empty list of audiences': withClaims({ aud: [] }),
  'names an audience that is an object': withClaims({ aud: {} }),
  'names another audience': withClaims({ aud: 'https://elsewhere.example/' }),
  'names an audience that begins like ours': (s) => issuer.token(`${s.root}x`, sub),
  'names the token endpoint as audience': (s) => issuer.token(`${s.root}.lws/token`, sub),
  'has two members for the audience': (s) =>
    jws(issuer.key, headerOf(issuer), appended(issuer.claims('https://x.example/', sub), `"aud":"${s.root}"`)),
  'has two members for its subject': (s) =>
    jws(issuer.key, headerOf(issuer), appended(issuer.claims(s.root, 'https://x.example/'), `"sub":"${sub}"`)),
  'has two, one with an escape': (s) =>
    jws(issuer.key, headerOf(issuer), appended(issuer.claims(s.root, sub), '"s\\u0075b":"https://x.example/"')),
  'has two, one with blanks before its colon': (s) =>
    jws(
      issuer.key,
      headerOf(issuer),
      appended(issuer.claims('https://x.example/', sub), `"aud"${' '.repeat(99)}:"${s.root}"`),
    ),
  'has two members deep within': (s) =>
    jws(issuer.key, headerOf(issuer), appended(issuer.claims(s.root, sub), '"cnf":{"a":1,"a":2}')),
  'has two members for its alg': (s) =>
    jws(issuer.key, appended(headerOf(issuer), '"alg":"ES256"'), issuer.claims(s.root, sub)),
  'expired beyond the skew': withTimes({ exp: -70, iat: -300, nbf: -300 }),
  'begins beyond the skew': withTimes({ nbf: 90 }),
  'was issued beyond the skew': withTimes({ iat: 90 }),
  ...Object.fromEntries(
    ['exp', 'iat', 'nbf'].flatMap((claim) => [
      [`has an ${claim} that is text`, (s: StorageUnderTest) => issuer.token(s.root, sub, { [claim]: `${from(9)}` })],
      [`has an ${claim} that is null`, withClaims({ [claim]: null })],
      [`has an ${claim} that is a list`, (s: StorageUnderTest) => issuer.token(s.root, sub, { [claim]: [from(9)] })],
    ]),
  ),
  ...Object.fromEntries(
    ['sub', 'client_id', 'jti', 'exp', 'iat'].map((claim) => [`has no ${claim}`, withClaims({ [claim]: undefined })]),
  ),
  ...Object.fromEntries(
    ['sub', 'client_id', 'jti'].flatMap((claim) => [
      [`has a ${claim} that is a number`, withClaims({ [claim]: 5 })],
      [`has an empty ${claim}`, withClaims({ [claim]: '' })],
    ]),
  ),
  'never expires': (s) =>
    jws(issuer.key, headerOf(issuer), appended({ ...issuer.claims(s.root, sub), exp: undefined }, '"exp":1e999')),
  'holds another token': (s) => jws(issuer.key, { typ: 'at+jwt', cty: 'JWT' }, issuer.token(s.root, sub)),
  'holds a list': (s) => jws(issuer.key, { typ: 'at+jwt' }, [issuer.claims(s.root, sub)]),
  'has five parts': (s) => `${issuer.token(s.root, sub)}.AAAA.AAAA`,
  'has padding': (s) => `${issuer.token(s.root, sub)}=`,
  'has four parts': (s) => `${issuer.token(s.root, sub)}.`,
  'comes from an issuer that we do not trust': (s) => unlisted.token(s.root, sub),
};

describeStorage(
  'Access tokens',
  (s) => {
    for (const [what, make] of Object.entries(accepted))
      it(`Access-token validation: accepts one that ${what}`, async () => {
        const answer = await bearer(s.scratch, make(s));
        expect(answer.status, answer.text + answer.headers['www-authenticate']).to.equal(200);
      });

    for (const [what, make] of Object.entries(refused))
      it(`Access-token validation: rejects one that ${what} with 401 invalid_token`, async () => {
        expectChallenge(await bearer(s.scratch, make(s)), s, 'invalid_token');
      });

    it('Access-token validation: does not fetch keys from URLs in a token', async () => {
      const path = remote.path('keys');
      const iri = remote.serve(path, { keys: [mallory.jwk] });
      for (const name of ['jku', 'x5u'])
        expectChallenge(
          await bearer(s.scratch, issuer.token(s.root, sub, {}, { [name]: iri }, mallory)),
          s,
          'invalid_token',
        );
      expect(remote.count(path)).to.equal(0);
    });

    it('Access-token validation: sends no request to an untrusted issuer', () => {
      expect(remote.count(unlisted.metadataPath) + remote.count(unlisted.jwksPath)).to.equal(0);
    });

    it('Bad input: tokens of 1 MiB or with many parts are rejected', async () => {
      const size = 2 ** 20;
      for (const token of ['A'.repeat(size), withHeader({ x: 'x'.repeat(size) })(s), 'A.'.repeat(size / 2)])
        expect((await bearer(s.scratch, token)).status).to.be.oneOf([400, 401, 413, 431]);
      for (const token of ['A'.repeat(14_000), '.'.repeat(14_000), `${'W1tb'.repeat(3000)}.e30.AAAA`])
        expectChallenge(await bearer(s.scratch, token), s, 'invalid_token');
    });

    it('a token is accepted on public endpoints; an invalid one is rejected there too (rule 15.8)', async () => {
      for (const iri of [s.root, `${s.root}.lws/storage-description`]) {
        expect((await bearer(iri, issuer.token(s.root, sub))).status).to.equal(200);
        expectChallenge(await bearer(iri, issuer.token(s.root, sub, { exp: from(-100) })), s, 'invalid_token');
      }
    });

    it('Access-token validation: a principal without any access here is still authenticated', async () => {
      const token = issuer.token(s.root, 'https://nobody.example/me');
      expect([(await bearer(s.root, token)).status, (await bearer(s.scratch, token)).status]).to.deep.equal([200, 404]);
    });
  },
  { settings, owner },
);
