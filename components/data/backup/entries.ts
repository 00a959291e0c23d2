/** The lines around the entries of a backup, and the classification of entries. */
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

/** The backup is truncated, modified, or not a backup. The message is for the user. */
export class BackupError extends CommandError {}

/**
 * 1: the quads are among the entries. 2: quads have files of their own, grouped by graph, with the triples of earlier states. 3: so
 * have the other entries, in parts.
 */
export const backupFormats = [1, 2, 3] as const;
export type BackupFormat = (typeof backupFormats)[number];

/** The first line of a backup file. */
export interface Header {
  readonly 'quadpod-backup': BackupFormat;
  /** The storage's IRI. */
  readonly storage: string;
  /** The format version of the store. */
  readonly version: string;
  /** ISO 8601. */
  readonly made: string;
}

/** The last line. A file without it is truncated. */
export interface Trailer {
  readonly entries: number;
}

/** One state of one graph, or one part of the other entries: its token never identifies other content. */
export interface CountedGraph {
  /** Empty for a part of the other entries. */
  readonly graph: string;
  /** The revision of its resource, or for a linkset the digest of its links, for a part the digest of its entries. */
  readonly token: string;
  /** As in the record, or the number of entries. Linksets have none. */
  readonly triples: number | undefined;
  /** `KeyDigest` of the quads. Linksets, and graphs of earlier versions, have none. */
  readonly digest?: string | undefined;
}

export const isOf = (space: 'B' | 'E' | 'M' | 'P' | 'R', key: string): boolean => key.startsWith(`${space}\u0000`);

/** @throws BackupError for a damaged record */
export function recordOf([key, value]: Entry): ResourceRecord {
  const iri = iriOfRecordKey(key);
  try {
    return readRecord(iri, value);
  } catch {
    throw new BackupError(`The record of ${iri} is damaged. Stop the server and run "quadpod check".`);
  }
}

/** Key prefix of the lines of a state file that refer to parts of the other entries. */
export const partReferences = 'P\u0000';

/** Returns the line of a state file for a part of the other entries, which a file of quads contains. */
export const lineOfPart = ({ token, triples }: CountedGraph): string =>
  lineOf([partReferences + token, String(triples)]);

/**
 * Key prefixes of entries that refer to graphs, or to parts of the other entries.
 * @param hasVersions also to the triples of earlier states, in format 2
 */
export const graphKeys = (format: BackupFormat, hasVersions: boolean): string[] => [
  allLinks.gte,
  ...(hasVersions ? [versionEntries.gte] : []),
  ...(hasVersions || format > 2 ? [openVersions.gte] : []),
  allRecords().gte,
  partReferences,
];

/** Returns the graph state that an entry refers to, if any, or the part. @throws BackupError see `recordOf` */
export function graphState(entry: Entry): CountedGraph | undefined {
  const [key, value] = entry;
  // In files of format 2.
  const isVersion = key.startsWith(versionEntries.gte) && hasVersionData(value);
  if (isOf('P', key)) return { graph: '', token: key.slice(partReferences.length), triples: Number(value) };
  // What is left of a dropped graph changes with each piece, which the value counts.
  if (isVersion || key.startsWith(openVersions.gte)) {
    const token = createHash('sha256').update(value).digest('base64');
    return { graph: partsOfEntry(key).slice(1).join('?version until '), token, triples: undefined };
  }
  if (isOf('R', key)) {
    const record = recordOf(entry);
    const { iri, kind, revision, triples = 0 } = record;
    const digest = digestIn(record)?.toString();
    return kind === 'rdf' ? { graph: iri, token: revision, triples, digest } : undefined;
  }
  if (!key.startsWith(allLinks.gte)) return undefined;
  const token = createHash('sha256').update(value).digest('base64');
  return { graph: linksetOf(partsOfEntry(key)[1]!), token, triples: undefined };
}

const beginning = '["graph",';

/** Returns the line before the quads of a graph. No entry key begins like it. */
export const lineOfGraph = ({ graph, token, triples, digest }: CountedGraph): string =>
  sectionLine('graph', graph, token, triples ?? null, ...(digest === undefined ? [] : [digest]));

export const isGraphLine = (line: string): boolean => line.startsWith(beginning);

/** @throws SyntaxError if it is not such a line */
export function readGraphLine(line: string): CountedGraph {
  const [, graph, token, triples, digest] = JSON.parse(line) as readonly unknown[];
  if (typeof graph !== 'string' || typeof token !== 'string') throw new SyntaxError('a line is not a graph');
  return {
    graph,
    token,
    triples: typeof triples === 'number' ? triples : undefined,
    digest: typeof digest === 'string' ? digest : undefined,
  };
}
