/**
 * `quadpod import SOURCE`: imports a file or directory into the storage. While a server is running, the source is sent to it,
 * because only one process can open LevelDB.
 */
import { hash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, Readable } from 'node:stream';
import { askServer } from '../../../lib/component/commands.js';
import type { CommandContext } from '../../../lib/component/component.js';
import type { Platform } from '../../../lib/component/contract.js';
import type { RefusedFile } from '../../../lib/exchange/file-tree.js';
import { TransferError } from '../../../lib/exchange/member.js';
import { isContainerIri } from '../../../lib/storage/keys/records.js';
import { isInUse } from '../../../lib/storage/level/durable-level.js';
import { maxTold } from './blocks.js';
import { Formats } from './formats/index.js';
import { ImportJob } from './import-job.js';
import {
  addReport,
  type Conflict,
  conflicts,
  forgetState,
  type ImportState,
  keepState,
  keptStates,
  newState,
  readRewrite,
  type Show,
  type WantedImport,
} from './import-state.js';
import { ImportStopped } from './import-thread.js';
import { sendTo, targetOf } from './send-to.js';
import { zipFolder } from './trees/zip-sink.js';

/** Exit code of a completed import that has skipped a part of the source. */
const incomplete = 3;

export async function runImport(context: CommandContext): Promise<number> {
  const wanted = wantedOf(context, await Formats.of(context.formats));
  const show = shown(context, wanted);
  if (context.flags['to'] !== undefined) return ended(context, await sendTo(context, wanted, show));
  try {
    return ended(context, await context.onPlatform((platform, owner) => importHere({ platform, owner }, wanted, show)));
  } catch (error) {
    if (!isInUse(error)) throw error;
    return ended(context, await sendImport(context, wanted, show));
  }
}

function wantedOf({ operands, flags, baseUri }: CommandContext, formats: Formats): WantedImport {
  const source = resolve(operands[0]!);
  if (!existsSync(source)) throw new TransferError(`${source} does not exist.`);
  const { format, rewrite, 'on-conflict': conflict = 'fail' } = flags;
  if (format !== undefined && !formats.read.includes(format))
    throw new TransferError(`--format is one of:${formats.explained(formats.read)}`);
  const into = flags['to'] === undefined ? containerOf(baseUri, flags) : targetOf(flags);
  if (!conflicts.includes(conflict as Conflict))
    throw new TransferError(`--on-conflict is one of ${conflicts.join(', ')}.`);
  return {
    ...{ source, format, into, conflict: conflict as Conflict },
    rewrite: rewrite === undefined ? [] : [readRewrite(rewrite)],
    dryRun: flags['dry-run'] === 'true',
    grants: flags['grants'] === 'true',
    acls: flags['acls'] === 'true',
    resume: flags['resume'] === 'true',
  };
}

function containerOf(baseUri: string, { into: given = '', token }: Readonly<Record<string, string>>): string {
  const storage = `${baseUri}/`;
  if (token !== undefined)
    throw new TransferError('--token requires --to URL. For this storage, use --key with the key of an owner.');
  const into = URL.canParse(given, storage) ? new URL(given, storage).href : '';
  if (!into.startsWith(storage) || !isContainerIri(into))
    throw new TransferError(
      `--into must be a container of this storage, with a trailing slash: --into ${storage}data/.`,
    );
  return into;
}

/** Returns a function that shows progress as a bar with the rate per second. */
function shown({ progress }: CommandContext, { dryRun }: WantedImport): Show {
  const bar = progress(dryRun ? 'Looking' : 'Importing');
  const startedAt = Date.now();
  let first: { quads: number; bytes: number } | undefined;
  return ({ bytes, total, quads, created, replaced }) => {
    first ??= { quads, bytes };
    const seconds = Math.max(1, Date.now() - startedAt) / 1000;
    const rate = Math.round((quads - first.quads) / seconds);
    const speed = ((bytes - first.bytes) / seconds / 2 ** 20).toFixed(1);
    const said = `${created + replaced} resources, ${quads} quads (${rate}/s, ${speed} MiB/s)`;
    bar(bytes, total ?? Number.POSITIVE_INFINITY, said);
  };
}

/** Imports into the store directly, as the operator. */
async function importHere(
  { platform, owner }: { platform: Platform; owner: string | undefined },
  wanted: WantedImport,
  show: Show,
): Promise<ImportState> {
  const state = await stateFor(platform, wanted);
  const access = owner === undefined ? {} : { principal: { subject: owner } };
  const job = new ImportJob(state, { platform, access, isOperator: true, dryRun: wanted.dryRun });
  const timer = setInterval(() => show(job.state), 200);
  const interrupt = (): void => void job.stop();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    await job.run();
    state.status = 'done';
  } catch (error) {
    state.status = error instanceof ImportStopped ? 'interrupted' : 'failed';
    state.failure = (error as Error).message;
    if (!(error instanceof TransferError)) throw error;
  } finally {
    clearInterval(timer);
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    if (!wanted.dryRun)
      await (state.status === 'done' ? forgetState(platform.store, state.id) : keepState(platform.store, state));
  }
  show(state);
  return state;
}

async function stateFor(
  { store, clock }: Platform,
  { source, format, into, rewrite, conflict, grants, acls, resume }: WantedImport,
): Promise<ImportState> {
  const before = (await keptStates(store)).find(
    (state) => state.source === source && state.into === into && state.status !== 'done',
  );
  if (resume) {
    if (before) return { ...before, status: 'running' };
    throw new TransferError(`There is no interrupted import of ${source} into ${into}.`);
  }
  if (before) await forgetState(store, before.id);
  const id = hash('sha256', `${source} ${into} ${clock()}`, 'hex').slice(0, 18);
  const asked = { into, rewrite, conflict, grants, acls, ...(format === undefined ? {} : { format }) };
  return newState({ id, source, name: basename(source), ...asked, began: clock() });
}

/** Prints the outcome of an import. @returns the exit code */
function ended(
  { print, flags, operands }: CommandContext,
  state: Omit<ImportState, 'source' | 'cursor' | 'blocks'>,
): number {
  const { created, replaced, merged, skipped, quads, leftOut, told, access, status, failure, into } = state;
  for (const { source, why } of access) print(`Grants access: ${source}: ${why}`);
  if (access.length >= maxTold) print('Grants access: There may be more.');
  for (const { source, why } of told) print(`Left out: ${source}: ${why}`);
  if (leftOut > told.length) print(`Left out: ${leftOut - told.length} more.`);
  print(
    `${into}: ${created} resources created, ${replaced} replaced, ${merged} added to, ${skipped} skipped, ${leftOut} left out; ${quads} quads.`,
  );
  if (status === 'done') {
    if (leftOut > 0) process.stderr.write(`quadpod: The import is incomplete: ${leftOut} left out, see above.\n`);
    if (created + replaced + merged + skipped + leftOut === 0)
      process.stderr.write(`quadpod: Nothing was imported: ${operands[0]} has no resources.\n`);
    return leftOut > 0 || created + replaced + merged + skipped === 0 ? incomplete : 0;
  }
  const isStored = !flags['dry-run'] && created + replaced + merged > 0;
  const then = isStored ? 'Resources imported before are kept.' : 'Nothing was imported.';
  const further = flags['to'] === undefined && isStored ? ' Use --resume to continue.' : '';
  process.stderr.write(`quadpod: ${failure ?? 'The import was interrupted.'}\n${then}${further}\n`);
  return 1;
}

/** The server's report on an import. */
type ImportReport = Omit<ImportState, 'source' | 'cursor' | 'blocks' | 'told' | 'access' | 'began'> & {
  readonly access?: ImportState['access'];
  readonly report?: ImportState['told'];
};

/** Sends a source to the server for import and waits for the result. @throws TransferError if the import fails */
async function sendImport(
  context: CommandContext,
  wanted: WantedImport,
  show: Show,
): Promise<Omit<ImportState, 'source' | 'cursor' | 'blocks'>> {
  const unsent: ImportState['told'][number][] = [];
  const begun = wanted.resume
    ? await askServer(context, await interrupted(context, wanted), { method: 'POST' })
    : await askServer(context, `import?${queryOf(wanted)}`, {
        method: 'POST',
        body: Readable.toWeb(contentOf(wanted, unsent)) as never,
        duplex: 'half',
        headers: { 'Content-Type': typeOf(wanted) },
      });
  const ndjson = { headers: { Accept: 'application/x-ndjson' } };
  const following = await askServer(context, begun.headers.get('location')!, ndjson);
  let last: ImportReport | undefined;
  for await (const line of createInterface({ input: Readable.fromWeb(following.body as never) })) {
    last = JSON.parse(line) as ImportReport;
    show({ ...last, began: 0 });
  }
  if (!last || last.status === 'running')
    throw new TransferError('The server stopped before the end of the import. Use --resume to continue.');
  const { report = [], access = [], leftOut } = last;
  return { ...last, access, began: 0, ...addReport({ leftOut, told: report }, unsent) };
}

function queryOf({ source, format, into, rewrite, conflict, dryRun, grants, acls }: WantedImport): URLSearchParams {
  const query = new URLSearchParams({ into, 'on-conflict': conflict, name: basename(source) });
  if (format !== undefined) query.set('format', format);
  for (const { from, to } of rewrite) query.append('rewrite', `${from}=${to}`);
  if (grants) query.set('grants', 'yes');
  if (acls) query.set('acls', 'yes');
  if (dryRun) query.set('dry-run', '');
  return query;
}

const typeOf = ({ source }: WantedImport): string =>
  statSync(source).isDirectory() ? 'application/zip' : 'application/octet-stream';

/** Returns the file, or the directory as a ZIP created while it is sent. @param unsent receives entries missing from the ZIP */
function contentOf({ source }: WantedImport, unsent: ImportState['told'][number][]): Readable {
  if (statSync(source).isFile()) return createReadStream(source, { highWaterMark: 1 << 18 });
  const stream = new PassThrough({ highWaterMark: 1 << 18 });
  const leaveOut = ({ path, refused }: RefusedFile): unknown => unsent.push({ source: path, why: refused });
  zipFolder(source, stream, leaveOut).catch((error: Error) => stream.destroy(error));
  return stream;
}

/** Returns the path of the import to continue. */
async function interrupted(context: CommandContext, { source, into }: WantedImport): Promise<string> {
  const { imports } = (await (await askServer(context, 'imports')).json()) as { imports: ImportReport[] };
  const found = imports.find(
    (state) => state.name === basename(source) && state.into === into && state.status !== 'done',
  );
  if (found) return `imports/${found.id}`;
  throw new TransferError(`The server has no interrupted import of ${basename(source)} into ${into}.`);
}
