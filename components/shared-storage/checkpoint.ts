/**
 * Checkpoints: complete states of the storage in the database. A new server starts from the last checkpoint, so earlier rows of
 * the journal can be removed. The next checkpoint is written when the journal has grown by the size of the last one, so that
 * every change is written at most twice in the long run.
 */
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { Connection } from './connection.js';
import type { DatabaseAddress, Replica } from './contract.js';

/** Characters of one part of a checkpoint, before compression. */
const partLength = 4 << 20;
const packed = promisify(gzip);
const unpacked = promisify(gunzip);

export interface Checkpoint {
  /** Unique key of the checkpoint, with which its parts are stored. */
  readonly key: number;
  /** Sequence number of the last journal row in the checkpoint. */
  readonly seq: number;
  readonly parts: number;
  readonly bytes: number;
}

/** Returns the last published checkpoint, which is complete, or `undefined`. */
export async function lastCheckpoint(connection: Connection): Promise<Checkpoint | undefined> {
  const { rows } = await connection.query<{ value: string }>("SELECT value FROM meta WHERE name = 'checkpoint'");
  if (!rows[0]) return undefined;
  const found = JSON.parse(rows[0].value) as Checkpoint;
  // Earlier versions stored the parts under the sequence number of the journal row (`seq`).
  return { ...found, key: found.key ?? found.seq };
}

export interface CheckpointTask {
  readonly address: DatabaseAddress;
  readonly keptMinutes: number;
}

/** Writes a checkpoint in a worker thread, so that requests do not wait. */
export async function work(replica: Replica, { address, keptMinutes }: CheckpointTask): Promise<void> {
  const connection = new Connection(address);
  await writeCheckpoint(replica, connection, keptMinutes).finally(() => connection.close());
}

/** Age after which parts of unpublished checkpoints are removed. No server needs that long for a checkpoint. */
const abandonedMs = 7 * 24 * 3_600_000;
/** Returns a unique key: the negative time in microseconds, which shows the age, with random digits. */
const newKey = (): number => -(Date.now() * 1000 + randomInt(1000));

/**
 * Writes the state of a copy as a checkpoint, and removes the previous checkpoint and the journal rows that no server needs.
 * Several servers may do this concurrently, and each may be delayed: the published checkpoint is always complete, and an older
 * checkpoint never replaces it. @param keptMinutes age up to which rows are kept, for servers that are stopped @returns the
 * published checkpoint, which may be a later checkpoint of another server
 */
export async function writeCheckpoint(
  replica: Replica,
  connection: Connection,
  keptMinutes: number,
): Promise<Checkpoint> {
  const key = newKey();
  let isPublished = false;
  try {
    const checkpoint = await replica.read((seq, lines) => writeParts(connection, lines, { key, seq }));
    const before = await lastCheckpoint(connection);
    isPublished = await publish(connection, checkpoint);
    if (!isPublished) return (await lastCheckpoint(connection))!;
    const outdated = [before?.key ?? 0, -(Date.now() - abandonedMs) * 1000, key];
    await connection.query('DELETE FROM checkpoint WHERE seq = $1 OR (seq < 0 AND seq > $2 AND seq <> $3)', outdated);
    const oldRows = "DELETE FROM journal WHERE seq <= $1 AND at < now() - $2 * interval '1 minute'";
    await connection.query(oldRows, [checkpoint.seq, keptMinutes]);
    return checkpoint;
  } finally {
    // Parts that cannot be removed now are removed with a later checkpoint (`abandonedMs`).
    if (!isPublished) await connection.query('DELETE FROM checkpoint WHERE seq = $1', [key]).catch(() => {});
  }
}

type Lines = AsyncIterable<readonly string[]>;
type Place = Pick<Checkpoint, 'key' | 'seq'>;

/** Publishes a checkpoint, unless the published one is later. Requires that all parts exist. */
async function publish(connection: Connection, checkpoint: Checkpoint): Promise<boolean> {
  const { key, seq, parts } = checkpoint;
  const { rowCount } = await connection.query(
    "INSERT INTO meta (name, value) SELECT 'checkpoint', $1 WHERE (SELECT count(*) FROM checkpoint WHERE seq = $2) = $3 " +
      "ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE (meta.value::jsonb->>'seq')::bigint < $4",
    [JSON.stringify(checkpoint), key, parts, seq],
  );
  return rowCount === 1;
}

async function writeParts(connection: Connection, lines: Lines, of: Place): Promise<Checkpoint> {
  let [parts, bytes] = [0, 0];
  for await (const part of inParts(lines)) {
    const body = await packed(part, { level: 1 });
    bytes += body.length;
    await connection.query('INSERT INTO checkpoint (seq, part, body) VALUES ($1, $2, $3)', [of.key, parts++, body]);
  }
  return { ...of, parts, bytes };
}

/** Yields the lines of a state in texts of about `partLength` characters. */
async function* inParts(blocks: Lines): AsyncGenerator<string> {
  let [part, length]: [string[], number] = [[], 0];
  for await (const lines of blocks) {
    part.push(...lines);
    for (const line of lines) length += line.length + 1;
    if (length < partLength) continue;
    yield part.join('\n');
    [part, length] = [[], 0];
  }
  if (part.length > 0) yield part.join('\n');
}

/** Yields the lines of a checkpoint. @param told called after each part */
export async function* linesOf(
  connection: Connection,
  { key, parts }: Checkpoint,
  told: (parts: number, of: number) => void,
): AsyncGenerator<readonly string[]> {
  const statement = 'SELECT body FROM checkpoint WHERE seq = $1 AND part = $2';
  for (let part = 0; part < parts; part++) {
    const { rows } = await connection.query<{ body: Buffer }>(statement, [key, part]);
    if (!rows[0]) throw new Error('The checkpoint was replaced meanwhile. Start the server again.');
    yield (await unpacked(rows[0].body)).toString().split('\n');
    told(part + 1, parts);
  }
}
