/** Rule 15.17: OAuth clients discover all endpoints from the storage's address or from a challenge (RFC 8414, RFC 9728). */
import { expect } from 'chai';
import * as oauth from 'oauth4webapi';
import { describeStorage } from '../support/conformance.js';

const insecure = { [oauth.allowInsecureRequests]: true } as const;

describeStorage('Discovery by OAuth clients', (s) => {
  it('a client that knows only the storage finds its token endpoint (rule 15.17)', async () => {
    const storage = new URL(s.root);
    const resource = await oauth.processResourceDiscoveryResponse(
      storage,
      await oauth.resourceDiscoveryRequest(storage, insecure),
    );
    expect(resource).to.deep.include({ resource: s.root, bearer_methods_supported: ['header'] });
    const issuer = new URL(resource.authorization_servers![0]!);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    expect(server.token_endpoint).to.equal(`${s.root}.lws/token`);
  });

  it('a rejected client finds it from the challenge (rule 15.17)', async () => {
    const { headers } = await s.send('GET', s.scratch, {}, undefined, 'anonymous');
    const url = /resource_metadata="([^"]+)"/.exec(String(headers['www-authenticate']))![1]!;
    const answer = await fetch(url);
    expect(answer.headers.get('content-type')).to.equal('application/json');
    expect(await answer.json()).to.deep.include({ resource: s.root, authorization_servers: [s.root.slice(0, -1)] });
  });

  it('both documents are available below the storage too (rule 15.17)', async () => {
    for (const name of ['oauth-authorization-server', 'oauth-protected-resource', 'lws-configuration'])
      expect((await fetch(`${s.root}.well-known/${name}`)).status, name).to.equal(200);
  });
});

describeStorage(
  'Discovery without an authorization server',
  (s) => {
    it('advertises none (rule 15.17)', async () => {
      const { headers } = await s.send('GET', s.scratch, {}, undefined, 'anonymous');
      expect(String(headers['www-authenticate'])).to.not.include('resource_metadata');
      for (const name of ['oauth-authorization-server', 'oauth-protected-resource'])
        expect((await fetch(`${s.root}.well-known/${name}`)).status, name).to.equal(401);
    });
  },
  { settings: { 'oauth.enabled': 'false' } },
);
