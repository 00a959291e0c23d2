/**
 * Verifies that the source of an import that continues is unchanged: a cursor has a digest of the part that was read, which is compared
 * when that part is read again.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Quad, Term } from '@rdfjs/types';
import type { FilePiece } from './byte-source.js';
import { TransferError } from './member.js';

const digestOf = (hash: Hash): string => hash.copy().digest('base64url');

const changed = (name: string): TransferError =>
  new TransferError(
    `${name} has changed before the place where the import stopped, so that it cannot continue. ` +
      'Put back what was there, or import it again without --resume, with --on-conflict skip or replace.',
  );

/** Digests of the part that was read so far. */
export interface Known {
  /** Called with each quad, where the digest is one of quads. */
  add?(quad: Quad): void;
  /** Adds everything up to `end` to the digest and frees its memory. @param end the byte of the text, or the number of the quad */
  pass(end: number): void;
  /** The digest up to there. @param end never before one that was given or passed */
  digest(end: number): string;
}

interface KnownEnd {
  readonly at: number;
  readonly digest: string;
}

/** The digest of a text. Its reader is ahead of the quads that the parser gives. */
export class ResumableSource implements Known {
  private readonly hash = createHash('sha256');
  /** Pieces that were read and are not in the digest yet. */
  private ahead: Buffer[] = [];
  /** Bytes of the text that are in the digest. */
  private at = 0;

  /** Passes the pieces on and keeps them for the digest. */
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
   * The pieces of the text from a byte on.
   * @param cursor the byte, and the digest of what was before it
   * @param name the name of the source, for messages
   * @throws TransferError when the text before that byte has another digest now
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

/** The digest of quads, for syntaxes whose reader cannot continue at a byte. */
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

  /** @throws TransferError when it is another digest */
  assert(known: string, name: string): void {
    if (this.digest() !== known) throw changed(name);
  }
}

function shown(term: Term): string {
  const { termType, value } = term;
  const written = `${termType} ${JSON.stringify(value)}`;
  return termType === 'Literal' ? `${written}@${term.language}^${term.datatype.value}` : written;
}
