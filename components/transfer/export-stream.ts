/** An export as a stream of bytes: a thread writes it, and what the caller may read is decided here. It must not know HTTP. */
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { Access } from '../../lib/authorization/principal.js';
import type { House } from '../../lib/component.js';
import type { ExportTask, FromExport, ToExport } from './export-messages.js';
import { TransferError } from './member.js';

export interface ExportRequest {
  /** The container that is exported. */
  readonly of: string;
  readonly format: string;
  readonly isGzip: boolean;
  readonly access: Access;
  /** The operator may read everything. */
  readonly isOperator: boolean;
  /** Milliseconds after which it is broken off; absent: never. */
  readonly mostMs?: number | undefined;
}

/**
 * Begins an export. The stream fails when it cannot be finished, so that nobody takes a part for the whole.
 * @param onEnd called once, when its thread has let go of LevelDB
 */
export async function exportStream(house: House, request: ExportRequest, onEnd: () => void): Promise<Readable> {
  const { authorizer, store, storage } = house;
  const { access, isOperator, of, format, isGzip, mostMs } = request;
  const decide = async (mode: 'read' | 'control', iri: string): Promise<boolean> =>
    isOperator || authorizer.allows({ view: store, access, mode, iri });
  const ended = new Int32Array(new SharedArrayBuffer(4));
  const task: ExportTask = {
    ...{ dataDir: resolve(house.dataDir), of, format, isGzip, ended },
    scope: isOperator ? 'everything' : await authorizer.readScope(access),
    isController: await decide('control', storage),
  };
  const release = store.blobs.hold();
  const worker = new Worker(new URL('./export-worker.js', import.meta.url), {
    workerData: task,
    resourceLimits: { maxYoungGenerationSizeMb: 64 },
  });
  const tell = (message: ToExport): void => worker.postMessage(message);
  const end = (): void => {
    Atomics.store(ended, 0, 1);
    tell({ end: true });
  };
  const waiting: Uint8Array[] = [];
  let wants = false;
  const give = (): void => {
    while (wants && waiting.length > 0) {
      wants = stream.push(waiting.shift());
      tell({ taken: true });
    }
    if (isDone && waiting.length === 0) stream.push(null);
  };
  let isDone = false;
  const stream = new Readable({
    highWaterMark: 1 << 18,
    read() {
      wants = true;
      give();
    },
    destroy(error, done) {
      end();
      done(error);
    },
  });
  const timer =
    mostMs === undefined
      ? undefined
      : setTimeout(() => stream.destroy(new TransferError('The export took too long. Export a part.')), mostMs);
  worker.on('message', (message: FromExport) => {
    if ('chunk' in message) {
      waiting.push(message.chunk);
      give();
    } else if ('question' in message)
      void Promise.all(message.iris.map((iri) => decide(message.mode, iri))).then(
        (allowed) => tell({ answer: message.question, allowed }),
        (error: Error) => stream.destroy(error),
      );
    else if ('done' in message) {
      isDone = true;
      give();
    } else {
      if (message.isFault) house.log.error({ reason: message.broken }, 'an export failed');
      stream.destroy(new TransferError(message.isFault ? 'The server failed; its log says why.' : message.broken));
    }
  });
  worker.once('error', (error) => stream.destroy(error));
  worker.once('exit', () => {
    clearTimeout(timer);
    if (!isDone) stream.destroy(new TransferError('The export was broken off.'));
    release();
    onEnd();
  });
  return stream;
}
