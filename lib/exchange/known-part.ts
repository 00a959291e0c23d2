/**
 * What an import that continues knows already: a digest of it goes with the cursor, so that a source that has become another one is
 * noticed.
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

/** Of what was read so far. */
export interface Known {
  /** Is told of each quad. */
  add?(quad: Quad): void;
  /** What is before the end of the last quad, which is that byte of the text or that quad, goes from memory. */
  pass(end: number): void;
  /** The digest up to there. @param end never before one that was given or passed */
  digest(end: number): string;
}

interface KnownEnd {
  readonly at: number;
  readonly digest: string;
}

/** A text, whose reader is ahead of the quads. */
export class KnownText implements Known {
  private readonly hash = createHash('sha256');
  /** Read, and not taken into account yet. */
  private ahead: Buffer[] = [];
  /** Bytes of the text that were taken into account. */
  private at = 0;

  /** The pieces as they come. */
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
   * @param name of the source, for people
   * @throws TransferError when that is not what lies there now
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

/** What is known by its quads. */
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
