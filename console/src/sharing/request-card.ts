/** Access request for controllers: buttons to accept, with fewer permissions if wanted, or to refuse. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { Page, placeHref, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { dateText, isContainer } from '../storage/names.js';
import {
  actionsText,
  assigneesOf,
  conditionsOf,
  covers,
  endOf,
  endsAt,
  endText,
  type GrantAction,
  type GrantPolicy,
  type Kept,
  listGrants,
  post,
  removeGrant,
} from './access.js';
import { targetLink } from './grants-table.js';
import { actionFields, everybody, nameOfAsker, rememberName, untilField } from './people.js';

@customElement('request-card')
export class RequestCard extends Page {
  @property({ attribute: false }) asked!: Kept;
  /** True if a grant names the request. */
  @property({ type: Boolean }) accepted = false;

  protected override render(): TemplateResult {
    const { document, modified } = this.asked;
    return html`<article class="card">
      <h2>${assigneesOf(document).map(nameOfAsker).join(', ')} asks to ${document.access.map(wishOf)}</h2>
      ${saying('What for', document.purpose)}${saying('Message', document.message)}
      ${!this.accepted && document.access.some((policy) => listGrants(policy.target.value).includes(storageUri)) ? html`<p class="problem">This request covers the whole storage, including items added later. Limit it below if less is enough.</p>` : nothing}
      ${assigneesOf(document).includes(everybody) ? html`<p class="problem">This request is for all callers, not for one person. Accepting it makes the selected items public.</p>` : nothing}
      ${this.accepted ? this.renderAnswered() : this.renderOpen()}
      <details><summary>Details</summary><p class="soft">Asked on ${dateText(modified)} by <span class="iri">${assigneesOf(document).join(', ')}</span></p></details>
    </article>`;
  }

  private renderAnswered(): TemplateResult {
    return html`<p><strong>Accepted.</strong> <a href=${placeHref('sharing', { at: listGrants(this.asked.document.access[0]?.target.value)[0] ?? '' })}>See the grant</a></p>
      <button type="button" @click=${this.putAway}>Put away</button>`;
  }

  private renderOpen(): TemplateResult {
    const { access } = this.asked.document;
    return html`<form @submit=${this.accept}>
      <details><summary>${access.map((policy, at) => html`${at > 0 ? '; ' : ''}<span class="soft">Can</span> ${actionsText(policy).toLowerCase()}, ${endText(policy) === 'no end' ? 'without an end' : html`<span class="soft">until</span> ${endText(policy)}`}${conditionsOf(policy).map((text) => html`, only when ${text}`)}`)} <span class="link">Change</span></summary>
        ${access.map(
          (policy, index) => html`<fieldset name=${`policy-${index}`}>
            ${actionFields(listGrants(policy.action), listGrants(policy.action))}
          </fieldset>`,
        )}
        ${access.map((policy, index) => (listGrants(policy.target.value).some(isContainer) ? html`<label>Limit to (optional): a URL inside it <input name=${`only-${index}`} type="url" spellcheck="false" placeholder=${`${listGrants(policy.target.value).find(isContainer)}…`}></label>` : nothing))}
        ${untilField()}</details>
      ${this.theOne() === undefined ? nothing : html`<label>Call them (optional) <input name="called" autocomplete="off"></label>`}
      <div class="row"><button class="primary">Accept</button><button type="button" class="danger" @click=${this.refuse}>Refuse</button></div>
    </form>`;
  }

  /** Returns the only assignee of the request, whom the user can name, or `undefined`. */
  private theOne(): string | undefined {
    const [one, ...more] = assigneesOf(this.asked.document);
    return more.length === 0 && one !== everybody ? one : undefined;
  }

  private async accept(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    const { document } = this.asked;
    const done = await this.attempt(async () => {
      const access = document.access.flatMap((policy, index) => {
        const fields = `[name="policy-${index}"] input`;
        const boxes = form.querySelectorAll<HTMLInputElement>(`${fields}[name="action"]:checked`);
        const actions = [...boxes].map(({ value }) => value as GrantAction);
        const only = form.querySelector<HTMLInputElement>(`[name="only-${index}"]`)?.value.trim() ?? '';
        return actions.length > 0 ? [narrowed(only ? within(policy, only) : policy, actions, text('until'))] : [];
      });
      if (access.length === 0) throw new Error('Select at least one action, or refuse the request.');
      const { id, purpose } = document;
      await post('AccessGrant', access, { request: id, ...(typeof purpose === 'string' ? { purpose } : {}) });
      const one = this.theOne();
      if (one !== undefined && text('called') !== '') rememberName(one, text('called'));
    }, 'The request is accepted.');
    if (done) this.changed();
  }

  private async refuse(): Promise<void> {
    const text = 'The request is deleted. Its author sees that it is gone and can ask again.';
    const question = { title: 'Refuse this request?', text, proceed: 'Refuse' };
    const refuse = (): Promise<unknown> => removeGrant(this.asked.document.id);
    if (await this.attemptAfter(question, refuse, 'The request is refused.')) this.changed();
  }

  private async putAway(): Promise<void> {
    if (await this.attempt(() => removeGrant(this.asked.document.id), 'The request is dismissed. The grant stays.'))
      this.changed();
  }

  private changed(): void {
    this.dispatchEvent(new Event('answered', { bubbles: true }));
  }
}

/** Returns the scope of a container in a policy, whose target may exclude containers. */
const extentOf = ({ target }: GrantPolicy): string =>
  listGrants(target.type).every((type) => type === 'DataResource')
    ? ' – the items in it, without its folders'
    : ' and everything in it';

/** Describes one policy of a request: its actions and resources. */
const wishOf = (policy: GrantPolicy, at: number): TemplateResult =>
  html`${at > 0 ? ', and to ' : ''}${actionsText(policy).toLowerCase()} ${listGrants(policy.target.value).map((iri) => html`${targetLink(iri)}${isContainer(iri) ? extentOf(policy) : nothing}`)}`;

const saying = (label: string, text: unknown): TemplateResult | typeof nothing =>
  typeof text === 'string' && text !== '' ? html`<p><span class="soft">${label}:</span> ${text}</p>` : nothing;

/** Returns the policy, limited to a single resource. @throws Error if the request does not cover the resource */
function within(policy: GrantPolicy, iri: string): GrantPolicy {
  if (!covers(policy, iri)) throw new Error(`${iri} is not part of the request.`);
  return { ...policy, target: { type: isContainer(iri) ? policy.target.type : 'DataResource', value: [iri] } };
}

/** Returns the policy with fewer actions and an earlier end. Keeps its conditions and drops all other members. */
function narrowed(policy: GrantPolicy, actions: readonly GrantAction[], until: string): GrantPolicy {
  const end = until === '' ? undefined : endsAt(until);
  const asked = endOf(policy);
  const earlier = end && (asked === undefined || new Date(String(end.rightOperand)).getTime() < asked) ? [end] : [];
  const constraint = [...listGrants(policy.constraint), ...earlier];
  const { assignee, target } = policy;
  return {
    type: ['AccessPolicy'],
    action: actions,
    assignee,
    target: { type: target.type, value: target.value },
    ...(constraint.length > 0 ? { constraint } : {}),
  };
}
