/** `<shared-with-me>`: resources shared by grants, on the start page of a guest. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { serviceEndpoint } from '../storage/api.js';
import { endOf, type Kept, type Policy, readAll } from './access.js';
import { grantsTable } from './grants-table.js';
import { isForMe } from './people.js';

const shows = (policy: Policy): boolean => isForMe(policy) && (endOf(policy) ?? Number.POSITIVE_INFINITY) > Date.now();

@customElement('shared-with-me')
export class SharedWithMe extends Page {
  @state() private grants: readonly Kept[] = [];

  protected override load(): Promise<void> {
    return this.reading(async () => {
      // With access control lists there are no grants.
      if ((await serviceEndpoint('AccessGrantService')) === undefined) return;
      this.grants = (await readAll('AccessGrant')).filter(({ document }) => document.access.some(shows));
    });
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (this.grants.length === 0) return nothing;
    return html`<h2>Shared with you</h2>${grantsTable({ label: 'Shared with you', grants: this.grants, shows })}`;
  }
}
