/** Shows the grants that cover a resource. Controllers see, create and revoke all. Other users see their own. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { copyLink, linkTo, nameInText, Page, placeHref, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { ancestors, dateText, isContainer } from '../storage/names.js';
import {
  actionNames,
  covers,
  type GrantAction,
  type Kept,
  listGrants,
  policyFor,
  post,
  readAll,
  revoke,
} from './access.js';
import { grantsTable } from './grants-table.js';
import {
  actionFields,
  actionsFrom,
  calledField,
  everybody,
  mayBePublic,
  nameOfPerson,
  personField,
  personFrom,
  untilField,
} from './people.js';

@customElement('share-grants')
export class ShareGrants extends Page {
  @property() at = storageUri;
  /** True if the signed-in user controls the storage. */
  @property({ type: Boolean }) controller = false;
  /** Folded parts of the page that follow public access. */
  @property({ attribute: false }) rules: unknown;
  @state() private grants: readonly Kept[] | undefined;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('at')) void this.readGrants();
  }

  private readGrants(): Promise<void> {
    const { at } = this;
    return this.reading(async () => {
      const grants = await readAll('AccessGrant');
      if (at !== this.at) return;
      this.grants = grants.filter(({ document }) => document.access.some((policy) => covers(policy, at)));
    });
  }

  protected override render(): TemplateResult {
    return html`<section class="card"><h2>${this.controller ? 'Shared with' : 'Shared with you'}</h2>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.renderGrants()}</section>
      ${this.controller ? this.renderForm() : nothing}
      <div class="card folds">${this.controller ? this.renderPublic() : nothing}${this.rules}</div>`;
  }

  private renderGrants(): TemplateResult {
    if (!this.grants) return html`<p>Loading …</p>`;
    if (this.grants.length === 0)
      return html`<p class="empty">${this.controller ? 'Nobody yet, except owners and the people who create items here.' : 'This is not shared with you by a grant.'}</p>`;
    return grantsTable({
      label: 'People with access',
      grants: this.grants,
      shows: (policy) => covers(policy, this.at),
      ...(this.controller ? { revoke: (grant: Kept) => this.revoke(grant) } : {}),
    });
  }

  private renderForm(): TemplateResult {
    const above = ancestors(this.at, storageUri)
      .filter((iri) => iri !== this.at)
      .reverse();
    const copy = (): Promise<boolean> => this.attempt(() => copyLink(this.at), 'The link is copied.');
    return html`<form class="card give beside" @submit=${this.give}>
      <h2>Invite somebody</h2>
      <p class="soft">They open a link, sign in with their browser, and ask. You answer under <a href=${placeHref('requests')}>Requests</a>.</p>
      <button type="button" @click=${copy}>Copy invitation link</button>
      <h3 class="or">or choose a person</h3>
      ${personField('grant')}
      <div class="row top-row">${actionFields(['read'])}${untilField()}</div>
      <details><summary>For ${wording(this.at)}. Change this, or add a note …</summary><div class="fields">
      <label>To
        <select name="iri">${[this.at, ...above].map((iri) => html`<option value=${iri}>${wording(iri)}</option>`)}</select>
      </label>
      ${calledField}
      <label>What for (optional, a note) <input name="purpose" autocomplete="off"></label>
      </div></details>
      <button class="primary">Give access</button>
    </form>`;
  }

  private renderPublic(): TemplateResult {
    const isPublic = (this.grants ?? []).some(({ document }) =>
      document.access.some((policy) => covers(policy, this.at) && listGrants(policy.assignee).includes(everybody)),
    );
    return html`<details class="public ${isPublic ? 'on' : ''}"><summary><h2>Public access</h2> <span class="soft">${isPublic ? 'on' : 'off'}</span></summary>
      <form class="public" @submit=${this.makePublic}>
      <p>Opens ${wording(this.at)} to everybody who can reach this server, without signing in. It ends at the date, or when you revoke it in the list.</p>
      <label>Everybody can <select name="actions">${Object.entries(publicActions).map(([value, text]) => html`<option value=${value}>${text}</option>`)}</select></label>
      ${untilField('7')}
      <button>Make public and copy link</button>
    </form></details>`;
  }

  private async makePublic(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    const { at } = this;
    const [until, actions] = [text('until'), text('actions').split(' ') as GrantAction[]];
    const shared = await this.attempt(async () => {
      const policy = policyFor({ person: everybody, iri: at, actions, until });
      if (!(await mayBePublic(everybody, deedOf(actions, at)))) throw new DOMException('', 'AbortError');
      await post('AccessGrant', [policy], { purpose: 'Public link' });
    });
    if (!shared) return;
    form.reset();
    const end = until === '' ? 'It has no end.' : `It ends ${dateText(until)}.`;
    await this.attempt(() => navigator.clipboard.writeText(linkTo(at)), `The link is copied. ${end}`);
    await this.readGrants();
  }

  private async give(event: SubmitEvent): Promise<void> {
    const { form, data, text } = submitted(event);
    const given = await this.attempt(async () => {
      const [person, iri, actions] = [personFrom(data), text('iri'), actionsFrom(data)];
      const policy = policyFor({ person, iri, actions, until: text('until') });
      // The user can also enter the IRI of all callers.
      if (!(await mayBePublic(person, deedOf(actions, iri)))) throw new DOMException('', 'AbortError');
      await post('AccessGrant', [policy], text('purpose') === '' ? {} : { purpose: text('purpose') });
    }, 'Access is given.');
    if (!given) return;
    form.reset();
    this.dispatchEvent(new Event('renamed', { bubbles: true }));
    await this.readGrants();
  }

  private async revoke({ document }: Kept): Promise<void> {
    const names = document.access.flatMap(({ assignee }) => [assignee].flat()).map(nameOfPerson);
    const text = `${[...new Set(names)].join(', ')} will lose this access immediately. ${document.access.length > 1 ? 'The grant has several parts, and all of them end.' : ''}`;
    const question = { title: 'Revoke this grant?', text, proceed: 'Revoke' };
    if (!(await this.attemptAfter(question, () => revoke(document), 'The grant is revoked.'))) return;
    await this.readGrants();
    await this.keepFocus();
  }
}

/** Permissions that all callers can be given. */
const publicActions: Readonly<Record<string, string>> = {
  read: 'Read',
  'read create': 'Read and add',
  'read create modify delete': 'Read, add, change and delete',
};

const wording = (iri: string): string =>
  `${nameInText(iri)}${iri !== storageUri && isContainer(iri) ? ' and everything in it' : ''}`;

/** Returns actions and their target for a sentence: `read, add the folder people/ and everything in it`. */
const deedOf = (actions: readonly GrantAction[], iri: string): string =>
  `${actions.map((each) => actionNames[each].toLowerCase()).join(', ')} ${wording(iri)}`;
