/**
 * Binds triple terms with variables. If a row binds all variables of a triple term, the term is built, and its pattern becomes
 * a lookup. If a row binds the triple term, its variables are extracted. Must not read data.
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

/** Returns true if the known variables determine the triple term, which then has no ignored position. */
const isMade = ({ places, slots }: TripleTerm, known: ReadonlySet<Slot>): boolean =>
  !places.includes(undefined) && isSubset(slots, known);

/** Adds slots that follow from known slots: variables of a known triple term, and triple terms whose variables are known. */
export function addDerived(known: Set<Slot>, triples: Triples): void {
  for (let before = -1; before !== known.size; ) {
    before = known.size;
    for (const triple of triples)
      if (known.has(triple.slot)) for (const slot of triple.slots) known.add(slot);
      else if (isMade(triple, known)) known.add(triple.slot);
  }
}

const slotsOf = (item: Pattern | Plan): ReadonlySet<Slot> => ('places' in item ? item.slots : item.possible);

/** Returns the triple terms of a pattern or path, and the triple terms nested in them, with inner terms first. */
export function triplesOf(item: Pattern | Plan, triples: Triples): Triples {
  const within = new Set(slotsOf(item));
  // The list contains outer terms after the terms nested in them, so it is read backwards.
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
 * Returns the triple terms of a part that shares variables with the rows only within these terms. No index supports a lookup of
 * such variables, so the part must be executed separately. Empty for any other part.
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

  /** Builds the triple terms whose variables the input rows bind. Adds the slots of these terms to `known`. */
  begin(rows: Blocks, known: Set<Slot>): Blocks {
    addDerived(known, this.left);
    const made = this.left.filter(({ slot }) => known.has(slot));
    return made.length === 0 ? rows : unified(this.execution, made, rows);
  }

  /** Builds the triple terms and extracts the variables that the rows now determine. Adds their slots to `bound`. */
  next(rows: Blocks, bound: Set<Slot>): Blocks {
    if (this.left.length === 0) return rows;
    addDerived(bound, this.left);
    const ready = this.left.filter(({ slot }) => bound.has(slot));
    this.left = this.left.filter(({ slot }) => !bound.has(slot));
    return ready.length === 0 ? rows : unified(this.execution, ready, rows);
  }
}

async function* unified(execution: Execution, triples: Triples, input: Blocks): AsyncGenerator<Row[]> {
  // Inner triple terms are built before outer ones, and extracted after outer ones.
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

/** Builds the triple term of a row, or extracts its variables. Returns false if the row does not match. */
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

/** Returns a triple term, or `undefined` if it exceeds the limits of stored terms. */
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
