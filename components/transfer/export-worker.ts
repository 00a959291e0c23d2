/** The thread of an export: it reads one state of the store through the same LevelDB, and writes the format. */
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { blobsAt } from '../../lib/component/blobs.js';
import { openLevel } from '../../lib/component/level.js';
import type { AskedMode, ExportedState, ExportTask, FromExport, ToExport } from './export-messages.js';
import { ExportedMembers } from './exported-members.js';
import { openWriter } from './formats/index.js';
import { TransferError } from './member.js';

/** Chunks on their way to who reads them. */
const maxWaiting = 8;

const task = workerData as ExportTask;
const tell = (message: FromExport, moved: ArrayBuffer[] = []): void => parentPort!.postMessage(message, moved);
let onTheWay = 0;
let taken: (() => void) | undefined;
let questions = 0;
const answers = new Map<number, (allowed: readonly boolean[]) => void>();

parentPort!.on('message', (message: ToExport) => {
  if ('taken' in message) {
    onTheWay--;
    taken?.();
  } else if ('answer' in message) {
    answers.get(message.answer)?.(message.allowed);
    answers.delete(message.answer);
  } else {
    // A thread that is killed while it reads could end the process: it ends by itself.
    taken?.();
    for (const answer of answers.values()) answer([]);
  }
});

const isEnded = (): boolean => Atomics.load(task.ended, 0) !== 0;
const assertWanted = (): void => {
  if (isEnded()) throw new TransferError('Nobody wants the export any more.');
};

const output = new Writable({
  highWaterMark: 1 << 18,
  write(chunk: Buffer, _encoding, done) {
    // Buffers of Node share their memory with others: what is moved is a copy.
    const bytes = new Uint8Array(chunk);
    onTheWay++;
    tell({ chunk: bytes }, [bytes.buffer]);
    const go = (): void => {
      if (onTheWay >= maxWaiting && !isEnded()) return;
      taken = undefined;
      done(isEnded() ? new TransferError('Nobody wants the export any more.') : null);
    };
    taken = go;
    go();
  },
});

const level = await openLevel(join(task.dataDir, 'level'));
const snapshot = level.snapshot();
try {
  const { of, storage, scope, isController, kept, format, isGzip } = task;
  const blobs = await blobsAt(task.blobs);
  const decide = (mode: AskedMode, states: readonly ExportedState[]): Promise<readonly boolean[]> =>
    new Promise((resolve) => {
      answers.set(++questions, resolve);
      tell({ question: questions, mode, states });
    });
  const members = new ExportedMembers({ level, snapshot, blobs }, { of, scope, isController, kept, decide });
  const ended = new Promise<void>((done, fail) => output.once('finish', done).once('error', fail));
  ended.catch(() => {});
  const writer = await openWriter(format, { stream: output }, { of, isGzip, storage });
  for await (const member of members.all()) {
    assertWanted();
    await writer.write(member);
  }
  await writer.end();
  await ended;
  tell({ done: true });
} catch (error) {
  const isFault = !(error instanceof TransferError);
  tell({ broken: isFault ? ((error as Error).stack ?? String(error)) : error.message, isFault });
} finally {
  await snapshot.close();
  parentPort!.close();
  await level.close();
}
