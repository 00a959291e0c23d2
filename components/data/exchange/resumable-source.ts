/**
 * Verifies that the source of a continued import is unchanged: a cursor has a digest of the part already read, compared when that
 * part is read again.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Quad, Term } from '@rdfjs/types';
import type { FilePiece } from '../../../lib/exchange/byte-source.js';
import { TransferError } from '../../../lib/exchange/member.js';
import { tripleTerm } from '../../../lib/rdf/turtle-terms.js';

const digestOf = (hash: Hash): string => hash.copy().digest('base64url');

const changed = (name: string): TransferError =>
  new TransferError(
    `${name} has changed before the position where the import stopped, so it cannot be continued. ` +
      'Restore the earlier content, or import it again without --resume, with --on-conflict skip or replace.',
  );

/** Digest of the source up to a position. */
export interface Known {
  /** Called with each quad, if the digest is computed from quads. */
  add?(quad: Quad): void;
  /** Adds everything up to `end` to the digest and frees its memory. @param end byte offset, or count of quads */
  pass(end: number): void;
  /** Returns the digest up to a position. @param end never before an earlier argument */
  digest(end: number): string;
}

interface KnownEnd {
  readonly at: number;
  readonly digest: string;
}

/** Digest of a text up to a position. Text that was read beyond this position is kept until it is added. */
export class ResumableSource implements Known {
  private readonly hash = createHash('sha256');
  /** Pieces that have been read but are not in the digest yet. */
  private ahead: Buffer[] = [];
  /** Bytes of the text in the digest. */
  private at = 0;

  /** Yields the pieces, and keeps them for the digest. */
  async *follow(pieces: AsyncIterable<FilePiece>): AsyncGenerator<FilePiece> {
    for await (const piece of pieces) {
      this.ahead.push(piece.bytes);
      yield piece;
    }
  }

  pass(end: number): void {
    while (this.at < end && this.ahead.length > 0) {
      const [first] = this.ahead as [Buffer];
      const taken = Math.min(first.length, end - this.at);
      this.hash.update(first.subarray(0, taken));
      this.at += taken;
      if (taken < first.length) this.ahead[0] = first.subarray(taken);
      else this.ahead.shift();
    }
  }

  digest(end: number): string {
    this.pass(end);
    return digestOf(this.hash);
  }

  /**
   * Yields the pieces of the text from a byte offset on.
   * @param cursor the byte offset, and the digest of the text before it
   * @param name the name of the source, for messages
   * @throws TransferError if the digest of the text before that offset has changed
   */
  async *after(cursor: KnownEnd, pieces: AsyncIterable<FilePiece>, name: string): AsyncGenerator<FilePiece> {
    const { at: end } = cursor;
    let [length, isSame] = [0, false];
    for await (const { bytes, read } of pieces) {
      const start = length;
      length += bytes.length;
      this.ahead.push(bytes);
      if (length < end) this.pass(length);
      else if (!isSame) {
        if (this.digest(end) !== cursor.digest) throw changed(name);
        isSame = true;
        if (length > end) yield { bytes: bytes.subarray(end - start), read };
      } else yield { bytes, read };
    }
    if (!isSame) throw changed(name);
  }
}

/** Digest of quads, for syntaxes that cannot be read from a byte offset. */
export class KnownQuads implements Known {
  private readonly hash = createHash('sha256');
  private text = '';

  add({ subject, predicate, object, graph }: Quad): void {
    this.text += `${shown(subject)} ${shown(predicate)} ${shown(object)} ${shown(graph)}\n`;
    if (this.text.length > 1 << 16) this.pass();
  }

  pass(): void {
    this.hash.update(this.text);
    this.text = '';
  }

  digest(): string {
    this.pass();
    return digestOf(this.hash);
  }

  /** Asserts that the digest has a known value. @throws TransferError if the digest differs */
  assert(known: string, name: string): void {
    if (this.digest() !== known) throw changed(name);
  }
}

function shown(term: Term): string {
  const { termType, value } = term;
  if (termType === 'Quad') return tripleTerm(term, shown);
  const written = `${termType} ${JSON.stringify(value)}`;
  if (termType !== 'Literal') return written;
  return `${written}@${term.language}${term.direction ? `--${term.direction}` : ''}^${term.datatype.value}`;
}
