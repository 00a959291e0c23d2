/** Parses N-Quads in blocks, with the position of each quad. */
import { isUtf8 } from 'node:buffer';
import { EventEmitter } from 'node:events';
import type { Quad } from '@rdfjs/types';
import { Parser } from 'n3';
import type { DataFactory } from 'rdf-data-factory';
import type { FilePiece } from '../../../lib/exchange/byte-source.js';
import { SyntaxFault } from '../../../lib/exchange/member.js';
import { UsualStatements } from './nquads-fast-path.js';

export interface Block {
  readonly quads: readonly Quad[];
  /** For each quad, the byte offset after its line. */
  readonly ends: readonly number[];
  /** For each quad, its line number, from 1. */
  readonly lines: readonly number[];
  /** The byte offset after the block, and the number of lines so far. */
  readonly end: readonly [at: number, line: number];
  /** Bytes of the source read so far. */
  readonly read: number;
  /** Fault of the line after the last quad. No block follows. */
  readonly fault?: SyntaxFault;
}

/** Maximum length of a line in bytes: enough for the longest storable literal, escaped. */
const longestLine = 20 << 20;
/** Matches a line that declares a version of RDF (RDF 1.2 N-Quads). */
const version = /^VERSION[ \t]*(["'])1\.[12](?:-basic)?\1[ \t]*(?:#.*)?\r?\n?$/i;
const [tab, lineFeed, carriageReturn, space, hash, upperV, lowerV] = [9, 10, 13, 32, 35, 86, 118];

/** The lines of a block that contain statements. */
interface Lines {
  readonly bytes: Buffer;
  /** Offset of the text in `bytes`. */
  readonly first: number;
  /** Count of lines before the text. */
  readonly before: number;
  readonly starts: readonly number[];
}

interface Start {
  /** Name of the source, for messages. */
  readonly name: string;
  /** The byte offset of the first piece in the text, and the number of lines before it. */
  readonly offset: number;
  readonly line: number;
}

/** Yields whole lines as quads. The last line may lack an end of line. */
export async function* nquadsBlocks(
  pieces: AsyncIterable<FilePiece>,
  start: Start,
  factory: DataFactory<Quad>,
): AsyncGenerator<Block> {
  const reader = new BlockReader(start, factory);
  let rest: Buffer[] = [];
  let waiting = 0;
  let last = 0;
  for await (const { bytes, read } of pieces) {
    last = read;
    const end = bytes.lastIndexOf(lineFeed) + 1;
    if (end === 0) {
      rest.push(bytes);
      waiting += bytes.length;
      if (waiting > longestLine) {
        yield reader.tooLong(read);
        return;
      }
      continue;
    }
    const lines = rest.length === 0 ? bytes.subarray(0, end) : Buffer.concat([...rest, bytes.subarray(0, end)]);
    rest = end < bytes.length ? [bytes.subarray(end)] : [];
    waiting = bytes.length - end;
    const block = reader.read(lines, read);
    yield block;
    if (block.fault) return;
  }
  if (waiting > 0) yield reader.read(Buffer.concat(rest), last);
}

class BlockReader {
  private readonly parser: Parser;
  private readonly usual: UsualStatements;
  private offset: number;
  private line: number;

  constructor(
    private readonly start: Start,
    factory: DataFactory<Quad>,
  ) {
    ({ offset: this.offset, line: this.line } = start);
    this.usual = new UsualStatements(factory);
    // This prefix keeps labels unchanged. Terms are made by our factory, because n3's own terms compute their parts at every access.
    this.parser = new Parser({ format: 'application/n-quads', blankNodePrefix: '_:', factory: factory as never });
  }

  read(bytes: Buffer, read: number): Block {
    const isStart = this.offset === 0 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const before = this.line;
    const starts: number[] = [];
    const ends: number[] = [];
    const lines: number[] = [];
    for (let at = isStart ? 3 : 0; at < bytes.length; ) {
      const feed = bytes.indexOf(lineFeed, at);
      const end = feed < 0 ? bytes.length : feed + 1;
      this.line++;
      if (isStatement(bytes, at, end)) {
        starts.push(at);
        ends.push(this.offset + end);
        lines.push(this.line);
      }
      at = end;
    }
    const end = [this.offset + bytes.length, this.line] as const;
    const first = isStart ? 3 : 0;
    const result = this.statements({ bytes, first, before, starts }, { ends, lines, end, read });
    this.offset += bytes.length;
    return result;
  }

  private statements({ bytes, first, before, starts }: Lines, block: Omit<Block, 'quads'>): Block {
    const quads: Quad[] = [];
    // A block that is not UTF-8 is decoded line by line, to find the invalid line.
    const text = isUtf8(bytes) ? bytes.toString('utf8', first) : undefined;
    // The character offset and the number of the next line.
    let [at, next] = [0, before + 1];
    for (const [index, start] of starts.entries()) {
      const line = block.lines[index]!;
      if (text !== undefined) for (; next < line; next++) at = text.indexOf('\n', at) + 1;
      try {
        const quad = text === undefined ? undefined : this.usual.read(text, at);
        quads.push(quad ?? this.oneLine(bytes.subarray(start, block.ends[index]! - this.offset)));
        at = quad ? this.usual.end : (text?.indexOf('\n', at) ?? 0) + 1;
      } catch (cause) {
        const message = cause instanceof Error ? cause.message.replace(/ on line \d+\.?$/, '').slice(0, 300) : '';
        return { ...block, quads, fault: this.faultAt(line, message, cause) };
      }
      next = line + 1;
    }
    return { ...block, quads };
  }

  /** Parses a line. With a callback for quads, n3 parses token by token: of a million statements in a line, it reads two. */
  private oneLine(line: Buffer): Quad {
    if (!isUtf8(line)) throw new Error('It is not UTF-8');
    const text = new EventEmitter();
    let found: Quad | undefined;
    const onQuad = (error: Error | null, quad: Quad | null): void => {
      if (error) throw error;
      if (quad && found) throw new Error('The line has more than one statement');
      found = quad ?? found;
    };
    this.parser.parse(text as never, { onQuad } as never);
    text.emit('data', line.toString('utf8'));
    text.emit('end');
    if (!found) throw new Error('The line has no complete statement');
    return found;
  }

  tooLong(read: number): Block {
    const fault = this.faultAt(this.line + 1, `The line has more than ${longestLine} bytes`);
    return { quads: [], ends: [], lines: [], end: [this.offset, this.line], read, fault };
  }

  private faultAt(line: number, message: string, cause?: unknown): SyntaxFault {
    return new SyntaxFault(`${this.start.name}:${line}: ${message}.`, { cause });
  }
}

/** Returns true if a line has more than white space, a comment and a version. */
function isStatement(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (bytes[at] === space || bytes[at] === tab) at++;
  const first = bytes[at];
  if (first === undefined || first === lineFeed || first === carriageReturn || first === hash) return false;
  return !((first === upperV || first === lowerV) && version.test(bytes.toString('latin1', at, end)));
}
