/** People by name: what this browser calls an identity. Kept in this browser alone, one book for each storage. */

import { who } from '../session/session.js';
import { keptKey } from '../session/vault.js';
import { shortName } from '../storage/names.js';

export const everybody = 'http://xmlns.com/foaf/0.1/Agent';
export const signedIn = 'http://www.w3.org/ns/auth/acl#AuthenticatedAgent';

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
  const session = who();
  const kept = book();
  const name = Object.hasOwn(kept, iri) ? kept[iri]! : shortName(iri);
  return session.kind === 'subject' && session.subject === iri ? `${name} (you)` : name;
}

/** The identity that was typed: a name of the book, or an IRI. @throws Error for neither */
export function personOf(typed: string): string {
  const text = typed.trim();
  const known = people().find(([, name]) => name.toLowerCase() === text.toLowerCase());
  if (known) return known[0];
  if (/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(text)) return text;
  throw new Error(`${text || 'Nothing'} is nobody that this browser knows by name, and no IRI such as did:key:z6Mk….`);
}
