/** Explains an access decision. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import type { FolderField } from '../browse/folder-field.js';
import '../browse/folder-field.js';
import { Page, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { nameOfPerson, people, personOf } from '../sharing/people.js';
import { json, systemUrl } from '../storage/api.js';
import { compact, iriName } from '../storage/labels.js';

interface Explanation {
  readonly allowed: boolean;
  readonly rule: string;
  readonly needs: { readonly mode: string; readonly iri: string };
  readonly exists: boolean;
}

interface Answer extends Explanation {
  readonly who: string;
  readonly method: string;
  readonly iri: string;
}

const methods: Readonly<Record<string, string>> = {
  GET: 'read',
  PUT: 'create or replace',
  POST: 'add something to',
  PATCH: 'change',
  DELETE: 'delete',
};

/** Explanations of rules that the server returns. The page shows both. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/\(foaf:Agent\)$|^lws\.public-read$|^open mode \(/, 'Anybody may'],
  [/\(acl:AuthenticatedAgent\)$/, 'Anybody who is signed in may'],
  [/\(acl:agent\)$/, 'The list of people with access names this person'],
  [/\(member of /, 'This person is a member of a group with access'],
  [/ does not allow it$/, 'The list of people with access does not name this person'],
  [/^an owner/, 'This person owns the storage'],
  [/^created it$/, 'This person created it'],
  [/^grant /, 'An access grant allows it'],
  [/^anonymous$/, 'Only people who are signed in can be given access'],
  [/^there is no ACL$/, 'Nobody was given access'],
];

const nameOf = (iri: string): unknown => (iri === storageUri ? 'the whole storage' : iriName(iri, compact(iri)));

@customElement('admin-explain')
export class AdminExplain extends Page {
  @property() iri = '';
  /** Identity of the caller. Empty: anonymous. */
  @property() as = '';
  @state() private answer: Answer | undefined;
  @state() private isPerson = false;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('as')) this.isPerson = this.as !== '';
  }

  /** The first answer, and one for each choice. A person must be entered first. */
  private readonly askAtOnce = async (): Promise<void> => {
    await this.updateComplete;
    const form = this.querySelector('form');
    if (form?.checkValidity()) form.requestSubmit();
  };

  protected override firstUpdated(): void {
    // The field of the folder is another element.
    void this.querySelector<FolderField>('folder-field')!.updateComplete.then(this.askAtOnce);
  }

  protected override render(): TemplateResult {
    return html`
      <h2 class="visually-hidden">Check access</h2>
      <p class="soft">See whether a person may read or change an item, and why.</p>
      <form class="card" @submit=${this.ask} @change=${this.askAtOnce}>
        <div class="line">
          <label>Who <select @change=${this.choose}><option value="">Anyone</option><option value="person" ?selected=${this.isPerson}>A person</option></select></label>
          ${this.isPerson ? this.renderPerson() : nothing}
          <label>Can <select name="method">${Object.entries(methods).map(([method, text]) => html`<option value=${method}>${text}</option>`)}</select></label>
          <folder-field field="iri" label="Folder or item" hasFiles .value=${this.iri || storageUri}></folder-field>
          <button class="primary">Check access</button></div>
      </form>
      <div role="status">${this.answer ? this.renderAnswer(this.answer) : nothing}</div>`;
  }

  private renderPerson(): TemplateResult {
    return html`<label>Person <input name="as" list="explain-people" required .value=${this.as} placeholder="name or address" spellcheck="false" autocomplete="off"></label>
      <datalist id="explain-people">${people().map(([iri, name]) => html`<option value=${name}>${iri}</option>`)}</datalist>`;
  }

  private readonly choose = ({ target }: Event): void => {
    this.isPerson = (target as HTMLSelectElement).value !== '';
  };

  private renderAnswer({ who, method, iri, allowed, rule, needs, exists }: Answer): TemplateResult {
    return html`<div class="card">
      <h3>${allowed ? 'Yes' : 'No'}: ${who} ${allowed ? 'may' : 'may not'} ${methods[method]} ${nameOf(iri)}</h3>
      <dl class="facts">
        <dt>Because</dt><dd>${this.reason(rule)}</dd>
        <dt>Needs</dt><dd>${needs.mode} on ${nameOf(needs.iri)}${exists ? nothing : ', which does not exist'}</dd>
      </dl>
    </div>`;
  }

  private reason(rule: string): TemplateResult {
    const reason = reasons.find(([pattern]) => pattern.test(rule))?.[1];
    return reason === undefined ? html`${rule}` : html`${reason} <span class="soft">(${rule})</span>`;
  }

  private async ask(event: SubmitEvent): Promise<void> {
    const { text } = submitted(event);
    await this.attempt(async () => {
      const subject = text('as') === '' ? '' : personOf(text('as'));
      const [method, iri] = [text('method'), text('iri')];
      const query = new URLSearchParams({ method, iri, ...(subject ? { as: subject } : {}) });
      const found = await json<Explanation>(await systemUrl(`explain?${query}`));
      this.answer = { ...found, who: subject ? nameOfPerson(subject) : 'somebody who is not signed in', method, iri };
    });
  }
}
