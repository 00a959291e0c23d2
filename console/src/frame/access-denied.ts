/** `<quad-refused>`: explains a missing permission and offers the next step. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { storageUri, who } from '../session/session.js';
import { messageOf, Refusal } from '../storage/api.js';
import { isController } from '../storage/controller.js';
import { parentIri } from '../storage/names.js';
import { Page, placeHref, signInHref } from './page.js';

/**
 * True if access is missing. Callers without read access get the same response for nonexistent resources, so access can be
 * requested for either. Controllers are told the truth.
 */
async function mayBeAsked(failure: unknown): Promise<boolean> {
  if (!(failure instanceof Refusal)) return false;
  if (failure.status !== 404) return failure.status === 401 || failure.status === 403;
  return !(await isController().catch(() => false));
}

@customElement('quad-refused')
export class Refused extends Page {
  /** The error. */
  @property() iri = '';
  @property({ attribute: false }) why: unknown;
  @state() private hasWayIn = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('why')) return;
    this.hasWayIn = false;
    void mayBeAsked(this.why).then((may) => {
      this.hasWayIn = may;
    });
  }

  protected override render(): TemplateResult {
    return html`<p class="problem" role="alert">${messageOf(this.why)}</p>${this.hasWayIn ? this.wayIn() : this.back()}`;
  }

  /** Controllers are notified. No sign-in is needed first. */
  private wayIn(): TemplateResult {
    if (who().kind === 'anonymous')
      return html`<p>If you have been given access, sign in, and you return to this page. You need no account: this browser can create an
          identity, with which you can request access.</p>
        <p><a class="button primary" href=${signInHref()}>Sign in</a></p>`;
    return html`<p>It may not exist, or you may not have access yet. You can request access.</p>
      <div class="row"><a class="button primary" href=${placeHref('requests', { ask: this.iri })}>Request access</a></div>`;
  }

  private back(): TemplateResult {
    const at = this.iri.startsWith(storageUri) && this.iri !== storageUri ? parentIri(this.iri) : storageUri;
    return html`<a class="button" href=${placeHref('browse', { at })}>Back to the folder</a>`;
  }
}
