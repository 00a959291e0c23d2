/**
 * `quadpod export [IRI]`: writes a container, or the whole storage, to a file, a directory or standard output. While a server is
 * running, the export is requested over HTTP, because only one process can open LevelDB.
 */
import { createWriteStream, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { askServer } from '../../../lib/component/commands.js';
import type { CommandContext } from '../../../lib/component/component.js';
import { TransferError } from '../../../lib/exchange/member.js';
import { isContainerIri } from '../../../lib/storage/keys/records.js';
import { isInUse } from '../../../lib/storage/level/durable-level.js';
import { exportStream } from './export-stream.js';
import { Formats } from './formats/index.js';
import { unzipInto } from './trees/zip-sink.js';

interface ExportTarget {
  readonly of: string;
  /** Format that is transmitted. A directory is transmitted as a ZIP. */
  readonly format: string;
  /** True if the transmitted ZIP has everything in one top-level directory. */
  readonly isNested: boolean;
  readonly isGzip: boolean;
  /** Path of the output; undefined for standard output. */
  readonly output: string | undefined;
  readonly isFolder: boolean;
}

export async function runExport(context: CommandContext): Promise<number> {
  context.assertStorage();
  const wanted = wantedOf(context, await Formats.of(context.formats));
  const { of, format, isGzip } = wanted;
  try {
    await context.onPlatform(async (platform) => {
      if (!platform.store.record(of)) throw new TransferError(`The container ${of} does not exist.`);
      const request = { of, format, isGzip, access: {}, isOperator: true };
      await keep(context, wanted, await exportStream(platform, request, () => {}));
    });
  } catch (error) {
    if (!isInUse(error)) throw error;
    const query = new URLSearchParams({ of, format: isGzip ? `${format}.gz` : format });
    const { body } = await askServer(context, `export?${query}`);
    await keep(context, wanted, Readable.fromWeb(body as never));
  }
  return 0;
}

function wantedOf({ operands, flags, baseUri }: CommandContext, formats: Formats): ExportTarget {
  const storage = `${baseUri}/`;
  const given = operands[0] ?? '';
  const of = URL.canParse(given, storage) ? new URL(given, storage).href : '';
  if (!of.startsWith(storage) || !isContainerIri(of))
    throw new TransferError(`Exports are of containers of this storage, with a trailing slash: ${storage}data/.`);
  const file = flags['output'];
  const output = file === undefined || file === '-' ? undefined : resolve(file);
  const isGzip = output !== undefined && /\.gz$/i.test(output);
  const format =
    flags['format'] ??
    (output === undefined ? 'nquads' : (formats.textFormatOf(output) ?? (/\.zip$/i.test(output) ? 'zip' : 'folder')));
  if (output !== undefined && !existsSync(dirname(output)))
    throw new TransferError(`The directory ${dirname(output)} does not exist. Create it first.`);
  const [extension] = /\.[a-z][a-z\d]{0,4}$/i.exec(output ?? '') ?? [];
  if (format === 'folder' && flags['format'] === undefined && extension && !existsSync(output!))
    throw new TransferError(
      `The extension ${extension} is unknown. Supported extensions: .nq, .trig (optionally .gz) and .zip. For a directory of that name, use --format folder.`,
    );
  const found = formats.written.includes(format) ? formats.find(format) : undefined;
  if (!found) throw new TransferError(`--format is one of:${formats.explained(formats.written)}`);
  const isTree = !found.endings;
  if (output !== undefined && existsSync(output) && !(isTree && statSync(output).isDirectory()))
    throw new TransferError(`${output} already exists. Choose another name.`);
  const isFolder = isTree && output !== undefined && !/\.zip$/i.test(output);
  if (format === 'folder' && !isFolder)
    throw new TransferError('The format folder requires a directory: --output DIR. For a pipe, use --format zip.');
  const sent = found.mediaType === undefined ? 'zip' : format;
  return { of, output, isFolder, isNested: found.hasFolder === true, isGzip: isGzip && !isTree, format: sent };
}

/** Writes the bytes to the output. After an error, removes incomplete files and directories. */
async function keep(
  { progress, print }: CommandContext,
  { output, isFolder, isNested }: ExportTarget,
  source: Readable,
): Promise<void> {
  if (output === undefined) {
    await pipeline(source, process.stdout, { end: false });
    return;
  }
  const told = progress('Exporting');
  const began = Date.now();
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const rate = bytes / 2 ** 20 / Math.max(0.001, (Date.now() - began) / 1000);
      told(bytes, Number.POSITIVE_INFINITY, `${bytes} bytes (${rate.toFixed(1)} MiB/s)`);
      done(null, chunk);
    },
  });
  const folder = mkdtempSync(join(dirname(output), '.quadpod-export-'));
  try {
    const file = join(folder, 'export');
    await pipeline(source, counted, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
    if (isFolder) await unzipInto(file, output, isNested);
    else await rename(file, output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print(`${output} has ${bytes} bytes${isFolder ? ' (as a ZIP)' : ''}.`);
}
