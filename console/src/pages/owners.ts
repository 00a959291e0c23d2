/** Additional owners: this browser, or any URI. For owners only. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { Page, scrollTable, submitted } from '../frame/page.js';
import { identityOfBrowser, onSession, subjectNow } from '../session/session.js';
import { nameOfPerson } from '../sharing/people.js';
import { json, jsonBody, messageOf, Refusal, succeed, systemUrl } from '../storage/api.js';
import { isController, readStatus } from '../storage/controller.js';
import { dateText } from '../storage/names.js';

interface Owner {
  readonly id: string;
  readonly name: string;
  readonly added: string;
  readonly by: string;
}

@customElement('page-owners')
export class OwnersPage extends Page {
  /** Why there is no list. */
  @state() private refusal = '';
  @state() private owners: readonly Owner[] | undefined;
  /** Owners that the settings name. */
  @state() private named: readonly string[] = [];

  constructor() {
    super();
    onSession(() => void this.load());
  }

  protected override async load(): Promise<void> {
    try {
      const [{ owners }, status] = await Promise.all([
        json<{ owners: readonly Owner[] }>(await systemUrl('owners')),
        readStatus(),
      ]);
      this.owners = owners;
      const setting = status?.settings.find(({ name }) => name === 'lws.owners')?.value;
      this.named = (setting ?? []) as readonly string[];
      this.failure = this.refusal = '';
    } catch (error) {
      this.owners = undefined;
      if (!(error instanceof Refusal) || ![401, 403, 404].includes(error.status)) this.failure = messageOf(error);
      else
        this.refusal = (await isController())
          ? 'Access control lists decide about control here. Give Control on the root under “Share”.'
          : 'Only owners can see and add owners.';
    }
  }

  protected override render(): TemplateResult {
    return html`<h1>Owners</h1>
      <p>Owners have full access to the storage.</p>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      ${this.refusal ? html`<p class="empty">${this.refusal}</p>` : nothing}
      ${this.owners ? this.content(this.owners) : nothing}`;
  }

  private content(owners: readonly Owner[]): TemplateResult {
    const me = subjectNow();
    // Without owners in the settings, the storage belongs to the identity of its first start, which is nobody added.
    const first = this.named.length > 0 || owners.some(({ id }) => id === me) ? this.named : [me];
    return html`
      ${scrollTable(
        'Owners',
        ['Name', 'Identity', 'Added', 'Remove'],
        [
          ...first.map(
            (id) => html`<tr><td>${nameOfPerson(id)}</td><td><span class="iri">${id}</span></td>
            <td>${this.named.includes(id) ? html`in the settings (<code>lws.owners</code>)` : 'at the first start'}</td><td></td></tr>`,
          ),
          ...owners.map(
            (owner) => html`<tr>
                  <td>${owner.name}${owner.id === me ? ' (you)' : ''}</td>
                  <td><span class="iri">${owner.id}</span></td>
                  <td>${dateText(owner.added)}</td>
                  <td><button type="button" class="danger" aria-label=${`Remove ${owner.name}`} @click=${() => this.removeOwner(owner)}>Remove</button></td>
                </tr>`,
          ),
        ],
      )}
      <div class="cards">
        <section class="card">
          <h2>This browser</h2>
          <p>It gets an identity of its own. At the next visit, choose “Sign in as this browser”.</p>
          <form @submit=${this.addBrowser}>
            <label>Name of the browser <input name="name" required maxlength="200" placeholder="Laptop at work" /></label>
            <button class="primary">Make this browser an owner</button>
          </form>
        </section>
        <section class="card">
          <h2>Another person</h2>
          <p>They open this storage, choose Sign in, Create an identity, and ask for access. Their request shows you their identity.</p>
          <form @submit=${this.addOther}>
            <label>Identity, a URI such as a did:key <input name="id" required maxlength="2000" spellcheck="false" /></label>
            <label>Name <input name="name" required maxlength="200" /></label>
            <button>Add this owner</button>
          </form>
        </section>
      </div>`;
  }

  private async addBrowser(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    await this.attempt(async () => this.add(form, { id: await identityOfBrowser(), name: text('name') }));
  }

  private async addOther(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    await this.add(form, { id: text('id'), name: text('name') });
  }

  private async add(form: HTMLFormElement, owner: { id: string; name: string }): Promise<void> {
    const added = await this.attempt(
      async () => succeed('POST', await systemUrl('owners'), jsonBody(owner)),
      `${owner.name} is now an owner.`,
    );
    if (added) form.reset();
    await this.load();
  }

  private async removeOwner({ id, name }: Owner): Promise<void> {
    const text = `${name} will no longer be an owner. Items that they created stay theirs.`;
    const question = { title: 'Remove an owner', text, proceed: `Remove ${name}` };
    const url = async (): Promise<string> => `${await systemUrl('owners')}?id=${encodeURIComponent(id)}`;
    const remove = async (): Promise<unknown> => succeed('DELETE', await url());
    await this.attemptAfter(question, remove, `${name} is no longer an owner.`);
    await this.load();
  }
}
