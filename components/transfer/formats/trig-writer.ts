/** Dumps as TriG, which rdf-serialize writes. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { type Member, TextOutput, type Writer } from '../../../lib/component/exchange.js';

const factory = new DataFactory<Quad>();

/**
 * Writes each graph in a block of its own, under the IRI of its resource, as `DumpWriter` writes quads: labels of blank nodes stay as
 * they are, and what is no graph is passed over. There are no prefixes, since those of later graphs are not known at the start.
 */
export class TriGWriter implements Writer {
  private readonly quads = new PassThrough({ objectMode: true });
  private readonly sent: Promise<void>;
  private readonly failed: Promise<never>;

  /** @param of the IRI of the container that is exported */
  constructor(
    out: Writable,
    private readonly of: string,
    { isGzip = false }: { readonly isGzip?: boolean } = {},
  ) {
    this.sent = this.send(new TextOutput(out, isGzip));
    this.failed = this.sent.then(() => new Promise<never>(() => {}));
    // Whoever writes or ends hears of it.
    this.failed.catch(() => {});
  }

  private async send(output: TextOutput): Promise<void> {
    const { rdfSerializer } = await import('rdf-serialize');
    const text = rdfSerializer.serialize(this.quads, { contentType: 'application/trig' });
    for await (const piece of text as Readable) await output.write(piece);
    await output.end();
  }

  async write(member: Member): Promise<void> {
    if (member.kind !== 'rdf') return;
    const graph = factory.namedNode(this.of + member.path);
    for (const { subject, predicate, object } of member.quads) {
      if (this.quads.write(factory.quad(subject, predicate, object, graph))) continue;
      await Promise.race([new Promise((resolve) => this.quads.once('drain', resolve)), this.failed]);
    }
  }

  async end(): Promise<void> {
    this.quads.end();
    await this.sent;
  }
}
