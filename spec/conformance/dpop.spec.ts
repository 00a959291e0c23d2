/** Rules 15.4, 15.14. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import * as DPoP from 'dpop';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { credential, ed25519Identity, nowSeconds } from '../support/identity.js';
import { claimsOf, hmacJws, privateJwk, signingKey } from '../support/jwt.js';
import { accessToken, baseOf, bearer, expectOauthError, form, requestToken, type Storage } from '../support/oauth.js';
import { hashOf, type ProofOptions, proof } from '../support/proofs.js';

const algs = ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const owner = ed25519Identity();
const key = signingKey('ES256');
const mallory = signingKey('ES256');
const rsa = signingKey('RS256');

const endpoint = (s: Storage): string => `${s.root}.lws/token`;
/** Token bound to a key. */
const boundToken = (s: Storage, to = key): Promise<string> =>
  accessToken(s, owner, { DPoP: proof(to, endpoint(s), { method: 'POST' }) });

function present(iri: string, token: string, proofs: string | string[] | undefined, method = 'GET'): Promise<Answer> {
  const fields = proofs === undefined ? {} : { DPoP: proofs };
  return request(iri, { method, headers: { Authorization: `DPoP ${token}`, ...fields } });
}

type Violation = (s: StorageUnderTest, iri: string) => ProofOptions;
const violations: Readonly<Record<string, Violation>> = {
  'rule 1: has the typ of a JWT': () => ({ header: { typ: 'JWT' } }),
  'rule 1: has no typ': () => ({ header: { typ: undefined } }),
  'rule 1: has the alg none': () => ({ header: { alg: 'none' } }),
  'rule 1: has a critical extension': () => ({ header: { crit: ['x'], x: 1 } }),
  'rule 2: is signed by another key': () => ({ signer: mallory }),
  'rule 2: names another key': () => ({ header: { jwk: mallory.jwk } }),
  'rule 2: has no key': () => ({ header: { jwk: undefined, kid: key.kid } }),
  'rule 2: has a key that is text': () => ({ header: { jwk: JSON.stringify(key.jwk) } }),
  'rule 2: has a list of keys': () => ({ header: { jwk: [key.jwk] } }),
  'rule 2: has a private key': () => ({ header: { jwk: privateJwk(key) } }),
  'rule 2: has a private key of no value': () => ({ header: { jwk: { ...key.jwk, d: '' } } }),
  'rule 2: has a symmetric key': () => ({ header: { jwk: { kty: 'oct', k: 'AAAA' }, alg: 'HS256' } }),
  'rule 2: has an alg of another kind than its key': () => ({ header: { alg: 'RS256' } }),
  'rule 2: has a point that is not on its curve': () => ({ header: { jwk: { ...key.jwk, y: key.jwk['x'] } } }),
  'rule 2: has a key for encryption': () => ({ header: { jwk: { ...key.jwk, use: 'enc' } } }),
  'rule 3: is for another method': () => ({ claims: { htm: 'PUT' } }),
  'rule 3: has the method in another case': () => ({ claims: { htm: 'get' } }),
  'rule 3: has no method': () => ({ claims: { htm: undefined } }),
  'rule 3: has a list of methods': () => ({ claims: { htm: ['GET', 'POST'] } }),
  'rule 3: has no URI': () => ({ claims: { htu: undefined } }),
  'rule 3: has a list of URIs': (_s, iri) => ({ claims: { htu: [iri] } }),
  'rule 3: has a path for a URI': (_s, iri) => ({ claims: { htu: new URL(iri).pathname } }),
  'rule 3: is for another resource': (_s, iri) => ({ claims: { htu: `${iri}x` } }),
  'rule 3: is for the storage': (s) => ({ claims: { htu: `${s.root}../` } }),
  'rule 3: has another scheme': (_s, iri) => ({
    claims: { htu: iri.startsWith('https:') ? iri.replace('https:', 'http:') : iri.replace('http:', 'https:') },
  }),
  'rule 3: has another host': (_s, iri) => ({ claims: { htu: iri.replace('localhost', '127.0.0.1') } }),
  'rule 3: has another port': (_s, iri) => ({ claims: { htu: iri.replace(/:\d+\//, ':1/') } }),
  'rule 3: has a user': (_s, iri) => ({ claims: { htu: iri.replace('//', '//user@') } }),
  'rule 3: has its path in another case': (_s, iri) => ({
    claims: { htu: new URL(iri).origin + new URL(iri).pathname.toUpperCase() },
  }),
  'rule 4: is older than 300 s': () => ({ claims: { iat: nowSeconds() - 310 } }),
  'rule 4: is ahead by more than 60 s': () => ({ claims: { iat: nowSeconds() + 75 } }),
  'rule 4: has no iat': () => ({ claims: { iat: undefined } }),
  'rule 4: has an iat that is text': () => ({ claims: { iat: String(nowSeconds()) } }),
  'rule 4: has expired': () => ({ claims: { exp: nowSeconds() - 100 } }),
  'rule 4: has no jti': () => ({ claims: { jti: undefined } }),
  'rule 4: has an empty jti': () => ({ claims: { jti: '' } }),
  'rule 4: has a jti that is an object': () => ({ claims: { jti: {} } }),
};
const ofTheToken: Readonly<Record<string, Violation>> = {
  'rule 4: has no ath': () => ({ claims: { ath: undefined } }),
  'rule 4: has the ath of another token': () => ({ claims: { ath: hashOf('x') } }),
  'rule 4: has the token as ath': () => ({ claims: { ath: 'x' } }),
};
const accepted: Readonly<Record<string, Violation>> = {
  'has a URI in capitals before the path': (_s, iri) => ({
    claims: { htu: iri.replace('http://localhost', 'HTTP://LOCALHOST') },
  }),
  'has its path percent-encoded where it need not be (RFC 9449 4.3)': (_s, iri) => ({
    claims: { htu: new URL(iri).origin + new URL(iri).pathname.replace(/c/g, '%63').replace(/-/g, '%2D') },
  }),
  'has a query and a fragment in its URI': (_s, iri) => ({ claims: { htu: `${iri}?a=b#c` } }),
  'is 280 s old': () => ({ claims: { iat: nowSeconds() - 280 } }),
  'is 40 s ahead': () => ({ claims: { iat: nowSeconds() + 40 } }),
  'has claims that we do not know': () => ({ claims: { extra: [1] } }),
  'has a kid too': () => ({ header: { kid: 'x' } }),
};

describeStorage(
  'DPoP',
  (s) => {
    it('a request with a proof gets a token bound to its key (rule 15.5)', async () => {
      const pair = await DPoP.generateKeyPair('ES256');
      const [subject, proven] = [
        credential(owner, { aud: baseOf(s) }),
        await DPoP.generateProof(pair, endpoint(s), 'POST'),
      ];
      const answer = await requestToken(s, form(s, subject), { DPoP: proven });
      expect(answer.status, answer.text).to.equal(200);
      const { access_token: token, token_type: type } = JSON.parse(answer.text);
      expect(type).to.equal('DPoP');
      expect(claimsOf(token)['cnf']).to.deep.equal({ jkt: await DPoP.calculateThumbprint(pair.publicKey) });
      const proofs = await DPoP.generateProof(pair, s.scratch, 'GET', undefined, token);
      expect((await present(s.scratch, token, proofs)).status).to.equal(200);
      const query = `${s.scratch}?page=1`;
      const again = await DPoP.generateProof(pair, s.scratch, 'HEAD', undefined, token);
      expect((await present(query, token, again, 'HEAD')).status).to.equal(200);
    });

    for (const alg of algs)
      it(`Challenge: proofs of ${alg} are accepted`, async () => {
        const signer = signingKey(alg);
        const token = await boundToken(s, signer);
        const answer = await present(s.scratch, token, proof(signer, s.scratch, { token }));
        expect(answer.status, answer.text).to.equal(200);
      });

    for (const [what, options] of Object.entries(accepted))
      it(`DPoP: a proof that ${what} is accepted`, async () => {
        const token = await boundToken(s);
        const answer = await present(s.scratch, token, proof(key, s.scratch, { token, ...options(s, s.scratch) }));
        expect(answer.status, answer.text).to.equal(200);
      });

    for (const [what, options] of Object.entries({ ...violations, ...ofTheToken }))
      it(`DPoP ${what}: 401 invalid_token`, async () => {
        const token = await boundToken(s);
        const bad = proof(key, s.scratch, { token, ...options(s, s.scratch) });
        expectChallenge(await present(s.scratch, token, bad), s, 'invalid_token');
      });

    for (const [what, options] of Object.entries(violations))
      it(`DPoP ${what}: 400 invalid_dpop_proof at the token endpoint`, async () => {
        const bad = proof(key, endpoint(s), { method: 'POST', ...options(s, endpoint(s)) });
        const subject = credential(owner, { aud: baseOf(s) });
        expectOauthError(await requestToken(s, form(s, subject), { DPoP: bad }), 'invalid_dpop_proof');
      });

    it('rejects HMAC with the public key, unsigned proofs and malformed JWTs (rule 15.14)', async () => {
      const token = await boundToken(s);
      const claims = { jti: randomUUID(), htm: 'GET', htu: s.scratch, iat: nowSeconds(), ath: hashOf(token) };
      const header = { typ: 'dpop+jwt', jwk: key.jwk };
      const unsigned = proof(key, s.scratch, { token, header: { alg: 'none' } }).replace(/[^.]*$/, '');
      const bad = [hmacJws(JSON.stringify(key.jwk), header, claims), unsigned, 'x', '', '..', 'x'.repeat(9000), token];
      for (const each of bad) expectChallenge(await present(s.scratch, token, each), s, 'invalid_token');
    });

    it('rejects keys with invalid members (rule 15.14)', async () => {
      for (const signer of [key, rsa, signingKey('EdDSA')])
        for (const member of ['kty', 'crv', 'x', 'y', 'n', 'e'].filter((name) => name in signer.jwk))
          for (const value of [null, 5, '', 'A', [], {}]) {
            const bad = proof(signer, s.scratch, { token: 'x', header: { jwk: { ...signer.jwk, [member]: value } } });
            const answer = await present(s.scratch, 'x', bad);
            expect(answer.status, `${signer.alg} ${member} ${JSON.stringify(value)}`).to.equal(401);
          }
    });

    it('RFC 9449 4.3: requires exactly one proof', async () => {
      const token = await boundToken(s);
      const make = (): string => proof(key, s.scratch, { token });
      for (const proofs of [undefined, [make(), make()], `${make()}, ${make()}`, [make(), 'x']])
        expectChallenge(await present(s.scratch, token, proofs), s, 'invalid_token');
    });

    it('requires the key of the token (rule 15.14)', async () => {
      const token = await boundToken(s);
      expectChallenge(await present(s.scratch, token, proof(mallory, s.scratch, { token })), s, 'invalid_token');
      const same = { ...rsa, alg: 'PS256' };
      const bound = await boundToken(s, rsa);
      expect((await present(s.scratch, bound, proof(same, s.scratch, { token: bound }))).status).to.equal(200);
    });

    it('DPoP: a bound token as Bearer is rejected, also with a proof', async () => {
      const token = await boundToken(s);
      const DPoP = proof(key, s.scratch, { token });
      expectChallenge(await bearer(s.scratch, token), s, 'invalid_token');
      expectChallenge(await bearer(s.scratch, token, { DPoP }), s, 'invalid_token');
      expect((await present(s.scratch, token, DPoP)).status).to.equal(200);
      expectChallenge(await bearer(s.scratch, token), s, 'invalid_token');
    });

    it('unbound tokens and credentials are rejected as DPoP (rule 15.14)', async () => {
      for (const token of [await accessToken(s, owner), s.token!]) {
        expect((await bearer(s.scratch, token)).status).to.equal(200);
        expectChallenge(await present(s.scratch, token, proof(key, s.scratch, { token })), s, 'invalid_token');
      }
    });

    it('a proof is valid once, across methods and concurrent requests (rule 15.14)', async () => {
      const token = await boundToken(s);
      const once = proof(key, s.scratch, { token });
      expect((await present(s.scratch, token, once)).status).to.equal(200);
      expectChallenge(await present(s.scratch, token, once), s, 'invalid_token');
      const jti = claimsOf(once)['jti'];
      const sameId = proof(key, s.root, { token, claims: { jti }, method: 'HEAD' });
      expect((await present(s.root, token, sameId, 'HEAD')).status).to.equal(401);
      const raced = proof(key, s.scratch, { token });
      const answers = await Promise.all(Array.from({ length: 8 }, () => present(s.scratch, token, raced)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    });

    it('DPoP: the jti is consumed only if the token is valid and matches', async () => {
      const token = await boundToken(s);
      const claims = { jti: randomUUID() };
      const bad = `${token.slice(0, -8)}AAAAAAAA`;
      expect((await present(s.scratch, bad, proof(key, s.scratch, { token: bad, claims }))).status).to.equal(401);
      const foreign = await boundToken(s, mallory);
      expect((await present(s.scratch, foreign, proof(key, s.scratch, { token: foreign, claims }))).status).to.equal(
        401,
      );
      expect((await present(s.scratch, token, proof(key, s.scratch, { token, claims }))).status).to.equal(200);
      expect((await present(s.scratch, token, proof(key, s.scratch, { token, claims }))).status).to.equal(401);
    });

    it('DPoP: the token endpoint consumes a proof only when it grants', async () => {
      const subject = (options = {}): string => credential(owner, { aud: baseOf(s), ...options });
      const DPoP = proof(key, endpoint(s), { method: 'POST' });
      const expired = { claims: { iat: nowSeconds() - 600, exp: nowSeconds() - 300 } };
      expectOauthError(await requestToken(s, form(s, subject(expired)), { DPoP }), 'invalid_request');
      expect((await requestToken(s, form(s, subject()), { DPoP })).status).to.equal(200);
      expectOauthError(await requestToken(s, form(s, subject()), { DPoP }), 'invalid_dpop_proof');
    });

    it('an invalid proof is rejected on public resources too (rule 4.6)', async () => {
      const token = await boundToken(s);
      expectChallenge(await present(s.root, token, proof(key, s.scratch, { token })), s, 'invalid_token');
      expect((await present(s.root, token, proof(key, s.root, { token }))).status).to.equal(200);
    });

    it('DPoP: a write with a rejected proof changes nothing', async () => {
      const [token, iri] = [await boundToken(s), s.fresh()];
      const headers = {
        Authorization: `DPoP ${token}`,
        DPoP: proof(key, iri, { token }),
        'Content-Type': 'text/plain',
      };
      expectChallenge(await request(iri, { method: 'PUT', headers, body: 'x' }), s, 'invalid_token');
      await s.expectAbsent(iri);
      const DPoP = proof(key, iri, { token, method: 'PUT' });
      expect((await request(iri, { method: 'PUT', headers: { ...headers, DPoP }, body: 'x' })).status).to.equal(201);
    });
  },
  { settings: { owners: owner.did }, owner },
);
