/** ID tokens of a provider over plain http on the same machine, as developers run one (rule 15.10). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { nowSeconds } from '../support/identity.js';
import { jws, signingKey } from '../support/jwt.js';
import { remote } from '../support/remote.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { cidContext, lwsContext, webSubject } from '../support/subjects.js';

describe('An OpenID provider over http on loopback', function () {
  this.timeout(30_000);
  const key = signingKey('RS256');
  const subject = webSubject();
  let provider: Server;
  let host: string;
  before(async () => {
    provider = createServer((req, res) => {
      const metadata = { issuer: `http://${host}`, jwks_uri: `http://${host}/jwks` };
      res
        .setHeader('Content-Type', 'application/json')
        .end(JSON.stringify(req.url === '/jwks' ? { keys: [key.jwk] } : metadata));
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    host = `localhost:${(provider.address() as AddressInfo).port}`;
  });
  after(() => void provider.close());

  /** Sends a GET with an ID token of an issuer. @returns the status, and the problem document with the log */
  async function asked(issuer: string, allowed: string): Promise<[number, string]> {
    const service = { type: 'https://www.w3.org/ns/lws#OpenIdProvider', serviceEndpoint: issuer };
    subject.publish({ '@context': [cidContext, lwsContext], id: subject.iri, service: [service] });
    const settings = { ...remote.settings, 'fetch.allowed-hosts': allowed, owners: subject.iri };
    const server: SpecServer = await startSpecServer({ settings });
    try {
      const iat = nowSeconds();
      const claims = { iss: issuer, sub: subject.iri, aud: server.root.slice(0, -1), iat, exp: iat + 300 };
      const token = jws(key, { typ: 'JWT' }, claims);
      const answer = await fetch(server.root, { headers: { Authorization: `Bearer ${token}` } });
      return [answer.status, (await answer.text()) + JSON.stringify(server.log)];
    } finally {
      await server.stop();
    }
  }

  it('is accepted if lws.fetch.allowed-hosts lists it (rule 15.10)', async () => {
    expect((await asked(`http://${host}`, `${remote.authority},${host}`))[0]).to.equal(200);
  });

  it('is not fetched if it is not listed (rule 15.10)', async () => {
    const [status, told] = await asked(`http://${host}`, remote.authority);
    expect(status).to.equal(401);
    expect(told).to.match(/which is not public/);
  });

  for (const issuer of [
    'http://id.example',
    'http://localhost@id.example',
    'http://localhost.id.example',
    'ftp://localhost',
  ])
    it(`is rejected for ${issuer}, not http on loopback (rule 15.10)`, async () => {
      const [status, told] = await asked(issuer, `${remote.authority},id.example`);
      expect(status).to.equal(401);
      expect(told).to.match(/must be an https URL/);
    });
});
