/**
 * A place in the journal: the number of a row, and its id, since a database that was set back to an earlier state, or lost its last
 * commits, gives the same number to another row.
 */
import { LwsError } from '../../errors.js';

export interface JournalPlace {
  readonly seq: number;
  /** Absent: not known. */
  readonly id?: string | undefined;
}

/** The text in which a copy keeps its place. */
export const writePlace = ({ seq, id }: JournalPlace): string => (id === undefined ? String(seq) : `${seq} ${id}`);

export function readPlace(value = '0'): JournalPlace {
  const [seq, id] = value.split(' ');
  return { seq: Number(seq), id };
}

/** Whether two places cannot be in one journal. */
export const contradict = (one: JournalPlace, other: JournalPlace): boolean =>
  one.seq === other.seq && one.id !== undefined && other.id !== undefined && one.id !== other.id;

/** The answer of a server whose database lacks rows that the server has. */
export const setBack = (place: JournalPlace): LwsError =>
  new LwsError('too-busy', 'The storage and its database are not of one state, which its operator has to settle.', {
    reason:
      `the database lacks row ${place.seq} of its journal, which this server has: it was set back to an earlier state, or lost its last ` +
      'commits; start the server again, which says what to do',
    fields: { 'Retry-After': '60' },
  });
