/** Access requests: pending requests, the user's requests with their results, and a form for a new one. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import '../sharing/ask-form.js';
import '../sharing/request-card.js';
import { blank } from '../frame/blank.js';
import { Page, placeHref, scrollTable, signInHref } from '../frame/page.js';
import { refreshButton } from '../frame/refresh.js';
import { keepTab, tabbed } from '../frame/tabs.js';
import { subjectNow, who } from '../session/session.js';
import { actionsText, assigneesOf, endText, type Kept, listGrants, readAll, removeGrant } from '../sharing/access.js';
import { grantsTable, targetLink } from '../sharing/grants-table.js';
import { isForMe } from '../sharing/people.js';
import { isController } from '../storage/controller.js';
import { dateText } from '../storage/names.js';

const titles = { inbox: 'To answer', mine: 'Mine', ask: 'Request access' } as const;
type Tab = keyof typeof titles;
/** Titles for users that are not owners: only owners answer requests. */
const guestTitles = { mine: titles.mine, ask: titles.ask } as typeof titles;

@customElement('page-requests')
export class RequestsPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private tab: Tab = 'inbox';
  @state() private requests: readonly Kept[] | undefined;
  @state() private grants: readonly Kept[] = [];
  @state() private controller = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('parameters')) void this.enter();
  }

  private async enter(): Promise<void> {
    const wanted = this.parameters.get('tab') ?? (this.parameters.has('ask') ? 'ask' : '');
    if (Object.hasOwn(titles, wanted)) this.tab = wanted as Tab;
    if (who().kind !== 'subject') return;
    await this.readBoth();
    if (!this.controller && this.tab === 'inbox') this.tab = 'mine';
  }

  private readBoth(): Promise<void> {
    return this.reading(async () => {
      const all = [readAll('AccessRequest'), readAll('AccessGrant'), isController()] as const;
      [this.requests, this.grants, this.controller] = await Promise.all(all);
    });
  }

  private isMine(kept: Kept): boolean {
    return assigneesOf(kept.document).includes(subjectNow());
  }

  private isAccepted = ({ document }: Kept): boolean =>
    this.grants.some((grant) => grant.document.request === document.id);

  protected override render(): TemplateResult {
    if (who().kind !== 'subject')
      return html`<h1>Requests for access</h1>${blank({
        icon: 'lock',
        title: 'Sign in to request access',
        text: 'No account needed: your browser is enough.',
        actions: html`<a class="button primary" href=${signInHref()}>Sign in</a>`,
      })}`;
    return html`<h1>Requests for access</h1>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      <div @answered=${this.answered}>${tabbed<Tab>({
        label: 'Requests',
        titles: this.controller || !this.requests ? titles : guestTitles,
        selected: this.tab,
        select: (tab) => {
          this.tab = tab;
          keepTab(tab);
        },
        content: this.renderTab(),
      })}</div>`;
  }

  private renderTab(): TemplateResult {
    if (this.tab === 'ask') return html`<ask-form .iri=${this.parameters.get('ask') ?? ''}></ask-form>`;
    if (!this.requests) return html`<p>Loading …</p>`;
    return this.tab === 'inbox' ? this.renderInbox() : this.renderMine();
  }

  private renderInbox(): TemplateResult {
    if (!this.controller)
      return html`<p class="empty">Controllers of the storage answer requests. Your own requests are under “Mine”.</p>`;
    const others = (this.requests ?? []).filter((kept) => !this.isMine(kept));
    if (others.length === 0)
      return blank({
        icon: 'inbox',
        title: 'No access requests',
        text: 'People can request access if you send them a link.',
        actions: html`<a class="button" href=${placeHref('sharing')}>Share</a>`,
      });
    const [open, answered] = [others.filter((kept) => !this.isAccepted(kept)), others.filter(this.isAccepted)];
    return html`<div class="row between"><span role="status" class="soft">${open.length === 0 ? 'All are answered.' : `${open.length} to answer.`}</span>
        ${refreshButton(() => this.readBoth())}</div>
      ${repeat(
        [...open, ...answered],
        // Keyed by request, so that input for one request does not appear in another.
        ({ document }) => document.id,
        (kept) => html`<request-card .asked=${kept} .accepted=${this.isAccepted(kept)}></request-card>`,
      )}`;
  }

  private renderMine(): TemplateResult {
    const asked = (this.requests ?? []).filter((kept) => this.isMine(kept));
    const granted = this.grants.filter(({ document }) => document.access.some(isForMe));
    if (this.controller && asked.length + granted.length === 0)
      return blank({
        icon: 'inbox',
        title: 'You need no requests here',
        text: 'You own this storage and have access to everything.',
        actions: html`<a class="button" href=${placeHref('requests', { tab: 'inbox' })}>Requests of others</a>`,
      });
    return html`
      <h2>My requests</h2>
      ${asked.length === 0 ? html`<p class="empty">No pending requests. <a href=${placeHref('requests', { tab: 'ask' })}>Request access</a> to a folder or an item.</p>` : this.renderAsked(asked)}
      <h2>What I have been granted</h2>
      ${granted.length === 0 ? html`<p class="soft">Nothing has been shared with you yet.</p>` : grantsTable({ label: 'What I have been granted', grants: granted, shows: isForMe, isMine: true })}`;
  }

  private renderAsked(asked: readonly Kept[]): TemplateResult {
    return scrollTable(
      'My requests',
      ['When', 'What', 'To', 'Until', 'Answer', html`<span class="visually-hidden">Withdraw</span>`],
      asked.map(
        (kept) => html`<tr>
          <td>${dateText(kept.modified)}</td>
          <td>${kept.document.access.flatMap(({ target }) => listGrants(target.value)).map(targetLink)}</td>
          <td>${kept.document.access.map(actionsText).join('; ')}</td>
          <td>${kept.document.access.map(endText).join('; ')}</td>
          <td>${this.isAccepted(kept) ? html`<span class="pill good">Accepted</span>` : html`<span class="pill wait">Waiting</span>`}</td>
          <td><button type="button" @click=${() => this.takeBack(kept)}>Withdraw</button></td>
        </tr>`,
      ),
    );
  }

  private async takeBack({ document }: Kept): Promise<void> {
    const question = {
      title: 'Withdraw this request?',
      text: 'Controllers no longer see it. A grant that answered it stays.',
      proceed: 'Withdraw',
    };
    if (await this.attemptAfter(question, () => removeGrant(document.id), 'The request is withdrawn.'))
      await this.answered();
  }

  private async answered(): Promise<void> {
    if (this.tab === 'ask') this.tab = 'mine';
    await this.readBoth();
    await this.keepFocus();
  }
}
