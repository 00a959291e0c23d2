/** Explains an access decision. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
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
  GET: 'read it',
  PUT: 'create or replace it',
  POST: 'add something to it',
  PATCH: 'change it',
  DELETE: 'delete it',
};

/** Sentences for rules of the server, which are shown beside them. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/\(foaf:Agent\)$|^lws\.public-read$|^open mode \(/, 'Anybody may'],
  [/\(acl:AuthenticatedAgent\)$/, 'Anybody who is signed in may'],
  [/\(acl:agent\)$/, 'The list of people with access names this person'],
  [/\(member of /, 'This person is a member of a group with access'],
  [/ does not allow it$/, 'The list of people with access does not name this person'],
  [/^an owner/, 'This person owns the storage'],
  [/^created it$/, 'This person created it'],
  [/^grant /, 'An access grant allows it'],
  [/^anonymous$/, 'Only people who are signed in may'],
  [/^there is no ACL$/, 'Nobody was given access'],
];

@customElement('admin-explain')
export class AdminExplain extends Page {
  @property() iri = '';
  /** Identity of the caller. Empty: anonymous. */
  @property() as = '';
  @state() private answer: Answer | undefined;

  protected override render(): TemplateResult {
    return html`
      <h2 class="visually-hidden">Check access</h2>
      <p class="soft">See whether a person may read or change an item, and why.</p>
      <form class="card" @submit=${this.ask}>
        <label>Person (empty: anyone, without signing in)
          <input name="as" list="explain-people" .value=${this.as} spellcheck="false" autocomplete="off">
        </label>
        <datalist id="explain-people">${people().map(([iri, name]) => html`<option value=${name}>${iri}</option>`)}</datalist>
        <label>Can they <select name="method">${Object.entries(methods).map(([method, text]) => html`<option value=${method}>${text}</option>`)}</select></label>
        <label>Address <input name="iri" type="url" required .value=${this.iri || storageUri} spellcheck="false"></label>
        <button class="primary">Check access</button>
      </form>
      <div role="status">${this.answer ? this.renderAnswer(this.answer) : nothing}</div>`;
  }

  private renderAnswer({ who, method, iri, allowed, rule, needs, exists }: Answer): TemplateResult {
    return html`<div class="card">
      <h3>${who} ${allowed ? 'may' : 'may not'}</h3>
      <dl class="facts">
        <dt>Request</dt><dd><code>${method}</code> ${iriName(iri, compact(iri))}</dd>
        <dt>Needs</dt><dd>${needs.mode} on ${iriName(needs.iri, compact(needs.iri))}${exists ? nothing : ', which does not exist'}</dd>
        <dt>Because</dt><dd>${this.reason(rule)}</dd>
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
      this.answer = { ...found, who: subject ? nameOfPerson(subject) : 'An anonymous caller', method, iri };
    });
  }
}
