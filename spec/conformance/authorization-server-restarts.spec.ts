/** Rule 15.4: the authorization server across restarts, key rotations and setting changes. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { expectProblem } from '../support/expectations.js';
import { request } from '../support/http.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { accessToken, baseOf, bearer, jwksOf, metadataIri, requestToken, verified } from '../support/oauth.js';
import { runProcess } from '../support/process.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { until } from '../support/until.js';

const owner = ed25519Identity();

describe('Authorization server across restarts', () => {
  let s: SpecServer;
  const start = async (settings = {}, again?: SpecServer): Promise<void> => {
    s = await startSpecServer({ settings: { owners: owner.did, ...settings }, ...(again && { again }) });
  };
  const restart = async (settings = {}): Promise<void> => {
    await s.stop(true);
    await start(settings, s);
  };
  const use = async (token: string): Promise<number> => (await bearer(`${s.root}?page=1`, token)).status;
  const token = (): Promise<string> => accessToken(s, owner);
  before(() => start());
  after(() => s.stop());

  it('Signing key: only the owner of the process can read private keys', async () => {
    await token();
    const files = readdirSync(s.dataDir).map((name) => join(s.dataDir, name));
    const secret = files.filter(
      (file) => statSync(file).isFile() && /PRIVATE KEY|"d"/.test(readFileSync(file, 'utf8')),
    );
    expect(secret).not.to.deep.equal([]);
    for (const file of secret) expect((statSync(file).mode & 0o777).toString(8), file).to.equal('600');
  });

  it('Signing key: the key survives a restart, and tokens stay valid', async () => {
    const [before, jwks] = [await token(), await jwksOf(s)];
    await restart();
    expect(await jwksOf(s)).to.deep.equal(jwks);
    expect(await use(before)).to.equal(200);
  });

  it('Signing key: rotate-keys makes a running server sign with a new key; tokens of the old one stay valid', async () => {
    const before = await token();
    const { keys: old } = await jwksOf(s);
    const ended = await runProcess(['rotate-keys'], { dataDir: s.dataDir, root: s.root });
    expect(ended.code, ended.stderr).to.equal(0);
    expect(ended.stdout + ended.stderr).not.to.match(/PRIVATE|"d"/);
    let fresh = await token();
    const kidOf = (jwt: string): unknown => decodeProtectedHeader(jwt).kid;
    await until(async () => {
      fresh = await token();
      return kidOf(fresh) !== kidOf(before);
    });
    expect(kidOf(fresh)).not.to.equal(kidOf(before));
    const { keys } = await jwksOf(s);
    expect(keys.map(({ kid }) => kid)).to.have.members([old[0]!.kid, kidOf(fresh)]);
    for (const each of [before, fresh]) {
      await verified(s, each);
      expect(await use(each)).to.equal(200);
    }
    await restart();
    expect((await jwksOf(s)).keys).to.have.deep.members(keys);
    expect([await use(before), await use(fresh), kidOf(await token())]).to.deep.equal([200, 200, kidOf(fresh)]);
  });

  it('Limits: lws.oauth.access-token-lifetime-seconds sets the lifetime of a token', async () => {
    await restart({ 'oauth.access-token-lifetime-seconds': '30' });
    const claims = await verified(s, await token());
    expect(claims.exp! - claims.iat!).to.equal(30);
  });

  it('Credentials presented directly: lws.oauth.accept-authentication-credentials=false disables them; exchange still works', async () => {
    await restart({ 'oauth.accept-authentication-credentials': 'false' });
    const direct = await bearer(`${s.root}?page=1`, credential(owner, { aud: baseOf(s) }));
    expect(direct.status).to.equal(401);
    expect(direct.headers['www-authenticate']).to.include('error="invalid_token"');
    expect(await use(await token())).to.equal(200);
  });

  it('lws.oauth.enabled=false disables the authorization server and its advertisement (rule 15.3)', async () => {
    const before = await token();
    await restart({ 'oauth.enabled': 'false' });
    const Authorization = `Bearer ${credential(owner, { aud: baseOf(s) })}`;
    const token_endpoint = `${s.root}.lws/token`;
    for (const iri of [metadataIri(baseOf(s)), `${s.root}.lws/jwks`, token_endpoint]) {
      expectProblem(await request(iri, { headers: { Authorization } }), 404);
      // Its paths remain reserved.
      const headers = { Authorization, 'Content-Type': 'application/json' };
      expectProblem(await request(iri, { method: 'PUT', headers, body: '{}' }), [404, 405, 409]);
    }
    expectProblem(await requestToken(s, []), [401, 404, 405]);
    const challenge = (await request(`${s.root}nothing`)).headers['www-authenticate'] ?? '';
    expect(challenge)
      .to.match(/^Bearer realm=/)
      .and.not.include('as_uri');
    expect((await request(s.root)).text).not.to.match(/\.lws\/(?:token|jwks)|lws-configuration/);
    expect(await use(before)).to.equal(401);
    await restart({
      'oauth.enabled': 'false',
      'oauth.trusted-issuers': 'https://as.example/one,https://as.example/two',
    });
    const named = (await request(`${s.root}nothing`)).headers['www-authenticate'] ?? '';
    expect(named.match(/as_uri="https:\/\/as\.example\/one"/g)).to.have.length(2);
  });
});
