/** `<shared-with-me>`: resources shared by grants, on the start page of a guest. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { blank } from '../frame/blank.js';
import { Page, placeHref } from '../frame/page.js';
import { storageUri, subjectNow } from '../session/session.js';
import { serviceEndpoint } from '../storage/api.js';
import { endOf, type GrantPolicy, type Kept, readAll } from './access.js';
import { grantsTable } from './grants-table.js';
import { isForMe } from './people.js';

const shows = (policy: GrantPolicy): boolean =>
  isForMe(policy) && (endOf(policy) ?? Number.POSITIVE_INFINITY) > Date.now();

@customElement('shared-with-me')
export class SharedWithMe extends Page {
  /** True if the user cannot read the root. */
  @property({ type: Boolean }) isRefused = false;
  @state() private grants: readonly Kept[] | undefined;

  protected override load(): Promise<void> {
    return this.reading(async () => {
      // A storage with access control lists has no grants.
      if ((await serviceEndpoint('AccessGrantService')) === undefined) this.grants = [];
      else this.grants = (await readAll('AccessGrant')).filter(({ document }) => document.access.some(shows));
    });
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (!this.grants) return html`<p class="soft">Loading …</p>`;
    const { isRefused } = this;
    if (this.grants.length === 0) return isRefused ? this.renderNothing() : nothing;
    return html`<h2>Shared with you</h2>${grantsTable({ label: 'Shared with you', grants: this.grants, shows, isMine: true })}
      ${isRefused ? html`<p><a class="button" href=${placeHref('requests', { ask: storageUri })}>Request more access</a></p>` : nothing}`;
  }

  private renderNothing(): TemplateResult {
    const copy = (): Promise<boolean> =>
      this.attempt(() => navigator.clipboard.writeText(subjectNow()), 'Your identity is copied.');
    return blank({
      icon: 'folder',
      title: 'Nothing is shared with you yet',
      text: 'Request access, or send your identity to an owner of this storage.',
      actions: html`<a class="button primary" href=${placeHref('requests', { ask: storageUri })}>Request access</a>
        <button type="button" @click=${copy}>Copy identity</button>`,
    });
  }
}
