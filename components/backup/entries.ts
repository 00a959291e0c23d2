/** What stands around the entries of a back-up, and which of them are of what kind. */
import { createHash } from 'node:crypto';
import { CommandError } from '../../lib/errors.js';
import { allLinks } from '../../lib/resources/linkset.js';
import { linksetOf } from '../../lib/resources/names.js';
import { type Entry, sectionLine } from '../../lib/storage/graphs/state-blocks.js';
import {
  allRecords,
  iriOfRecordKey,
  partsOfEntry,
  type ResourceRecord,
  readRecord,
} from '../../lib/storage/keys/records.js';

/** A back-up is cut off, changed, or none; the message is for people. */
export class BackupError extends CommandError {}

/** What stands first in a file of a back-up. */
export interface Header {
  /** 1: the quads stand among the entries. */
  readonly 'quadpod-backup': 1 | 2;
  /** The storage's IRI. */
  readonly storage: string;
  /** The version of the store's format. */
  readonly version: string;
  /** ISO 8601. */
  readonly made: string;
}

/** What stands last: without it a file is cut off. */
export interface Trailer {
  readonly entries: number;
}

/** One state of one graph: what names it never names other quads. */
export interface CountedGraph {
  readonly graph: string;
  /** The revision of its resource; of a linkset the digest of its links. */
  readonly token: string;
  /** As the record says; a linkset has none. */
  readonly triples: number | undefined;
}

export const isOf = (space: 'B' | 'E' | 'M' | 'R', key: string): boolean => key.startsWith(`${space}\u0000`);

/** @throws BackupError for a record that is damaged */
export function recordOf([key, value]: Entry): ResourceRecord {
  const iri = iriOfRecordKey(key);
  try {
    return readRecord(iri, value);
  } catch {
    throw new BackupError(`The record of ${iri} cannot be read. Run "quadpod check" when the server is stopped.`);
  }
}

/** What keys of entries that speak of graphs begin with. */
export const graphKeys = [allLinks.gte, allRecords().gte];

/** The state of the graph that an entry speaks of, if it does. @throws BackupError as `recordOf` */
export function graphState(entry: Entry): CountedGraph | undefined {
  const [key, value] = entry;
  if (isOf('R', key)) {
    const { iri, kind, revision, triples = 0 } = recordOf(entry);
    return kind === 'rdf' ? { graph: iri, token: revision, triples } : undefined;
  }
  if (!key.startsWith(allLinks.gte)) return undefined;
  const token = createHash('sha256').update(value).digest('base64');
  return { graph: linksetOf(partsOfEntry(key)[1]!), token, triples: undefined };
}

const beginning = '["graph",';

/** The line before the quads of a graph. No key of an entry begins so. */
export const lineOfGraph = ({ graph, token, triples }: CountedGraph): string =>
  sectionLine('graph', graph, token, triples);

export const isGraphLine = (line: string): boolean => line.startsWith(beginning);

/** @throws SyntaxError when the line is none */
export function readGraphLine(line: string): CountedGraph {
  const [, graph, token, triples] = JSON.parse(line) as readonly unknown[];
  if (typeof graph !== 'string' || typeof token !== 'string') throw new SyntaxError('a line is no graph');
  return { graph, token, triples: typeof triples === 'number' ? triples : undefined };
}
