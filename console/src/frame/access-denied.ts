/** `<quad-refused>`: why something is not shown, and what whoever may not read it does next. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { storageUri, who } from '../session/session.js';
import { messageOf, Refusal } from '../storage/api.js';
import { controls } from '../storage/controller.js';
import { parentOf } from '../storage/names.js';
import { Page, placeHref, signInHref } from './page.js';

/**
 * Whether access is what is missing. Strangers are told the same of what is absent and of what they may not read: either
 * may be asked for. Who controls the storage is told the truth.
 */
async function mayBeAsked(failure: unknown): Promise<boolean> {
  if (!(failure instanceof Refusal)) return false;
  if (failure.status !== 404) return failure.status === 401 || failure.status === 403;
  return !(await controls().catch(() => false));
}

@customElement('quad-refused')
export class Refused extends Page {
  /** What was refused. */
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

  /** Asks who controls the storage; nobody signs in first. */
  private wayIn(): TemplateResult {
    if (who().kind === 'anonymous')
      return html`<p>Whoever sent you here may have let you in already: say who you are, and you come back to this address. You need no
          account; this browser can make an identity, with which you ask for access.</p>
        <p><a class="button primary" href=${signInHref()}>Sign in</a></p>`;
    return html`<p>Perhaps it is not there; perhaps nobody has let you in yet. You can ask those who may.</p>
      <div class="row"><a class="button primary" href=${placeHref('requests', { ask: this.iri })}>Ask for access</a></div>`;
  }

  private back(): TemplateResult {
    const at = this.iri.startsWith(storageUri) && this.iri !== storageUri ? parentOf(this.iri) : storageUri;
    return html`<a class="button" href=${placeHref('browse', { at })}>Back to the container</a>`;
  }
}
