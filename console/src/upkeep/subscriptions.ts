/** Webhook subscriptions: those that the signed-in subject may see, a new one, and deleting one. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { confirmed } from '../frame/confirm.js';
import { Page } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { targetLink } from '../sharing/grants-table.js';
import { json, messageOf, serviceEndpoint, succeed } from '../storage/api.js';
import { dateText } from '../storage/names.js';

interface Subscription {
  readonly id: string;
  readonly topic: readonly string[];
  readonly inbox: string;
  readonly expires: string;
  readonly active: boolean;
  readonly lastSuccess?: string;
  readonly lastFailure?: string;
}

async function endpoint(): Promise<string> {
  const found = await serviceEndpoint('NotificationService');
  if (found === undefined) throw new Error('This storage takes no subscriptions (lws.notifications.enabled is off).');
  return found;
}

@customElement('upkeep-subscriptions')
export class UpkeepSubscriptions extends Page {
  @state() private subscriptions: readonly Subscription[] | undefined;
  @state() private failure = '';

  override connectedCallback(): void {
    super.connectedCallback();
    void this.load();
  }

  private async load(): Promise<void> {
    try {
      const { items } = await json<{ items: readonly { id: string }[] }>(await endpoint());
      this.subscriptions = await Promise.all(items.map(({ id }) => json<Subscription>(id)));
      this.failure = '';
    } catch (error) {
      this.failure = messageOf(error);
    }
  }

  protected override render(): TemplateResult {
    return html`
      <h2>Subscriptions</h2>
      <p class="soft">The server tells an inbox of every change of a resource, or of what is in a container. Who controls the storage sees all subscriptions.</p>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.renderList()}
      <form class="card" @submit=${this.subscribe}>
        <h3>Subscribe</h3>
        <label>To changes of <input name="topic" type="url" required value=${storageUri} spellcheck="false"></label>
        <label>Inbox: an address that takes POST requests <input name="inbox" type="url" required placeholder="https://…" spellcheck="false"></label>
        <label>Until (optional; the server has a longest time) <input name="expires" type="datetime-local"></label>
        <button class="primary">Subscribe</button>
      </form>`;
  }

  private renderList(): TemplateResult {
    if (!this.subscriptions) return html`<p>Loading …</p>`;
    if (this.subscriptions.length === 0) return html`<p class="empty">There is no subscription. Make one below.</p>`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Subscriptions">
      <table>
        <thead><tr><th scope="col">Of</th><th scope="col">Inbox</th><th scope="col">Until</th><th scope="col">How it goes</th><th scope="col">Delete</th></tr></thead>
        <tbody>${this.subscriptions.map(
          (each) => html`<tr>
            <td>${each.topic.map(targetLink)}</td>
            <td><span class="iri">${each.inbox}</span></td>
            <td>${dateText(each.expires)}</td>
            <td>${stateOf(each)}</td>
            <td><button type="button" class="danger" aria-label=${`Delete the subscription of ${each.inbox}`} @click=${() => this.cancel(each)}>Delete</button></td>
          </tr>`,
        )}</tbody>
      </table>
    </div>
    <div class="row"><button type="button" @click=${this.load}>Read again</button></div>`;
  }

  private async subscribe(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const made = await this.attempt(async () => {
      const data = new FormData(form);
      const expires = String(data.get('expires'));
      const body = {
        '@context': 'https://www.w3.org/ns/lws/v1',
        type: ['WebhookSubscription'],
        topic: [String(data.get('topic'))],
        inbox: String(data.get('inbox')),
        ...(expires ? { expires: new Date(expires).toISOString() } : {}),
      };
      const headers = { 'Content-Type': 'application/lws+json' };
      await succeed('POST', await endpoint(), { headers, body: JSON.stringify(body) });
    }, 'The inbox is subscribed.');
    if (!made) return;
    form.reset();
    await this.load();
  }

  private async cancel({ id, inbox }: Subscription): Promise<void> {
    const sure = await confirmed({
      title: 'Delete this subscription?',
      text: `${inbox} is told of nothing more.`,
      proceed: 'Delete',
    });
    if (!sure || !(await this.attempt(() => succeed('DELETE', id), 'The subscription is deleted.'))) return;
    await this.load();
    await this.keepFocus();
  }
}

const stateOf = ({ active, lastSuccess, lastFailure }: Subscription): TemplateResult => html`
  ${active ? 'Active' : 'Stopped after too many failures'}
  ${lastSuccess ? html`<br>last delivery ${dateText(lastSuccess)}` : nothing}
  ${lastFailure ? html`<br>last failure ${dateText(lastFailure)}` : nothing}
  ${!lastSuccess && !lastFailure ? html`<br><span class="soft">nothing was delivered yet</span>` : nothing}`;
