/** The thread that writes a checkpoint, so that requests do not wait for it. */
import { hold, serve } from '../../threads/serve.js';
import { openLevel } from '../level/durable-level.js';
import { writeCheckpoint } from './checkpoint.js';
import { Connection, type DatabaseAddress } from './connection.js';

export interface CheckpointTask {
  /** The folder of the LevelDB. */
  readonly folder: string;
  readonly address: DatabaseAddress;
  readonly keptMinutes: number;
}

const functions = {
  async write({ folder, address, keptMinutes }: CheckpointTask): Promise<void> {
    const connection = new Connection(address);
    try {
      await writeCheckpoint(await hold(() => openLevel(folder)), connection, keptMinutes);
    } finally {
      await connection.close();
    }
  },
};

export type CheckpointFunctions = typeof functions;

serve(functions);
