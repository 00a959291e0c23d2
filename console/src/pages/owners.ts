/** Page for additional owners: this browser, or any URI. Only owners see it. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { blank } from '../frame/blank.js';
import { copyLink, Page, placeHref, scrollTable, submitted } from '../frame/page.js';
import { browserIdentity, identityOfBrowser, onSession, storageUri, subjectNow } from '../session/session.js';
import { assigneesOf, openRequests } from '../sharing/access.js';
import { everybody, nameOfAsker, nameOfPerson } from '../sharing/people.js';
import { json, jsonBody, messageOf, Refusal, succeed, systemUrl } from '../storage/api.js';
import { isController, readStatus } from '../storage/controller.js';
import { dateText, shortName } from '../storage/names.js';

/** Person with an unanswered access request. */
interface Asker {
  readonly id: string;
  /** Date of their latest request. */
  readonly asked: string;
}

interface Owner {
  readonly id: string;
  readonly name: string;
  readonly added: string;
  readonly by: string;
}

@customElement('page-owners')
export class OwnersPage extends Page {
  /** Reason why the list cannot be shown, or empty. */
  @state() private refusal = '';
  @state() private owners: readonly Owner[] | undefined;
  /** Owners that the settings name. */
  @state() private named: readonly string[] = [];
  /** People who asked for access and have no answer yet. */
  @state() private askers: readonly Asker[] = [];
  /** True if the identity of this browser is an owner. */
  @state() private isBrowserOwner = false;

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
      const own = await browserIdentity();
      this.isBrowserOwner = owners.some(({ id }) => id === own);
      const setting = status?.settings.find(({ name }) => name === 'lws.owners')?.value;
      this.named = (setting ?? []) as readonly string[];
      this.askers = await askersNow(owners.map(({ id }) => id));
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
      <p class="soft">Owners can do everything in this storage: read and change all items, share them, and add other owners.</p>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      ${this.refusal ? blank({ icon: 'lock', title: 'There is nothing to see here', text: this.refusal, actions: html`<a class="button" href=${placeHref('browse')}>Open the files</a>` }) : nothing}
      ${this.owners ? this.content(this.owners) : nothing}`;
  }

  private content(owners: readonly Owner[]): TemplateResult {
    const me = subjectNow();
    // Without owners in the settings, the first owner is the identity generated at the first start, which no user added.
    const first = this.named.length > 0 || owners.some(({ id }) => id === me) ? this.named : [me];
    return html`<div class="columns">
      ${scrollTable(
        'Owners',
        ['Name', 'Identity', 'Added', html`<span class="visually-hidden">Remove</span>`],
        [
          ...first.map(
            (id) => html`<tr><td><strong>${nameOfPerson(id)}</strong></td><td>${this.identity(id)}</td>
            <td>${this.named.includes(id) ? html`in the settings (<code>lws.owners</code>)` : 'at the first start'}</td><td></td></tr>`,
          ),
          ...owners.map(
            (owner) => html`<tr>
                  <td><strong>${owner.name}</strong>${owner.id === me ? ' (you)' : ''}</td>
                  <td>${this.identity(owner.id)}</td>
                  <td>${dateText(owner.added)}</td>
                  <td><button type="button" class="danger" aria-label=${`Remove ${owner.name}`} @click=${() => this.removeOwner(owner)}>Remove</button></td>
                </tr>`,
          ),
        ],
      )}
      ${this.renderAdding()}
      ${
        this.isBrowserOwner
          ? nothing
          : html`<section class="card">
              <h2>This browser</h2>
              <p class="soft">Stay signed in: next time you need no link here. The browser keeps a key, and becomes an owner.</p>
              <form class="row" @submit=${this.addBrowser}>
                <label class="grow">Name of the browser <input class="wide" name="name" required maxlength="200" placeholder="Laptop at work" /></label>
                <button>Remember this browser</button>
              </form>
            </section>`
      }</div>`;
  }

  private renderAdding(): TemplateResult {
    const { askers } = this;
    return html`<section class="card beside">
      <h2>Add an owner</h2>
      <ol class="numbered">
        <li><h3>Send them an invitation</h3>
          <p class="soft">They open the link, sign in with their browser, and ask for access.</p>
          <button type="button" @click=${this.copyInvitation}>Copy invitation link</button></li>
        <li><h3>Choose who asked</h3>
          ${
            askers.length === 0
              ? html`<p class="soft">Nobody has asked yet.</p>`
              : html`<ul class="plain" aria-label="People who asked">${askers.map(
                  ({
                    id,
                    asked,
                  }) => html`<li class="row"><span class="grow" title=${id}><strong>${nameOfAsker(id)}</strong><br><small class="soft">${shortName(id)}, asked ${dateText(asked)}</small></span>
                    <button type="button" aria-label=${`Make owner: ${nameOfAsker(id)}`} @click=${() => this.addAsker(id)}>Make owner</button></li>`,
                )}</ul>`
          }
          <details><summary>Enter an identity instead</summary>
            <form @submit=${this.addOther}>
              <label>Name <input class="wide" name="name" required maxlength="200" autocomplete="off" /></label>
              <label>Identity <input class="wide" name="id" required maxlength="2000" spellcheck="false" autocomplete="off" placeholder="did:key:z6Mk…" /></label>
              <button class="primary">Add owner</button>
            </form></details></li>
      </ol>
      <p class="soft">To give access to some items only, use <a href=${placeHref('sharing')}>Share</a>.</p>
    </section>`;
  }

  /** Shows an identity. A key is shortened, since readers do not compare keys. */
  private identity(id: string): TemplateResult {
    const copy = (): Promise<boolean> =>
      this.attempt(() => navigator.clipboard.writeText(id), 'The identity is copied.');
    return html`<span class="iri" title=${id}>${shortName(id)}</span> <button type="button" class="quiet" aria-label=${`Copy the identity ${shortName(id)}`} @click=${copy}>Copy</button>`;
  }

  private readonly copyInvitation = (): Promise<boolean> =>
    this.attempt(() => copyLink(storageUri), 'The link is copied.');

  private async addBrowser(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    await this.attempt(async () => this.add(form, { id: await identityOfBrowser(), name: text('name') }));
  }

  private async addOther(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    await this.add(form, { id: text('id'), name: text('name') });
  }

  private async addAsker(id: string): Promise<void> {
    const name = nameOfPerson(id);
    const text = `${name} will be able to do everything in this storage. Anyone can ask, so compare this identity with the one that they tell you: ${id}`;
    const question = { title: `Make ${name} an owner?`, text, proceed: 'Make owner' };
    await this.attemptAfter(question, () => addOwner({ id, name }), `${name} is now an owner.`);
    await this.load();
  }

  private async add(form: HTMLFormElement, owner: NewOwner): Promise<void> {
    if (await this.attempt(() => addOwner(owner), `${owner.name} is now an owner.`)) form.reset();
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

type NewOwner = Pick<Owner, 'id' | 'name'>;

const addOwner = async (owner: NewOwner): Promise<unknown> =>
  succeed('POST', await systemUrl('owners'), jsonBody(owner));

/** Returns the people with unanswered access requests, newest first. Leaves out owners and classes of callers. */
async function askersNow(owners: readonly string[]): Promise<readonly Asker[]> {
  const askers = new Map<string, Asker>();
  for (const { document, modified } of await openRequests(subjectNow()))
    for (const id of assigneesOf(document))
      if (!owners.includes(id) && id !== everybody && !askers.has(id)) askers.set(id, { id, asked: modified });
  return [...askers.values()];
}
