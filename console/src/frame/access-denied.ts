/** `<quad-refused>`: says why a page cannot be shown, and offers the next step. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { storageUri, who } from '../session/session.js';
import { messageOf, Refusal } from '../storage/api.js';
import { isController } from '../storage/controller.js';
import { parentIri } from '../storage/names.js';
import { Page, placeHref, signInHref } from './page.js';

/** `denied`: access can be requested. `absent`: there is nothing. */
type Reason = 'denied' | 'absent' | 'failed';

/**
 * Callers without read access get the same response for nonexistent resources, so access can be requested for either. Controllers
 * are told the truth.
 */
async function reasonOf(failure: unknown): Promise<Reason> {
  if (!(failure instanceof Refusal) || ![401, 403, 404].includes(failure.status)) return 'failed';
  return failure.status === 404 && (await isController().catch(() => false)) ? 'absent' : 'denied';
}

@customElement('quad-refused')
export class Refused extends Page {
  @property() iri = '';
  /** The error. */
  @property({ attribute: false }) why: unknown;
  @state() private reason: Reason | undefined;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('why')) return;
    const { why } = this;
    this.reason = undefined;
    void reasonOf(why).then((reason) => {
      if (why === this.why) this.reason = reason;
    });
  }

  protected override render(): TemplateResult {
    const { reason } = this;
    if (reason === undefined) return html`<p class="soft">Loading …</p>`;
    if (reason === 'failed') return html`<p class="problem" role="alert">${messageOf(this.why)}</p>${this.back()}`;
    return html`<section class="card refused" role="status">${reason === 'absent' ? this.absent() : this.denied()}</section>`;
  }

  private absent(): TemplateResult {
    return html`<h2>There is nothing at this address</h2>
      <p>It was moved, deleted, or never here. Owners can look in the <a href=${placeHref('trash')}>trash</a>.</p>${this.back()}`;
  }

  private denied(): TemplateResult {
    const asking = placeHref('requests', { ask: this.iri });
    if (who().kind === 'subject')
      return html`<h2>You have no access to this</h2>
        <p>It may not exist, or no owner has given you access yet. Ask for it: the owners see your request, and answer it.</p>
        <div class="row"><a class="button primary" href=${asking}>Request access</a></div>`;
    return html`<h2>Sign in to see this</h2>
      <p>This is a storage for files and linked data, and this part of it is not public. If you have been given access, sign in, and you return to
        this page. If not, request access. You need no account: this browser can create an identity.</p>
      <div class="row"><a class="button primary" href=${signInHref()}>Sign in</a><a class="button" href=${placeHref('signin', { to: asking })}>Request access</a></div>`;
  }

  private back(): TemplateResult {
    const at = this.iri.startsWith(storageUri) && this.iri !== storageUri ? parentIri(this.iri) : storageUri;
    return html`<a class="button" href=${placeHref('browse', { at })}>Back to the folder</a>`;
  }
}
