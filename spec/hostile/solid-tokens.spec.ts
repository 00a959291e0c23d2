/** Rules 15.16, 20.11: fetches for Solid-OIDC tokens of unauthorized callers exhaust neither connections nor the time of others. */
import { expectFewFetches, startOwned } from '../support/attack.js';
import { ed25519Identity } from '../support/identity.js';
import type { ServerProcess } from '../support/process.js';
import { remote } from '../support/remote.js';
import { presentSolid, solidToken, webIdOf } from '../support/solid-oidc.js';
import { Provider } from '../support/subjects.js';

describe('Solid-OIDC tokens under attack', function () {
  this.timeout(60_000);
  this.retries(1);
  let server: ServerProcess;

  before(async () => {
    const environment = Object.fromEntries(
      Object.entries(remote.settings).map(([name, value]) => [
        `LWS_${name.replace(/[.-]/g, '_').toUpperCase()}`,
        value,
      ]),
    );
    server = await startOwned(ed25519Identity(), { ...environment, LWS_PROFILE: 'solid' });
  });
  after(() => server?.kill());

  it('300 tokens of as many providers that do not respond use few connections (rule 20.11)', async () => {
    const providers = Array.from({ length: 300 }, () => new Provider());
    const most = remote.hold(providers.map(({ discoveryPath }) => discoveryPath));
    const tokens = providers.map((provider) => solidToken(provider, webIdOf(provider).iri));
    const sends = tokens.map((token) => () => presentSolid(`${server.root}nothing`, token));
    await expectFewFetches(server, most, sends);
  });
});
