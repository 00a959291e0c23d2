/**
 * Digests of entries that grant access or are kept in memory, one for each space. A transaction that changes such entries
 * writes the digest in the same batch. A feature of the format prevents that earlier versions write entries without the digest.
 */
import { getOrMake } from '../../tools/collections.js';
import { featureOf, featuresKey, readFeatures } from '../keys/features.js';
import { KeyDigest, mostForTwo, textsOf } from '../keys/key-digest.js';
import {
  allRecords,
  entryKey,
  entryRange,
  iriOfRecordKey,
  type KeyRange,
  metaKey,
  partsOfEntry,
  type ResourceRecord,
  readRecord,
  spaceOfEntry,
} from '../keys/records.js';
import { type BatchWriter, entryBlocks, type Level, type LevelSnapshot, writeEntries } from './durable-level.js';

/** Spaces with a digest, and the name of an entry for operators. */
export const digestedSpaces: ReadonlyMap<string, string> = new Map([
  ['access-grants', 'access grant'],
  ['access-requests', 'access request'],
  ['acl', 'access control list'],
  ['links', 'linkset'],
  ['owners', 'owner'],
  ['records', 'resource record'],
  ['subscriptions', 'subscription'],
  ['versions-access', 'date of a permission'],
]);

const digestKey = (space: string): string => `${metaKey('digest')}\u0000${space}`;
const rangeOfSpace = (space: string): KeyRange => (space === 'records' ? allRecords() : entryRange(space));
/** Returns the text of an entry for a digest. The text includes the value, so that an earlier value counts as another entry. */
const textOfEntry = (key: string, value: string): string =>
  key.startsWith(allRecords().gte) ? textOfRecord(readRecord(iriOfRecordKey(key), value)) : `${key}\u0000${value}`;
/** Like `textOfEntry`, for a record: uses its revisions instead of serializing it. */
const textOfRecord = ({ iri, revision, linked, acl }: ResourceRecord): string =>
  `${iri}\u0000${revision}\u0000${linked}\u0000${acl}`;

/** Toggles the old and the new state of a record in the digest of records. */
export function toggleRecords(
  digests: Map<string, KeyDigest>,
  records: readonly (ResourceRecord | null | undefined)[],
): void {
  const digest = getOrMake(digests, 'records', () => new KeyDigest());
  for (const record of records) if (record) digest.toggle([textOfRecord(record)]);
}

/** Toggles the old and the new value of an entry in the digest of its space. */
export function toggleEntry(
  digests: Map<string, KeyDigest>,
  key: string,
  values: () => readonly (string | null | undefined)[],
): void {
  const space = spaceOfEntry(key);
  if (!digestedSpaces.has(space)) return;
  const digest = getOrMake(digests, space, () => new KeyDigest());
  for (const value of values()) if (typeof value === 'string') digest.toggle([textOfEntry(key, value)]);
}

/** Returns the entry of a digest. */
export const digestEntry = (space: string, digest: KeyDigest): readonly [key: string, value: string] => [
  digestKey(space),
  digest.toString(),
];

/** Returns the stored digest of a space. */
function storedDigest(level: Level, space: string, snapshot?: LevelSnapshot): KeyDigest | undefined {
  const value = level.getSync(digestKey(space), snapshot ? { snapshot } : {});
  return value === undefined ? undefined : KeyDigest.read(value);
}

/** Writes the digests into a batch, after applying changes to them. */
export function writeDigests(
  batch: BatchWriter,
  level: Level,
  changes: readonly ReadonlyMap<string, KeyDigest>[],
): void {
  for (const space of new Set(changes.flatMap((change) => [...change.keys()]))) {
    const digest = storedDigest(level, space) ?? new KeyDigest();
    for (const change of changes) digest.combine(change.get(space) ?? new KeyDigest());
    batch.put(...digestEntry(space, digest));
  }
}

/** Returns the digest of the entries of a space. */
export async function digestOfEntries(level: Level, space: string, snapshot?: LevelSnapshot): Promise<KeyDigest> {
  const digest = new KeyDigest();
  for await (const entries of entryBlocks(level, rangeOfSpace(space), snapshot ? { snapshot } : {}))
    digest.toggle(entries.map(([key, value]) => textOfEntry(key, value)));
  return digest;
}

/** Returns true if the stored digest of a space differs from the digest of entries that were read (`toggleEntry`). */
export const isOtherDigest = (level: Level, space: string, digests: ReadonlyMap<string, KeyDigest>): boolean =>
  storedDigest(level, space)?.combine(digests.get(space) ?? new KeyDigest()).isZero === false;

/** Returns the digest of the entries that differ from a space's stored digest; `undefined` if none differ or none is stored. */
export async function differenceOf(
  level: Level,
  space: string,
  snapshot?: LevelSnapshot,
): Promise<KeyDigest | undefined> {
  const difference = storedDigest(level, space, snapshot)?.combine(await digestOfEntries(level, space, snapshot));
  return difference?.isZero === false ? difference : undefined;
}

/** Returns the entries of a space that its digest does not include; `undefined` if they cannot be determined. */
export async function returnedEntriesOf(
  level: Level,
  space: string,
  difference: KeyDigest,
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = new Map<string, readonly [key: string, value: string]>();
  for await (const entries of entryBlocks(level, rangeOfSpace(space)))
    for (const entry of entries) if (found.size < mostForTwo) found.set(textOfEntry(...entry), entry);
  const named = textsOf(difference, [...found.keys()]);
  return named && new Map(named.map((text) => found.get(text)!));
}

/** Computes and stores the digests of spaces. */
async function computeDigests(level: Level, spaces: Iterable<string>): Promise<void> {
  const found = new Map<string, KeyDigest>();
  for (const space of spaces) found.set(space, await digestOfEntries(level, space));
  const [last, ...others] = [...found].map((each) => digestEntry(...each));
  if (last) await writeEntries(level, others, last);
}

/** Deletes all digests. The next start computes them. */
export function dropDigests(batch: BatchWriter): void {
  for (const space of digestedSpaces.keys()) batch.del(digestKey(space));
}

/** Computes digests that a store of an earlier version lacks. A space with a feature gets a digest with its first entry. */
export async function completeDigests(level: Level): Promise<void> {
  const features = readFeatures(await level.get(featuresKey));
  const isUsed = (feature: string | undefined): boolean => feature === undefined || features.has(feature);
  const missing = [...digestedSpaces.keys()].filter((space) => !storedDigest(level, space));
  await computeDigests(
    level,
    missing.filter((space) => isUsed(featureOf(entryKey(space)))),
  );
}

/** Compares all entries of a state, in any order, with the digests in the state. */
export class EntryDigests {
  private readonly found = new Map<string, KeyDigest>();
  private readonly stored = new Map<string, KeyDigest>();

  add(key: string, value: string): void {
    const [name, space] = partsOfEntry(key);
    if (key === digestKey(space!)) this.stored.set(space!, KeyDigest.read(value));
    else if (key.startsWith(allRecords().gte)) toggleRecords(this.found, [readRecord(iriOfRecordKey(key), value)]);
    else if (digestedSpaces.has(name!)) toggleEntry(this.found, key, () => [value]);
  }

  /** Names of the kinds of entries that differ. */
  get differing(): string[] {
    const isOther = (space: string): boolean =>
      this.stored.get(space)?.combine(this.found.get(space) ?? new KeyDigest()).isZero === false;
    return [...digestedSpaces].flatMap(([space, name]) => (isOther(space) ? [name] : []));
  }
}
