/**
 * Checkpoints: a whole state in the database, so that a new server begins with it and the journal before it can be removed. One is
 * made when the journal has become as large as the last one, so every change is written twice at most in the long run.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { type Level, writeBatch, writeUnsynced } from '../durable-level.js';
import { otherKeys } from '../quad-keys.js';
import { metaKey } from '../records.js';
import { isQuad } from '../rewritten-entries.js';
import { entryOf, lineOf, stateBlocks } from '../state-blocks.js';
import type { Connection } from './connection.js';
import { readPlace } from './place.js';

/** Characters of one part. */
const partLength = 4 << 20;
const packed = promisify(gzip);
const unpacked = promisify(gunzip);

export interface Checkpoint {
  /** The last row of the journal that is in it. */
  readonly seq: number;
  readonly parts: number;
  readonly bytes: number;
}

/** The one that is complete. */
export async function lastCheckpoint(connection: Connection): Promise<Checkpoint | undefined> {
  const { rows } = await connection.query<{ value: string }>("SELECT value FROM meta WHERE name = 'checkpoint'");
  return rows[0] && (JSON.parse(rows[0].value) as Checkpoint);
}

/**
 * Writes the state of a copy, and removes the one before and the rows of the journal that nobody needs any more.
 * @param keptMinutes rows that are not older stay, for servers that are not there at the moment
 */
export async function writeCheckpoint(level: Level, connection: Connection, keptMinutes: number): Promise<Checkpoint> {
  const snapshot = level.snapshot();
  try {
    const { seq } = readPlace(await level.get(metaKey('position'), { snapshot }));
    await connection.query('DELETE FROM checkpoint WHERE seq = $1', [seq]);
    let [parts, bytes, length] = [0, 0, 0];
    let lines: string[] = [];
    const flush = async (): Promise<void> => {
      const body = await packed(lines.join('\n'), { level: 1 });
      [lines, length] = [[], 0];
      bytes += body.length;
      await connection.query('INSERT INTO checkpoint (seq, part, body) VALUES ($1, $2, $3)', [seq, parts++, body]);
    };
    for await (const block of stateBlocks(level, snapshot))
      for (const entry of block) {
        const line = lineOf(entry);
        lines.push(line);
        length += line.length;
        if (length >= partLength) await flush();
      }
    if (lines.length > 0) await flush();
    const checkpoint = { seq, parts, bytes };
    await connection.query(
      "INSERT INTO meta (name, value) VALUES ('checkpoint', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [JSON.stringify(checkpoint)],
    );
    await connection.query('DELETE FROM checkpoint WHERE seq <> $1', [seq]);
    await connection.query("DELETE FROM journal WHERE seq <= $1 AND at < now() - $2 * interval '1 minute'", [
      seq,
      keptMinutes,
    ]);
    return checkpoint;
  } finally {
    await snapshot.close();
  }
}

/** Writes the state of a checkpoint into an empty folder. @param told how much of it is there */
export async function loadCheckpoint(
  level: Level,
  connection: Connection,
  told: (parts: number, of: number) => void,
): Promise<number> {
  const checkpoint = await lastCheckpoint(connection);
  if (!checkpoint) return 0;
  const { seq, parts } = checkpoint;
  for (let part = 0; part < parts; part++) {
    const { rows } = await connection.query<{ body: Buffer }>(
      'SELECT body FROM checkpoint WHERE seq = $1 AND part = $2',
      [seq, part],
    );
    if (!rows[0]) throw new Error('The checkpoint was replaced meanwhile. Start the server again.');
    const lines = (await unpacked(rows[0].body)).toString().split('\n');
    const entries = lines.map(entryOf);
    const [last] = entries.splice(-1);
    await writeUnsynced(
      level,
      (batch) => {
        for (const [key, value] of [...entries, last!]) {
          batch.put(key, value);
          if (isQuad(key)) for (const other of otherKeys(key)) batch.put(other, '');
        }
      },
      () => last!,
    );
    told(part + 1, parts);
  }
  await writeBatch(
    level,
    () => {},
    () => [metaKey('position'), String(seq)],
  );
  return seq;
}
