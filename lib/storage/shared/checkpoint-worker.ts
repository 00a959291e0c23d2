/** The thread that writes a checkpoint, so that requests do not wait for it. */
import { workerData } from 'node:worker_threads';
import { openLevel } from '../engine/durable-level.js';
import { writeCheckpoint } from './checkpoint.js';
import { Connection, type DatabaseAddress } from './connection.js';

export interface CheckpointTask {
  /** Of the LevelDB. */
  readonly folder: string;
  readonly address: DatabaseAddress;
  readonly keptMinutes: number;
}

const { folder, address, keptMinutes } = workerData as CheckpointTask;
const connection = new Connection(address);
const level = await openLevel(folder);
try {
  await writeCheckpoint(level, connection, keptMinutes);
} finally {
  await level.close();
  await connection.close();
}
