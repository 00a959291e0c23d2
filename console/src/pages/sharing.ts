/** Who may do what with a resource or a container, and why. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import '../sharing/people-list.js';
import '../sharing/share-grants.js';
import { messageOf } from '../api.js';
import { controls } from '../controller.js';
import { ancestors, isContainer, shortName } from '../names.js';
import { Page, placeHref } from '../page.js';
import { storageUri, who } from '../session.js';
import { hasAcls } from '../sharing/acl-requests.js';
import { person } from '../sharing/person-fields.js';

@customElement('page-sharing')
export class SharingPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private mode: 'owner' | 'acls' | undefined;
  @state() private controller = false;
  @state() private failure = '';

  private get at(): string {
    return this.parameters.get('at') ?? storageUri;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // A name that was given in one place is shown in all.
    this.addEventListener('renamed', () => {
      for (const part of this.querySelectorAll<Page>('share-acl, share-grants, people-list')) part.requestUpdate();
    });
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('parameters')) void this.load();
  }

  private async load(): Promise<void> {
    const { at } = this;
    try {
      const [acls, controller] = await Promise.all([hasAcls(at), controls()]);
      if (acls) await import('../sharing/share-acl.js');
      if (at !== this.at) return;
      this.mode = acls ? 'acls' : 'owner';
      this.controller = controller;
      this.failure = '';
    } catch (error) {
      if (at === this.at) this.failure = messageOf(error);
    }
  }

  protected override render(): TemplateResult {
    const { at } = this;
    return html`
      <nav aria-label="Where you are"><ol class="crumbs">
        ${[...new Set([...ancestors(at, storageUri), at])].map((iri) => html`<li><a href=${placeHref('sharing', { at: iri })}>${iri === storageUri ? new URL(iri).host : shortName(iri)}</a></li>`)}
      </ol></nav>
      <h1>Who may do what with ${at === storageUri ? 'the storage' : shortName(at)}</h1>
      <p><a href=${placeHref(isContainer(at) ? 'browse' : 'resource', { at })}>Open it</a></p>
      ${this.failure ? this.renderFailure() : this.mode ? this.renderParts() : html`<p>Loading …</p>`}`;
  }

  private renderFailure(): TemplateResult {
    const ask =
      who().kind === 'subject' ? html` <a href=${placeHref('requests', { ask: this.at })}>Ask for access</a>` : nothing;
    return html`<p class="problem" role="alert">${this.failure}</p><p>${ask}</p>`;
  }

  private renderParts(): TemplateResult {
    const isSubject = who().kind === 'subject';
    return html`
      <section class="card">${this.mode === 'acls' ? html`<share-acl .at=${this.at}></share-acl>` : this.renderOwners()}</section>
      ${
        isSubject
          ? html`<section class="card"><share-grants .at=${this.at} .controller=${this.controller}></share-grants></section>
              <section class="card"><people-list></people-list></section>`
          : nothing
      }`;
  }

  private renderOwners(): TemplateResult {
    const session = who();
    return html`
      <h2>Rules</h2>
      <ul>
        <li>Owners of the storage may do everything.${this.controller && session.kind === 'subject' ? html` You are one:<br>${person(session.subject)}` : nothing}</li>
        <li>Who created a resource may do everything with it.</li>
        <li>Others may do what a grant allows.</li>
      </ul>
      ${this.controller ? nothing : html`<p>You are no owner. Owners share; <a href=${placeHref('requests', { ask: this.at })}>ask for access</a>.</p>`}`;
  }
}
