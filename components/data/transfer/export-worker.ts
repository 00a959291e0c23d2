/** Thread of an export: reads a snapshot of the store from the same LevelDB, and writes the format. */
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { blobsAt } from '../../../lib/storage/blobs/blobs-at.js';
import { openLevel } from '../../../lib/storage/level/durable-level.js';
import { acquire, assertWanted, type Caller, serve } from '../../../lib/tools/threads/worker-host.js';
import { ExportedMembers, type ExportQuestions, type ExportTask } from './exported-members.js';
import { Formats } from './formats/index.js';
import { openWriter } from './formats/open-writer.js';

type ExportCaller = Caller<ExportQuestions, Uint8Array>;

const outputTo = (caller: ExportCaller): Writable =>
  new Writable({
    highWaterMark: 1 << 18,
    write(chunk: Buffer, _encoding, done) {
      // A Node Buffer may share its memory with others, so a copy is transferred.
      const bytes = new Uint8Array(chunk);
      caller.send(bytes, [bytes.buffer]).then(() => done(), done);
    },
  });

const functions = {
  /** Sends the bytes of the export. @throws TransferError */
  async write(task: ExportTask, caller: ExportCaller): Promise<void> {
    const { of, storage, format, isGzip } = task;
    const level = await acquire(() => openLevel(join(task.dataDir, 'level')));
    const snapshot = level.snapshot();
    try {
      const blobs = await blobsAt(task.blobs);
      const questions: ExportQuestions = {
        decide: (mode, states) => caller.ask('decide', mode, states),
        returned: (keys) => caller.ask('returned', keys),
      };
      const members = new ExportedMembers({ level, snapshot, blobs }, { ...task, ...questions });
      const output = outputTo(caller);
      const ended = finished(output);
      ended.catch(() => {});
      const formats = await Formats.of(task.formats);
      const writer = await openWriter(formats, { stream: output }, { format, of, isGzip, storage });
      for await (const member of members.all()) {
        assertWanted();
        await writer.write(member);
      }
      await writer.end();
      await ended;
    } finally {
      await snapshot.close();
    }
  },
};

export type ExportFunctions = typeof functions;

serve(functions);
