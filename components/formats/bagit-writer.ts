/** Writes bags (RFC 8493): the payload as a directory of files, and the digests of all files. */
import { createHash, type Hash } from 'node:crypto';
import type { Member, TreeSink, Writer, WriteTools } from '../../lib/plugin/formats.js';
import { encodedPath, payload } from './bagit-reader.js';

export interface BagWriterOptions {
  /** IRI of the exported container. */
  readonly of: string;
  /** Time of the export. */
  readonly made: Date;
  readonly tools: WriteTools;
}

export class BagWriter implements Writer {
  private readonly files: Writer;
  private readonly payload: DigestSink;
  private readonly tags: DigestSink;
  private isBegun = false;

  constructor(
    private readonly sink: TreeSink,
    private readonly options: BagWriterOptions,
  ) {
    this.payload = new DigestSink(sink);
    this.tags = new DigestSink(sink);
    this.files = options.tools.folderWriter(
      { add: (path, ...rest) => this.payload.add(payload + path, ...rest), end: async () => {} },
      options.of,
    );
  }

  async write(member: Member): Promise<void> {
    await this.begin();
    await this.files.write(member);
  }

  private async begin(): Promise<void> {
    if (this.isBegun) return;
    this.isBegun = true;
    await this.tag('bagit.txt', 'BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n');
    await this.sink.add(payload, new Uint8Array());
  }

  async end(): Promise<void> {
    await this.begin();
    await this.files.end();
    const { bytes, count } = this.payload;
    const { of, made } = this.options;
    const facts = [
      `Bagging-Date: ${made.toISOString().slice(0, 10)}`,
      `External-Identifier: ${of}`,
      `Payload-Oxum: ${bytes}.${count}`,
      'Bag-Software-Agent: Quadpod',
    ];
    await this.tag('bag-info.txt', `${facts.join('\n')}\n`);
    await this.tags.add('manifest-sha256.txt', this.payload.manifest());
    await this.sink.add('tagmanifest-sha256.txt', this.tags.manifest());
    await this.sink.end();
  }

  private tag(path: string, text: string): Promise<void> {
    return this.tags.add(path, Buffer.from(text));
  }
}

/** Bytes of manifest lines that are collected in one buffer, outside of the JavaScript heap. */
const fullPage = 64 << 10;

/** Passes files on to another sink, and collects their digests. */
class DigestSink implements TreeSink {
  bytes = 0;
  count = 0;
  private readonly pages: Buffer[] = [];
  private lines = '';

  constructor(private readonly sink: TreeSink) {}

  async add(...[path, content, facts]: Parameters<TreeSink['add']>): Promise<void> {
    if (path.endsWith('/')) return this.sink.add(path, content, facts);
    const hash = createHash('sha256');
    if (content instanceof Uint8Array) this.update(hash, content);
    await this.sink.add(path, content instanceof Uint8Array ? content : this.digested(content, hash), facts);
    this.count++;
    this.lines += `${hash.digest('hex')}  ${encodedPath(path)}\n`;
    if (this.lines.length > fullPage) this.endPage();
  }

  private async *digested(content: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      this.update(hash, chunk);
      yield chunk;
    }
  }

  private update(hash: Hash, chunk: Uint8Array): void {
    this.bytes += chunk.length;
    hash.update(chunk);
  }

  private endPage(): void {
    this.pages.push(Buffer.from(this.lines));
    this.lines = '';
  }

  manifest(): AsyncIterable<Uint8Array> {
    this.endPage();
    const { pages } = this;
    return (async function* () {
      yield* pages;
    })();
  }

  async end(): Promise<void> {}
}
