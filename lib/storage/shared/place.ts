/**
 * A place in the journal: the number of a row, and its id, since a database that was set back to an earlier state, or lost its last
 * commits, gives the same number to another row.
 */
import { LwsError } from '../../errors.js';

export interface Place {
  readonly seq: number;
  /** Absent: not known. */
  readonly id?: string | undefined;
}

/** As a copy keeps it. */
export const writePlace = ({ seq, id }: Place): string => (id === undefined ? String(seq) : `${seq} ${id}`);

export function readPlace(value = '0'): Place {
  const [seq, id] = value.split(' ');
  return { seq: Number(seq), id };
}

/** Whether two places cannot be in one journal. */
export const contradict = (one: Place, other: Place): boolean =>
  one.seq === other.seq && one.id !== undefined && other.id !== undefined && one.id !== other.id;

/** What the servers answer that go on with a database which lacks what they have. */
export const setBack = (place: Place): LwsError =>
  new LwsError('too-busy', 'The storage and its database are not of one state, which its operator has to settle.', {
    reason:
      `the database lacks row ${place.seq} of its journal, which this server has: it was set back to an earlier state, or lost its last ` +
      'commits; start the server again, which says what to do',
    fields: { 'Retry-After': '60' },
  });
