/** Rule 20.11: access tokens of Solid-OIDC under `lws.profile=solid`. */
import { createPublicKey } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { request } from '../support/http.js';
import { nowSeconds } from '../support/identity.js';
import { hmacJws, type Json, signingKey } from '../support/jwt.js';
import {
  accessToken,
  baseOf,
  bearer,
  expectOauthError,
  expectRefused as expectRejected,
  form,
  requestToken,
  TrustedIssuer,
} from '../support/oauth.js';
import { hashOf, type ProofOptions, proof } from '../support/proofs.js';
import { type RemoteHost, remote, startRemoteHost } from '../support/remote.js';
import { startSpecServer } from '../support/server.js';
import {
  clientKey,
  jkt,
  naming,
  oidcIssuer,
  presentSolid,
  solidToken,
  turtle,
  webId,
  webIdOf,
} from '../support/solid-oidc.js';
import { Provider, type Subject } from '../support/subjects.js';
import { inSolid, owner, rule, setAcl } from '../support/wac.js';

const provider = new Provider();
const evil = new Provider();
const trusted = new TrustedIssuer();
const other = signingKey('ES256');
/** WebID with read access. */
const ada = webIdOf(provider);
let inside: RemoteHost;

/** Publishes the WebID document of a subject. */
type Publish = (subject: Subject) => void;
const inTurtle =
  (text: (subject: Subject) => string): Publish =>
  (subject) =>
    void subject.publish(text(subject), turtle);
const inJsonLd =
  (document: (subject: Subject) => unknown): Publish =>
  (subject) =>
    void subject.publish(document(subject), { type: 'application/ld+json' });
const statement = (subject: string, issuer = provider.issuer): string => `<${subject}> <${oidcIssuer}> <${issuer}> .`;
const redirected =
  (text: (subject: Subject) => string, base = remote.path('elsewhere')): Publish =>
  (subject) => {
    remote.serve(base, text(subject), turtle);
    remote.serve(subject.path, '', { status: 303, headers: { Location: base } });
  };

const accepted: Readonly<Record<string, Publish>> = {
  'in Turtle': (subject) => void naming(subject, provider.issuer),
  'in Turtle, with several providers': (subject) => void naming(subject, evil.issuer, provider.issuer),
  'in expanded JSON-LD': inJsonLd(({ iri }) => [{ '@id': iri, [oidcIssuer]: [{ '@id': provider.issuer }] }]),
  'in JSON-LD with a context and an id': inJsonLd(({ iri }) => ({
    '@context': { id: '@id', issuer: { '@id': oidcIssuer, '@type': '@id' } },
    id: iri,
    issuer: provider.issuer,
  })),
  'behind a redirect, by its IRI': redirected(({ iri }) => statement(iri)),
};

const unnamed: Readonly<Record<string, Publish>> = {
  'names another provider': (subject) => void naming(subject, evil.issuer),
  'names the provider with a slash': (subject) => void naming(subject, `${provider.issuer}/`),
  'names the provider for another subject': inTurtle(({ path }) => `<#me> a <urn:x> . ${statement(`${path}#other`)}`),
  'names the provider for the document': inTurtle(({ path }) => `<#me> a <urn:x> . ${statement(path)}`),
  'names the provider for a blank node of the subject': inTurtle(
    () => `<#me> <urn:knows> [ <${oidcIssuer}> <${provider.issuer}> ] .`,
  ),
  'names the provider with another property': inTurtle(() => `<#me> <urn:oidcIssuer> <${provider.issuer}> .`),
  'names the provider in a graph': (subject) =>
    void subject.publish(`<urn:g> { ${statement('#me')} }`, { type: 'application/trig' }),
  'is the document of another subject': inTurtle(() => statement('https://other.example/card#me')),
  'redirects to a document that names the provider relative to itself': redirected(() => statement('#me')),
  'is JSON': (subject) => void subject.publish({ id: subject.iri, oidcIssuer: provider.issuer }),
  'is an LWS document with the provider': (subject) =>
    void subject.publish(provider.document(subject.iri), { type: 'application/ld+json' }),
  'is a web page': (subject) => void subject.publish('<!DOCTYPE html>', { type: 'text/html' }),
  'is no Turtle': inTurtle(() => `${statement('#me')} <`),
  'is larger than 64 KiB': inTurtle(() => `${statement('#me')}\n#${'x'.repeat(2 ** 16)}`),
  'does not exist': () => {},
};

/** Claims that are rejected without a request. */
const implausible: Readonly<Record<string, () => Json>> = {
  'has expired': () => ({ iat: nowSeconds() - 600, exp: nowSeconds() - 120 }),
  'has no exp': () => ({ exp: undefined }),
  'was issued in the future': () => ({ iat: nowSeconds() + 200 }),
  'has an iat that is text': () => ({ iat: String(nowSeconds()) }),
  'has no audience': () => ({ aud: undefined }),
  'is for another storage': () => ({ aud: 'https://pod.example/' }),
  'is for another app': () => ({ aud: ['https://app.example/id'] }),
  'is for the token endpoint': () => ({ aud: 'https://pod.example/.lws/token' }),
  'is not bound to a key': () => ({ cnf: undefined }),
  'is bound to a certificate': () => ({ cnf: { 'x5t#S256': 'x' } }),
  'has a WebID that is no URL': () => ({ webid: 'ada' }),
  'has a WebID over http': () => ({ webid: 'http://ada.example/card#me' }),
  'has a did for a WebID': () => ({ webid: 'did:web:ada.example' }),
  'has a WebID that is a list': () => ({ webid: [ada.iri] }),
  'has no WebID': () => ({ webid: undefined }),
  'has a provider over http': () => ({ iss: 'http://id.example' }),
  'has a provider that is no URL': () => ({ iss: 'me' }),
  'has a client that is no text': () => ({ client_id: 5 }),
};

type Forge = (iri: string) => string;
const forged: Readonly<Record<string, Forge>> = {
  'is not signed': (iri) => solidToken(provider, iri, {}, { alg: 'none' }).replace(/[^.]*$/, ''),
  'is an HMAC under the public key': (iri) => {
    const pem = createPublicKey({ key: provider.key.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const claims = { iss: provider.issuer, webid: iri, aud: 'solid', cnf: { jkt } };
    const times = { iat: nowSeconds(), exp: nowSeconds() + 300 };
    return hmacJws(pem.toString(), { kid: provider.key.kid, typ: 'at+jwt' }, { ...claims, ...times });
  },
  'is signed by another key': (iri) =>
    solidToken(provider, iri, {}, {}, { ...evil.key, kid: provider.key.kid, alg: 'PS256' }),
  'brings its own key': (iri) => solidToken(provider, iri, {}, { jwk: other.jwk, kid: provider.key.kid }, other),
  'is of another provider that says it is this one': (iri) => solidToken(evil, iri, { iss: provider.issuer }),
  'is of another provider': (iri) => solidToken(evil, iri),
  'has no iat': (iri) => solidToken(provider, iri, { iat: undefined }),
  'is not valid yet': (iri) => solidToken(provider, iri, { nbf: nowSeconds() + 200 }),
};

const proofs: Readonly<Record<string, (iri: string) => ProofOptions & { readonly key?: typeof clientKey }>> = {
  'is of another key': () => ({ key: other }),
  'is signed by another key': () => ({ signer: other }),
  'has the ath of another token': () => ({ claims: { ath: hashOf('x') } }),
  'has an ath that is null': () => ({ claims: { ath: null } }),
  'is for another method': () => ({ claims: { htm: 'PUT' } }),
  'is for another resource': (iri) => ({ claims: { htu: `${iri}x` } }),
  'is too old': () => ({ claims: { iat: nowSeconds() - 310 } }),
  'has no jti': () => ({ claims: { jti: undefined } }),
};

describeStorage(
  'Solid-OIDC access tokens',
  (s) => {
    before(async () => {
      inside = await startRemoteHost();
      await setAcl(s, s.scratch, rule('Read', `acl:agent <${ada.iri}>`));
    });
    after(() => inside.close());

    const status = async (token: string, options = {}): Promise<number> =>
      (await presentSolid(s.scratch, token, options)).status;
    const expectRefused = async (token: string, options = {}): Promise<void> => {
      const answer = await presentSolid(s.scratch, token, options);
      expectChallenge(answer, s, 'invalid_token');
      expect(answer.headers['www-authenticate']).to.match(/DPoP [^,]*(?:, (?!Bearer)[^,]*)*error="invalid_token"/);
    };

    it('identify the WebID as the caller (rule 20.11)', async () => {
      expect(await status(solidToken(provider, ada.iri))).to.equal(200);
      const bob = webIdOf(provider);
      expect(await status(solidToken(provider, bob.iri))).to.equal(403);
      await setAcl(s, s.scratch, rule('Read', `acl:agent <${ada.iri}>, <${bob.iri}>`));
      expect(await status(solidToken(provider, bob.iri))).to.equal(200);
      expect(remote.count(bob.path)).to.equal(1);
    });

    it('are accepted in the forms that providers issue (rule 20.11)', async () => {
      const es256 = new Provider();
      es256.key = signingKey('ES256');
      es256.publish();
      const issued: Json[] = [
        { aud: ['https://app.example/id', 'solid'] },
        { aud: s.root },
        { aud: ['https://pod.example/', baseOf(s)] },
        { webid: undefined, sub: ada.iri },
        { client_id: undefined, azp: 'app' },
        { client_id: undefined },
        { exp: nowSeconds() + 86_400 },
      ];
      for (const claims of issued)
        expect(await status(solidToken(provider, ada.iri, claims)), JSON.stringify(claims)).to.equal(200);
      for (const typ of ['JWT', undefined, 'application/at+jwt'])
        expect(await status(solidToken(provider, ada.iri, {}, { typ })), typ).to.equal(200);
      expect(await status(solidToken(es256, webIdOf(es256).iri))).to.equal(403);
    });

    it('pass the client to access grants and logs (rule 20.11)', async () => {
      for (const [claims, client] of [
        [{ client_id: 'https://one.example/id', azp: 'https://two.example/id' }, 'https://one.example/id'],
        [{ client_id: undefined, azp: 'https://two.example/id' }, 'https://two.example/id'],
      ] as const) {
        expect(await status(solidToken(provider, ada.iri, claims))).to.equal(200);
        expect(JSON.stringify(s.server!.log.at(-1)))
          .to.include(ada.iri)
          .and.include(client);
      }
    });

    for (const [what, publish] of Object.entries(accepted))
      it(`are accepted if the WebID document is ${what} (rule 20.11)`, async () => {
        const subject = webId();
        publish(subject);
        const answer = await presentSolid(s.scratch, solidToken(provider, subject.iri));
        expect(answer.status, answer.headers['www-authenticate']).to.equal(403);
      });

    for (const [what, publish] of Object.entries(unnamed))
      it(`are rejected if the WebID document ${what}, which is cached (rule 20.11)`, async () => {
        const subject = webId();
        publish(subject);
        await expectRefused(solidToken(provider, subject.iri));
        await expectRefused(solidToken(provider, subject.iri));
        expect(remote.count(subject.path)).to.equal(1);
      });

    for (const [what, claims] of Object.entries(implausible))
      it(`a token that ${what} is rejected without a request (rule 20.11)`, async () => {
        const { iri } = webIdOf(provider);
        const before = remote.total();
        await expectRefused(solidToken(provider, iri, claims()));
        expect(remote.total()).to.equal(before);
      });

    for (const [what, forge] of Object.entries(forged))
      it(`a token that ${what} is rejected (rule 20.11)`, async () => {
        await expectRefused(forge(webIdOf(provider).iri));
      });

    for (const [what, options] of Object.entries(proofs))
      it(`a token is rejected if the proof ${what} (rule 20.11)`, async () => {
        await expectRefused(solidToken(provider, ada.iri), options(s.scratch));
      });

    it('a proof needs no ath, and is accepted once (rule 20.11)', async () => {
      const token = solidToken(provider, ada.iri);
      for (const claims of [{}, { ath: hashOf(token) }]) {
        const DPoP = proof(clientKey, s.scratch, { claims });
        const headers = { Authorization: `DPoP ${token}`, DPoP };
        expect((await request(s.scratch, { headers })).status).to.equal(200);
        expectChallenge(await request(s.scratch, { headers }), s, 'invalid_token');
      }
    });

    it('a proof without ath is for one token key: tokens of this server still need ath (rule 20.11)', async () => {
      const DPoP = proof(clientKey, `${s.root}.lws/token`, { method: 'POST' });
      const token = await accessToken(s, owner, { DPoP });
      await expectRefused(token);
      expect(await status(token, { token })).to.equal(200);
      const ofTrusted = trusted.token(s.root, owner.did, { cnf: { jkt }, webid: ada.iri });
      await expectRefused(ofTrusted);
      expect(await status(ofTrusted, { token: ofTrusted })).to.equal(200);
    });

    it('are no bearer tokens, and cannot be exchanged (rule 20.11)', async () => {
      for (const typ of ['at+jwt', 'JWT'])
        for (const cnf of [{ jkt }, undefined]) {
          const token = solidToken(provider, ada.iri, { cnf, aud: [s.root, 'solid'], sub: ada.iri }, { typ });
          expectChallenge(await bearer(s.scratch, token), s, 'invalid_token');
          for (const kind of ['id_token', 'jwt', 'access_token'])
            expectOauthError(await requestToken(s, form(s, token, kind)), 'invalid_request');
        }
    });

    it('find a new key of the provider by its kid, with one more request a minute (rule 20.11)', async () => {
      const own = new Provider();
      const { iri } = webIdOf(own);
      expect(await status(solidToken(own, iri))).to.equal(403);
      const fresh = signingKey('ES256');
      own.publish({}, [fresh.jwk]);
      expect(await status(solidToken(own, iri, {}, {}, fresh))).to.equal(403);
      // The first key is not published any more.
      for (let i = 0; i < 5; i++) await expectRefused(solidToken(own, iri, {}, { kid: `k${i}` }));
      expect([own.discoveryPath, own.jwksPath, new URL(iri).pathname].map((path) => remote.count(path))).to.deep.equal([
        2, 2, 1,
      ]);
    });

    it('cause no request to a provider that is not named, nor to private addresses (rule 20.11)', async () => {
      const [stranger, hidden] = [new Provider(), new Provider(inside)];
      await expectRefused(solidToken(stranger, ada.iri));
      expect(remote.count(stranger.discoveryPath)).to.equal(0);
      const subjects = [webIdOf(hidden), naming(webId(), hidden.issuer), webId(), webId()];
      remote.serve(subjects[2]!.path, '', { status: 302, headers: { Location: subjects[0]!.iri } });
      const metadata = { status: 302, headers: { Location: inside.origin + hidden.discoveryPath } };
      remote.serve(stranger.discoveryPath, '', metadata);
      naming(subjects[3]!, stranger.issuer);
      for (const { iri } of subjects.slice(0, 3)) await expectRefused(solidToken(hidden, iri));
      await expectRefused(solidToken(stranger, subjects[3]!.iri));
      expect(inside.total()).to.equal(0);
    });

    it('are advertised by the scope of the DPoP challenge (rule 20.11)', async () => {
      const { headers } = await request(s.scratch);
      expect(headers['www-authenticate']).to.match(/DPoP .*, scope="openid webid"$/);
    });
  },
  inSolid({ ...remote.settings, 'oauth.trusted-issuers': trusted.issuer }),
);

for (const [name, settings] of [
  ['without the profile', {}],
  ['without direct credentials', { profile: 'solid', 'oauth.accept-authentication-credentials': 'false' }],
] as const)
  it(`Solid-OIDC access tokens ${name} are rejected without a request, and not advertised (rule 20.11)`, async () => {
    const s = await startSpecServer({ settings: { ...remote.settings, ...settings, owners: ada.iri } });
    const before = remote.total();
    for (const typ of ['at+jwt', 'JWT']) {
      const token = solidToken(provider, ada.iri, { aud: [s.root, 'solid'] }, { typ });
      expectRejected(await presentSolid(s.root, token, { token }));
    }
    expect(remote.total()).to.equal(before);
    expect((await request(`${s.root}x`)).headers['www-authenticate']).not.to.include('scope=');
    await s.stop();
  });
