/** Rules 15.16, 20.11: fetches for Solid-OIDC tokens of unauthorized callers exhaust neither connections nor the time of others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import type { Answer } from '../support/http.js';
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
    const impact = await measureImpact(server, async () => {
      const attack: Promise<Answer>[] = [];
      for (const token of tokens) {
        attack.push(presentSolid(`${server.root}nothing`, token));
        await sleep(1);
      }
      return (await Promise.all(attack)).map(({ status }) => status);
    });
    expect(most()).to.be.above(0).and.at.most(8);
    const statuses = new Set(impact.result);
    expect([...statuses].filter((status) => status !== 401 && status !== 429 && status !== 503)).to.deep.equal([]);
    expect(statuses).to.include(503);
    expectNoImpact(impact);
  });
});
