/**
 * Stores for each ACL the positions since which its rules have given `read` without interruption: by reader, separately for its
 * resource and for inherited access below it. If the ACL is deleted, the entry is kept, because access to the resource is then
 * inherited.
 */

import type { AclRule } from '../../lib/authorization/acl.js';
import { type Authorizer, ancestorsOf, type View } from '../../lib/authorization/authorizer.js';
import type { Access } from '../../lib/authorization/principal.js';
import { fitsOrigin, readPastReaders } from '../../lib/authorization/wac.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { accessKey } from './entries.js';

/** Value of an entry. `at` is the last change of the ACL: since then, readers without an own position have access. */
interface ListDates {
  readonly at: number;
  readonly own?: Readonly<Record<string, number>>;
  readonly inherited?: Readonly<Record<string, number>>;
}

interface Deciding {
  readonly authorizer: Authorizer;
  readonly rootIri: string;
}

/** Returns a name below a container, without an ACL, to find the access that is inherited. */
const below = (container: string): string => `${container}\u0000`;

const readerKey = (reader: string, { origins }: AclRule): string => [reader, ...[...origins].sort()].join(' ');
const [everybody, authenticated] = ['*', '+'];

/** Returns the readers that a rule names. No positions are stored for groups. */
const readersIn = (rule: AclRule): string[] =>
  [...rule.agents, ...(rule.everybody ? [everybody] : []), ...(rule.authenticated ? [authenticated] : [])].map(
    (reader) => readerKey(reader, rule),
  );

/** Returns all readers in a rule whose permission includes that of the given reader. */
function including(key: string): readonly string[] {
  const [reader, ...origins] = key.split(' ') as [string, ...string[]];
  const classes = reader === everybody ? [] : reader === authenticated ? [everybody] : [authenticated, everybody];
  const readers = [reader, ...classes];
  return [...readers, ...readers.map((each) => [each, ...origins].join(' '))];
}

/** Returns the readers of a resource by the ACL that applies to it, and the resource of this ACL. */
function effective({ authorizer }: Deciding, view: View, iri: string) {
  const text = authorizer.readersOf?.(view, iri);
  return text === undefined ? undefined : readPastReaders(text);
}

/** Parses an entry. Earlier versions stored only the position. */
function datesIn(value: string | undefined): ListDates {
  const found = value === undefined ? 0 : (JSON.parse(value) as ListDates | number);
  return typeof found === 'number' ? { at: found } : found;
}

interface DateQuestion {
  /** Resource of the ACL that applies. */
  readonly of: string;
  readonly key: string;
  /** Cache of positions by container and reader. */
  readonly known?: Map<string, number>;
}

/** Returns the position since which a reader can read a resource without interruption, by the ACL of `of`. */
function dateOf({ rootIri }: Deciding, view: View, iri: string, { of, key, known }: DateQuestion): number {
  const { at: last, own } = datesIn(view.entry(accessKey(iri)));
  const since = own?.[key] ?? last;
  if (iri === of) return since;
  const ancestors = [...ancestorsOf(iri, rootIri)];
  const name = `${ancestors[0]} ${key}`;
  let above = known?.get(name);
  if (above === undefined) {
    above = 0;
    for (const at of ancestors) {
      const { at: last, inherited } = datesIn(view.entry(accessKey(at)));
      above = Math.max(above, inherited?.[key] ?? last);
      if (at === of) break;
    }
    known?.set(name, above);
  }
  return Math.max(since, above);
}

/** Stages the positions for an ACL that a transaction writes or deletes. */
export function noteList(deciding: Deciding, tx: Transaction, iri: string, position: number): void {
  const datesOf = (probe: string): Record<string, number> => {
    const [before, after] = [effective(deciding, tx.before, probe), effective(deciding, tx, probe)];
    const former = new Set(before?.rules.flatMap(readersIn));
    const dates: Record<string, number> = {};
    for (const key of after?.rules.flatMap(readersIn) ?? [])
      for (const other of including(key))
        if (former.has(other))
          dates[key] = Math.min(
            dates[key] ?? position,
            dateOf(deciding, tx.before, probe, { of: before!.of, key: other }),
          );
    return dates;
  };
  const dates: ListDates = {
    at: position,
    own: datesOf(iri),
    ...(iri.endsWith('/') && { inherited: datesOf(below(iri)) }),
  };
  tx.putEntry(accessKey(iri), JSON.stringify(dates));
}

/** Positions since which one caller can read resources, in one state. Data that several resources share is read once. */
export class CallerDates {
  private readonly known = new Map<string, number>();
  /** Resource of an ACL and reader keys of the caller in its rules, by the text of the ACL. */
  private readonly lists = new Map<string, { readonly of: string; readonly keys: readonly string[] }>();

  constructor(
    private readonly deciding: Deciding,
    private readonly view: View,
    private readonly access: Access,
  ) {}

  /** Returns the position since which the caller can read a resource without interruption. Its ACL gives access now. */
  since(iri: string): number {
    const { deciding, view, known } = this;
    const text = deciding.authorizer.readersOf?.(view, iri);
    if (text === undefined) return Number.MAX_SAFE_INTEGER - 1;
    const { of, keys } = this.lists.get(text) ?? this.keysIn(text);
    return Math.min(...keys.map((key) => dateOf(deciding, view, iri, { of, key, known })));
  }

  private keysIn(text: string) {
    const { of, rules } = readPastReaders(text);
    const { principal } = this.access;
    const own = principal ? [principal.subject, authenticated, everybody] : [everybody];
    const keys = rules
      .filter((rule) => fitsOrigin(rule, this.access))
      .flatMap((rule) => own.map((reader) => readerKey(reader, rule)).filter((key) => readersIn(rule).includes(key)));
    // The text of an ACL with many rules has no readers: use the last change of the ACL.
    const found = { of, keys: keys.length > 0 ? keys : [''] };
    this.lists.set(text, found);
    return found;
  }
}
