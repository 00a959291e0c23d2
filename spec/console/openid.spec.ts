/** Rule 15.10 (`lws.oidc.*`): OpenID Connect with PKCE through /callback, in a browser. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Console, describeInBrowser } from '../support/browser.js';
import type { Json } from '../support/jwt.js';
import { remote } from '../support/remote.js';
import { Provider, webSubject } from '../support/subjects.js';

/** A provider that lets everybody in as one subject: the code flow with PKCE, and a client secret. */
class SigningInProvider extends Provider {
  readonly subject = webSubject();
  /** Over the claims of the next ID tokens. */
  claims: Json = {};
  /** What it answers in the place of a code. */
  refusal: string | undefined;
  private readonly codes = new Map<string, URLSearchParams>();
  readonly secret = 'a secret: with % and ü';

  constructor() {
    super();
    this.subject.publish(this.document(this.subject.iri));
    const [authorize, token] = ['/authorize', '/token'].map((end) => this.path + end) as [string, string];
    this.publish({ authorization_endpoint: remote.origin + authorize, token_endpoint: remote.origin + token });
    remote.handle(token, (req, res) => {
      let text = '';
      req.on('data', (chunk) => {
        text += String(chunk);
      });
      req.on('end', () => {
        const answer = this.redeem(new URLSearchParams(text), req.headers.authorization);
        res
          .writeHead('error' in answer ? 400 : 200, { 'Content-Type': 'application/json' })
          .end(JSON.stringify(answer));
      });
    });
  }

  /** Has a browser sign in where the console sent it: what the provider's own pages would do. */
  async letIn(page: Page): Promise<void> {
    await page.waitForURL(`${this.issuer}/authorize?**`);
    const asked = new URL(page.url()).searchParams;
    const back = new URL(asked.get('redirect_uri')!);
    back.searchParams.set('state', asked.get('state')!);
    if (this.refusal) back.searchParams.set('error', this.refusal);
    else {
      const code = `code ${this.codes.size}`;
      this.codes.set(code, asked);
      back.searchParams.set('code', code);
      back.searchParams.set('iss', this.issuer);
    }
    await page.goto(back.href);
  }

  private redeem(form: URLSearchParams, authorization: string | undefined): object {
    const asked = this.codes.get(form.get('code') ?? '');
    this.codes.delete(form.get('code') ?? '');
    const client = asked?.get('client_id') ?? '';
    const encoded = [client, this.secret].map((each) => new URLSearchParams({ '': each }).toString().slice(1));
    if (authorization !== `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`)
      return { error: 'invalid_client' };
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!asked || challenge !== asked.get('code_challenge') || form.get('redirect_uri') !== asked.get('redirect_uri'))
      return { error: 'invalid_grant', error_description: 'The code is not yours.' };
    const nonce = asked.get('nonce');
    return { id_token: this.token(this.subject.iri, client, { azp: client, nonce, ...this.claims }) };
  }
}

const provider = new SigningInProvider();
const settings = {
  ...remote.settings,
  'oidc.discovery-uri': remote.origin + provider.discoveryPath,
  'oidc.client-secret': provider.secret,
};

for (const path of ['', '/some/path'])
  describeInBrowser(`The console, signing in at an identity provider, at ${path || '/'}`, () => {
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

    it('comes back as the subject of the ID token', async () => {
      const page = await leave();
      await provider.letIn(page);
      await page.locator(`.who >> text=${provider.subject.path.slice(1)}`).waitFor();
      expect(page.url()).to.equal(`${console.server.root}app#/browse`);
      await page.reload();
      await page.locator(`.who >> text=${provider.subject.path.slice(1)}`).waitFor();
    });

    it('comes back to where the way to sign in began', async () => {
      const page = await console.person({ ignoreHTTPSErrors: true });
      const place = `browse?${new URLSearchParams({ at: `${console.server.root}data/` })}`;
      await page.goto(console.at(place));
      await page.click('main >> text=Sign in');
      await page.click('text=Continue to');
      await provider.letIn(page);
      await page.locator(`.who >> text=${provider.subject.path.slice(1)}`).waitFor();
      expect(page.url()).to.equal(console.at(place));
    });

    const refused: Readonly<Record<string, [Json, RegExp]>> = {
      'the tokens name no client': [{ azp: undefined }, /azp/],
      'the token is for another client': [{ azp: 'https://other.example/' }, /another client/],
      'the token is of another sign-in': [{ nonce: 'other' }, /another sign-in/],
      'the subject does not name the provider': [{ sub: webSubject().publish().iri }, /does not name/],
    };
    for (const [title, [claims, said]] of Object.entries(refused))
      it(`says so when ${title}`, async () => {
        provider.claims = claims;
        const page = await leave();
        await provider.letIn(page);
        await page.locator('[role=status]', { hasText: said }).waitFor();
        await page.click('text=Back to signing in');
        await page.locator('.who >> text=Nobody').waitFor();
      });

    it('says what the provider said when it refuses', async () => {
      provider.refusal = 'access_denied';
      const page = await leave();
      await provider.letIn(page);
      await page.locator('[role=status]', { hasText: /access_denied/ }).waitFor();
    });

    it('takes no answer that this tab did not ask for', async () => {
      const page = await console.person();
      await page.goto(`${console.server.root}callback?code=stolen&state=other`);
      await page.locator('[role=status]', { hasText: /begun in this tab/ }).waitFor();
      expect(page.url()).to.equal(`${console.server.root}callback`);
    });

    it('was never against its policy', () => {
      expect(console.complaints).to.deep.equal([]);
    });
  });
