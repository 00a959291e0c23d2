/** The fields of a form that name somebody, and what may be done. */
import { html, type TemplateResult } from 'lit';
import { type Action, actionNames, allActions } from './access.js';
import { nameOfPerson, people, personOf, rememberName } from './people.js';

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
