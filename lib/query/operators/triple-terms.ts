/**
 * Triple terms with variables. Rows that bind all variables of a term get the term, so that its pattern is a lookup. Rows that bind
 * the term get its variables. Must not read data.
 */
import { LwsError } from '../../tools/errors.js';
import { isTriple, type TermKey } from '../access/terms.js';
import { isAllowed, partsOfTriple, type TripleKeys, tripleKey } from '../access/triple-terms.js';
import {
  type Blocks,
  isSubset,
  type Pattern,
  type Plan,
  type Row,
  type Slot,
  type TripleTerm,
  termAt,
} from '../plan/plan.js';
import { type Execution, spend } from './execution.js';

type Triples = readonly TripleTerm[];

/** True if rows with its variables determine the term: none of its places is ignored. */
const isMade = ({ places, slots }: TripleTerm, known: ReadonlySet<Slot>): boolean =>
  !places.includes(undefined) && isSubset(slots, known);

/** Adds the slots that follow from known ones: variables of a known term, and terms whose variables are known. */
export function addDerived(known: Set<Slot>, triples: Triples): void {
  for (let before = -1; before !== known.size; ) {
    before = known.size;
    for (const triple of triples)
      if (known.has(triple.slot)) for (const slot of triple.slots) known.add(slot);
      else if (isMade(triple, known)) known.add(triple.slot);
  }
}

const slotsOf = (item: Pattern | Plan): ReadonlySet<Slot> => ('places' in item ? item.slots : item.possible);

/** Returns the triple terms of a pattern or a path, with those within them, inner ones first. */
export function triplesOf(item: Pattern | Plan, triples: Triples): Triples {
  const within = new Set(slotsOf(item));
  // Outer ones come last in the list.
  return triples
    .toReversed()
    .filter(({ slot, slots }) => {
      if (!within.has(slot)) return false;
      for (const each of slots) within.add(each);
      return true;
    })
    .toReversed();
}

/**
 * Returns the triple terms of a part that shares variables with the rows only within them, which gives no lookup: the part must
 * run alone. Empty for any other part.
 */
export function scannedTriples(item: Pattern | Plan, triples: Triples, isKnown: (slot: Slot) => boolean): Triples {
  const own = triplesOf(item, triples);
  if (own.length === 0 || [...slotsOf(item)].some(isKnown)) return [];
  return own.some(({ slots }) => [...slots].some(isKnown)) ? own : [];
}

/** Triple terms of a join that is executed. */
export class JoinedTriples {
  constructor(
    private readonly execution: Execution,
    private left: Triples,
  ) {}

  /** Makes the terms of rows that bind all of their variables, although the plan does not say so. Adds their slots to the known ones. */
  begin(rows: Blocks, known: Set<Slot>): Blocks {
    addDerived(known, this.left);
    const made = this.left.filter(({ slot }) => known.has(slot));
    return made.length === 0 ? rows : unified(this.execution, made, rows);
  }

  /** Makes the terms, and takes those apart, that the rows now allow. Adds their slots to the bound ones. */
  next(rows: Blocks, bound: Set<Slot>): Blocks {
    if (this.left.length === 0) return rows;
    addDerived(bound, this.left);
    const ready = this.left.filter(({ slot }) => bound.has(slot));
    this.left = this.left.filter(({ slot }) => !bound.has(slot));
    return ready.length === 0 ? rows : unified(this.execution, ready, rows);
  }
}

async function* unified(execution: Execution, triples: Triples, input: Blocks): AsyncGenerator<Row[]> {
  // Inner terms are made first, and taken apart last.
  const order = triples.length === 1 ? triples : [...triples, ...triples.toReversed()];
  for await (const rows of input) {
    execution.assertTime(rows.length);
    const kept = rows.flatMap((row) => {
      const copy = row.slice();
      return order.every((triple) => unifies(execution, triple, copy)) ? [copy] : [];
    });
    if (kept.length > 0) yield kept;
  }
}

/** Makes the term of a row, or takes it apart. Returns false if the row is no match. */
function unifies(execution: Execution, { slot, places }: TripleTerm, row: Row): boolean {
  const token = row[slot];
  if (token === undefined) return makes(execution, { slot, places }, row);
  if (!isTriple(token)) return false;
  const parts = partsOfTriple(token);
  return places.every((place, at) => {
    const own = termAt(place, row);
    if (own === undefined && place && 'slot' in place) row[place.slot] = parts[at];
    return own === undefined || own === parts[at];
  });
}

/** Returns a triple term, none if it is beyond the limits of stored ones. */
function storedTriple(parts: TripleKeys): TermKey | undefined {
  try {
    return tripleKey(parts);
  } catch (error) {
    if (error instanceof LwsError) return undefined;
    throw error;
  }
}

function makes(execution: Execution, { slot, places }: Pick<TripleTerm, 'slot' | 'places'>, row: Row): boolean {
  const tokens = places.map((place) => termAt(place, row));
  if (!tokens.every((token): token is TermKey => token !== undefined)) return true;
  const parts = tokens as unknown as TripleKeys;
  const made = isAllowed(parts) ? storedTriple(parts) : undefined;
  row[slot] = made;
  spend(execution, made === undefined ? undefined : { kind: 'triple', text: made });
  return made !== undefined;
}
