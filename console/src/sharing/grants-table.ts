/** Table of grants. */
import { html, nothing, type TemplateResult } from 'lit';
import { openHref, scrollTable } from '../frame/page.js';
import { compact, iriName } from '../storage/labels.js';
import { actionsText, conditionsOf, endText, type GrantPolicy, type Kept, listGrants } from './access.js';
import { nameOfPerson, person } from './people.js';

export interface GrantsTable {
  readonly label: string;
  readonly grants: readonly Kept[];
  /** Returns true for policies that are shown. Default: all. */
  readonly shows?: (policy: GrantPolicy) => boolean;
  /** True to omit the column with the people. */
  readonly isMine?: boolean;
  /** Called by the button to revoke a grant. Absent: no button. */
  readonly revoke?: (grant: Kept) => void;
}

export const grantsTable = ({ label, grants, shows = () => true, isMine, revoke }: GrantsTable): TemplateResult =>
  scrollTable(
    label,
    [
      ...(isMine ? ['What'] : ['Who']),
      'Can',
      'Until',
      ...(isMine ? [] : ['What']),
      ...(revoke ? [hidden('Revoke')] : []),
    ],
    grants.map((grant) => {
      const { access, purpose } = grant.document;
      return access.filter(shows).map(
        (policy, index) => html`<tr>
          <td>${isMine ? targets(policy) : listGrants(policy.assignee).map(person)}</td>
          <td>${actionsText(policy)}${conditionsOf(policy).map((text) => html`<br><span class="soft note">only when ${text}</span>`)}${typeof purpose === 'string' ? html`<br><span class="soft note">for: ${purpose}</span>` : nothing}</td>
          <td>${endText(policy)}</td>
          ${isMine ? nothing : html`<td>${targets(policy)}</td>`}
          ${revoke ? html`<td>${index === 0 ? html`<button type="button" class="danger" aria-label=${`Revoke the access of ${listGrants(policy.assignee).map(nameOfPerson).join(', ')}`} @click=${() => revoke(grant)}>Revoke</button>` : html`with the one above`}</td>` : nothing}
        </tr>`,
      );
    }),
  );

const hidden = (text: string): TemplateResult => html`<span class="visually-hidden">${text}</span>`;
const targets = (policy: GrantPolicy): readonly TemplateResult[] => listGrants(policy.target.value).map(targetLink);

/** Renders a link to the resource of a document. */
export const targetLink = (iri: string): TemplateResult =>
  html`<a href=${openHref(iri)}>${iriName(iri, compact(iri))}</a> `;
