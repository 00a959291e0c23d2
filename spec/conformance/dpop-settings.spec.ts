/** Rules 15.4, 15.14, RFC 9449 8 and 9: nonces, and servers that require DPoP. */
import { expect } from 'chai';
import * as DPoP from 'dpop';
import { type Answer, request } from '../support/http.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { signingKey } from '../support/jwt.js';
import { accessToken, baseOf, bearer, expectOauthError, form, requestToken } from '../support/oauth.js';
import { proof } from '../support/proofs.js';
import { type SpecServer, startSpecServer } from '../support/server.js';

const owner = ed25519Identity();
const key = signingKey('ES256');
let s: SpecServer;
const endpoint = (): string => `${s.root}.lws/token`;
const subject = (): ReturnType<typeof form> => form(s, credential(owner, { aud: baseOf(s) }));
const resource = (): string => `${s.root}?page=1`;
const challengeOf = (answer: Answer): string => answer.headers['www-authenticate'] ?? '';

function present(token: string, proven: string): Promise<Answer> {
  return request(resource(), { headers: { Authorization: `DPoP ${token}`, DPoP: proven } });
}

describe('DPoP with lws.dpop.require-nonce', () => {
  let token: string;
  const nonceAtEndpoint = async (): Promise<string> => {
    const answer = await requestToken(s, subject(), { DPoP: proof(key, endpoint(), { method: 'POST' }) });
    return answer.headers['dpop-nonce'] ?? '';
  };
  const proven = (nonce: unknown, method = 'GET'): string =>
    method === 'GET'
      ? proof(key, s.root, { token, claims: { nonce } })
      : proof(key, endpoint(), { method, claims: { nonce } });

  before(async () => {
    s = await startSpecServer({ settings: { owners: owner.did, 'dpop.require-nonce': 'true' } });
    token = await accessToken(s, owner, { DPoP: proven(await nonceAtEndpoint(), 'POST') });
  });
  after(() => s.stop());

  it('RFC 9449 8: the token endpoint rejects a proof without a nonce with use_dpop_nonce and a DPoP-Nonce', async () => {
    const pair = await DPoP.generateKeyPair('ES256');
    const ask = async (nonce?: string): Promise<Answer> =>
      requestToken(s, subject(), { DPoP: await DPoP.generateProof(pair, endpoint(), 'POST', nonce) });
    const first = await ask();
    expectOauthError(first, 'use_dpop_nonce');
    expect(first.headers['dpop-nonce']).to.match(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
    const second = await ask(first.headers['dpop-nonce']);
    expect(second.status, second.text).to.equal(200);
  });

  it('a request without a nonce is 401 use_dpop_nonce, and with the returned nonce 200 (rule 15.15)', async () => {
    const first = await present(token, proven(undefined));
    expect(first.status).to.equal(401);
    expect(challengeOf(first)).to.match(/DPoP .*error="use_dpop_nonce"/);
    expect(challengeOf(first).match(/error=/g)).to.have.length(1);
    const nonce = first.headers['dpop-nonce'];
    expect(nonce).to.match(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
    expect((await present(token, proven(nonce))).status).to.equal(200);
    // A nonce is not a one-time password: several proofs may carry it.
    expect((await present(token, proven(nonce))).status).to.equal(200);
  });

  it('a nonce of the token endpoint is valid at the storage (rule 15.15)', async () => {
    expect((await present(token, proven(await nonceAtEndpoint()))).status).to.equal(200);
  });

  it('DPoP: foreign nonces are rejected with a new one', async () => {
    const own = await nonceAtEndpoint();
    const another = await startSpecServer({ settings: { owners: owner.did, 'dpop.require-nonce': 'true' } });
    const answer = await requestToken(another, form(another, credential(owner, { aud: baseOf(another) })), {
      DPoP: proof(key, `${another.root}.lws/token`, { method: 'POST' }),
    });
    await another.stop();
    const foreign = answer.headers['dpop-nonce']!;
    expect(foreign).to.be.a('string').and.not.equal('');
    const tampered = `${own[0] === 'A' ? 'B' : 'A'}${own.slice(1)}`;
    for (const nonce of [foreign, tampered, own.slice(1), `${own}AAAA`, '', 'x', 5, null, [own], { own }]) {
      const refused = await present(token, proven(nonce));
      expect(refused.status, JSON.stringify(nonce)).to.equal(401);
      expect(challengeOf(refused)).to.match(/error="(?:use_dpop_nonce|invalid_token)"/);
    }
    const refused = await present(token, proven(foreign));
    expect(challengeOf(refused)).to.include('error="use_dpop_nonce"');
    expect((await present(token, proven(refused.headers['dpop-nonce']))).status).to.equal(200);
  });

  it('DPoP: with a nonce, all other rules apply', async () => {
    const nonce = await nonceAtEndpoint();
    const other = signingKey('ES256');
    const foreign = proof(other, s.root, { token, claims: { nonce } });
    for (const bad of [foreign, proof(key, s.root, { token, claims: { nonce, iat: 5 } })]) {
      const answer = await present(token, bad);
      expect([answer.status, challengeOf(answer).match(/error="[a-z_]+"/)?.[0]]).to.deep.equal([
        401,
        'error="invalid_token"',
      ]);
    }
  });

  it('DPoP: Bearer tokens, which have no proof, need no nonce', async () => {
    expect((await bearer(resource(), await accessToken(s, owner))).status).to.equal(200);
  });
});

describe('DPoP with lws.dpop.require', () => {
  before(async () => {
    s = await startSpecServer({ settings: { owners: owner.did, 'dpop.require': 'true' } });
  });
  after(() => s.stop());

  it('the token endpoint requires a proof (rule 15.15)', async () => {
    expectOauthError(await requestToken(s, subject()), 'invalid_dpop_proof');
  });

  it('DPoP: Bearer is rejected for credentials and for bound tokens', async () => {
    const token = await accessToken(s, owner, { DPoP: proof(key, endpoint(), { method: 'POST' }) });
    for (const each of [token, credential(owner, { aud: baseOf(s) }), 'x']) {
      const answer = await bearer(resource(), each);
      expect(answer.status).to.equal(401);
      expect(challengeOf(answer)).to.include('error="invalid_token"');
      expect((await bearer(s.root, each)).status, 'what is public').to.equal(401);
    }
    expect((await present(token, proof(key, s.root, { token }))).status).to.equal(200);
  });

  it('the challenge does not offer Bearer (rule 15.1)', async () => {
    for (const answer of [await request(resource()), await bearer(resource(), 'x')])
      expect(challengeOf(answer))
        .to.match(/^DPoP as_uri=/)
        .and.not.match(/Bearer (?:as_uri|realm)=/);
  });
});

describe('DPoP with lws.dpop.jti-cache-size', () => {
  before(async () => {
    s = await startSpecServer({ settings: { owners: owner.did, 'dpop.jti-cache-size': '3' } });
  });
  after(() => s.stop());

  it('DPoP: the cache is bounded; a proof that does not fit is rejected with 503', async () => {
    const token = await accessToken(s, owner, { DPoP: proof(key, endpoint(), { method: 'POST' }) });
    const proofs = Array.from({ length: 4 }, () => proof(key, s.root, { token }));
    // The token endpoint used the first slot.
    const statuses: number[] = [];
    for (const each of [...proofs, ...proofs]) statuses.push((await present(token, each)).status);
    expect(statuses).to.deep.equal([200, 200, 503, 503, 401, 401, 503, 503]);
    const { headers, text } = await present(token, proofs[3]!);
    expect(headers['retry-after']).to.match(/^\d+$/);
    expect(text).to.contain('lws.dpop.jti-cache-size');
  });
});
