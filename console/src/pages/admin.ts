/** Administration of the storage: subscriptions, activity, access check, agents, import and export, status. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import '../admin/activity.js';
import '../admin/agents.js';
import '../admin/explain.js';
import '../admin/storage.js';
import '../admin/subscriptions.js';
import '../admin/transfer.js';
import { blank } from '../frame/blank.js';
import { Page, signInHref } from '../frame/page.js';
import { keepTab, tabbed } from '../frame/tabs.js';
import { who } from '../session/session.js';
import { isController } from '../storage/controller.js';

const titles = {
  storage: 'Status',
  subscriptions: 'Webhooks',
  activity: 'Activity',
  explain: 'Check access',
  agents: 'Agents',
  transfer: 'Import and export',
} as const;
type Tab = keyof typeof titles;

/** Tabs for users without control of the storage. */
const forAll: readonly string[] = ['transfer', 'subscriptions'];

@customElement('page-admin')
export class AdminPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private tab: Tab | undefined;
  @state() private isOwner: boolean | undefined;

  /** Only controllers can see the status. */
  protected override async load(): Promise<void> {
    this.isOwner = await isController().catch(() => false);
    this.tab ??= this.isOwner ? 'storage' : 'transfer';
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    const wanted = this.parameters.get('tab');
    if (changed.has('parameters') && wanted !== null && Object.hasOwn(titles, wanted)) this.tab = wanted as Tab;
  }

  protected override render(): TemplateResult {
    if (who().kind !== 'subject')
      return html`<h1>Storage</h1>${blank({
        icon: 'lock',
        title: 'Sign in to see this',
        text: 'This page requires sign-in.',
        actions: html`<a class="button primary" href=${signInHref()}>Sign in</a>`,
      })}`;
    if (this.tab === undefined || this.isOwner === undefined)
      return html`<h1>Storage</h1><p class="soft">Loading …</p>`;
    if (!this.isOwner && !forAll.includes(this.tab)) this.tab = 'transfer';
    const shown = Object.entries(titles).filter(([id]) => this.isOwner || forAll.includes(id));
    return html`<h1>Storage</h1>${tabbed<Tab>({
      label: 'Administration',
      titles: Object.fromEntries(shown) as typeof titles,
      selected: this.tab,
      select: (tab) => {
        this.tab = tab;
        keepTab(tab);
      },
      content: this.renderTab(),
    })}`;
  }

  private renderTab(): TemplateResult {
    if (this.tab === 'activity') return html`<admin-activity></admin-activity>`;
    if (this.tab === 'explain')
      return html`<admin-explain .iri=${this.parameters.get('iri') ?? ''} .as=${this.parameters.get('as') ?? ''}></admin-explain>`;
    if (this.tab === 'agents') return html`<admin-agents></admin-agents>`;
    if (this.tab === 'transfer') return html`<admin-transfer></admin-transfer>`;
    if (this.tab === 'storage') return html`<admin-storage></admin-storage>`;
    return html`<admin-subscriptions></admin-subscriptions>`;
  }
}
