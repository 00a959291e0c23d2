/** Rules 4.3, 10.1, 15.1, 15.4, RFC 6750 3, RFC 9449 7.1: challenges of 401 responses, and log entries. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { credential, ed25519Identity, nowSeconds } from '../support/identity.js';
import { base64url, jws, signingKey } from '../support/jwt.js';
import { accessToken, baseOf, bearer, changed, form, requestToken } from '../support/oauth.js';
import { proof } from '../support/proofs.js';

const owner = ed25519Identity();
const key = signingKey('ES256');
const algs = 'ES256 ES384 ES512 EdDSA RS256 RS384 RS512 PS256 PS384 PS512';
type Challenges = Record<string, Record<string, string>>;

/** Returns the challenges of a response by scheme. @throws Error if the field is malformed */
function challengesOf({ headers }: Answer): Challenges {
  const challenges: Challenges = {};
  let rest = headers['www-authenticate'] ?? '';
  let current: Record<string, string> = {};
  while (rest !== '') {
    const scheme = /^([A-Za-z0-9]+) (?=[a-z_]+=)/.exec(rest);
    if (scheme) {
      current = challenges[scheme[1]!] = {};
      rest = rest.slice(scheme[0].length);
    }
    const parameter = /^([a-z_]+)="([\x20\x21\x23-\x5b\x5d-\x7e]*)"(?:, ?|$)/.exec(rest);
    if (!parameter || parameter[1]! in current) throw new Error(`malformed challenge at: ${rest}`);
    current[parameter[1]!] = parameter[2]!;
    rest = rest.slice(parameter[0].length);
  }
  return challenges;
}

const metadataOf = (s: StorageUnderTest): string =>
  `${new URL(s.root).origin}/.well-known/oauth-protected-resource${new URL(s.root).pathname.slice(0, -1)}`;
const plain = (s: StorageUnderTest): Challenges => ({
  Bearer: { as_uri: baseOf(s), resource_metadata: metadataOf(s), realm: s.root },
  DPoP: { as_uri: baseOf(s), resource_metadata: metadataOf(s), realm: s.root, algs },
});
const expired = (s: StorageUnderTest): string =>
  credential(owner, { aud: baseOf(s), claims: { iat: nowSeconds() - 600, exp: nowSeconds() - 120 } });
/** Volatile parts of an error response. */
const withoutInstance = ({ status, headers, text }: Answer): unknown => [
  status,
  headers['www-authenticate'],
  { ...JSON.parse(text), instance: '' },
];

describeStorage(
  'Challenges',
  (s) => {
    it('Challenge: a request without a credential gets both schemes and no error', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE'])
        for (const target of [iri, `${iri}.meta`, s.fresh(), s.scratch]) {
          const answer = await s.send(method, target, {}, undefined, 'anonymous');
          expect(answer.status, `${method} ${target}`).to.equal(401);
          expect(challengesOf(answer), `${method} ${target}`).to.deep.equal(plain(s));
          expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
        }
    });

    it('Challenge: the error refers to the scheme that was used', async () => {
      const { error: ofBearer, ...bearerRest } = challengesOf(await bearer(s.scratch, expired(s)))['Bearer']!;
      expect(ofBearer).to.equal('invalid_token');
      expect(bearerRest).to.include(plain(s)['Bearer']).and.have.property('error_description');
      expect(challengesOf(await bearer(s.scratch, 'x'))['DPoP']).to.deep.equal(plain(s)['DPoP']);
      const Authorization = `DPoP ${await accessToken(s, owner)}`;
      const answer = await request(s.scratch, { headers: { Authorization } });
      expect(challengesOf(answer)['Bearer']).to.deep.equal(plain(s)['Bearer']);
      expect(challengesOf(answer)['DPoP']).to.include({ ...plain(s)['DPoP'], error: 'invalid_token' });
    });

    it('an unknown scheme is invalid_request (rule 4.6)', async () => {
      for (const Authorization of ['Basic YTpi', 'Negotiate YTpi', 'Bearer', 'x']) {
        const { Bearer } = challengesOf(await request(s.scratch, { headers: { Authorization } }));
        expect(Bearer).to.include({ error: 'invalid_request' });
      }
    });

    it('RFC 6750 3: each failed check has its own description', async () => {
      const tokens = [
        expired(s),
        credential(owner, { aud: 'https://elsewhere.example' }),
        credential(owner, { aud: baseOf(s), claims: { sub: undefined } }),
        `${s.token}AAAA`,
      ];
      const said = await Promise.all(
        tokens.map(async (token) => challengesOf(await bearer(s.scratch, token))['Bearer']!['error_description']),
      );
      expect(new Set(said).size, JSON.stringify(said)).to.be.at.least(3);
    });

    it('Challenge: text from a token is escaped in the field', async () => {
      const evil = '", error="none"\r\nSet-Cookie: a=b\u2028é\\"';
      const tokens = [
        credential(owner, { aud: evil }),
        credential(owner, { aud: baseOf(s), claims: { iss: evil, sub: evil, client_id: evil } }),
        credential(owner, { aud: baseOf(s), header: { kid: evil } }),
        jws(key, { typ: 'at+jwt', kid: evil }, { iss: evil, aud: s.root, sub: evil }),
        jws(key, { typ: evil, alg: evil }, { iss: evil }),
      ];
      for (const token of tokens) {
        const answer = await bearer(s.scratch, token);
        expectProblem(answer, 401, s);
        expect(challengesOf(answer)['Bearer']).to.include({ error: 'invalid_token' });
        expect(answer.headers).not.to.have.property('set-cookie');
      }
      const bad = proof(key, s.scratch, { claims: { htu: evil, htm: evil, jti: evil } });
      const headers = { Authorization: `DPoP ${await accessToken(s, owner)}`, DPoP: bad };
      expect(challengesOf(await request(s.scratch, { headers }))['DPoP']).to.include({ error: 'invalid_token' });
    });

    it('an invalid credential does not reveal which resources exist (rule 4.6)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const ask = (target: string): Promise<Answer> => s.send(method, target, {}, undefined, { token: expired(s) });
        expect(withoutInstance(await ask(iri))).to.deep.equal(withoutInstance(await ask(s.fresh())));
      }
    });

    it('a principal without access gets a 404 without challenges (rule 4.3)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      const token = await accessToken(s, ed25519Identity());
      const [hidden, absent] = [await bearer(iri, token), await bearer(s.fresh(), token)];
      expect(withoutInstance(hidden)).to.deep.equal(withoutInstance(absent));
      expect([hidden.status, hidden.headers['www-authenticate']]).to.deep.equal([404, undefined]);
    });

    it('RFC 9110 11.6.1: a challenge is not cacheable', async () => {
      const answer = await request(s.scratch);
      expect(answer.headers['cache-control'] ?? '').to.match(/no-store|no-cache|private/);
    });

    it('Credentials presented directly: tokens in the query or in a form are ignored', async () => {
      expect((await request(`${s.scratch}?access_token=${s.token}`)).status).to.equal(401);
      const options = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
      expect((await request(s.scratch, { ...options, body: `access_token=${s.token}` })).status).to.equal(401);
    });

    it('two Authorization fields are rejected (rule 15.4)', async () => {
      const [one, two] = [`Bearer ${s.token}`, 'Bearer x'];
      for (const Authorization of [`${one}, ${two}`, `${two}, ${one}`, `${one},${one}`])
        expectProblem(await request(s.scratch, { headers: { Authorization } }), [400, 401]);
    });
  },
  { settings: { owners: owner.did }, owner },
);

describeStorage(
  'Log entries of rejected credentials',
  (s) => {
    /** Returns the log lines written during an action. */
    const lines = async (act: () => Promise<Answer>): Promise<string[]> => {
      const { length } = s.server!.log;
      const answer = await act();
      expect(answer.status).to.be.within(400, 401);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return s.server!.log.slice(length).map((line) => JSON.stringify(line));
    };
    /** Part of each token section, long enough that a match is not a coincidence. */
    const expectSilence = (logged: string[], secret: string): void => {
      for (const part of secret.split('.').filter((each) => each.length >= 12))
        for (const line of logged) expect(line).not.to.include(part.slice(0, 40)).and.not.include(part.slice(-12));
    };

    it('logs the failed check with expected and actual value, never the token (rule 15.4)', async () => {
      const cases: readonly (readonly [string, RegExp])[] = [
        [expired(s), /exp/i],
        [credential(owner, { aud: 'https://elsewhere.example/x' }), /aud.*elsewhere\.example\/x/],
        [jws(key, { typ: 'at+jwt' }, { iss: 'https://as.example/x', aud: s.root }), /iss.*as\.example\/x/],
        [`${credential(owner, { aud: baseOf(s) }).slice(0, -9)}AAAAAAAAA`, /signature/i],
        ['a-secret-that-is-opaque', /./],
      ];
      for (const [token, reason] of cases) {
        const logged = await lines(() => bearer(s.scratch, token));
        expect(
          logged.filter((line) => reason.test(line)),
          logged.join('\n'),
        ).not.to.deep.equal([]);
        expectSilence(logged, token);
      }
    });

    it('logs the same for a proof (rule 15.14)', async () => {
      const token = await accessToken(s, owner, { DPoP: proof(key, `${s.root}.lws/token`, { method: 'POST' }) });
      const DPoP = proof(key, `${s.root}elsewhere`, { token });
      const logged = await lines(() => request(s.scratch, { headers: { Authorization: `DPoP ${token}`, DPoP } }));
      expect(logged.filter((line) => /htu.*elsewhere/.test(line))).not.to.deep.equal([]);
      expectSilence(logged, token);
      expectSilence(logged, DPoP);
    });

    it('logs the same at the token endpoint, and grants without their token (rule 15.6)', async () => {
      const bad = expired(s);
      const logged = await lines(() => requestToken(s, form(s, bad)));
      expect(logged.filter((line) => /exp/i.test(line))).not.to.deep.equal([]);
      expectSilence(logged, bad);
      const good = credential(owner, { aud: baseOf(s) });
      const odd = await lines(() => requestToken(s, changed(form(s, good), { subject_token_type: good })));
      expectSilence(odd, good);
      const { length } = s.server!.log;
      const token = await accessToken(s, owner);
      expect((await bearer(s.scratch, token)).status).to.equal(200);
      const granted = s.server!.log.slice(length).map((line) => JSON.stringify(line));
      expectSilence(granted, token);
    });

    it('Bad input: passwords and misplaced tokens are not logged', async () => {
      const password = base64url('user:a-long-password');
      for (const Authorization of [`Basic ${password}`, password, `Bearer ${password} x`, `Bearer x ${password}`])
        expectSilence(await lines(() => request(s.scratch, { headers: { Authorization } })), password);
      const iri = `${s.scratch}?access_token=${s.token}`;
      expectSilence(await lines(() => request(iri)), s.token!);
    });
  },
  { settings: { owners: owner.did }, owner },
);
