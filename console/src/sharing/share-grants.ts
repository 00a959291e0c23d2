/** Grants that cover a resource: the user's own, or for controllers all, with creation and revocation. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { copyLink, linkTo, Page, placeHref, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { ancestors, dateText, isContainer, shortName } from '../storage/names.js';
import { actionNames, covers, type Kept, policyFor, post, readAll, revoke } from './access.js';
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
  @state() private grants: readonly Kept[] | undefined;
  @state() private isPerson = true;

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
    return html`
      <h2>${this.controller ? 'Shared with' : 'Shared with you'}</h2>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.renderGrants()}
      ${this.controller ? html`${this.renderForm()}${this.renderReadLink()}` : nothing}`;
  }

  private renderGrants(): TemplateResult {
    if (!this.grants) return html`<p>Loading …</p>`;
    if (this.grants.length === 0)
      return html`<p class="empty">${this.controller ? 'This is not shared yet. Owners have access to everything, and people to what they created.' : 'This is not shared with you by a grant.'}</p>`;
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
    return html`<form class="give" @submit=${this.give}>
      <div class="row">${this.isPerson ? personField('grant') : html`<p class="grow">Access for everybody</p>`}<button class="primary">Give access</button></div>
      ${this.isPerson ? this.renderLink() : nothing}
      ${actionFields(['read'])}
      <details><summary>For ${wording(this.at)}, without an end. Change this …</summary><div class="fields">
      <label>For
        <select name="for" @change=${(event: Event) => {
          this.isPerson = (event.target as HTMLSelectElement).value === '';
        }}><option value="">A person</option><option value=${everybody}>Everybody</option></select>
      </label>
      ${this.isPerson ? calledField : nothing}
      <label>To
        <select name="iri">${[this.at, ...above].map((iri) => html`<option value=${iri}>${wording(iri)}</option>`)}</select>
      </label>
      ${untilField}
      <label>What for (optional, a note) <input name="purpose" autocomplete="off"></label>
      </div></details>
    </form>`;
  }

  private renderLink(): TemplateResult {
    const copy = (): Promise<boolean> => this.attempt(() => copyLink(this.at), 'The link is copied.');
    return html`<p class="soft">Not known yet? Send them a link: they sign in with their browser and ask, and you answer under
      <a href=${placeHref('requests')}>Requests</a>. <button type="button" class="quiet" @click=${copy}>Copy link to send</button></p>`;
  }

  private renderReadLink(): TemplateResult {
    const inAWeek = new Date(Date.now() + 7 * 86_400_000 - new Date().getTimezoneOffset() * 60_000);
    return html`<form class="give" @submit=${this.shareLink}>
      <h3>Public link</h3>
      <p class="soft">Makes ${wording(this.at)} public until a date: everybody can read it without signing in. It ends earlier if you revoke it in the list.</p>
      <div class="row"><label>Until <input type="datetime-local" name="until" required .value=${inAWeek.toISOString().slice(0, 16)}></label>
      <button>Make public and copy link</button></div>
    </form>`;
  }

  private async shareLink(event: SubmitEvent): Promise<void> {
    const until = submitted(event).text('until');
    const { at } = this;
    const shared = await this.attempt(async () => {
      const policy = policyFor({ person: everybody, iri: at, actions: ['read'], until });
      if (!(await mayBePublic(everybody, `read ${wording(at)}`))) throw new DOMException('', 'AbortError');
      await post('AccessGrant', [policy], { purpose: 'Public link' });
    });
    if (!shared) return;
    await this.attempt(
      () => navigator.clipboard.writeText(linkTo(at)),
      `The link is copied. It ends ${dateText(until)}.`,
    );
    await this.readGrants();
  }

  private async give(event: SubmitEvent): Promise<void> {
    const { form, data, text } = submitted(event);
    const given = await this.attempt(async () => {
      const person = this.isPerson ? personFrom(data) : everybody;
      const [iri, actions] = [text('iri'), actionsFrom(data)];
      const policy = policyFor({ person, iri, actions, until: text('until') });
      const what = `${actions.map((each) => actionNames[each].toLowerCase()).join(', ')} ${wording(iri)}`;
      if (!(await mayBePublic(person, what))) throw new DOMException('', 'AbortError');
      await post('AccessGrant', [policy], text('purpose') === '' ? {} : { purpose: text('purpose') });
    }, 'Access is given.');
    if (!given) return;
    form.reset();
    this.isPerson = true;
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

const wording = (iri: string): string => {
  if (iri === storageUri) return 'the whole storage';
  return isContainer(iri) ? `${shortName(iri)}/ and everything in it` : `${shortName(iri)} alone`;
};
