/**
 * Reads dataset dumps: N-Quads and TriG, optionally gzipped. Each graph below the target container is a resource. This module
 * must not import the store. Blank node labels of the storage are kept, so that export, import and export give the same bytes.
 * Other labels are scoped to their document, with all its graphs and parts (`DocumentFactory`).
 */
import type { Quad } from '@rdfjs/types';
import { type ByteSource, type FilePiece, textOf, withStart } from '../../../../lib/exchange/byte-source.js';
import {
  type LeftOut,
  type Member,
  type MemberOptions,
  type MemberReader,
  type ReadStep,
  TransferError,
} from '../../../../lib/exchange/member.js';
import { lengthOfTriple } from '../../../../lib/rdf/bounds.js';
import { DocumentFactory, documentKey } from '../../exchange/document-factory.js';
import { GraphRun, LeftOuts } from '../../exchange/graph-runs.js';
import { nquadsBlocks } from '../../exchange/nquads-blocks.js';
import { type Known, KnownQuads, ResumableSource } from '../../exchange/resumable-source.js';
import { streamedQuads } from '../../exchange/streamed-quads.js';

/**
 * Reads a dump. Cursors contain the position after the member, and a digest of everything before it. The position is a byte
 * offset for N-Quads, and a count of quads for TriG, where prefixes can occur anywhere. To resume, the source is read up to the
 * position, and rejected if it has changed.
 */
export const dumpReader = (source: ByteSource, kind: Record<'isTriG' | 'isGzip', boolean>): MemberReader => ({
  total: source.size,
  read: (options) => (kind.isTriG ? readTriG : readNQuads)(source, kind.isGzip, options),
  close: async () => {},
});

interface Cursor {
  /** Byte offset in the text, or count of quads. */
  readonly at: number;
  readonly line: number;
  /** The key of the document. Empty until its start has been read. */
  readonly document: string;
  /** The digest of the source before that position. */
  readonly digest: string;
  readonly leftOut: LeftOuts;
}

function cursorOf(text: string | undefined): Cursor {
  const [, at = '0', line = '0', document = '', digest = '', leftOut] =
    /^(\d+) (\d+) (\S*) (\S*) (.*)$/s.exec(text ?? '') ?? [];
  return { at: Number(at), line: Number(line), document, digest, leftOut: new LeftOuts(leftOut) };
}

/** Quads from a parser, with the position of each quad. */
interface Batch {
  readonly quads: readonly Quad[];
  /** Line number of each quad. */
  readonly lines: readonly number[];
  /** Position after each quad, from which reading can be resumed. */
  readonly ends: readonly number[];
  /** Size up to and including each quad: bytes of the text, or characters of terms. */
  readonly sizes: readonly number[];
  readonly read: number;
  /** Position after the batch, and count of lines so far, if known. */
  readonly end?: readonly [at: number, line: number];
}

async function* readNQuads(source: ByteSource, isGzip: boolean, options: MemberOptions): AsyncGenerator<ReadStep> {
  const cursor = cursorOf(options.cursor);
  const known = new ResumableSource();
  const text = textOf(source, isGzip);
  const pieces = cursor.at > 0 ? known.after(cursor, text, source.name) : known.follow(text);
  const [key, all] = cursor.document ? [cursor.document, pieces] : await keyed(pieces, options);
  const start = { name: source.name, offset: cursor.at, line: cursor.line };
  const batches = async function* (): AsyncGenerator<Batch> {
    for await (const block of nquadsBlocks(all, start, new DocumentFactory(options.rewrite, key))) {
      if (!block.fault || block.quads.length > 0) yield { ...block, sizes: block.ends };
      if (block.fault) throw block.fault;
    }
  };
  yield* stepsOf(batches(), { name: source.name, into: options.into, cursor, key, size: cursor.at, known });
}

async function* readTriG(source: ByteSource, isGzip: boolean, options: MemberOptions): AsyncGenerator<ReadStep> {
  const { name } = source;
  const cursor = cursorOf(options.cursor);
  const [found, pieces] = await keyed(textOf(source, isGzip), options);
  const key = cursor.document || found;
  const factory = new DocumentFactory(options.rewrite, key);
  const known = new KnownQuads();
  const batches = async function* (): AsyncGenerator<Batch> {
    let [count, size] = [0, 0];
    for await (const all of streamedQuads(pieces, { format: 'application/trig', name }, factory)) {
      const skipped = Math.min(all.quads.length, Math.max(0, cursor.at - count));
      for (const quad of all.quads.slice(0, skipped)) known.add(quad);
      count += skipped;
      if (skipped > 0 && count === cursor.at) known.assert(cursor.digest, name);
      const quads = all.quads.slice(skipped);
      const sizes = quads.map((quad) => {
        size += lengthOfTriple(quad);
        return size;
      });
      yield { quads, sizes, lines: all.lines.slice(skipped), ends: quads.map(() => ++count), read: all.read };
    }
    if (count < cursor.at) known.assert('', name);
  };
  yield* stepsOf(batches(), { name, into: options.into, cursor, key, size: 0, known });
}

interface Start {
  readonly name: string;
  readonly into: string;
  readonly cursor: Cursor;
  readonly key: string;
  /** Size before the first quad, see `sizes`. */
  readonly size: number;
  readonly known: Known;
}

/** Yields the members that the quads form, and at the end the skipped members. */
async function* stepsOf(batches: AsyncIterable<Batch>, start: Start): AsyncGenerator<ReadStep> {
  const { name, into, cursor, key, known } = start;
  const { leftOut } = cursor;
  const run = new GraphRun(into, leftOut);
  let [at, line, size, bytes] = [cursor.at, cursor.line, start.size, 0];
  /** Computes the digest for the cursor of the last step, before further quads change the digest. */
  let keep = (): void => {};
  const step = (member: Member | LeftOut, rest = String(leftOut)): ReadStep => {
    const [place, end] = [`${at} ${line} ${key}`, at];
    let digest: string | undefined;
    // Lazy: few cursors are used, and a digest takes longer than a step.
    keep = () => {
      digest ??= known.digest(end);
    };
    return {
      ...{ member, bytes },
      get cursor() {
        digest ??= known.digest(end);
        return `${place} ${digest} ${rest}`;
      },
    };
  };
  const taken = (next?: Quad): ReadStep[] => {
    const member = run.take(next);
    return member ? [step(member)] : [];
  };
  try {
    for await (const { quads, lines, ends, sizes, read, end } of batches) {
      bytes = read;
      for (let index = 0; index < quads.length; index++) {
        const quad = quads[index]!;
        if (run.isOver(quad, size)) yield* taken(quad);
        line = lines[index]!;
        run.add(quad, () => ({ source: `${name}:${line}`, size }));
        [at, size] = [ends[index]!, sizes[index]!];
        if (known.add) {
          keep();
          known.add(quad);
        }
      }
      // Many lines may have no quad: move the position past them.
      if (quads.length === 0 && end) [at, line] = end;
      keep();
      known.pass(at);
    }
  } catch (error) {
    if (error instanceof TransferError) yield* taken();
    throw error;
  }
  yield* taken();
  // The cursors of skipped members list no skipped quads, so that a resumed import does not report these members again.
  for (const member of leftOut.members(into)) yield step(member, '[]');
}

/** Returns the pieces, and the key of the document, which is computed from their start. */
async function keyed(
  pieces: AsyncGenerator<FilePiece>,
  { into, rewrite }: MemberOptions,
): Promise<[key: string, pieces: AsyncIterable<FilePiece>]> {
  const [start, all] = await withStart(pieces);
  return [documentKey(start, into, JSON.stringify(rewrite)), all];
}
