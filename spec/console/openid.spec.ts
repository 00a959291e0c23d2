/** Rule 15.10 (`lws.oidc.*`): OpenID Connect with PKCE through /callback, in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Console, describeInBrowser } from '../support/browser.js';
import type { Json } from '../support/jwt.js';
import { pathsOf } from '../support/places.js';
import { remote } from '../support/remote.js';
import { SigningInProvider } from '../support/signing-in-provider.js';
import { webSubject } from '../support/subjects.js';

const provider = new SigningInProvider();
const settings = {
  ...remote.settings,
  'oidc.discovery-uri': remote.origin + provider.discoveryPath,
  'oidc.client-secret': provider.secret,
};

for (const path of pathsOf('The console, sign-in with OpenID Connect'))
  describeInBrowser(`The console, sign-in with OpenID Connect, at ${path || '/'}`, () => {
    const console = new Console();
    before(() => console.start({ path, settings }));
    after(() => console.stop());
    beforeEach(() => {
      provider.claims = {};
      provider.refusal = undefined;
    });

    async function leave(): Promise<Page> {
      const page = await console.person({ ignoreHTTPSErrors: true });
      await page.goto(console.at('signin'));
      await page.click('text=Continue to');
      return page;
    }

    it('signs in as the subject of the ID token', async () => {
      const page = await leave();
      await provider.letIn(page);
      await page.locator(`.who >> text=${provider.subject.path.slice(1)}`).waitFor();
      expect(page.url()).to.equal(`${console.server.root}app#/browse`);
      await page.reload();
      await page.locator(`.who >> text=${provider.subject.path.slice(1)}`).waitFor();
    });

    it('returns to the page on which sign-in started', async () => {
      const page = await console.person({ ignoreHTTPSErrors: true });
      const place = `browse?${new URLSearchParams({ at: `${console.server.root}data/` })}`;
      await page.goto(console.at(place));
      await page.click('main >> text="Sign in"');
      await page.click('text=Continue to');
      await provider.letIn(page);
      await page.locator(`.who >> text=${provider.subject.path.slice(1)}`).waitFor();
      expect(page.url()).to.equal(console.at(place));
    });

    const refused: Readonly<Record<string, [Json, RegExp]>> = {
      'the ID token has no azp claim': [{ azp: undefined }, /azp/],
      'the ID token is for another client': [{ azp: 'https://other.example/' }, /another client/],
      'the nonce is of another sign-in': [{ nonce: 'other' }, /another sign-in/],
      'the subject does not name the provider': [{ sub: webSubject().publish().iri }, /does not name/],
    };
    for (const [title, [claims, message]] of Object.entries(refused))
      it(`reports an error if ${title}`, async () => {
        provider.claims = claims;
        const page = await leave();
        await provider.letIn(page);
        await page.locator('[role=status]', { hasText: message }).waitFor();
        await page.click('text=Back to signing in');
        await page.locator('.who >> text=Not signed in').waitFor();
      });

    it("shows the provider's error", async () => {
      provider.refusal = 'access_denied';
      const page = await leave();
      await provider.letIn(page);
      await page.locator('[role=status]', { hasText: /access_denied/ }).waitFor();
    });

    it('rejects a callback that this tab did not request', async () => {
      const page = await console.person();
      await page.goto(`${console.server.root}callback?code=stolen&state=other`);
      await page.locator('[role=status]', { hasText: /started in this tab/ }).waitFor();
      expect(page.url()).to.equal(`${console.server.root}callback`);
    });

    it('causes no script error or CSP violation', () => {
      expect(console.complaints).to.deep.equal([]);
    });
  });
