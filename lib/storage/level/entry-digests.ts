/**
 * Digests of entries that give access or are kept in memory, one for each space. A transaction that changes such entries writes
 * the digest in the same batch. A feature of the format keeps earlier versions from writing without it.
 */
import { KeyDigest, mostForTwo, textsOf } from '../keys/key-digest.js';
import { entryRange, metaKey, partsOfEntry } from '../keys/records.js';
import { type BatchWriter, entryBlocks, type Level, type LevelSnapshot, writeBatch } from './durable-level.js';

/** Spaces with a digest, and the name of an entry for operators. */
export const digestedSpaces: ReadonlyMap<string, string> = new Map([
  ['access-grants', 'access grant'],
  ['access-requests', 'access request'],
  ['links', 'linkset'],
  ['owners', 'owner'],
  ['subscriptions', 'subscription'],
]);

const digestKey = (space: string): string => `${metaKey('digest')}\u0000${space}`;
/** Text of an entry in a digest: an earlier value of a key is another entry. */
export const textOfEntry = (key: string, value: string): string => `${key}\u0000${value}`;

/** Toggles the change of an entry in the digests of spaces. */
export function toggleEntry(
  digests: Map<string, KeyDigest>,
  key: string,
  values: () => readonly (string | null | undefined)[],
): void {
  const space = partsOfEntry(key)[0]!;
  if (!digestedSpaces.has(space)) return;
  const digest = digests.get(space) ?? new KeyDigest();
  digests.set(space, digest);
  for (const value of values()) if (typeof value === 'string') digest.toggle([textOfEntry(key, value)]);
}

/** Returns the stored digest of a space. */
export function storedDigest(level: Level, space: string, snapshot?: LevelSnapshot): KeyDigest | undefined {
  const value = level.getSync(digestKey(space), snapshot ? { snapshot } : {});
  return value === undefined ? undefined : KeyDigest.read(value);
}

/** Writes the digests after some changes into a batch. */
export function writeDigests(
  batch: BatchWriter,
  level: Level,
  changes: readonly ReadonlyMap<string, KeyDigest>[],
): void {
  for (const space of new Set(changes.flatMap((change) => [...change.keys()]))) {
    const digest = storedDigest(level, space) ?? new KeyDigest();
    for (const change of changes) digest.combine(change.get(space) ?? new KeyDigest());
    batch.put(digestKey(space), digest.toString());
  }
}

/** Returns the digest of the entries of a space. */
export async function digestOfEntries(level: Level, space: string, snapshot?: LevelSnapshot): Promise<KeyDigest> {
  const digest = new KeyDigest();
  for await (const entries of entryBlocks(level, entryRange(space), snapshot ? { snapshot } : {}))
    digest.toggle(entries.map(([key, value]) => textOfEntry(key, value)));
  return digest;
}

/** Returns the entries of a space that its digest lacks, given the difference of the digests; `undefined` if they cannot be named. */
export async function entriesOf(
  level: Level,
  space: string,
  difference: KeyDigest,
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = new Map<string, readonly [key: string, value: string]>();
  for await (const entries of entryBlocks(level, entryRange(space)))
    for (const entry of entries) if (found.size < mostForTwo) found.set(textOfEntry(...entry), entry);
  const named = textsOf(difference, [...found.keys()]);
  return named && new Map(named.map((text) => found.get(text)!));
}

/** Computes and stores the digests of spaces. */
export async function computeDigests(level: Level, spaces: Iterable<string>): Promise<void> {
  const found = new Map<string, KeyDigest>();
  for (const space of spaces) found.set(space, await digestOfEntries(level, space));
  const [last, ...others] = [...found].map(([space, digest]) => [digestKey(space), digest.toString()] as const);
  const fill = (batch: BatchWriter): void => {
    for (const entry of others) batch.put(...entry);
  };
  if (last) await writeBatch(level, fill, () => last);
}

/** Computes the digests that a store of an earlier version lacks. */
export const completeDigests = (level: Level): Promise<void> =>
  computeDigests(
    level,
    [...digestedSpaces.keys()].filter((space) => !storedDigest(level, space)),
  );
