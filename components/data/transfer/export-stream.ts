/** Returns an export as a byte stream. A thread writes it, and asks the HTTP thread for access decisions. */
import { resolve } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { type Access, freshAccess } from '../../../lib/authorization/principal.js';
import { outsideTrash } from '../../../lib/authorization/trash.js';
import type { Platform } from '../../../lib/component/contract.js';
import { stateSpaces, TransferError } from '../../../lib/exchange/member.js';
import { entryRange, partsOfEntry } from '../../../lib/storage/keys/records.js';
import { LwsError, tooBusy } from '../../../lib/tools/errors.js';
import { Thread } from '../../../lib/tools/threads/thread.js';
import { ThreadOutput } from '../../../lib/tools/threads/thread-output.js';
import type { ExportFunctions } from './export-worker.js';
import type { AskedMode, ExportedState, ExportQuestions, ExportTask } from './exported-members.js';
import { Formats } from './formats/index.js';
import { openWriter } from './formats/open-writer.js';
import { foreignState } from './import-state.js';

export interface ExportRequest {
  /** The exported container. */
  readonly of: string;
  readonly format: string;
  readonly isGzip: boolean;
  readonly access: Access;
  /** True if the caller is the operator, who can read everything. */
  readonly isOperator: boolean;
  /** Milliseconds until the export is aborted: in total, and while the client reads nothing (`ReadingTime`). Absent: no limit. */
  readonly maxMs?: number | undefined;
  readonly idleMs?: number | undefined;
}

/**
 * Starts an export. The stream fails if the export cannot be completed, so that the receiver can detect an incomplete response.
 * @param onEnd called once, after the thread of the export has released LevelDB
 */
export async function exportStream(platform: Platform, request: ExportRequest, onEnd: () => void): Promise<Readable> {
  const { authorizer, store, rootIri: storage } = platform;
  const { access, isOperator, of, format, isGzip, maxMs, idleMs } = request;
  const scope = isOperator ? outsideTrash('everything', storage, store) : await authorizer.readScope(access);
  if (scope === 'nothing') {
    onEnd();
    return emptyExport(request, platform);
  }
  // Decides with a copy of `access`: decisions are cached by this object, and may change during a long export.
  const allows = async (mode: AskedMode, iri: string): Promise<boolean> => {
    if (isOperator) return true;
    const question = { view: store, access: freshAccess(access), iri };
    return mode === 'read' ? authorizer.finds(question) : authorizer.allows({ ...question, mode });
  };
  // Current access lists do not apply to an earlier state of the resource, which the snapshot may contain.
  const decide = async (mode: AskedMode, { iri, revision }: ExportedState): Promise<boolean> => {
    if (!(await allows(mode, iri))) return false;
    const now = store.record(iri);
    return isOperator || now?.revision === revision || now?.kind === 'container';
  };
  const isController = await allows('control', storage);
  const task: ExportTask = {
    ...{ dataDir: resolve(platform.dataDir), blobs: store.blobs.location, storage, of, format, isGzip },
    formats: platform.formats,
    scope,
    isController,
    kept: isController && of !== storage ? await keptState(platform, of) : undefined,
  };
  const release = store.blobs.hold();
  const thread = new Thread<ExportFunctions>({
    script: new URL('./export-worker.js', import.meta.url),
    limits: { maxYoungGenerationSizeMb: 64 },
  });
  // An export holds a snapshot of the store and its blobs, so idle exports are aborted.
  const idle = {
    ms: idleMs,
    failure: () => tooSlow('The client does not read the export, or reads less than 32 KiB/s.'),
  };
  const stream = new ThreadOutput(() => void thread.end(), idle);
  const tooLong = (): void => void stream.destroy(tooSlow('The export took too long. Export a part of it.'));
  const timer = maxMs === undefined ? undefined : setTimeout(tooLong, maxMs);
  const decideAll = (mode: AskedMode, states: readonly ExportedState[]): Promise<boolean[]> =>
    Promise.all(states.map((state) => decide(mode, state)));
  const answers: ExportQuestions = { decide: decideAll, returned: async (keys) => store.returned.remove(keys) };
  thread
    .call('write', task, { answers, take: (chunk) => stream.add(chunk) })
    .then(() => stream.finish())
    .catch((error: Error) => stream.destroyed || stream.destroy(whyBroken(error, platform)))
    .finally(() => thread.end());
  void thread.exited.then(() => {
    clearTimeout(timer);
    release();
    onEnd();
  });
  return stream;
}

function whyBroken(error: Error, { log }: Platform): Error {
  if (error instanceof LwsError) return error;
  // Compare the name, because an error from another thread loses its class.
  if (error.name === TransferError.name) return new TransferError(error.message);
  log.error({ reason: error.stack }, 'an export failed');
  return new TransferError('The server failed. See its log.');
}

/** Returns the keys of the component state whose targets are all in a container. */
async function keptState(platform: Platform, of: string): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  for (const space of stateSpaces)
    for await (const entries of platform.store.entries(entryRange(space)))
      for (const [key, value] of entries) {
        const found = foreignState(platform, space, partsOfEntry(key)[1]!, JSON.parse(value));
        if (found?.targets.every((target) => target.startsWith(of))) kept.add(key);
      }
  return kept;
}

const tooSlow = (message: string): LwsError => tooBusy(message, 60);

/** Returns the export for a caller without read access. It uses no thread, because such requests can be repeated at no cost. */
async function emptyExport({ of, format, isGzip }: ExportRequest, platform: Platform): Promise<Readable> {
  const stream = new PassThrough();
  const formats = await Formats.of(platform.formats);
  const writer = await openWriter(formats, { stream }, { format, of, isGzip, storage: platform.rootIri });
  writer.end().catch((error: Error) => stream.destroy(error));
  return stream;
}
