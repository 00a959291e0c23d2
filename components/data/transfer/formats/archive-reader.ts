/**
 * Reads Quadpod archives. The head and the trailer are verified first, and each part before its first member is returned: nothing
 * is imported from a truncated archive.
 */
import { createHash, hash } from 'node:crypto';
import { bytesOfFile, type FileTree, requiredFile, treeReader } from '../../../../lib/exchange/file-tree.js';
import { type Member, type MemberOptions, type ReadStep, TransferError } from '../../../../lib/exchange/member.js';
import { isObject } from '../../../../lib/tools/json/exact-json.js';
import { parseJson } from '../../../../lib/tools/json/json.js';
import { DocumentFactory, documentKey } from '../../exchange/document-factory.js';
import {
  type ArchivedContent,
  type ArchiveHead,
  type ArchivePart,
  headBytes,
  headFile,
  type Line,
  LineReader,
  longestPart,
  type OpenedContent,
  partFile,
  readHead,
  readTrailer,
} from './archive-format.js';

/** Returns true if a tree is an archive. */
export const isArchive = async (tree: FileTree): Promise<boolean> => (await tree.file(headFile)) !== undefined;

/**
 * Reads an archive. If the target differs from the exported container, IRIs below this container are rewritten, unless
 * `rewrite` applies to them. Cursors contain the index of the part, the index of the line after the member, and the bytes so
 * far.
 */
export const archiveReader = treeReader(readArchive);

async function* readArchive(tree: FileTree, options: MemberOptions): AsyncGenerator<ReadStep> {
  const head = await readHead(tree);
  const { parts } = await readTrailer(tree);
  const [, first = '0', behind = '0', before = '0'] = /^(\d+) (\d+) (\d+)$/.exec(options.cursor ?? '') ?? [];
  const reader = lineReader(tree, head, options);
  let bytes = Number(before);
  for (let index = Number(first); index < parts.length; index++) {
    const lines = await linesOf(tree, index, parts[index]!);
    const start = index === Number(first) ? Number(behind) : 0;
    if (start === 0) bytes += parts[index]!.bytes;
    for (let at = start; at < lines.length; at++) {
      const { member, length } = memberOf(reader, lines[at]!, `${partFile(index)}:${at + 1}`);
      bytes += length;
      yield { member, cursor: `${index} ${at + 1} ${bytes}`, bytes };
    }
  }
}

function lineReader(tree: FileTree, head: ArchiveHead, { into, rewrite }: MemberOptions): LineReader {
  const rewrites = head.container === into ? rewrite : [...rewrite, { from: head.container, to: into }];
  const factory = new DocumentFactory(rewrites, documentKey(headBytes(head), into));
  return new LineReader({ into, rewrites, factory }, (opened) => contentOf(tree, opened));
}

/** Returns the lines of a part. @throws TransferError if its digest differs */
async function linesOf(tree: FileTree, index: number, { sha256 }: ArchivePart): Promise<string[]> {
  const path = partFile(index);
  const bytes = await bytesOfFile(await requiredFile(tree, path, 'the archive is incomplete'), longestPart);
  if (hash('sha256', bytes, 'base64') !== sha256) throw new TransferError(`${path} is damaged: its digest differs.`);
  const lines = bytes.toString('utf8').split('\n');
  // The text ends with a line break, followed by an empty line.
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Returns a member, and the size of its content file. */
function memberOf(reader: LineReader, text: string, source: string): { readonly member: Member; length: number } {
  try {
    const line = parseJson(text);
    if (!isObject(line)) throw new Error('It is not an object.');
    const member = reader.member(line as Line, source);
    return { member, length: member.kind === 'bytes' && line['file'] !== undefined ? member.size! : 0 };
  } catch (cause) {
    throw new TransferError(`${source}: ${(cause as Error).message.slice(0, 500)}`, { cause });
  }
}

/** Yields the bytes of a content. @throws TransferError if the digest of the content differs */
async function* contentOf(tree: FileTree, { content, size, sha256 }: OpenedContent): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  let length = 0;
  for await (const chunk of await opened(tree, content)) {
    length += chunk.length;
    if (length > size) break;
    digest.update(chunk);
    yield chunk;
  }
  if (length === size && digest.digest('base64') === sha256) return;
  const what = 'file' in content ? content.file : 'A content in a line';
  throw new TransferError(`${what} is damaged: its size or digest differs.`);
}

async function opened(
  tree: FileTree,
  content: ArchivedContent,
): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>> {
  if ('file' in content) return (await requiredFile(tree, content.file, 'the archive is incomplete')).open();
  return ['text' in content ? Buffer.from(content.text) : Buffer.from(content.base64, 'base64')];
}
