/** Permissions on a resource or container, and their reasons. */
import { nameOfPerson, person } from '../sharing/people.js';
import '../sharing/share-grants.js';
import '../frame/access-denied.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { crumbs, nameInText, openHref, Page, placeHref } from '../frame/page.js';
import { storageUri, who } from '../session/session.js';
import { hasAcls } from '../sharing/acl-requests.js';
import { readStatus, type Status } from '../storage/controller.js';

@customElement('page-sharing')
export class SharingPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private mode: 'owner' | 'acls' | undefined;
  /** Status of the storage, read for controllers only. */
  @state() private status: Status | undefined;
  /** Error of the last `readRules`. Undefined after a success. */
  @state() private why: unknown;

  private get at(): string {
    return this.parameters.get('at') ?? storageUri;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // A new name for a person is shown in all parts of the page.
    this.addEventListener('renamed', () => {
      for (const part of this.querySelectorAll<Page>('share-acl, share-grants, people-list')) part.requestUpdate();
    });
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('parameters')) void this.readRules();
  }

  private async readRules(): Promise<void> {
    const { at } = this;
    try {
      const [acls, status] = await Promise.all([hasAcls(at), readStatus()]);
      if (acls) await import('../sharing/share-acl.js');
      if (at !== this.at) return;
      this.mode = acls ? 'acls' : 'owner';
      this.status = status;
      this.why = undefined;
    } catch (error) {
      if (at === this.at) this.why = error;
    }
  }

  protected override render(): TemplateResult {
    const { at } = this;
    return html`
      ${crumbs(at, 'sharing')}
      <div class="title"><h1>Access to ${nameInText(at)}</h1><div class="row"><a class="button" href=${openHref(at)}>Open</a>
        ${this.status ? html`<a class="button" href=${placeHref('admin', { tab: 'explain', iri: at })}>Check access</a>` : nothing}</div></div>
      ${this.why ? html`<quad-refused .iri=${at} .why=${this.why}></quad-refused>` : this.mode ? this.renderParts() : html`<p>Loading …</p>`}`;
  }

  private renderParts(): TemplateResult {
    const isSubject = who().kind === 'subject';
    const rules = html`${this.mode === 'acls' ? nothing : this.renderOwners()}${isSubject ? html`<people-list></people-list>` : nothing}`;
    return html`<div class="columns">
      ${this.mode === 'acls' ? html`<section class="card"><share-acl .at=${this.at}></share-acl></section>` : nothing}
      ${isSubject ? html`<share-grants .at=${this.at} .controller=${this.status !== undefined} .rules=${rules}></share-grants>` : html`<div class="card folds">${rules}</div>`}
      </div>${this.status ? nothing : html`<p>Owners can share this. You can <a href=${placeHref('requests', { ask: this.at })}>ask for access</a>.</p>`}`;
  }

  private renderOwners(): TemplateResult {
    const session = who();
    const told = (name: string): unknown => this.status?.settings.find((setting) => setting.name === name)?.value;
    const named = (told('lws.owners') ?? []) as readonly string[];
    // A storage without configured owners belongs to the identity generated at its first start.
    const owners = named.length === 0 && this.status && session.kind === 'subject' ? [session.subject] : named;
    return html`<details><summary><h2>Rules</h2> <span class="soft">${owners.length > 0 ? html`Owners: ${owners.map(nameOfPerson).join(', ')}` : nothing}</span></summary>
      <ul>
        <li>Owners of the storage may do everything.${owners.length > 0 ? html`<ul>${owners.map((iri) => html`<li>${person(iri)}</li>`)}</ul>` : nothing}</li>
        <li>The creator of an item has full control of it.</li>
        ${told('lws.public-read') === true ? html`<li>All callers may read everything (lws.public-read).</li>` : nothing}
        <li>Others may do what a grant allows. Grants for the folders above count here, too.</li>
      </ul></details>`;
  }
}
