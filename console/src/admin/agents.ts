/** Agents: lists their access, calls and expiry, removes them, and adds new agents. */
import { html, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../browse/folder-field.js';
import { executable, Page, scrollTable, submitted } from '../frame/page.js';
import { refreshButton } from '../frame/refresh.js';
import { storageUri } from '../session/session.js';
import {
  actionsText,
  assigneesOf,
  endText,
  type Kept,
  listGrants,
  policyFor,
  post,
  readAll,
  revoke,
} from '../sharing/access.js';
import { targetLink } from '../sharing/grants-table.js';
import { actionFields, actionsFrom, inDays, personOf } from '../sharing/people.js';
import { json, serviceEndpoint, systemUrl } from '../storage/api.js';
import { dateText } from '../storage/names.js';

interface Calls {
  readonly subject: string;
  readonly calls: number;
  readonly failed: number;
  readonly tool: string;
  readonly last: string;
}

@customElement('admin-agents')
export class AdminAgents extends Page {
  @state() private grants: readonly Kept[] | undefined;
  private calls: ReadonlyMap<string, Calls> = new Map();

  protected override load(): Promise<void> {
    return this.reading(async () => {
      if ((await serviceEndpoint('ModelContextProtocolService')) === undefined)
        throw new Error('This storage offers no tools to agents (lws.agents.enabled is off).');
      const { callers } = await json<{ callers: readonly Calls[] }>(await systemUrl('agents'));
      this.calls = new Map(callers.map((each) => [each.subject, each]));
      this.grants = (await readAll('AccessGrant')).filter(({ document }) => typeof document.agent === 'string');
    });
  }

  protected override render(): TemplateResult {
    return html`
      <h2 class="visually-hidden">Agents</h2>
      <p class="soft">Give an AI assistant access to a part of this storage, with rights of its own and until a date.</p>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : html`${this.renderList()}${this.renderForm()}`}`;
  }

  private renderList(): TemplateResult {
    if (!this.grants) return html`<p>Loading …</p>`;
    if (this.grants.length === 0)
      return html`<p class="empty">No agent has access yet. Add the first one in two steps.</p>`;
    return html`${scrollTable(
      'Agents',
      ['Agent', 'Access', 'Calls since the start', html`<span class="visually-hidden">End</span>`],
      this.grants.map((each) => this.renderAgent(each)),
    )}
    <div class="row">${refreshButton(() => this.load())}</div>`;
  }

  private renderForm(): TemplateResult {
    const command = `${executable} agent add NAME`;
    const copy = (): Promise<boolean> =>
      this.attempt(() => navigator.clipboard.writeText(command), 'The command is copied.');
    const form = html`<ol class="numbered">
      <li><h3>Create its identity</h3>
        <p class="soft">Run this on the server. It makes a key, and prints the settings of the agent and its identity.</p>
        <div class="row command"><code class="grow">${command}</code><button type="button" class="quiet" aria-label="Copy the command" @click=${copy}>Copy</button></div></li>
      <li><h3>Give it access</h3><form @submit=${this.add}>
        <div class="pair"><label>Name <input name="name" required maxlength="200" autocomplete="off" placeholder="Research assistant"></label>
          <label>Identity <input name="id" required spellcheck="false" autocomplete="off" placeholder="did:key:z6Mk…"></label></div>
        <div class="pair"><folder-field field="iri" label="Folder or item" hasFiles></folder-field>
          <label>Until the end of <input type="date" name="until" required value=${inDays(30).slice(0, 10)}></label></div>
        ${actionFields(['read'])}
        <button class="primary">Add the agent</button></form></li></ol>`;
    return this.grants?.length === 0
      ? html`<section class="card"><h2>Add an agent</h2>${form}</section>`
      : html`<details class="card"><summary><h2>Add an agent</h2></summary>${form}</details>`;
  }

  private async add(event: SubmitEvent): Promise<void> {
    const { form, data, text } = submitted(event);
    const isDone = await this.attempt(
      async () => {
        const [iri, person] = [text('iri'), personOf(text('id'))];
        if (!iri.startsWith(storageUri)) throw new Error('The folder is not in this storage.');
        const policy = policyFor({ person, iri, actions: actionsFrom(data), until: `${text('until')}T23:59` });
        await post('AccessGrant', [policy], { agent: text('name') });
      },
      `${text('name')} has access.`,
    );
    if (!isDone) return;
    form.reset();
    await this.load();
  }

  private renderAgent(grant: Kept): TemplateResult {
    const { document } = grant;
    const [subject = ''] = assigneesOf(document);
    const used = this.calls.get(subject);
    return html`<tr>
      <td><strong>${document.agent}</strong><br><span class="iri soft">${subject}</span></td>
      <td>${document.access.map((policy) => html`${actionsText(policy)}: ${listGrants(policy.target.value).map(targetLink)}<br>until ${endText(policy)}<br>`)}</td>
      <td>${used ? html`${used.calls}, ${used.failed} failed<br>last: ${used.tool}, ${dateText(used.last)}` : html`<span class="soft">no calls yet</span>`}</td>
      <td><button type="button" class="danger" aria-label=${`End the access of ${document.agent}`} @click=${() => this.end(grant)}>End</button></td>
    </tr>`;
  }

  private async end({ document }: Kept): Promise<void> {
    const text = `${document.agent} loses its access immediately. Its key stays on the server: ${executable} agent remove ${document.agent}.`;
    const question = { title: 'End this agent?', text, proceed: 'End' };
    if (!(await this.attemptAfter(question, () => revoke(document), 'The access is ended.'))) return;
    await this.load();
    await this.keepFocus();
  }
}
