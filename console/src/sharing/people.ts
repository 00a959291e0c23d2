/** Names that the user gives to identities. Stored in this browser only, per storage. */

import { html, nothing, type TemplateResult } from 'lit';
import { customElement } from 'lit/decorators.js';
import { confirmed } from '../frame/confirm.js';
import { Page } from '../frame/page.js';
import { subjectNow } from '../session/session.js';
import { storedKey } from '../session/vault.js';
import { identityName } from '../storage/controller.js';
import { shortName } from '../storage/names.js';
import { actionNames, allActions, type GrantAction, type GrantPolicy, listGrants } from './access.js';

export const everybody = 'http://xmlns.com/foaf/0.1/Agent';
export const signedIn = 'http://www.w3.org/ns/auth/acl#AuthenticatedAgent';

const classes: ReadonlySet<string> = new Set([everybody, signedIn]);

/**
 * Asks the user before all callers get access. Returns true for a single identity.
 * @param what permitted actions, such as `read notes/ and everything in it`
 */
export async function mayBePublic(iri: string, what: string): Promise<boolean> {
  if (!classes.has(iri)) return true;
  const callers =
    iri === everybody ? 'Everyone who can reach this server' : 'Everyone who signs in, with any identity,';
  const text = `${callers} will be able to ${what}. Search engines and copies may keep it after you revoke access.`;
  return confirmed({ title: `Give access to ${nameOfPerson(iri).toLowerCase()}?`, text, proceed: 'Give access' });
}

/** True if a policy is for the signed-in user, or for all callers. */
export const isForMe = ({ assignee }: GrantPolicy): boolean =>
  listGrants(assignee).some((iri) => iri === everybody || iri === subjectNow());

const place = storedKey('people');

function book(): Readonly<Record<string, string>> {
  const kept = localStorage.getItem(place);
  return kept === null ? {} : (JSON.parse(kept) as Record<string, string>);
}

/** Returns the named people in alphabetical order. */
export const people = (): readonly (readonly [iri: string, name: string])[] =>
  Object.entries(book()).sort(([, a], [, b]) => a.localeCompare(b));

/** Stores a name. An empty name removes the entry. */
export function rememberName(iri: string, name: string): void {
  const { [iri]: _before, ...others } = book();
  const wanted = name.trim();
  localStorage.setItem(place, JSON.stringify(wanted === '' ? others : { ...others, [iri]: wanted }));
}

/** Returns the display name of an identity. */
export function nameOfPerson(iri: string): string {
  if (iri === everybody) return 'Everybody';
  if (iri === signedIn) return 'All signed-in users';
  const kept = book();
  const name = Object.hasOwn(kept, iri) ? kept[iri]! : identityName(iri);
  return iri !== '' && subjectNow() === iri ? `${name} (you)` : name;
}

/** Returns the display name of the author of a request. A key without a name is shown as “Someone new”. */
export const nameOfAsker = (iri: string): string =>
  iri.startsWith('did:') && nameOfPerson(iri) === shortName(iri) ? 'Someone new' : nameOfPerson(iri);

/** Returns the identity from input: a known name, or an IRI. @throws Error otherwise */
export function personOf(typed: string): string {
  const text = typed.trim();
  const known = people().find(([, name]) => name.toLowerCase() === text.toLowerCase());
  if (known) return known[0];
  if (/^mailto:|^[^\s:/@]+@[^\s:/@]+$/i.test(text))
    throw new Error(
      'An e-mail address cannot sign in. Send the person the link of this page: after signing in they can request access.',
    );
  if (/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(text)) return text;
  throw new Error(`${text || 'Nothing'} is neither a known name nor an IRI such as did:key:z6Mk….`);
}

@customElement('people-list')
export class PeopleList extends Page {
  protected override render(): TemplateResult {
    const known = people();
    return html`<details><summary><h2>People by name</h2> <span class="soft">${known.length === 0 ? 'none yet' : known.map(([, name]) => name).join(', ')}</span></summary>
      <p class="soft">These names are kept in this browser alone.</p>
      ${
        known.length === 0
          ? html`<p class="empty">No names yet. Enter a name when you share something.</p>`
          : html`<ul class="plain">${known.map(
              ([iri, name]) => html`<li class="row">
                <input class="grow" aria-label=${`Name of ${iri}`} .value=${name} @change=${(event: Event) => this.rename(iri, (event.target as HTMLInputElement).value)}>
                <span class="iri grow">${iri}</span>
                <button type="button" aria-label=${`Forget ${name}`} @click=${() => this.rename(iri, '')}>Forget</button>
              </li>`,
            )}</ul>`
      }</details>`;
  }

  private rename(iri: string, name: string): void {
    rememberName(iri, name);
    this.requestUpdate();
    this.dispatchEvent(new Event('renamed', { bubbles: true }));
    void this.keepFocus();
  }
}

/** Renders fields for a person: IRI or known name, and a display name. @param id prefix of element IDs */
export const personFields = (id: string): TemplateResult => html`${personField(id)}${calledField}`;

export const personField = (id: string): TemplateResult => html`
  <label class="grow">Person, by name or address
    <input name="person" list=${`${id}-people`} required spellcheck="false" autocomplete="off" placeholder="Name, or identity they sent you">
  </label>
  <datalist id=${`${id}-people`}>${people().map(([iri, name]) => html`<option value=${name}>${iri}</option>`)}</datalist>`;

export const calledField = html`<label>Call them (optional) <input name="called" autocomplete="off"></label>`;

/** Returns the person entered in a form, and stores the name. @throws Error without input */
export function personFrom(data: FormData): string {
  const iri = personOf(String(data.get('person')));
  const called = String(data.get('called') ?? '').trim();
  if (called !== '') rememberName(iri, called);
  return iri;
}

export const actionFields = (
  ticked: readonly GrantAction[],
  offered: readonly GrantAction[] = allActions,
  legend = 'Can',
): TemplateResult => html`
  <fieldset><legend>${legend}</legend>
    ${offered.map(
      (action) =>
        html`<label class="inline"><input type="checkbox" name="action" value=${action} ?checked=${ticked.includes(action)}> ${actionNames[action]}</label>`,
    )}
  </fieldset>`;

export const actionsFrom = (data: FormData): readonly GrantAction[] => data.getAll('action') as GrantAction[];

const dayMs = 86_400_000;
/** Returns a date as the value of a field, in the time zone of the browser. */
export const inDays = (days: number): string =>
  new Date(Date.now() + days * dayMs - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** Durations of access that can be chosen, in days. */
const ends: Readonly<Record<string, string>> = { '': 'No end', 7: 'In 1 week', 30: 'In 1 month', date: 'At a date …' };

/** Renders fields for the end of an access. The style sheet hides the date unless chosen. @param days initial choice */
export const untilField = (days: '' | '7' = ''): TemplateResult => html`<div class="until">
  <label>Ends <select @change=${chooseEnd}>${Object.entries(ends).map(([value, text]) => html`<option value=${value} ?selected=${value === days}>${text}</option>`)}</select></label>
  <input type="datetime-local" name="until" aria-label="Until" value=${days === '' ? '' : inDays(Number(days))}></div>`;

function chooseEnd({ target }: Event): void {
  const { value } = target as HTMLSelectElement;
  const field = (target as HTMLElement).closest('.until')!.querySelector('input')!;
  field.value = value === '' ? '' : value === 'date' ? field.value : inDays(Number(value));
}

/** Renders the display name of an identity, with the full IRI as title. */
export const person = (iri: string): TemplateResult =>
  html`<span class="person" title=${iri}>${nameOfPerson(iri)}</span>${classes.has(iri) ? nothing : html`<br><span class="iri soft">${iri}</span>`}`;
