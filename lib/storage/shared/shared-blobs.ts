/** Whether all servers of a storage have the same blobs: each finds the name that the first one gave to the place. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobLocation } from '../blobs/blobs.js';
import { StoreUnavailableError } from '../engine/durable-level.js';
import type { Connection } from './connection.js';

/** @throws StoreUnavailableError where this server has other blobs than those that the database knows of */
export async function assertSharedBlobs(connection: Connection, location: BlobLocation): Promise<void> {
  const own = await nameOf(location);
  await connection.query("INSERT INTO meta (name, value) VALUES ('blobs', $1) ON CONFLICT DO NOTHING", [own]);
  const { rows } = await connection.query<{ value: string }>("SELECT value FROM meta WHERE name = 'blobs'");
  if (rows[0]!.value === own) return;
  throw new StoreUnavailableError(
    'This server has another place for JSON and bytes than the other servers of the storage. Give all of them the same lws.blobs (s3://…), or ' +
      'the same folder blobs/ in their lws.data-dir.',
  );
}

async function nameOf({ dataDir, s3 }: BlobLocation): Promise<string> {
  if (s3) return [s3.endpoint, s3.bucket, s3.prefix].join(' ');
  const folder = join(dataDir, 'blobs');
  const file = join(folder, 'place');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, randomUUID(), { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFile(file, 'utf8');
}
