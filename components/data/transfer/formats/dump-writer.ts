/** Writes graphs as dumps in their order of arrival: N-Quads, and TriG with rdf-serialize. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Member, Writer } from '../../../../lib/exchange/member.js';
import { bracketed } from '../../../../lib/rdf/turtle-terms.js';
import { lineWriter } from '../../../../lib/storage/graphs/graph-lines.js';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { slices } from '../../../../lib/tools/collections.js';
import { TextOutput } from '../../exchange/text-files.js';

const linesAtATime = 100;

/**
 * Writes the graphs as canonical N-Quads in the order of their keys. The graph name is the IRI of the resource. Blank node labels
 * are kept. Members that are not graphs are skipped.
 */
export class DumpWriter implements Writer {
  private readonly output: TextOutput;

  /** @param of IRI of the exported container */
  constructor(
    out: Writable,
    private readonly of: string,
    { isGzip = false }: { readonly isGzip?: boolean } = {},
  ) {
    this.output = new TextOutput(out, isGzip);
  }

  async write(member: Member): Promise<void> {
    if (member.kind !== 'rdf') return;
    const end = ` ${bracketed(this.of + member.path)} .\n`;
    const line = lineWriter(end);
    const keys = member.keys ?? encodeGraph(this.of + member.path, member.quads);
    // Write in slices, because a part may have long literals.
    for (const some of slices(keys, linesAtATime)) await this.output.write(some.map(line).join(''));
  }

  end(): Promise<void> {
    return this.output.end();
  }
}

const factory = new DataFactory<Quad>();

/**
 * Writes each graph in its own block, named by the IRI of its resource. Blank node labels are kept, and members that are not
 * graphs are skipped, as in `DumpWriter`. There are no prefixes, because those of later graphs are unknown at the start.
 */
export class TriGWriter implements Writer {
  private readonly quads = new PassThrough({ objectMode: true });
  private readonly sent: Promise<void>;
  private readonly failed: Promise<never>;

  /** @param of IRI of the exported container */
  constructor(
    out: Writable,
    private readonly of: string,
    { isGzip = false }: { readonly isGzip?: boolean } = {},
  ) {
    this.sent = this.send(new TextOutput(out, isGzip));
    this.failed = this.sent.then(() => new Promise<never>(() => {}));
    // `add` and `end` throw the error. Until then, the rejection must not be reported as unhandled.
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
