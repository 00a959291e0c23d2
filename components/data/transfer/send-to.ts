/** `quadpod import SOURCE --to URL`: imports a file or directory into a storage on any server, over the Linked Web Storage protocol. */
import type { CommandContext } from '../../../lib/component/component.js';
import { type GraphMember, TransferError } from '../../../lib/exchange/member.js';
import { Formats } from './formats/index.js';
import { addReport, type ImportState, newState, type Show, type WantedImport } from './import-state.js';
import { StorageClient } from './storage-client.js';
import { StorageWriter } from './storage-writer.js';

/**
 * Sends all members of the source.
 * @returns the outcome. Members sent before a failure stay in the storage
 * @throws TransferError for errors found before anything is sent
 */
export async function sendTo(
  { formats, flags }: Pick<CommandContext, 'formats' | 'flags'>,
  wanted: WantedImport,
  show: Show,
): Promise<ImportState> {
  const { source, format, into, rewrite, conflict, dryRun } = wanted;
  const client = new StorageClient(into, flags['token']);
  const state = newState({ id: '', source, name: source, into, rewrite, conflict, began: Date.now() });
  const reader = await (await Formats.of(formats)).openReader({ path: source, target: { into, rewrite } }, format);
  const writer = new StorageWriter(client, { into, conflict, dryRun }, state);
  const timer = setInterval(() => show(state), 200);
  try {
    state.total = reader.total;
    await writer.begin();
    // Send a graph only when another member follows it: if reading fails, the last graph may be incomplete.
    let held: GraphMember | undefined;
    for await (const { member, bytes } of reader.read({ into, rewrite })) {
      if (held) await writer.write(held);
      held = member.kind === 'rdf' ? member : undefined;
      if (member.kind === 'left-out') Object.assign(state, addReport(state, [member]));
      else if (member.kind !== 'rdf') await writer.write(member);
      state.bytes = bytes;
    }
    if (held) await writer.write(held);
    await writer.end();
    state.status = 'done';
  } catch (error) {
    await writer.abandon();
    if (!(error instanceof TransferError)) throw error;
    Object.assign(state, { status: 'failed', failure: error.message });
  } finally {
    clearInterval(timer);
    await reader.close();
  }
  show(state);
  return state;
}

/** Returns the target container. @throws TransferError if the address is not a container, or an option requires a Quadpod server */
export function targetOf({ to, into, resume, key }: Readonly<Record<string, string>>): string {
  const url = URL.canParse(to!) ? new URL(to!) : undefined;
  const isPlace = url && /^https?:$/.test(url.protocol) && url.pathname.endsWith('/') && !/[?#]/.test(to!);
  if (!isPlace || url.username || url.password)
    throw new TransferError(
      '--to must be the URL of a container, with a trailing slash: --to https://storage.example/data/.',
    );
  if (into !== undefined)
    throw new TransferError('--to is a container on another server; --into is one of this storage. Use one of them.');
  if (key !== undefined)
    throw new TransferError('--to requires --token FILE for authentication; --key is for this storage.');
  if (resume !== undefined)
    throw new TransferError('An import to another server cannot be resumed. Use --on-conflict skip to continue it.');
  return url.href;
}
