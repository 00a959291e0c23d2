/** Rules 12.1, 15.4: metadata, keys and tokens of the authorization server. */
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import * as oauth from 'oauth4webapi';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { request } from '../support/http.js';
import { credential, ed25519Identity, nowSeconds, p256Identity } from '../support/identity.js';
import {
  accessToken,
  baseOf,
  bearer,
  changed,
  exchangeGrant,
  form,
  json,
  jwksOf,
  metadataIri,
  requestToken,
  tokenType,
  verified,
} from '../support/oauth.js';
import { mediaType } from '../support/rdf.js';

const owner = ed25519Identity();
const second = p256Identity();
const algs = ['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const owned = { settings: { owners: `${owner.did},${second.did}` }, owner };

describeStorage(
  'Authorization server',
  (s) => {
    const tokenFor = async (claims = {}): Promise<Record<string, unknown>> => {
      const answer = await requestToken(s, form(s, credential(owner, { aud: baseOf(s), claims })));
      expect(answer.status, answer.text).to.equal(200);
      return JSON.parse(answer.text);
    };

    it('RFC 8414 3.1: the metadata path precedes the path of the base URI', async () => {
      const answer = await request(metadataIri(baseOf(s)));
      expect([answer.status, mediaType(answer)], answer.text).to.deep.equal([200, 'application/json']);
      const metadata = JSON.parse(answer.text);
      expect(metadata).to.deep.include({
        issuer: baseOf(s),
        token_endpoint: `${s.root}.lws/token`,
        jwks_uri: `${s.root}.lws/jwks`,
        subject_identifier_types_supported: ['https', 'did:key', 'did:web'],
        grant_types_supported: [exchangeGrant],
        response_types_supported: ['token'],
        token_endpoint_auth_methods_supported: ['none'],
      });
      expect(metadata.dpop_signing_alg_values_supported).to.have.members(algs);
      expect(metadata.claims_supported).to.include.members([
        'iss',
        'sub',
        'client_id',
        'aud',
        'jti',
        'exp',
        'nbf',
        'iat',
      ]);
    });

    it('the metadata list the enabled suites; SAML requires a certificate (rules 15.2, 15.4)', async () => {
      const { subject_token_types_supported: types } = await json<Record<string, string[]>>(metadataIri(baseOf(s)));
      expect(types)
        .to.include.members([`${tokenType}id_token`, `${tokenType}jwt`])
        .and.not.include(`${tokenType}saml2`);
    });

    it('Discovery: metadata and keys support HEAD, reject POST, and need no credential', async () => {
      for (const iri of [metadataIri(baseOf(s)), `${s.root}.lws/jwks`]) {
        const [get, head] = [await request(iri), await request(iri, { method: 'HEAD' })];
        expect([get.status, head.status, head.bytes.length]).to.deep.equal([200, 200, 0]);
        expect(head.headers['content-type']).to.equal(get.headers['content-type']);
        expectProblem(await request(iri, { method: 'POST' }), 405);
      }
    });

    it('Discovery: the JWKS has one ES256 key without its private part', async () => {
      const { keys } = await jwksOf(s);
      expect(keys).to.have.length(1);
      expect(keys[0]).to.include({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
      expect(keys[0]).to.have.property('kid').that.is.a('string').and.not.equal('');
      expect(keys[0]).not.to.have.any.keys('d', 'k', 'p', 'q');
    });

    it('the token has exactly the header and the claims of RFC 9068 (rule 15.5)', async () => {
      // A credential that ends later than the token, so that its age does not shorten the token.
      const token = (await tokenFor({ exp: nowSeconds() + 600 }))['access_token'] as string;
      const { keys } = await jwksOf(s);
      expect(decodeProtectedHeader(token)).to.deep.equal({ typ: 'at+jwt', alg: 'ES256', kid: keys[0]!.kid });
      const claims = await verified(s, token);
      expect(claims).to.have.all.keys('iss', 'sub', 'client_id', 'aud', 'jti', 'exp', 'nbf', 'iat');
      expect(claims).to.include({ iss: baseOf(s), sub: owner.did, client_id: owner.did, aud: s.root });
      expect(claims.iat).to.be.within(nowSeconds() - 5, nowSeconds() + 1);
      expect(claims.nbf).to.be.within(nowSeconds() - 65, claims.iat!);
      expect(claims.exp! - claims.iat!).to.equal(300);
    });

    it('the response contains the token type and lifetime (rule 15.5)', async () => {
      const { access_token, expires_in, ...rest } = await tokenFor();
      expect(rest).to.deep.equal({ issued_token_type: `${tokenType}access_token`, token_type: 'Bearer' });
      expect(access_token).to.be.a('string');
      expect(expires_in).to.be.within(298, 300);
    });

    it('RFC 6749 5.1: the response is JSON and not cacheable', async () => {
      const answer = await requestToken(s, form(s, credential(owner, { aud: baseOf(s) })));
      expect([mediaType(answer), answer.headers['cache-control']]).to.deep.equal(['application/json', 'no-store']);
    });

    it('a token does not outlive the credential it was exchanged for (rule 15.5)', async () => {
      const exp = nowSeconds() + 100;
      const { access_token, expires_in } = await tokenFor({ exp });
      expect((await verified(s, access_token as string)).exp).to.be.within(exp - 2, exp);
      expect(expires_in).to.be.within(95, 100);
    });

    it('a credential that expires within the clock skew never yields an expired token (rule 15.5)', async () => {
      const claims = { iat: nowSeconds() - 100, exp: nowSeconds() - 20 };
      const answer = await requestToken(s, form(s, credential(owner, { aud: baseOf(s), claims })));
      expect(answer.status, answer.text).to.equal(400);
      expect(JSON.parse(answer.text)).to.have.property('error', 'invalid_request');
    });

    it('the audience of the credential is the server or its token endpoint (rule 15.4)', async () => {
      for (const aud of [baseOf(s), s.root, `${s.root}.lws/token`, ['https://x.example/', `${s.root}.lws/token`]])
        expect((await requestToken(s, form(s, credential(owner, { aud })))).status, String(aud)).to.equal(200);
    });

    it('resource may lack its slash; a type and unknown parameters have no effect (rule 15.6)', async () => {
      const subject = credential(owner, { aud: baseOf(s) });
      const fine = [
        { resource: baseOf(s) },
        { requested_token_type: `${tokenType}access_token` },
        { client_id: owner.did, something: 'else', '': '', actor_token: '' },
      ];
      for (const change of fine) {
        const answer = await requestToken(s, changed(form(s, subject), change));
        expect(answer.status, answer.text).to.equal(200);
      }
      const headers = { 'Content-Type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' };
      expect((await requestToken(s, form(s, subject), headers)).status).to.equal(200);
    });

    it('a credential may be exchanged again; the tokens differ (rule 15.6)', async () => {
      const fields = form(s, credential(second, { aud: baseOf(s) }));
      const [one, two] = [await requestToken(s, fields), await requestToken(s, fields)].map(({ text }) =>
        JSON.parse(text),
      );
      const [first, again] = [await verified(s, one.access_token), await verified(s, two.access_token)];
      expect([first.sub, again.sub]).to.deep.equal([second.did, second.did]);
      expect(first.jti).not.to.equal(again.jti);
    });

    it('Model: the token has the subject of the credential', async () => {
      const answer = await bearer(s.scratch, await accessToken(s, owner));
      expect(answer.status, answer.text).to.equal(200);
      expect((await bearer(s.scratch, await accessToken(s, ed25519Identity()))).status).to.equal(404);
    });

    it('Owner bootstrapping: the token of a credential cannot be exchanged for another', async () => {
      const token = await accessToken(s, owner);
      for (const kind of ['jwt', 'access_token', 'id_token'])
        expect((await requestToken(s, form(s, token, kind))).status, kind).to.equal(400);
    });

    it('RFC 8693: a third-party client library gets a token, with and without DPoP', async () => {
      const location = await fetch(metadataIri(baseOf(s)));
      const server = await oauth.processDiscoveryResponse(new URL(baseOf(s)), location);
      const client: oauth.Client = { client_id: owner.did };
      const parameters = form(s, credential(owner, { aud: server.issuer })).slice(1);
      const options = { [oauth.allowInsecureRequests]: true };
      const ask = async (more: object): Promise<oauth.TokenEndpointResponse> => {
        const all = { ...options, ...more };
        const none = oauth.None();
        const answer = await oauth.genericTokenEndpointRequest(server, client, none, exchangeGrant, parameters, all);
        return oauth.processGenericTokenEndpointResponse(server, client, answer);
      };
      const plain = await ask({});
      expect((await bearer(s.scratch, plain.access_token)).status).to.equal(200);
      const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
      const bound = await ask({ DPoP });
      expect([plain.token_type, bound.token_type]).to.deep.equal(['bearer', 'dpop']);
      const all = { ...options, DPoP };
      const { access_token: token } = bound;
      const answer = await oauth.protectedResourceRequest(token, 'GET', new URL(s.scratch), undefined, undefined, all);
      expect(answer.status).to.equal(200);
    });
  },
  owned,
);
