/** Rules 15.4, 15.10: ID tokens of a provider named by the subject. */
import { createPublicKey } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { nowSeconds } from '../support/identity.js';
import { claimsOf, hmacJws, type Json, jws, signingKey } from '../support/jwt.js';
import { baseOf, bearer, expectOauthError, form, requestToken } from '../support/oauth.js';
import { remote } from '../support/remote.js';
import { cidContext, lwsContext, Provider, Subject, webSubject } from '../support/subjects.js';

const did = 'https://www.w3.org/ns/did#';
const lws = 'https://www.w3.org/ns/lws#';
const provider = new Provider();
const evil = new Provider();
const mallory = signingKey('RS256');

/** Profile document of a subject. */
type Publish = (subject: Subject) => void;
const json =
  (document: (subject: Subject) => unknown, type = 'application/json'): Publish =>
  (subject) =>
    void subject.publish(document(subject), { type });
const service = (changes: Json): Publish => json(({ iri }) => provider.document(iri, changes));
const turtle =
  (text: (subject: Subject) => string): Publish =>
  (subject) =>
    void subject.publish(`@prefix did: <${did}> . @prefix lws: <${lws}> . ${text(subject)}`, { type: 'text/turtle' });
const linking = (iri: string, issuer = provider.issuer): string =>
  `<${iri}> did:service [ a lws:OpenIdProvider ; did:serviceEndpoint <${issuer}> ] .`;

const accepted: Readonly<Record<string, Publish>> = {
  'has a document as JSON': service({}),
  'has a document as application/lws+cid': json(({ iri }) => provider.document(iri), 'application/lws+cid'),
  'has a document as JSON-LD': json(({ iri }) => provider.document(iri), 'application/ld+json'),
  'uses the term of the context': service({ type: 'OpenIdProvider' }),
  'has a list of types': service({ type: ['https://x.example/Service', `${lws}OpenIdProvider`] }),
  'has one service that is no list': json(({ iri }) => ({
    ...provider.document(iri),
    service: { type: 'OpenIdProvider', serviceEndpoint: provider.issuer },
  })),
  'has several services': json(({ iri }) => ({
    ...provider.document(iri),
    service: [
      5,
      {},
      { type: 'X' },
      ...(evil.document(iri)['service'] as []),
      ...(provider.document(iri)['service'] as []),
    ],
  })),
  'has a document as Turtle': turtle(({ iri }) => linking(iri)),
  'has Turtle with several types, services and endpoints': turtle(
    ({ iri }) => `<${iri}> did:service <#a>, <#b> . <#a> a lws:X . <#b> a lws:X, lws:OpenIdProvider ;
      did:serviceEndpoint <${evil.issuer}>, <${provider.issuer}> .`,
  ),
  'has expanded JSON-LD': json(
    ({ iri }) => [
      {
        '@id': iri,
        [`${did}service`]: [
          { '@type': [`${lws}OpenIdProvider`], [`${did}serviceEndpoint`]: [{ '@id': provider.issuer }] },
        ],
      },
    ],
    'application/ld+json',
  ),
};

const unlinked: Readonly<Record<string, Publish>> = {
  'names another provider': json(({ iri }) => evil.document(iri)),
  'names the provider with a slash': service({ serviceEndpoint: `${provider.issuer}/` }),
  'names the provider within a text': service({ serviceEndpoint: `x ${provider.issuer} x` }),
  'names the provider as another service': service({ type: `${lws}StorageRoot` }),
  'names the provider as a service of a similar type': service({ type: 'https://evil.example/#OpenIdProvider' }),
  'names the provider as a service without a type': service({ type: undefined }),
  'names the provider by its id alone': service({ serviceEndpoint: undefined, id: provider.issuer }),
  'has the document of another': json(({ iri }) => provider.document(`${iri}x`)),
  'has no service': json(({ iri }) => ({ '@context': [cidContext, lwsContext], id: iri })),
  'names the provider in a method': json(({ iri }) => ({
    id: iri,
    verificationMethod: [{ id: `${iri}#k`, ...provider.document(iri) }],
  })),
  'names the provider in a service within a service': json(({ iri }) => ({
    id: iri,
    service: [{ type: 'X', ...provider.document(`${iri}#s`) }],
  })),
  'names the provider beside itself': json(({ iri }) => ({
    id: iri,
    '@graph': [provider.document(`${iri}#other`)],
    also: provider.document(iri),
  })),
  'has Turtle with the provider of another': turtle(
    ({ iri }) =>
      `<${iri}> a lws:X . <#other> did:service [ a lws:OpenIdProvider ; did:serviceEndpoint <${provider.issuer}> ] .`,
  ),
  'has Turtle with a service of no subject': turtle(
    ({ iri }) => `<${iri}> did:service <#s> . <#t> a lws:OpenIdProvider ; did:serviceEndpoint <${provider.issuer}> .`,
  ),
  'has Turtle with type and endpoint of two services': turtle(
    ({ iri }) =>
      `<${iri}> did:service <#s>, <#t> . <#t> a lws:OpenIdProvider . <#s> did:serviceEndpoint <${provider.issuer}> .`,
  ),
  'is a web page': (subject) => void subject.publish('<!DOCTYPE html>', { type: 'text/html' }),
  'is not there': () => {},
};

type Make = (s: StorageUnderTest, sub: string) => string;
const claims =
  (changes: (s: StorageUnderTest) => Json): Make =>
  (s, sub) =>
    provider.token(sub, baseOf(s), changes(s));
const refused: Readonly<Record<string, Make>> = {
  'has expired': claims(() => ({ iat: nowSeconds() - 600, exp: nowSeconds() - 120 })),
  'has no exp': claims(() => ({ exp: undefined })),
  'has an exp that is text': claims(() => ({ exp: String(nowSeconds() + 60) })),
  'has no iat': claims(() => ({ iat: undefined })),
  'is not valid yet': claims(() => ({ nbf: nowSeconds() + 200 })),
  'was issued in the future': claims(() => ({ iat: nowSeconds() + 200 })),
  'has no audience': claims(() => ({ aud: undefined })),
  'is for another audience': claims(() => ({ aud: ['https://app.example/id'] })),
  'is of another provider': (s, sub) => evil.token(sub, baseOf(s)),
  'is of another provider that says it is this one': (s, sub) => evil.token(sub, baseOf(s), { iss: provider.issuer }),
  'is of no provider': claims(() => ({ iss: undefined })),
  'is of a provider that is no URL': claims(() => ({ iss: 'me' })),
  'is of a file': claims(() => ({ iss: 'file:///etc/passwd' })),
  'has no subject': claims(() => ({ sub: undefined })),
  'has a subject that is no URL': claims(() => ({ sub: 'user-17' })),
  'has an unknown kid': (s, sub) => provider.token(sub, baseOf(s), {}, { kid: 'x' }),
  'is signed by another key': (s, sub) =>
    provider.token(sub, baseOf(s), {}, {}, { ...evil.key, kid: provider.key.kid, alg: 'PS256' }),
  'brings its own key': (s, sub) =>
    provider.token(sub, baseOf(s), {}, { jwk: mallory.jwk, kid: 'x' }, signingKey('ES256')),
  'is not signed': (s, sub) => provider.token(sub, baseOf(s), {}, { alg: 'none' }).replace(/[^.]*$/, ''),
  'is an HMAC under the public key': (s, sub) => {
    const key = createPublicKey({ key: provider.key.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    return hmacJws(key.toString(), { kid: provider.key.kid }, claimsOf(provider.token(sub, baseOf(s))) as Json);
  },
  'has a critical extension': (s, sub) => provider.token(sub, baseOf(s), {}, { crit: ['x'], x: 1 }),
  'names another subject later': (s, sub) => {
    const text = JSON.stringify(claimsOf(provider.token('https://x.example/', baseOf(s))));
    return jws(provider.key, {}, `${text.slice(0, -1)},"sub":"${sub}"}`);
  },
};

describeStorage(
  'OpenID Connect',
  (s) => {
    const linked = (): Subject => {
      const subject = webSubject();
      service({})(subject);
      return subject;
    };

    for (const [what, publish] of Object.entries(accepted))
      it(`Suites: an ID token of a subject that ${what} is accepted`, async () => {
        const subject = webSubject();
        publish(subject);
        const answer = await bearer(s.scratch, provider.token(subject.iri, baseOf(s)));
        expect(answer.status, answer.headers['www-authenticate']).to.equal(200);
      });

    for (const [what, publish] of Object.entries(unlinked))
      it(`Suites: an ID token of a subject whose document ${what} is rejected`, async () => {
        const subject = webSubject();
        publish(subject);
        expectChallenge(await bearer(s.scratch, provider.token(subject.iri, baseOf(s))), s, 'invalid_token');
      });

    for (const [what, make] of Object.entries(refused))
      it(`Suites: an ID token that ${what} is rejected, directly and for exchange`, async () => {
        const { iri } = linked();
        const token = make(s, iri);
        expectChallenge(await bearer(s.scratch, token), s, 'invalid_token');
        expectOauthError(await requestToken(s, form(s, token, 'id_token')), 'invalid_request');
      });

    it('Suites: a subject with a fragment is distinct from its document', async () => {
      const [own, whole] = [webSubject(), webSubject()];
      turtle(({ iri }) => linking(`${iri}#me`))(own);
      turtle(({ iri }) => `${linking(iri)} <${iri}#me> a lws:X .`)(whole);
      expect((await bearer(s.scratch, provider.token(`${own.iri}#me`, baseOf(s)))).status).to.equal(200);
      expectChallenge(await bearer(s.scratch, provider.token(own.iri, baseOf(s))), s, 'invalid_token');
      expectChallenge(await bearer(s.scratch, provider.token(`${whole.iri}#me`, baseOf(s))), s, 'invalid_token');
      const described = new Subject(`${remote.origin}/card#me`, '/card');
      service({})(described);
      expect((await bearer(s.scratch, provider.token(described.iri, baseOf(s)))).status).to.equal(200);
    });

    it('subject and azp of an ID token become sub and client_id (rule 15.4)', async () => {
      const { iri } = linked();
      for (const kind of ['id_token', 'id-token']) {
        const token = provider.token(iri, [`${s.root}.lws/token`, 'https://app.example/id']);
        const answer = await requestToken(s, form(s, token, kind));
        expect(answer.status, answer.text).to.equal(200);
        const granted = JSON.parse(answer.text).access_token as string;
        expect(claimsOf(granted)).to.include({ sub: iri, client_id: 'https://app.example/id', iss: baseOf(s) });
        expect((await bearer(s.scratch, granted)).status).to.equal(200);
      }
      const short = provider.token(iri, baseOf(s), { exp: nowSeconds() + 50 });
      expect(JSON.parse((await requestToken(s, form(s, short, 'id_token'))).text).expires_in).to.be.within(40, 50);
    });

    it('an ID token without a client, or with one that is not a URI, is invalid_request (rule 15.4)', async () => {
      const { iri } = linked();
      for (const azp of [undefined, '', 'app', 'a b', '/app', 5, ['https://app.example/id'], null]) {
        const token = provider.token(iri, baseOf(s), { azp, client_id: 'https://app.example/id' });
        expectOauthError(await requestToken(s, form(s, token, 'id_token')), 'invalid_request');
      }
      expectOauthError(await requestToken(s, form(s, provider.token(iri, baseOf(s)), 'jwt')), 'invalid_request');
    });

    it('Discovery: metadata of another issuer and invalid metadata are rejected', async () => {
      const bad = [
        { issuer: evil.issuer },
        { issuer: undefined },
        { jwks_uri: undefined },
        { jwks_uri: 'x' },
        { jwks_uri: 5 },
      ];
      for (const changes of bad) {
        const own = new Provider().publish(changes);
        const subject = webSubject();
        subject.publish(own.document(subject.iri));
        expectChallenge(await bearer(s.scratch, own.token(subject.iri, baseOf(s))), s, 'invalid_token');
      }
    });

    it('Discovery: no request is sent to a provider that the subject does not name', async () => {
      const [stranger, { iri }] = [new Provider(), linked()];
      expectChallenge(await bearer(s.scratch, stranger.token(iri, baseOf(s))), s, 'invalid_token');
      expect(remote.count(stranger.discoveryPath) + remote.count(stranger.jwksPath)).to.equal(0);
    });

    it('a new key of a provider is found by its kid (rule 15.11)', async () => {
      const [own, subject] = [new Provider(), webSubject()];
      subject.publish(own.document(subject.iri));
      expect((await bearer(s.scratch, own.token(subject.iri, baseOf(s)))).status).to.equal(200);
      const fresh = signingKey('ES256');
      own.publish({}, [own.key.jwk, fresh.jwk]);
      const token = own.token(subject.iri, baseOf(s), {}, {}, fresh);
      expect((await bearer(s.scratch, token)).status).to.equal(200);
      expect(remote.count(own.jwksPath)).to.equal(2);
    });
  },
  { settings: { ...remote.settings, 'public-read': 'true' } },
);
