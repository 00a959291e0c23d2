/**
 * Writes our own archive: everything of the members, such that reading it gives the same.
 *
 * Parts hold the members in their order; a content of its own file stands before the part that names it.
 */

import { isUtf8 } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import type { TreeSink } from '../file-tree.js';
import { type BytesMember, type Member, TransferError, type Writer } from '../member.js';
import {
  type ArchiveHead,
  type ArchivePart,
  blobFile,
  fullPart,
  headBytes,
  headFile,
  longestInline,
  partFile,
  trailerBytes,
  trailerFile,
} from './archive-format.js';
import { type ArchivedContent, bytesLine, containerLine, graphLines, type Line } from './archive-lines.js';

/**
 * Writes an archive.
 * @param head what was exported, from where, and when
 */
export const archiveWriter = (sink: TreeSink, head: ArchiveHead): Writer => new ArchiveWriter(sink, head);

class ArchiveWriter implements Writer {
  private lines: string[] = [];
  private length = 0;
  private readonly parts: ArchivePart[] = [];
  private hasHead = false;
  private readonly counts = { members: 0, triples: 0, files: 0 };

  constructor(
    private readonly sink: TreeSink,
    private readonly head: ArchiveHead,
  ) {}

  async write(member: Member): Promise<void> {
    await this.begin();
    this.counts.members++;
    if (member.kind === 'state') {
      const { kind, key, value } = member;
      await this.add({ kind, key, value });
    } else if (member.kind === 'container') await this.add(containerLine(member));
    else if (member.kind === 'bytes') await this.addBytes(member);
    else {
      this.counts.triples += member.quads.length;
      for (const line of graphLines(member)) await this.add(line);
    }
  }

  async end(): Promise<void> {
    await this.begin();
    await this.endPart();
    await this.sink.add(trailerFile, trailerBytes({ parts: this.parts, ...this.counts }));
    await this.sink.end();
  }

  private async begin(): Promise<void> {
    if (this.hasHead) return;
    this.hasHead = true;
    await this.sink.add(headFile, headBytes(this.head));
  }

  private async add(line: Line): Promise<void> {
    const text = `${JSON.stringify(line)}\n`;
    this.lines.push(text);
    this.length += text.length;
    if (this.length >= fullPart) await this.endPart();
  }

  private async endPart(): Promise<void> {
    if (this.lines.length === 0) return;
    const bytes = Buffer.from(this.lines.join(''));
    this.lines = [];
    this.length = 0;
    await this.sink.add(partFile(this.parts.length), bytes);
    this.parts.push({ bytes: bytes.length, sha256: hash('sha256', bytes, 'base64') });
  }

  private async addBytes(member: BytesMember): Promise<void> {
    const counted = new Counted(member);
    const { start, rest } = await counted.begin();
    let content: ArchivedContent;
    if (!rest) content = isUtf8(start) ? { text: start.toString('utf8') } : { base64: start.toString('base64') };
    else {
      content = { file: blobFile(this.counts.files++) };
      await this.sink.add(content.file, rest);
    }
    await this.add(bytesLine(member, counted.facts(), content));
  }
}

/** A content whose size and digest become known while it is read. */
class Counted {
  private readonly digest = createHash('sha256');
  private size = 0;

  constructor(private readonly member: BytesMember) {}

  /** The whole content where it is short; else an iterable of it. */
  async begin(): Promise<{ start: Buffer; rest?: AsyncIterable<Uint8Array> }> {
    const chunks = this.member.open()[Symbol.asyncIterator]();
    const start: Uint8Array[] = [];
    for (let next = await chunks.next(); ; next = await chunks.next()) {
      if (next.done) return { start: Buffer.concat(start) };
      this.count(next.value);
      start.push(next.value);
      if (this.size > longestInline) break;
    }
    return { start: Buffer.alloc(0), rest: this.rest(start, chunks) };
  }

  private async *rest(
    start: readonly Uint8Array[],
    chunks: AsyncIterator<Uint8Array>,
  ): AsyncGenerator<Uint8Array, void> {
    try {
      yield* start;
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
        this.count(next.value);
        yield next.value;
      }
    } finally {
      await chunks.return?.();
    }
  }

  private count(chunk: Uint8Array): void {
    this.size += chunk.length;
    this.digest.update(chunk);
  }

  /** @throws TransferError when the content is not the one that the member tells of */
  facts(): { size: number; sha256: string } {
    const { source, size, sha256 } = this.member;
    const facts = { size: this.size, sha256: this.digest.digest('base64') };
    if ((size ?? facts.size) !== facts.size || (sha256 ?? facts.sha256) !== facts.sha256)
      throw new TransferError(`The content of ${source} is not the one that was stored.`);
    return facts;
  }
}
