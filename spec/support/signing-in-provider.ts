/** Identity provider with browser sign-in. Independent of the code under test. */
import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { Json } from './jwt.js';
import { remote } from './remote.js';
import { Provider, webSubject } from './subjects.js';

/** Provider that signs in every browser as the same subject: authorization code flow with PKCE and a client secret. */
export class SigningInProvider extends Provider {
  readonly subject = webSubject();
  /** Overrides of the claims of the next ID tokens. */
  claims: Json = {};
  /** Error code to return instead of a code. */
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

  /** Completes the sign-in of a browser that the console redirected, in place of the provider's pages. */
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
