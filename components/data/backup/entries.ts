/** Lines of backup files that are not entries (header, trailer, references), and functions that classify entries. */
import { createHash } from 'node:crypto';
import { allLinks } from '../../../lib/resources/linkset.js';
import { linksetOf } from '../../../lib/resources/names.js';
import { digestIn } from '../../../lib/storage/graphs/graph-digests.js';
import { type Entry, lineOf, sectionLine } from '../../../lib/storage/graphs/state-blocks.js';
import {
  allRecords,
  iriOfRecordKey,
  partsOfEntry,
  type ResourceRecord,
  readRecord,
} from '../../../lib/storage/keys/records.js';
import { hasVersionData, openVersions, versionEntries } from '../../../lib/storage/keys/version-entries.js';
import { CommandError } from '../../../lib/tools/errors.js';

/** Thrown if the backup is truncated, modified, or not a backup. The message is for users. */
export class BackupError extends CommandError {}

/**
 * Formats of a backup. 1: the state file also contains the quads. 2: quads are in separate files, grouped by graph, with the
 * triples of earlier states. 3: other entries are in these files too, grouped in parts.
 */
export const backupFormats = [1, 2, 3] as const;
export type BackupFormat = (typeof backupFormats)[number];

/** First line of a file in a backup. */
export interface Header {
  readonly 'quadpod-backup': BackupFormat;
  /** IRI of the storage. */
  readonly storage: string;
  /** Format version of the store. */
  readonly version: string;
  /** Time of the backup, in ISO 8601. */
  readonly made: string;
}

/** Last line of a file in a backup. A file without this line is truncated. */
export interface Trailer {
  readonly entries: number;
}

/** Section of a quads file: one graph, or one part of the other entries. The token changes with the content. */
export interface BackupSection {
  /** IRI of the graph. Empty for a part of the other entries. */
  readonly name: string;
  /** Revision of the resource, digest of the links of a linkset, or digest of the entries in a part. */
  readonly token: string;
  /** Count of triples in the record, or of entries in a part. Undefined for linksets. */
  readonly count: number | undefined;
  /** `KeyDigest` of the quads. Undefined for linksets, and for graphs of earlier versions. */
  readonly digest?: string | undefined;
}

export const isOf = (space: 'B' | 'E' | 'M' | 'P' | 'R', key: string): boolean => key.startsWith(`${space}\u0000`);

/** Parses the record in an entry. @throws BackupError for a damaged record */
export function recordOf([key, value]: Entry): ResourceRecord {
  const iri = iriOfRecordKey(key);
  try {
    return readRecord(iri, value);
  } catch {
    throw new BackupError(`The record of ${iri} is damaged. Stop the server and run "quadpod check".`);
  }
}

/** Prefix of lines of a state file that refer to parts of the other entries. */
export const partReferences = 'P\u0000';

/** Returns the line of a state file that refers to a part. A quads file contains the part. */
export const lineOfPart = ({ token, count }: BackupSection): string => lineOf([partReferences + token, String(count)]);

/**
 * Returns the key prefixes of entries that refer to graphs, or to parts of the other entries.
 * @param hasVersions true to include references to the triples of earlier states (format 2)
 */
export const graphKeys = (format: BackupFormat, hasVersions: boolean): string[] => [
  allLinks.gte,
  ...(hasVersions ? [versionEntries.gte] : []),
  ...(hasVersions || format > 2 ? [openVersions.gte] : []),
  allRecords().gte,
  partReferences,
];

/** Returns the section that an entry of a state file refers to, if any. @throws BackupError see `recordOf` */
export function sectionOf(entry: Entry): BackupSection | undefined {
  const [key, value] = entry;
  // Entries of versions refer to sections only in format 2.
  const isVersion = key.startsWith(versionEntries.gte) && hasVersionData(value);
  if (isOf('P', key)) return { name: '', token: key.slice(partReferences.length), count: Number(value) };
  // A dropped graph is removed in steps. The value counts the steps, so the value identifies the remaining triples.
  if (isVersion || key.startsWith(openVersions.gte)) {
    const token = createHash('sha256').update(value).digest('base64');
    return { name: partsOfEntry(key).slice(1).join('?version until '), token, count: undefined };
  }
  if (isOf('R', key)) {
    const record = recordOf(entry);
    const { iri, kind, revision, triples: count = 0 } = record;
    const digest = digestIn(record)?.toString();
    return kind === 'rdf' ? { name: iri, token: revision, count, digest } : undefined;
  }
  if (!key.startsWith(allLinks.gte)) return undefined;
  const token = createHash('sha256').update(value).digest('base64');
  return { name: linksetOf(partsOfEntry(key)[1]!), token, count: undefined };
}

const beginning = '["graph",';

/** Returns the line before the quads of a graph, or before a part. No entry has a key that begins like this line. */
export const lineOfSection = ({ name, token, count, digest }: BackupSection): string =>
  sectionLine('graph', name, token, count ?? null, ...(digest === undefined ? [] : [digest]));

export const isSectionLine = (line: string): boolean => line.startsWith(beginning);

/** Parses the first line of a section. @throws SyntaxError for another line */
export function readSectionLine(line: string): BackupSection {
  const [, name, token, count, digest] = JSON.parse(line) as readonly unknown[];
  if (typeof name !== 'string' || typeof token !== 'string') throw new SyntaxError('a line is not a section');
  return {
    name,
    token,
    count: typeof count === 'number' ? count : undefined,
    digest: typeof digest === 'string' ? digest : undefined,
  };
}
