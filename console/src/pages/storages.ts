/** Storages of a deployment: the user's storages, or all for operators, with creation and invitations. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { confirmed } from '../frame/confirm.js';
import { Page, placeHref, scrollTable, signInHref, submitted } from '../frame/page.js';
import { consoleOf, idTokenInUse, onSession, signInAsBrowser, who } from '../session/session.js';
import { json, jsonBody, succeed, systemUrl } from '../storage/api.js';
import { dateText, shortName, sizeText } from '../storage/names.js';

interface Stored {
  readonly name: string;
  readonly address: string;
  readonly state: 'ready' | 'suspended' | 'deleted';
  readonly owners: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly created: string;
  /** Size in bytes when the storage was last closed, if it is not open. Absent if it was never open. */
  readonly usedBytes?: number;
}

interface Listed {
  readonly totalItems: number;
  /** True if the requested storage exists. */
  readonly opens: boolean;
  readonly isOperator: boolean;
  /** Identity providers whose users may create storages. */
  readonly signUp: readonly string[];
  readonly templates?: readonly string[];
  readonly storages: readonly Stored[];
  /** Default values of settings, for storages that do not set them. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

const pageSize = 100;
const quota = 'lws.quota.max-bytes';

@customElement('page-storages')
export class StoragesPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private listed: Listed | undefined;
  /** Link of the last invitation. */
  @state() private link = '';

  constructor() {
    super();
    onSession(() => void this.load());
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get('parameters')) void this.load();
  }

  /** Text to search in the names of storages. */
  private get name(): string {
    return this.parameters.get('name') ?? '';
  }

  private get invitation(): string | undefined {
    return this.parameters.get('invitation') ?? undefined;
  }

  protected override load(): Promise<void> {
    if (who().kind === 'anonymous') return Promise.resolve();
    return this.reading(async () => {
      // The parameters are read after the request: the shell sets the route after it has added the page.
      const url = await systemUrl('storages');
      const [page, open] = [this.parameters.get('page') ?? '1', this.parameters.get('open') ?? ''];
      this.listed = await json<Listed>(`${url}?${new URLSearchParams({ page, open, q: this.name })}`);
      // Anyone can create a link. So only an existing storage receives the signed-in identity, and only if the user agrees.
      const question = {
        title: `Continue to ${open}?`,
        text: 'You will be signed in there with the same identity.',
        proceed: 'Continue',
      };
      if (this.listed.opens && (await confirmed(question))) await this.open(open);
    });
  }

  private async open(address: string, name?: string): Promise<void> {
    const given = async (): Promise<string | undefined> => {
      const answer = await succeed('POST', `${await systemUrl('storages')}/${name}/sign-in`);
      return ((await answer.json()) as { credential?: string }).credential;
    };
    const url = await consoleOf(address, name && this.listed?.isOperator ? given : undefined);
    const question = {
      title: `Continue to ${address}?`,
      text: 'Your credential is for this storage only. Sign in there with a credential for that storage, or another way that it offers.',
      proceed: 'Continue',
      isUsual: true,
    };
    if (url.includes('#') || (await confirmed(question))) location.assign(url);
  }

  protected override render(): TemplateResult {
    const { listed } = this;
    return html`<h1>Storages</h1>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      ${this.invitation ? this.renderOwn('You are invited to a storage of your own.') : nothing}
      ${
        who().kind === 'anonymous' && !this.invitation
          ? html`<p class="empty">Sign in to see your storages. <a href=${signInHref()}>Sign in</a></p>
            <p>A storage has its own address, owner and data. To create one, open an invitation link from the operator of this server, or sign in
              at an identity provider whose users may create storages. Then choose a name.</p>`
          : nothing
      }
      ${listed ? this.renderList(listed) : nothing}
      ${listed?.isOperator ? this.renderOperators(listed) : nothing}
      ${!listed?.isOperator && listed?.signUp.length && !this.invitation ? this.renderSignUp(listed) : nothing}`;
  }

  private renderSignUp({ signUp }: Listed): TemplateResult {
    if (idTokenInUse()) return this.renderOwn('You can create a storage of your own.');
    const hosts = signUp.map((issuer) => new URL(issuer).host).join(' or ');
    return html`<p>For a storage of your own, <a href=${signInHref()}>sign in</a> at ${hosts}.</p>`;
  }

  private renderOwn(said: string): TemplateResult {
    const isNobody = who().kind === 'anonymous';
    return html`<section class="card">
      <h2>Your storage</h2>
      <p>${said} You own it${isNobody ? html` with a new identity of this browser, or <a href=${signInHref()}>sign in</a> first` : ''}.</p>
      <form @submit=${this.makeOwn}>
        <label>Name: lowercase letters and digits <input name="name" required maxlength="63" spellcheck="false" autocomplete="off" /></label>
        <button class="primary">Create my storage</button>
      </form>
    </section>`;
  }

  private renderList(listed: Listed): TemplateResult {
    const { storages, totalItems, isOperator } = listed;
    const { name } = this;
    const search = html`<form role="search" class="row" @submit=${this.find}>
      <label>Name contains <input name="find" type="search" .value=${name} spellcheck="false" autocomplete="off" /></label>
      <button>Search</button>
    </form>`;
    if (totalItems === 0 && name !== '') return html`${search}<p class="empty">No storage has ${name} in its name.</p>`;
    if (totalItems === 0)
      return html`<p class="empty">${isOperator ? 'No storages yet. Create one below.' : 'You have no storages yet.'}</p>`;
    const page = Number(this.parameters.get('page') ?? 1);
    const to = (next: number, title: string, is: boolean): unknown =>
      is ? html`<a class="button" href=${listHref(name, next)}>${title}</a>` : nothing;
    return html`${search}${scrollTable(
      'Storages',
      ['Name', 'State', 'Owners', 'Used', 'Quota', 'Created', 'Actions'],
      storages.map((each) => this.renderRow(each, listed)),
    )}
    <div class="row"><span>${totalItems} in all</span>
      ${to(page - 1, 'Previous', page > 1)} ${to(page + 1, 'Next', page * pageSize < totalItems)}</div>`;
  }

  private readonly find = (event: SubmitEvent): void => {
    location.hash = listHref(submitted(event).text('find').toLowerCase());
  };

  private renderRow(stored: Stored, { isOperator, defaults }: Listed): TemplateResult {
    const { name, address, state, owners, settings, created, usedBytes } = stored;
    const most = Number(settings[quota] ?? defaults[quota] ?? 0);
    const button = (title: string, work: () => unknown, kind = ''): TemplateResult =>
      html`<button type="button" class=${kind} aria-label=${`${title} ${name}`} @click=${work}>${title}</button>`;
    return html`<tr>
      <th scope="row"><a href=${`${address}app`}>${name}</a></th>
      <td>${state}</td>
      <td>${owners.map((owner) => html`<span title=${owner}>${shortName(owner)}</span> `)}</td>
      <td>${usedBytes === undefined ? 'not opened yet' : sizeText(usedBytes)}</td>
      <td>${quotaText(most)}${settings[quota] === undefined ? html` <span class="soft">(default)</span>` : nothing}</td>
      <td>${dateText(created)}</td>
      <td><div class="row">
        ${state === 'ready' ? button('Open', () => this.attempt(() => this.open(address, name))) : nothing}
        ${isOperator && state === 'ready' ? button('Suspend', () => this.become(name, 'suspended')) : nothing}
        ${isOperator && state !== 'ready' ? button(state === 'deleted' ? 'Restore' : 'Resume', () => this.become(name, 'ready')) : nothing}
        ${isOperator && state !== 'deleted' ? button('Remove', () => this.discard(stored), 'danger') : nothing}
      </div></td>
    </tr>`;
  }

  private renderOperators({ templates = [], defaults }: Listed): TemplateResult {
    const given = html`
      ${
        templates.length > 0
          ? html`<label>Template <select name="template"><option value="">none</option>${templates.map((each) => html`<option>${each}</option>`)}</select></label>`
          : nothing
      }
      <label>Quota (GiB), empty: ${quotaText(Number(defaults[quota] ?? 0))} <input name="quota" type="number" min="0.001" step="any" /></label>`;
    return html`<div class="cards">
      <section class="card">
        <h2>Create a storage</h2>
        <form @submit=${this.make}>
          <label>Name <input name="name" required maxlength="63" spellcheck="false" autocomplete="off" /></label>
          <label>Owner, a URI such as a did:key; empty: you <input name="owner" maxlength="2000" spellcheck="false" /></label>
          ${given}
          <button>Create</button>
        </form>
      </section>
      <section class="card">
        <h2>Invite people</h2>
        <p>The link creates one storage, with a name chosen by the recipient.</p>
        <form @submit=${this.invite}>
          ${given}
          <label>Valid for (days) <input name="days" type="number" min="1" max="30" value="7" required /></label>
          <button>Create a link</button>
        </form>
        ${
          this.link
            ? html`<label>The link (shown once) <textarea readonly rows="4" @focus=${(event: Event) => (event.target as HTMLTextAreaElement).select()}>${this.link}</textarea></label>
              <button type="button" @click=${() => this.attempt(() => navigator.clipboard.writeText(this.link), 'Copied.')}>Copy the link</button>`
            : nothing
        }
      </section>
    </div>`;
  }

  private async makeOwn(event: SubmitEvent): Promise<void> {
    const name = submitted(event).text('name');
    const { invitation } = this;
    await this.attempt(async () => {
      if (who().kind === 'anonymous') await signInAsBrowser();
      const body = { name, ...(invitation ? { invitation } : { id_token: idTokenInUse() }) };
      const made = await succeed('POST', await systemUrl('storages'), jsonBody(body));
      await this.open(((await made.json()) as Stored).address);
    });
  }

  private async make(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    const [name, owner] = [text('name'), text('owner')];
    const body = { name, ...givenIn(text), ...(owner ? { owners: [owner] } : {}) };
    const make = async (): Promise<unknown> => succeed('POST', await systemUrl('storages'), jsonBody(body));
    if (await this.attempt(make, `The storage ${name} was created.`)) form.reset();
    await this.load();
  }

  private async invite(event: SubmitEvent): Promise<void> {
    const { text } = submitted(event);
    await this.attempt(async () => {
      const body = { ...givenIn(text), days: Number(text('days')) };
      const made = await succeed('POST', await systemUrl('storages/invitations'), jsonBody(body));
      this.link = ((await made.json()) as { url: string }).url;
    });
  }

  private async change(method: string, name: string, body?: object): Promise<void> {
    const { headers, ...sent } = body ? jsonBody(body) : {};
    const options = { headers: { ...headers, 'If-Match': '*' }, ...sent };
    await succeed(method, `${await systemUrl('storages')}/${name}`, options);
  }

  private async become(name: string, state: Stored['state']): Promise<void> {
    await this.attempt(() => this.change('PATCH', name, { state }), `${name} is ${state} now.`);
    await this.load();
  }

  private async discard({ name }: Stored): Promise<void> {
    const text = `${name} becomes unreachable. It can be restored for some days, then it is deleted permanently.`;
    const question = { title: `Remove ${name}?`, text, proceed: 'Remove', typed: name };
    await this.attemptAfter(question, () => this.change('DELETE', name), `${name} is removed.`);
    await this.load();
    await this.keepFocus();
  }
}

const listHref = (name: string, page = 1): string =>
  placeHref('storages', { ...(name === '' ? {} : { name }), ...(page === 1 ? {} : { page: String(page) }) });

const quotaText = (bytes: number): string => (bytes > 0 ? sizeText(bytes) : 'no limit');

/** Returns the settings from the fields that both forms have. */
function givenIn(text: (name: string) => string): object {
  const [template, gibibytes] = [text('template'), text('quota')];
  return {
    ...(template ? { template } : {}),
    ...(gibibytes ? { settings: { [quota]: Math.round(Number(gibibytes) * 2 ** 30) } } : {}),
  };
}
