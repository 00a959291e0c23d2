/** `<quad-refused>`: shows why a page cannot be shown, and offers the next step. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { storageUri, who } from '../session/session.js';
import { messageOf, Refusal, request } from '../storage/api.js';
import { isController } from '../storage/controller.js';
import { ancestors, decoded, isContainer, parentIri } from '../storage/names.js';
import { blank } from './blank.js';
import { headingOf, openHref, Page, placeHref, placeNow, signInHref } from './page.js';

/** `denied`: access can be requested. `absent`: the resource does not exist. */
type Reason = 'denied' | 'absent' | 'failed';

/**
 * Callers without read access get the same response for nonexistent resources, so access can be requested for both. Controllers
 * get the true reason.
 */
async function reasonOf(failure: unknown): Promise<Reason> {
  if (!(failure instanceof Refusal) || ![401, 403, 404].includes(failure.status)) return 'failed';
  return failure.status === 404 && (await isController().catch(() => false)) ? 'absent' : 'denied';
}

/** Returns the nearest container above a resource that exists. The root always exists. */
async function existingAbove(iri: string): Promise<string> {
  for (const each of ancestors(iri, storageUri).reverse())
    if (each !== iri && (await request('HEAD', each)).ok) return each;
  return storageUri;
}

@customElement('quad-refused')
export class Refused extends Page {
  @property() iri = '';
  /** Error that prevented reading. */
  @property({ attribute: false }) why: unknown;
  @state() private reason: Reason | undefined;
  /** If the resource does not exist: the nearest folder above that can be read. */
  @state() private above = storageUri;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.fade(false);
  }

  /** Marks links of the path to folders that do not exist. */
  private fade(isFaded = true): void {
    for (const link of document.querySelectorAll<HTMLAnchorElement>('.crumbs a')) {
      const at = placeNow(link.hash).parameters.get('at') ?? storageUri;
      link.classList.toggle('gone', isFaded && at.length > this.above.length);
      link.tabIndex = link.classList.contains('gone') ? -1 : 0;
    }
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('why')) return;
    const { why } = this;
    this.reason = undefined;
    this.fade(false);
    void reasonOf(why).then(async (reason) => {
      if (reason === 'absent') this.above = await existingAbove(this.iri);
      if (why !== this.why) return;
      this.reason = reason;
      if (reason === 'absent') this.fade();
    });
  }

  protected override render(): TemplateResult {
    const { reason } = this;
    if (reason === undefined) return html`<p class="soft">Loading …</p>`;
    if (reason === 'failed') return html`<p class="problem" role="alert">${messageOf(this.why)}</p>${this.back()}`;
    return reason === 'absent' ? this.absent() : this.denied();
  }

  private absent(): TemplateResult {
    const above = this.above === storageUri ? 'the storage itself' : decoded(`/${this.above.slice(storageUri.length)}`);
    return blank({
      icon: 'nothing',
      kind: 'refused',
      title: 'There is nothing at this address',
      text: html`It was moved, deleted, or never here. The nearest folder that exists is <strong>${above}</strong>.`,
      actions: html`<a class="button primary" href=${openHref(this.above)}>Open ${headingOf(this.above)}</a><a class="button" href=${placeHref('trash')}>Look in the trash</a>`,
    });
  }

  private denied(): TemplateResult {
    const asking = placeHref('requests', { ask: this.iri });
    if (who().kind === 'subject')
      return blank({
        icon: 'lock',
        kind: 'refused',
        title: 'You have no access to this',
        text: 'It may not exist, or no owner has given you access yet. Owners see your request, and answer it.',
        actions: html`<a class="button primary" href=${asking}>Request access</a>`,
      });
    return blank({
      icon: 'lock',
      kind: 'refused',
      title: 'Sign in to see this',
      text: `This ${isContainer(this.iri) ? 'folder' : 'file'} is not public. Sign in or request access. No account needed: your browser is enough.`,
      actions: html`<a class="button primary" href=${signInHref()}>Sign in</a><a class="button" href=${placeHref('signin', { to: asking })}>Request access</a>`,
    });
  }

  private back(): TemplateResult {
    const at = this.iri.startsWith(storageUri) && this.iri !== storageUri ? parentIri(this.iri) : storageUri;
    return html`<a class="button" href=${openHref(at)}>Back to the folder</a>`;
  }
}
