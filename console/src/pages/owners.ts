/** Further owners: this browser, or anybody by a URI; for owners. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { confirmed } from '../frame/confirm.js';
import { Page } from '../frame/page.js';
import { identityOfBrowser, onSession } from '../session/session.js';
import { json, messageOf, Refusal, succeed } from '../storage/api.js';
import { controls } from '../storage/controller.js';
import { dateText } from '../storage/names.js';
import { systemUrl } from '../storage/system.js';

interface Owner {
  readonly id: string;
  readonly name: string;
  readonly added: string;
  readonly by: string;
}

@customElement('page-owners')
export class OwnersPage extends Page {
  @state() private owners: readonly Owner[] | undefined;
  @state() private failure = '';

  constructor() {
    super();
    onSession(() => void this.load());
    void this.load();
  }

  private async load(): Promise<void> {
    try {
      this.owners = (await json<{ owners: readonly Owner[] }>(await systemUrl('owners'))).owners;
      this.failure = '';
    } catch (error) {
      this.owners = undefined;
      this.failure =
        error instanceof Refusal && error.status === 404
          ? (await controls())
            ? 'Here access control lists say who controls what: give Control on the root under “Share”.'
            : 'Only owners see who the others are, and add more.'
          : messageOf(error);
    }
  }

  protected override render(): TemplateResult {
    return html`<h1>Owners</h1>
      <p>Owners may do everything. Those whom the settings name (<code>lws.owners</code>) are not listed here.</p>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      ${this.owners ? this.content(this.owners) : nothing}`;
  }

  private content(owners: readonly Owner[]): TemplateResult {
    return html`
      ${
        owners.length === 0
          ? html`<p class="empty">Nobody was added yet. A browser that is an owner needs no link at the next visit.</p>`
          : html`<div class="scroll" tabindex="0" role="region" aria-label="Owners">
              <table>
                <thead>
                  <tr><th scope="col">Name</th><th scope="col">Identity</th><th scope="col">Added</th><th scope="col">Remove</th></tr>
                </thead>
                <tbody>
                  ${owners.map(
                    (owner) => html`<tr>
                      <td>${owner.name}</td>
                      <td class="iri">${owner.id}</td>
                      <td>${dateText(owner.added)}</td>
                      <td><button type="button" class="danger" aria-label=${`Remove ${owner.name}`} @click=${() => this.removeOwner(owner)}>Remove</button></td>
                    </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
      }
      <div class="cards">
        <section class="card">
          <h2>This browser</h2>
          <p>It gets an identity of its own. Sign in “as this browser” at the next visit.</p>
          <form @submit=${this.addBrowser}>
            <label>Its name <input name="name" required maxlength="200" placeholder="Laptop at work" /></label>
            <button class="primary">Make this browser an owner</button>
          </form>
        </section>
        <section class="card">
          <h2>Somebody else</h2>
          <form @submit=${this.addOther}>
            <label>URI, such as a did:key <input name="id" required maxlength="2000" spellcheck="false" /></label>
            <label>Name <input name="name" required maxlength="200" /></label>
            <button>Add this owner</button>
          </form>
        </section>
      </div>`;
  }

  private async addBrowser(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const name = String(new FormData(form).get('name'));
    await this.attempt(async () => this.add(form, { id: await identityOfBrowser(), name }));
  }

  private async addOther(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const data = new FormData(form);
    await this.add(form, { id: String(data.get('id')).trim(), name: String(data.get('name')) });
  }

  private async add(form: HTMLFormElement, owner: { id: string; name: string }): Promise<void> {
    const added = await this.attempt(
      async () =>
        succeed('POST', await systemUrl('owners'), {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(owner),
        }),
      `${owner.name} is an owner now.`,
    );
    if (added) form.reset();
    await this.load();
  }

  private async removeOwner({ id, name }: Owner): Promise<void> {
    const text = `${name} is no owner any more. What they created stays theirs.`;
    if (!(await confirmed({ title: 'Remove an owner', text, proceed: `Remove ${name}` }))) return;
    const query = `?id=${encodeURIComponent(id)}`;
    await this.attempt(
      async () => succeed('DELETE', (await systemUrl('owners')) + query),
      `${name} is no owner any more.`,
    );
    await this.load();
  }
}
