/** People by name: what this browser calls an identity. Kept in this browser alone, one book for each storage. */

import { html, type TemplateResult } from 'lit';
import { customElement } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { subjectNow } from '../session/session.js';
import { keptKey } from '../session/vault.js';
import { shortName } from '../storage/names.js';
import { type Action, actionNames, allActions, list, type Policy } from './access.js';

export const everybody = 'http://xmlns.com/foaf/0.1/Agent';
export const signedIn = 'http://www.w3.org/ns/auth/acl#AuthenticatedAgent';

/** Whether a policy is for the signed-in subject, or for everybody. */
export const isForMe = ({ assignee }: Policy): boolean =>
  list(assignee).some((iri) => iri === everybody || iri === subjectNow());

const place = keptKey('people');

function book(): Readonly<Record<string, string>> {
  const kept = localStorage.getItem(place);
  return kept === null ? {} : (JSON.parse(kept) as Record<string, string>);
}

/** The people that were given a name here, in the order of their names. */
export const people = (): readonly (readonly [iri: string, name: string])[] =>
  Object.entries(book()).sort(([, a], [, b]) => a.localeCompare(b));

/** An empty name forgets the identity. */
export function rememberName(iri: string, name: string): void {
  const { [iri]: _before, ...others } = book();
  const wanted = name.trim();
  localStorage.setItem(place, JSON.stringify(wanted === '' ? others : { ...others, [iri]: wanted }));
}

/** What to call an identity. */
export function nameOfPerson(iri: string): string {
  if (iri === everybody) return 'Everybody';
  if (iri === signedIn) return 'Anybody who is signed in';
  const kept = book();
  const name = Object.hasOwn(kept, iri) ? kept[iri]! : shortName(iri);
  return iri !== '' && subjectNow() === iri ? `${name} (you)` : name;
}

/** The identity that was typed: a name of the book, or an IRI. @throws Error for neither */
export function personOf(typed: string): string {
  const text = typed.trim();
  const known = people().find(([, name]) => name.toLowerCase() === text.toLowerCase());
  if (known) return known[0];
  if (/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(text)) return text;
  throw new Error(`${text || 'Nothing'} is nobody that this browser knows by name, and no IRI such as did:key:z6Mk….`);
}

@customElement('people-list')
export class PeopleList extends Page {
  protected override render(): TemplateResult {
    const known = people();
    return html`
      <h2>People by name</h2>
      <p class="soft">These names are kept in this browser alone.</p>
      ${
        known.length === 0
          ? html`<p class="empty">Nobody has a name here yet. Give one when you share something.</p>`
          : html`<ul class="plain">${known.map(
              ([iri, name]) => html`<li class="row">
                <input class="grow" aria-label=${`Name of ${iri}`} .value=${name} @change=${(event: Event) => this.rename(iri, (event.target as HTMLInputElement).value)}>
                <span class="iri grow">${iri}</span>
                <button type="button" aria-label=${`Forget ${name}`} @click=${() => this.rename(iri, '')}>Forget</button>
              </li>`,
            )}</ul>`
      }`;
  }

  private rename(iri: string, name: string): void {
    rememberName(iri, name);
    this.requestUpdate();
    this.dispatchEvent(new Event('renamed', { bubbles: true }));
    void this.keepFocus();
  }
}

/** Whom: an IRI, or a name that this browser knows; and what to call them. @param id unique in the document */
export const personFields = (id: string): TemplateResult => html`
  <label>Person, by name or IRI
    <input name="person" list=${`${id}-people`} required spellcheck="false" autocomplete="off" placeholder="did:key:z6Mk…">
  </label>
  <datalist id=${`${id}-people`}>${people().map(([iri, name]) => html`<option value=${name}>${iri}</option>`)}</datalist>
  <label>What to call them here (optional) <input name="called" autocomplete="off"></label>`;

/** The person of a form, whose name is remembered. @throws Error for nobody */
export function personFrom(data: FormData): string {
  const iri = personOf(String(data.get('person')));
  const called = String(data.get('called') ?? '').trim();
  if (called !== '') rememberName(iri, called);
  return iri;
}

export const actionFields = (
  ticked: readonly Action[],
  offered: readonly Action[] = allActions,
): TemplateResult => html`
  <fieldset><legend>May</legend>
    ${offered.map(
      (action) =>
        html`<label class="inline"><input type="checkbox" name="action" value=${action} ?checked=${ticked.includes(action)}> ${actionNames[action]}</label>`,
    )}
  </fieldset>`;

export const actionsFrom = (data: FormData): readonly Action[] => data.getAll('action') as Action[];

export const untilField = html`<label>Until (optional) <input type="datetime-local" name="until"></label>`;

/** Somebody's name, with the IRI to be read in full. */
export const person = (iri: string): TemplateResult =>
  html`<span class="person">${nameOfPerson(iri)}</span><br><span class="iri soft">${iri}</span>`;
