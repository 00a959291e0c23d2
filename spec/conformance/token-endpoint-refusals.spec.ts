/** Rules 15.4, 15.6, RFC 6749 5.2, RFC 8693 2.1: errors of the token endpoint. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import {
  type CredentialOptions,
  credential,
  ed25519Identity,
  hmacCredential,
  nowSeconds,
  unsignedCredential,
} from '../support/identity.js';
import { base64url, jws, signingKey } from '../support/jwt.js';
import {
  baseOf,
  changed,
  exchangeGrant,
  expectOauthError,
  type Form,
  form,
  requestToken,
  tokenType,
} from '../support/oauth.js';
import { slowness } from '../support/patience.js';

const owner = ed25519Identity();
const mallory = ed25519Identity();
const good = (s: StorageUnderTest): string => credential(owner, { aud: baseOf(s) });
type Changes = Readonly<Record<string, string | undefined>>;

/** Changes of a valid form, and the accepted errors of each. */
const changes: Readonly<Record<string, (s: StorageUnderTest) => readonly [Changes, ...string[]]>> = {
  'has no grant': () => [{ grant_type: undefined }, 'invalid_request'],
  'has an empty grant': () => [{ grant_type: '' }, 'invalid_request'],
  'has the grant of a code': () => [{ grant_type: 'authorization_code', code: 'x' }, 'unsupported_grant_type'],
  'has the grant of a refresh token': () => [{ grant_type: 'refresh_token' }, 'unsupported_grant_type'],
  'has the grant of client credentials': () => [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  'has the grant in capitals': () => [{ grant_type: exchangeGrant.toUpperCase() }, 'unsupported_grant_type'],
  'has a grant named as a member of all objects': () => [{ grant_type: '__proto__' }, 'unsupported_grant_type'],
  'has no resource': () => [{ resource: undefined }, 'invalid_request'],
  'has an empty resource': () => [{ resource: '' }, 'invalid_request', 'invalid_target'],
  'has a foreign resource': () => [{ resource: 'https://elsewhere.example/' }, 'invalid_target'],
  'has a resource that begins like ours': (s) => [{ resource: `${baseOf(s)}.evil.example/` }, 'invalid_target'],
  'has a resource within ours': (s) => [{ resource: `${s.root}x` }, 'invalid_target'],
  'has our resource with two slashes': (s) => [{ resource: `${s.root}/` }, 'invalid_target'],
  'has our resource with a fragment': (s) => [{ resource: `${s.root}#x` }, 'invalid_target', 'invalid_request'],
  'has a resource that is no URI': () => [{ resource: 'x y' }, 'invalid_target', 'invalid_request'],
  'has no subject token': () => [{ subject_token: undefined }, 'invalid_request'],
  'has an empty subject token': () => [{ subject_token: '' }, 'invalid_request'],
  'has no type of it': () => [{ subject_token_type: undefined }, 'invalid_request'],
  'has an unknown type of it': () => [{ subject_token_type: 'urn:x' }, 'invalid_request'],
  'has a short type of it': () => [{ subject_token_type: 'jwt' }, 'invalid_request'],
  'has the type of an access token': () => [{ subject_token_type: `${tokenType}access_token` }, 'invalid_request'],
  'has the type of an ID token that it is not': () => [
    { subject_token_type: `${tokenType}id_token` },
    'invalid_request',
  ],
  'has the same with a hyphen': () => [{ subject_token_type: `${tokenType}id-token` }, 'invalid_request'],
  'has the type of SAML, which is off': () => [{ subject_token_type: `${tokenType}saml2` }, 'invalid_request'],
  'has the type of SAML 1': () => [{ subject_token_type: `${tokenType}saml1` }, 'invalid_request'],
  'asks for a refresh token': () => [{ requested_token_type: `${tokenType}refresh_token` }, 'invalid_request'],
  'asks for a JWT': () => [{ requested_token_type: `${tokenType}jwt` }, 'invalid_request'],
  'asks for an ID token': () => [{ requested_token_type: `${tokenType}id_token` }, 'invalid_request'],
  'has an actor': (s) => [{ actor_token: good(s), actor_token_type: `${tokenType}jwt` }, 'invalid_request'],
  'has the type of an actor': () => [{ actor_token_type: `${tokenType}jwt` }, 'invalid_request'],
};

const claims = (options: (s: StorageUnderTest) => CredentialOptions) => (s: StorageUnderTest) =>
  credential(owner, { aud: baseOf(s), ...options(s) });
const subjects: Readonly<Record<string, (s: StorageUnderTest) => string>> = {
  'is a word': () => 'x',
  'is three words': () => 'a.b.c',
  'is dots': () => '..',
  'has a NUL': (s) => `${good(s)}\0`,
  'has a line break after it': (s) => `${good(s)}\n`,
  'has a blank before it': (s) => ` ${good(s)}`,
  'is in Greek': () => 'αβγ.δεζ.ηθι',
  'is random bytes': () => randomBytes(300).toString('latin1'),
  'is markup': () => '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>',
  'is long': () => 'A'.repeat(100_000),
  'is long and deep': () => `${base64url('['.repeat(50_000))}.${base64url('{"a":'.repeat(50_000))}.AAAA`,
  'is not signed': (s) => unsignedCredential(owner, baseOf(s)),
  'is signed with the public key': (s) => hmacCredential(owner, baseOf(s)),
  'is signed with another key': claims(() => ({ signer: mallory })),
  'has expired': claims(() => ({ claims: { iat: nowSeconds() - 600, exp: nowSeconds() - 120 } })),
  'lives for too long': claims(() => ({ claims: { exp: nowSeconds() + 4000 } })),
  'has no exp': claims(() => ({ claims: { exp: undefined } })),
  'is not valid yet': claims(() => ({ claims: { nbf: nowSeconds() + 200 } })),
  'names another audience': claims(() => ({ aud: 'https://elsewhere.example' })),
  'names the storage below us': claims((s) => ({ aud: `${s.root}x/` })),
  'names no audience': claims(() => ({ aud: undefined })),
  'names no client': claims(() => ({ claims: { client_id: undefined } })),
  'names a client that is no URI': claims(() => ({ claims: { client_id: 'app' } })),
  'names a client that is a list': claims(() => ({ claims: { client_id: [owner.did] } })),
  'names no subject': claims(() => ({ claims: { sub: undefined } })),
  'has another subject': claims(() => ({ claims: { sub: mallory.did } })),
  'has a subject that is not a URI': () =>
    jws(signingKey('EdDSA'), {}, { sub: 'me', iss: 'me', client_id: 'me', exp: nowSeconds() + 60 }),
};

const post = (s: StorageUnderTest, body: string | Uint8Array | string[], headers = {}): Promise<Answer> =>
  request(`${s.root}.lws/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body,
  });
const encoded = (fields: Form): string => new URLSearchParams([...fields]).toString();

describeStorage(
  'Token endpoint errors',
  (s) => {
    before('what is changed below is granted as it is', async () => {
      expect((await requestToken(s, form(s, good(s)))).status).to.equal(200);
    });

    for (const [what, make] of Object.entries(changes))
      it(`Token endpoint: a request that ${what}`, async () => {
        const [change, ...errors] = make(s);
        expectOauthError(await requestToken(s, changed(form(s, good(s)), change)), ...errors);
      });

    for (const name of [
      'grant_type',
      'resource',
      'subject_token',
      'subject_token_type',
      'requested_token_type',
      'scope',
    ])
      it(`RFC 6749 3.2: ${name} twice, even if equal`, async () => {
        const more: Form = [
          ['requested_token_type', `${tokenType}access_token`],
          ['scope', 'x'],
        ];
        const fields = [...form(s, good(s)), ...more];
        expect((await requestToken(s, fields)).status).to.equal(200);
        const again = fields.filter(([other]) => other === name);
        expectOauthError(await requestToken(s, [...fields, ...again]), 'invalid_request');
        expectOauthError(await requestToken(s, [...fields, [name, 'other']]), 'invalid_request');
      });

    for (const [what, make] of Object.entries(subjects))
      it(`Token endpoint: a subject token that ${what}`, async () => {
        expectOauthError(await requestToken(s, form(s, make(s))), 'invalid_request');
      });

    it('Token endpoint: garbage as each of the types', async () => {
      for (const kind of ['jwt', 'id_token', 'id-token', 'saml2', 'access_token'])
        for (const token of ['x', 'e30.e30.', `${base64url({ alg: 'ES256' })}.${base64url({ iss: 5, sub: {} })}.AA`])
          expectOauthError(await requestToken(s, form(s, token, kind)), 'invalid_request');
    });

    it('RFC 6749 5.2: the description does not repeat the input', async () => {
      const fields = changed(form(s, 'secret-"<script>\r\nX: y'), { resource: s.root });
      const answer = await requestToken(s, fields);
      expectOauthError(answer, 'invalid_request');
      expect(answer.text).not.to.match(/<script|X: y/);
      const grant = await requestToken(s, changed(fields, { grant_type: 'a"\\\u0001é' }));
      expectOauthError(grant, 'unsupported_grant_type');
    });

    for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/plain', 'x', ''])
      it(`Token endpoint: Content-Type: ${type || '(empty)'}`, async () => {
        expectOauthError(await post(s, encoded(form(s, good(s))), { 'Content-Type': type }), 'invalid_request');
      });

    it('Token endpoint: no Content-Type', async () => {
      const body = encoded(form(s, good(s)));
      expectOauthError(await request(`${s.root}.lws/token`, { method: 'POST', body }), 'invalid_request');
    });

    it('RFC 6749 3.2: parameters in the query', async () => {
      const iri = `${s.root}.lws/token?${encoded(form(s, good(s)))}`;
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      expectOauthError(await request(iri, { method: 'POST', headers, body: '' }), 'invalid_request');
    });

    it('a method other than POST: 405 with Allow (rule 15.6)', async () => {
      for (const method of ['GET', 'DELETE', 'PATCH', 'QUERY']) {
        const answer = await s.send(method, `${s.root}.lws/token`);
        expectProblem(answer, 405);
        expect(answer.headers['allow']?.split(/, ?/)).to.include('POST').and.not.include('GET');
      }
    });

    const bodies: Readonly<Record<string, string | Uint8Array>> = {
      'is empty': '',
      'is separators': '&&&=&;&',
      'has a bad escape': 'grant_type=%zz&resource=%',
      'is not UTF-8': Buffer.from('grant_type=\xff\xfe&a=%ff', 'latin1'),
      'has brackets': 'grant_type[]=a&grant_type[x]=b',
      'has a prototype': '__proto__=x&constructor=y&grant_type=__proto__',
      'is JSON': '{"grant_type":"x"}',
      'is random': randomBytes(2000),
      'has many parameters': 'a=b&'.repeat(5000),
      'has many different ones': Array.from({ length: 5000 }, (_, i) => `p${i}`).join('&'),
    };
    for (const [what, body] of Object.entries(bodies))
      it(`Bad input: a body that ${what}`, async () => {
        expectOauthError(await post(s, body), 'invalid_request', 'unsupported_grant_type');
      });

    it('Bad input: tens of thousands of parameters do not block the server', async () => {
      const started = Date.now();
      const body = Array.from({ length: 58_000 }, (_, i) => i.toString(36)).join('&');
      expectOauthError(await post(s, body), 'invalid_request');
      expect(Date.now() - started).to.be.below(4000 * slowness);
    });

    it('Bad input: a body of several MiB, announced and not', async () => {
      const huge = encoded(changed(form(s, good(s)), { subject_token: 'A'.repeat(4 * 2 ** 20) }));
      for (const body of [huge, [huge.slice(0, 100), huge.slice(100)]]) {
        const answer = await post(s, body).catch((error: NodeJS.ErrnoException) => error);
        // The server may close the connection of a client that continues sending.
        if (answer instanceof Error) expect(answer.code).to.be.oneOf(['EPIPE', 'ECONNRESET']);
        else if (answer.status === 413) expect(answer.headers['cache-control']).to.equal('no-store');
        else expectOauthError(answer, 'invalid_request');
      }
      expect((await requestToken(s, form(s, good(s)))).status).to.equal(200);
    });

    it('client authentication with a password is rejected (rule 15.3)', async () => {
      const answer = await requestToken(s, form(s, good(s)), { Authorization: 'Basic YTpi' });
      expect(answer.status).to.be.oneOf([200, 400, 401]);
      expect(answer.text).not.to.include('YTpi');
    });
  },
  { settings: { owners: owner.did }, owner },
);
