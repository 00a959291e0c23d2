/** Webhook subscriptions visible to the signed-in user: list, create, delete. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../browse/folder-field.js';
import { Page, scrollTable, submitted } from '../frame/page.js';
import { refreshButton } from '../frame/refresh.js';
import { targetLink } from '../sharing/grants-table.js';
import { json, jsonBody, serviceEndpoint, succeed } from '../storage/api.js';
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
  if (found === undefined) throw new Error('This storage does not offer webhooks (lws.notifications.enabled is off).');
  return found;
}

@customElement('admin-subscriptions')
export class AdminSubscriptions extends Page {
  @state() private subscriptions: readonly Subscription[] | undefined;

  protected override load(): Promise<void> {
    return this.reading(async () => {
      const { items } = await json<{ items: readonly { id: string }[] }>(await endpoint());
      this.subscriptions = await Promise.all(items.map(({ id }) => json<Subscription>(id)));
    });
  }

  protected override render(): TemplateResult {
    return html`
      <h2 class="visually-hidden">Webhooks</h2>
      <p class="soft">Tell another program when something changes (webhook). Owners see all webhooks.</p>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.renderList()}
      <form class="card" @submit=${this.subscribe}>
        <h2>Add a webhook</h2>
        <folder-field field="topic" label="Watch" hasFiles></folder-field>
        <label>Send to (URL) <input name="inbox" type="url" required placeholder="https://…" spellcheck="false"></label>
        <label>Ends (optional) <input name="expires" type="datetime-local"></label>
        <button class="primary">Add webhook</button>
      </form>`;
  }

  private renderList(): TemplateResult {
    if (!this.subscriptions) return html`<p>Loading …</p>`;
    if (this.subscriptions.length === 0) return html`<p class="empty">No webhooks. Add one below.</p>`;
    const rows = this.subscriptions.map(
      (each) => html`<tr>
        <td>${each.topic.map(targetLink)}</td>
        <td><span class="iri">${each.inbox}</span></td>
        <td>${dateText(each.expires)}</td>
        <td>${stateOf(each)}</td>
        <td><button type="button" class="danger" aria-label=${`Delete the webhook to ${each.inbox}`} @click=${() => this.cancel(each)}>Delete</button></td>
      </tr>`,
    );
    return html`${scrollTable('Webhooks', ['Watches', 'Sends to', 'Ends', 'State', 'Delete'], rows)}
    <div class="row">${refreshButton(() => this.load())}</div>`;
  }

  private async subscribe(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    const made = await this.attempt(async () => {
      const expires = text('expires');
      const body = {
        '@context': 'https://www.w3.org/ns/lws/v1',
        type: ['WebhookSubscription'],
        topic: [text('topic')],
        inbox: text('inbox'),
        ...(expires ? { expires: new Date(expires).toISOString() } : {}),
      };
      await succeed('POST', await endpoint(), jsonBody(body, 'application/lws+json'));
    }, 'The webhook is added.');
    if (!made) return;
    form.reset();
    await this.load();
  }

  private async cancel({ id, inbox }: Subscription): Promise<void> {
    const text = `Notifications to ${inbox} stop immediately.`;
    const question = { title: 'Delete this webhook?', text, proceed: 'Delete' };
    if (!(await this.attemptAfter(question, () => succeed('DELETE', id), 'The webhook is deleted.'))) return;
    await this.load();
    await this.keepFocus();
  }
}

const stateOf = ({ active, lastSuccess, lastFailure }: Subscription): TemplateResult => html`
  ${active ? 'Active' : 'Stopped after too many failures'}
  ${lastSuccess ? html`<br>last delivery ${dateText(lastSuccess)}` : nothing}
  ${lastFailure ? html`<br>last failure ${dateText(lastFailure)}` : nothing}
  ${!lastSuccess && !lastFailure ? html`<br><span class="soft">nothing was delivered yet</span>` : nothing}`;
