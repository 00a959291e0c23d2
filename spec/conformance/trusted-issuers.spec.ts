/** Rules 15.4, 15.7, 15.16: trusted issuers and their failures. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { ed25519Identity } from '../support/identity.js';
import { signingKey } from '../support/jwt.js';
import { bearer, TrustedIssuer } from '../support/oauth.js';
import { runProcess } from '../support/process.js';
import { remote, startRemoteHost } from '../support/remote.js';

const owner = ed25519Identity();
const sub = owner.did;
const another = (): TrustedIssuer => new TrustedIssuer();
const [rotating, racing, failing, flooded] = [another(), another(), another(), another()];
const [impostor, absent, huge, redirecting, jwksElsewhere] = [another(), another(), another(), another(), another()];
/** One setting has a trailing slash that the server omits, the other lacks it. */
const [slashed, bare] = [another(), another()];
const trusted = [rotating, racing, failing, flooded, impostor, absent, huge, redirecting, jwksElsewhere];
const settings = {
  ...remote.settings,
  owners: sub,
  'oauth.trusted-issuers': [...trusted.map((each) => each.issuer), `${slashed.issuer}/`, bare.issuer].join(','),
};

describeStorage(
  'Trusted issuers',
  (s) => {
    it('an unknown kid refreshes the keys, at most once a minute (rule 15.13)', async () => {
      const before = (): number => remote.count(rotating.jwksPath);
      const old = rotating.key;
      rotating.publish([old.jwk]);
      expect((await bearer(s.scratch, rotating.token(s.root, sub, {}, {}, old))).status).to.equal(200);
      const first = before();
      const fresh = signingKey('ES256');
      rotating.publish([fresh.jwk]);
      expect((await bearer(s.scratch, rotating.token(s.root, sub, {}, {}, fresh))).status).to.equal(200);
      expect(before()).to.equal(first + 1);
      // The old key is removed. Unknown ones are not fetched again.
      for (const key of [old, signingKey(), signingKey()])
        expectChallenge(await bearer(s.scratch, rotating.token(s.root, sub, {}, {}, key)), s, 'invalid_token');
      expect(before()).to.equal(first + 1);
    });

    it('concurrent requests with a new kid are all accepted after one refresh (rule 15.13)', async () => {
      expect((await bearer(s.scratch, racing.token(s.root, sub))).status).to.equal(200);
      const fresh = signingKey('ES256');
      remote.handle(racing.jwksPath, (_req, res) => {
        setTimeout(() => res.end(JSON.stringify({ keys: [fresh.jwk, racing.key.jwk] })), 200);
      });
      const tokens = Array.from({ length: 5 }, () => racing.token(s.root, sub, {}, {}, fresh));
      const answers = await Promise.all(tokens.map((token) => bearer(s.scratch, token)));
      racing.publish([racing.key.jwk]);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    });

    it('if the keys cannot be fetched, the known ones remain valid (rule 15.13)', async () => {
      failing.publish([failing.key.jwk]);
      expect((await bearer(s.scratch, failing.token(s.root, sub))).status).to.equal(200);
      remote.serve(failing.jwksPath, 'down', { status: 503 });
      expectChallenge(await bearer(s.scratch, failing.token(s.root, sub, {}, {}, signingKey())), s, 'invalid_token');
      expect((await bearer(s.scratch, failing.token(s.root, sub))).status).to.equal(200);
    });

    it('a flood of unknown kids refreshes the keys at most twice (rule 15.13)', async () => {
      const first = remote.count(flooded.jwksPath);
      const tokens = Array.from({ length: 20 }, () => flooded.token(s.root, sub, {}, { kid: randomUUID() }));
      for (const answer of await Promise.all(tokens.map((token) => bearer(s.scratch, token))))
        expectChallenge(answer, s, 'invalid_token');
      expect(remote.count(flooded.jwksPath) - first).to.be.within(1, 2);
    });

    it('Access-token validation: an issuer without metadata is rejected, and the failure is cached', async () => {
      remote.remove(absent.metadataPath);
      const first = remote.count(absent.metadataPath);
      for (let i = 0; i < 6; i++)
        expectChallenge(await bearer(s.scratch, absent.token(s.root, sub)), s, 'invalid_token');
      expect(remote.count(absent.metadataPath) - first).to.be.within(1, 3);
    });

    it('trusts an issuer if the setting or the server has a trailing slash (rule 15.7)', async () => {
      const iss = `${bare.issuer}/`;
      remote.serve(bare.metadataPath, { ...bare.metadata, issuer: iss });
      for (const token of [slashed.token(s.root, sub), bare.token(s.root, sub, { iss })])
        expect((await bearer(s.scratch, token)).status).to.equal(200);
    });

    it('rejects another issuer and logs it with the trusted ones (rule 15.7)', async () => {
      for (const iss of [`${bare.issuer}//`, `${bare.issuer}/x`, bare.issuer.toUpperCase(), 'https://other.example']) {
        expectChallenge(await bearer(s.scratch, bare.token(s.root, sub, { iss })), s, 'invalid_token');
        const line = JSON.stringify(s.server!.log.at(-1));
        expect(line).to.include(`iss is ${iss}`).and.include(`${slashed.issuer}/`);
      }
    });

    it('RFC 8414 3.3: metadata of another issuer are rejected', async () => {
      remote.serve(impostor.metadataPath, { ...impostor.metadata, issuer: rotating.issuer });
      expectChallenge(await bearer(s.scratch, impostor.token(s.root, sub)), s, 'invalid_token');
    });

    it('Outbound-fetch guard: endless metadata are rejected', async () => {
      remote.handle(huge.metadataPath, (_req, res) => {
        const more = (): boolean => res.destroyed || (res.write(' '.repeat(2 ** 16)) && more());
        res.on('drain', more).writeHead(200, { 'Content-Type': 'application/json' });
        more();
      });
      expectChallenge(await bearer(s.scratch, huge.token(s.root, sub)), s, 'invalid_token');
    });

    it('Outbound-fetch guard: redirects and metadata to a private address are rejected', async () => {
      const inside = await startRemoteHost();
      const keys = inside.serve('/keys', { keys: [redirecting.key.jwk, jwksElsewhere.key.jwk] });
      const metadata = inside.serve('/metadata', redirecting.metadata);
      remote.serve(redirecting.metadataPath, '', { status: 302, headers: { Location: metadata } });
      remote.serve(jwksElsewhere.metadataPath, { ...jwksElsewhere.metadata, jwks_uri: keys });
      for (const each of [redirecting, jwksElsewhere])
        expectChallenge(await bearer(s.scratch, each.token(s.root, sub)), s, 'invalid_token');
      expect(inside.total()).to.equal(0);
      inside.close();
    });
  },
  { settings, owner },
);

describe('lws.oauth.trusted-issuers', () => {
  it('an invalid URI prevents the start, with the name of the setting (rule 5.4)', async () => {
    const { code, stderr } = await runProcess([], { environment: { LWS_OAUTH_TRUSTED_ISSUERS: 'as.example' } });
    expect(code).to.equal(2);
    expect(stderr)
      .to.include('lws.oauth.trusted-issuers')
      .and.include('as.example')
      .and.not.match(/\n\s+at /);
  });
});
