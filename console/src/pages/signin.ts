/** Sign-in: owner's link, identity of this browser, pasted credential, identity provider, or anonymous. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { confirmed } from '../frame/confirm.js';
import { executable, Page, placeAfter, placeHref, submitted } from '../frame/page.js';
import { browserIdentity, forgetBrowser, signIn, signInAsBrowser, signOut, subjectNow } from '../session/session.js';
import { beginOpenId, openIdProvider } from '../sign-in/openid.js';
import { identityName, isController } from '../storage/controller.js';

@customElement('page-signin')
export class SignInPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private known: string | undefined;
  @state() private provider: string | undefined;
  @state() private isOwner = false;
  /** True when the buttons can be shown. Earlier, they would move under the pointer. */
  @state() private isReady = false;

  protected override async load(): Promise<void> {
    await this.attempt(async () => {
      this.known = await browserIdentity();
      this.provider = await openIdProvider();
      this.isOwner = subjectNow() !== '' && (await isController());
    });
    this.isReady = true;
  }

  private get next(): string {
    return placeAfter(this.parameters.get('to'));
  }

  protected override render(): TemplateResult {
    const now = subjectNow();
    const title = html`<h1>${now === '' ? 'Sign in' : 'Your identity'}</h1>`;
    if (!this.isReady) return title;
    return html`
      ${title}
      ${now === '' ? html`<p class="soft">Sign in to add items, and to see what is shared with you.</p>` : this.renderNow(now)}
      ${now === '' ? this.ways(now) : html`<details class="ways"><summary><h2>Use another identity</h2></summary>${this.ways(now)}</details>`}`;
  }

  /** Shows the identity that is signed in. */
  private renderNow(now: string): TemplateResult {
    const copy = (): Promise<boolean> =>
      this.attempt(() => navigator.clipboard.writeText(now), 'The identity is copied.');
    return html`<section class="card">
      <p>You are signed in as <strong>${now === this.known ? 'this browser' : identityName(now)}</strong>.
        ${this.isOwner ? 'You own this storage and can do everything in it.' : html`You see what is public and what is <a href=${placeHref('requests', { tab: 'mine' })}>shared with you</a>.`}</p>
      <div class="row"><a class="button primary" href=${this.next}>${this.parameters.has('to') ? 'Continue' : 'Go to the files'}</a>
        <button type="button" @click=${copy}>Copy identity</button></div>
    </section>`;
  }

  private ways(now: string): TemplateResult {
    // Only the most common way to sign in is emphasised.
    const filled = (isUsual: boolean): string => (isUsual && now === '' ? 'primary' : '');
    return html`<div class="cards">
        ${
          this.provider === undefined
            ? nothing
            : html`<section class="card">
                <h2>With ${this.provider}</h2>
                <p>You return here after signing in there.</p>
                <button type="button" class=${filled(true)} @click=${() => this.attempt(() => beginOpenId(this.next))}>Continue to ${this.provider}</button>
              </section>`
        }
        <section class="card">
          <h2>With this browser</h2>
          <p>No account or password needed.</p>
          <div class="row">
            <button type="button" class=${filled(this.provider === undefined)} @click=${this.asBrowser}>${this.known ? 'Sign in as this browser' : 'Continue with this browser'}</button>
            ${this.known && ['', this.known].includes(now) ? html`<button type="button" @click=${this.forget}>Forget this browser</button>` : nothing}
          </div>
          <details><summary>How does this work?</summary>
            <p>The browser keeps a secret key, which is your identity on this device: owners can share with it, and you can request access.
              Signing out keeps it. Clearing the data of this site deletes it.</p>
            ${this.known ? html`<p class="iri">${this.known}</p>` : nothing}
          </details>
        </section>
      </div>
      <details class="card"><summary><h2>I have a sign-in link or credential</h2></summary>
          <p>Open the link, or paste the credential that <code>${executable} owner --key owner.key</code> printed where the server runs
            (the file is in its data folder), or an ID token of your provider.</p>
          <form @submit=${this.withCredential}>
            <label>Credential <textarea name="credential" rows="4" spellcheck="false" autocomplete="off" required></textarea></label>
            <button>Sign in</button>
          </form>
      </details>
      <p class="soft">What is public needs no identity: <a href=${placeHref('browse')}>browse without signing in</a>.</p>`;
  }

  private async asBrowser(): Promise<void> {
    const now = subjectNow();
    if (now !== '' && now !== this.known) {
      const title = `Leave “${identityName(now)}”?`;
      const text = `You will act as this browser, which has ${this.known ? 'only the access that it was given' : 'no access yet'}. To come back, you need ${this.provider ?? 'a link or credential from the server'}.`;
      if (!(await confirmed({ title, text, proceed: 'Sign in as this browser' }))) return;
    }
    if (await this.attempt(signInAsBrowser)) location.hash = this.next;
  }

  /** Deletes the identity of this browser after a question. Signs in with it first, to read if it controls the storage. */
  private async forget(): Promise<void> {
    const wasAnonymous = subjectNow() === '';
    let isOwner = false;
    if (!(await this.attempt(signInAsBrowser))) return;
    const hasAsked = await this.attempt(async () => {
      isOwner = await isController();
    });
    if (!hasAsked) return;
    const title = 'Forget this browser';
    const text =
      'The identity of this browser is deleted with its key. Everything shared with it becomes unreachable and cannot be restored. To come back later, sign out instead.';
    const owners =
      'This identity controls the storage. If nobody else does, only the operator of the server can give control again.';
    const isSure =
      (await confirmed({ title, text, proceed: title })) &&
      (!isOwner ||
        (await confirmed({ title: 'Delete the key of an owner', text: owners, proceed: title, typed: 'owner' })));
    if (isSure) await this.attempt(forgetBrowser, 'The identity of this browser is deleted.');
    else if (wasAnonymous) await this.attempt(signOut);
    await this.load();
  }

  private async withCredential(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    const credential = text('credential').replace(/^(?:Bearer|DPoP)\s+/i, '');
    if (!(await this.attempt(() => signIn(credential)))) return;
    form.reset();
    location.hash = this.next;
  }
}
