/** Opens targets of exports. Separate from `Formats`, so that the thread of an import does not load the writers. */
import type { Writable } from 'node:stream';
import type { TreeSink } from '../../../../lib/exchange/file-tree.js';
import type { Format, WriteOptions } from '../../../../lib/exchange/format.js';
import { TransferError, type Writer } from '../../../../lib/exchange/member.js';
import { writeTools } from '../../exchange/write-tools.js';
import { openFolderSink } from '../trees/folder-sink.js';
import { ZipSink } from '../trees/zip-sink.js';
import type { Formats } from './index.js';

/** Target of an export: an empty directory on this machine, or a stream, which the export ends. */
export type WrittenTo = { readonly folder: string } | { readonly stream: Writable };

/** Opens a target. @throws TransferError if the format cannot be written, or not to this target */
export async function openWriter(
  formats: Formats,
  target: WrittenTo,
  { format: name, ...options }: Partial<WriteOptions> & { readonly format: string; readonly of: string },
): Promise<Writer> {
  const all = { storage: options.of, isGzip: false, ...options };
  const found = formats.find(name);
  if (found?.write) {
    const sink = 'folder' in target ? await openFolderSink(target.folder) : zipSink(target.stream, all.of, found);
    return found.write(sink, all, writeTools);
  }
  if (!found?.writeText)
    throw new TransferError(`"${name}" is not a writable format. Formats: ${formats.written.join(', ')}.`);
  if ('stream' in target) return found.writeText(target.stream, all);
  throw new TransferError('This format is a single file: name a file, not a directory.');
}

/** Returns the name of an exported file for the IRI of its container. */
export const exportName = (of: string): string =>
  of
    .split('/')
    .at(-2)!
    .replace(/%[0-9A-F]{2}|[^A-Z0-9._-]/gi, '-')
    .replace(/^\.+/, '-')
    .slice(0, 100) || 'storage';

function zipSink(stream: Writable, of: string, { hasFolder }: Format): TreeSink {
  const sink = new ZipSink(stream);
  if (!hasFolder) return sink;
  return { add: (path, ...rest) => sink.add(`${exportName(of)}/${path}`, ...rest), end: () => sink.end() };
}
