/**
 * Dumps of datasets, N-Quads and TriG, also by gzip: each graph below the container that is imported into is a resource. It must not
 * know the store.
 *
 * Blank nodes: a label that the storage made stays as it is, so that the export of an import of an export has the same bytes. Any
 * other belongs to its document, in all graphs and parts of it (`RewritingFactory`).
 */
import { type Reader, type ReadOptions, type ReadStep, TransferError } from '../member.js';
import { type ByteSource, type Piece, textOf, withStart } from './byte-source.js';
import { GraphRun, LeftOuts, lengthOf } from './graph-runs.js';
import { nquadsBlocks } from './nquads-blocks.js';
import { DocumentFactory, documentKey, RewritingFactory } from './rewriting.js';
import { streamedQuads } from './streamed-quads.js';

interface DumpKind {
  readonly isTriG: boolean;
  readonly isGzip: boolean;
}

/** What a media type, or else the extension, says; `undefined` where it is no dump. */
export function dumpKind(name: string, mediaType?: string): DumpKind | undefined {
  const type = mediaType?.replace(/;.*/s, '').trim().toLowerCase();
  const isGzip = /\.gz$/i.test(name) || type === 'application/gzip' || type === 'application/x-gzip';
  if (type === 'application/n-quads') return { isTriG: false, isGzip };
  if (type === 'application/trig') return { isTriG: true, isGzip };
  const extension = /\.(nq|nquads|trig)(?:\.gz)?$/i.exec(name)?.[1]?.toLowerCase();
  return extension === undefined ? undefined : { isTriG: extension === 'trig', isGzip };
}

/**
 * Reads a dump. Cursors hold the byte of the text behind the member, for N-Quads, where plain files are read on from there and
 * those by gzip are inflated again; for TriG, whose prefixes may stand anywhere, the number of quads.
 * @param kind what `dumpKind` said
 */
export const dumpReader = (source: ByteSource, kind: DumpKind): Reader => ({
  total: source.size,
  read: (options) => (kind.isTriG ? readTriG : readNQuads)(source, kind.isGzip, options),
  close: async () => {},
});

interface Cursor {
  /** The byte of the text, or the number of quads. */
  readonly at: number;
  readonly line: number;
  /** The key of the document; empty before its start was read. */
  readonly document: string;
  readonly leftOut: LeftOuts;
}

function cursorOf(text: string | undefined): Cursor {
  const [, at = '0', line = '0', document = '', leftOut] = /^(\d+) (\d+) (\S*) (.*)$/s.exec(text ?? '') ?? [];
  return { at: Number(at), line: Number(line), document, leftOut: new LeftOuts(leftOut) };
}

async function* readNQuads(source: ByteSource, isGzip: boolean, options: ReadOptions): AsyncGenerator<ReadStep> {
  const { at, line, document, leftOut } = cursorOf(options.cursor);
  const pieces = textOf(source, isGzip, at);
  const [key, all] = document ? [document, pieces] : await keyed(pieces, options);
  const run = new GraphRun(options.into, leftOut);
  const start = { name: source.name, offset: at, line };
  let cursor = { at, line };
  let bytes = 0;
  const step = (member: ReadStep['member']): ReadStep => ({
    member,
    cursor: `${cursor.at} ${cursor.line} ${key} ${leftOut}`,
    bytes,
  });
  for await (const { quads, ends, lines, read, fault } of nquadsBlocks(
    all,
    start,
    new RewritingFactory(options.rewrite, key),
  )) {
    bytes = read;
    for (let index = 0; index < quads.length; index++) {
      const quad = quads[index]!;
      if (run.isOver(quad, cursor.at)) {
        const member = run.take(quad);
        if (member) yield step(member);
      }
      const before = cursor.at;
      run.add(quad, () => ({ source: `${source.name}:${lines[index]}`, end: before }));
      cursor = { at: ends[index]!, line: lines[index]! };
    }
    if (!fault) continue;
    const member = run.take();
    if (member) yield step(member);
    throw fault;
  }
  const member = run.take();
  if (member) yield step(member);
  yield* ending(options, { key, leftOut, cursor, bytes });
}

async function* readTriG(source: ByteSource, isGzip: boolean, options: ReadOptions): AsyncGenerator<ReadStep> {
  const { at, document, leftOut } = cursorOf(options.cursor);
  const [found, pieces] = await keyed(textOf(source, isGzip, 0), options);
  const key = document || found;
  const syntax = { format: 'application/trig', name: source.name };
  const run = new GraphRun(options.into, leftOut);
  let [count, characters, bytes] = [0, 0, 0];
  const step = (member: ReadStep['member']): ReadStep => ({ member, cursor: `${count} 0 ${key} ${leftOut}`, bytes });
  try {
    for await (const { quads, lines, read } of streamedQuads(
      pieces,
      syntax,
      new DocumentFactory(options.rewrite, key),
    )) {
      bytes = read;
      for (const [index, quad] of quads.entries()) {
        if (count < at) {
          count++;
          continue;
        }
        if (run.isOver(quad, characters)) {
          const member = run.take(quad);
          if (member) yield step(member);
        }
        run.add(quad, () => ({ source: `${source.name}:${lines[index]}`, end: characters }));
        characters += lengthOf(quad);
        count++;
      }
    }
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    const member = run.take();
    if (member) yield step(member);
    throw error;
  }
  const member = run.take();
  if (member) yield step(member);
  yield* ending(options, { key, leftOut, cursor: { at: count, line: 0 }, bytes });
}

/** What was left out, at the end of the dump. Nothing is, when reading goes on behind it. */
function* ending(
  { into }: ReadOptions,
  end: { key: string; leftOut: LeftOuts; cursor: { at: number; line: number }; bytes: number },
): Generator<ReadStep> {
  const { at, line } = end.cursor;
  const members = end.leftOut.members(into);
  for (const member of members) yield { member, cursor: `${at} ${line} ${end.key} []`, bytes: end.bytes };
}

/** The pieces, and the key that their start gives the document. */
async function keyed(
  pieces: AsyncGenerator<Piece>,
  { into, rewrite }: ReadOptions,
): Promise<[key: string, pieces: AsyncIterable<Piece>]> {
  const [start, all] = await withStart(pieces);
  return [documentKey(start, into, JSON.stringify(rewrite)), all];
}
