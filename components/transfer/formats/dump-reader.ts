/**
 * Dumps of datasets, N-Quads and TriG, also by gzip: each graph below the container that is imported into is a resource. It must not
 * know the store.
 *
 * Blank nodes: a label that the storage made stays as it is, so that the export of an import of an export has the same bytes. Any
 * other belongs to its document, in all graphs and parts of it (`DocumentFactory`).
 */
import type { Quad } from '@rdfjs/types';
import { type ByteSource, type FilePiece, textOf, withStart } from '../../../lib/exchange/byte-source.js';
import { DocumentFactory, documentKey } from '../../../lib/exchange/document-factory.js';
import { GraphRun, LeftOuts, lengthOfRun } from '../../../lib/exchange/graph-runs.js';
import {
  type LeftOut,
  type Member,
  type MemberOptions,
  type MemberReader,
  type ReadStep,
  TransferError,
} from '../../../lib/exchange/member.js';
import { nquadsBlocks } from '../../../lib/exchange/nquads-blocks.js';
import { type Known, KnownQuads, ResumableSource } from '../../../lib/exchange/resumable-source.js';
import { streamedQuads } from '../../../lib/exchange/streamed-quads.js';

/** Bytes of a quad in a dump, about. */
const [longQuad, packedQuad] = [150, 15];

/**
 * Reads a dump. Cursors hold the byte of the text after the member, for N-Quads; for TriG, whose prefixes may stand anywhere, the number
 * of quads; and a digest of what is before. A source is read again up to there, and refused when it has become another one.
 */
export const dumpReader = (source: ByteSource, kind: Record<'isTriG' | 'isGzip', boolean>): MemberReader => ({
  total: source.size,
  quads: Math.floor((source.size ?? 0) / (kind.isGzip ? packedQuad : longQuad)),
  read: (options) => (kind.isTriG ? readTriG : readNQuads)(source, kind.isGzip, options),
  close: async () => {},
});

interface Cursor {
  /** The byte of the text, or the number of quads. */
  readonly at: number;
  readonly line: number;
  /** The key of the document; empty before its start was read. */
  readonly document: string;
  /** The digest of the source before that place. */
  readonly digest: string;
  readonly leftOut: LeftOuts;
}

function cursorOf(text: string | undefined): Cursor {
  const [, at = '0', line = '0', document = '', digest = '', leftOut] =
    /^(\d+) (\d+) (\S*) (\S*) (.*)$/s.exec(text ?? '') ?? [];
  return { at: Number(at), line: Number(line), document, digest, leftOut: new LeftOuts(leftOut) };
}

/** Quads as they come from a parser, with the place of each. */
interface Batch {
  readonly quads: readonly Quad[];
  /** Numbers of lines. */
  readonly lines: readonly number[];
  /** Where reading continues after each. */
  readonly ends: readonly number[];
  /** The amount read up to and with each quad: bytes of the text, or characters of terms. */
  readonly sizes: readonly number[];
  readonly read: number;
  /** Where reading continues after all of it, and the number of lines so far, where that is known. */
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
        size += lengthOfRun(quad);
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
  /** What the sizes begin with. */
  readonly size: number;
  readonly known: Known;
}

/** The members that the quads make, and at the end those that were left out. */
async function* stepsOf(batches: AsyncIterable<Batch>, start: Start): AsyncGenerator<ReadStep> {
  const { name, into, cursor, key, known } = start;
  const { leftOut } = cursor;
  const run = new GraphRun(into, leftOut);
  let [at, line, size, bytes] = [cursor.at, cursor.line, start.size, 0];
  /** Computes the digest for the cursor of the last step, while it still can be. */
  let keep = (): void => {};
  const step = (member: Member | LeftOut, rest = String(leftOut)): ReadStep => {
    const [place, end] = [`${at} ${line} ${key}`, at];
    let digest: string | undefined;
    // Lazy: few cursors are used, and a digest costs more than a step.
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
      // There may be any number of lines without a quad.
      if (quads.length === 0 && end) [at, line] = end;
      keep();
      known.pass(at);
    }
  } catch (error) {
    if (error instanceof TransferError) yield* taken();
    throw error;
  }
  yield* taken();
  // Their cursors have an empty list of left-out quads: an import that continues after these does not report them again.
  for (const member of leftOut.members(into)) yield step(member, '[]');
}

/** The pieces, and the key that their start gives the document. */
async function keyed(
  pieces: AsyncGenerator<FilePiece>,
  { into, rewrite }: MemberOptions,
): Promise<[key: string, pieces: AsyncIterable<FilePiece>]> {
  const [start, all] = await withStart(pieces);
  return [documentKey(start, into, JSON.stringify(rewrite)), all];
}
