/** An import that is sent to the server which has the storage open. */
import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, Readable } from 'node:stream';
import type { CommandContext } from '../../lib/component/basics.js';
import { askServer } from '../../lib/component/commands.js';
import { type RefusedFile, TransferError } from '../../lib/component/exchange.js';
import { zipFolder } from './copy-tree.js';
import { type ImportState, type Show, type WantedImport, withTold } from './import-state.js';

/** The report of the server on an import. */
type Told = Omit<ImportState, 'source' | 'cursor' | 'blocks' | 'told' | 'access' | 'began'> & {
  readonly access?: ImportState['access'];
  readonly report?: ImportState['told'];
};

/**
 * Sends a source to the server to be imported, and waits for the end.
 * @throws TransferError when it does not
 */
export async function sendImport(
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
  let last: Told | undefined;
  for await (const line of createInterface({ input: Readable.fromWeb(following.body as never) })) {
    last = JSON.parse(line) as Told;
    show({ ...last, began: 0 });
  }
  if (!last || last.status === 'running')
    throw new TransferError('The server ended before the import did. --resume goes on with it.');
  const { report = [], access = [], leftOut } = last;
  return { ...last, access, began: 0, ...withTold({ leftOut, told: report }, unsent) };
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

/** The file, or the folder as a ZIP that is made while it is sent. @param unsent receives what the ZIP leaves out */
function contentOf({ source }: WantedImport, unsent: ImportState['told'][number][]): Readable {
  if (statSync(source).isFile()) return createReadStream(source, { highWaterMark: 1 << 18 });
  const stream = new PassThrough({ highWaterMark: 1 << 18 });
  const leaveOut = ({ path, refused }: RefusedFile): unknown => unsent.push({ source: path, why: refused });
  zipFolder(source, stream, leaveOut).catch((error: Error) => stream.destroy(error));
  return stream;
}

/** The path of the import that can continue. */
async function interrupted(context: CommandContext, { source, into }: WantedImport): Promise<string> {
  const { imports } = (await (await askServer(context, 'imports')).json()) as { imports: Told[] };
  const found = imports.find(
    (state) => state.name === basename(source) && state.into === into && state.status !== 'done',
  );
  if (found) return `imports/${found.id}`;
  throw new TransferError(`The server knows of no import of ${basename(source)} into ${into} that was interrupted.`);
}
