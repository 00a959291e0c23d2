/**
 * Writes Quadpod archives, from which the same members can be read. Parts contain the members in their order. The file of a
 * long content precedes the part that refers to it.
 */
import { isUtf8 } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import type { TreeSink } from '../../../../lib/exchange/file-tree.js';
import { type BytesMember, type Member, TransferError, type Writer } from '../../../../lib/exchange/member.js';
import {
  type ArchivedContent,
  type ArchiveHead,
  type ArchivePart,
  blobFile,
  bytesLine,
  commonLine,
  fullPart,
  graphLines,
  headBytes,
  headFile,
  type Line,
  longestInline,
  partFile,
  trailerBytes,
  trailerFile,
} from './archive-format.js';

export class ArchiveWriter implements Writer {
  private lines: string[] = [];
  private length = 0;
  private readonly parts: ArchivePart[] = [];
  private hasHead = false;
  private readonly counts = { members: 0, triples: 0, files: 0 };

  /** @param head describes the export: container, storage and time */
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
    } else if (member.kind === 'container') await this.add(commonLine(member));
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
    const digest = createHash('sha256');
    let size = 0;
    const chunks = (async function* () {
      for await (const chunk of member.open()) {
        size += chunk.length;
        digest.update(chunk);
        yield chunk;
      }
    })();
    const start: Uint8Array[] = [];
    while (size <= longestInline) {
      const next = await chunks.next();
      if (next.done) break;
      start.push(next.value);
    }
    let content: ArchivedContent;
    if (size > longestInline) {
      content = { file: blobFile(this.counts.files++) };
      await this.sink.add(content.file, joined(start, chunks));
    } else {
      const bytes = Buffer.concat(start);
      content = isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') };
    }
    const facts = { size, sha256: digest.digest('base64') };
    if ((member.size ?? size) !== size || (member.sha256 ?? facts.sha256) !== facts.sha256)
      throw new TransferError(`The content of ${member.source} differs from the stored content.`);
    await this.add(bytesLine(member, facts, content));
  }
}

async function* joined(start: Iterable<Uint8Array>, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* start;
  yield* rest;
}
