/** Reading large graphs: streams of lines from one state of the store, in slices that leave the event loop to others. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DigestAlgorithm } from '../fields/digest.js';
import { jsonLd, type RdfFormat, rdfXml } from '../rdf/formats.js';
import { isLargeGraph, jsonWriter, lineWriter } from '../storage/graphs/graph-lines.js';
import { StoreSnapshot } from '../storage/graphs/snapshot.js';
import { graphPrefix } from '../storage/keys/quad-keys.js';
import { type ResourceRecord, rangeOf } from '../storage/keys/records.js';
import type { Storage } from './storage.js';

/** RDF/XML is made of the whole graph, in memory; of larger ones there is none, and Turtle comes instead. */
const maxInXml = 100_000;
/** A client that takes nothing for so long is let go, and with it the state of the store. */
const idleMs = 60_000;

/** Whether a graph is written as lines of this format. */
export const hasLines = (format: RdfFormat, { triples = 0 }: ResourceRecord): boolean =>
  isLargeGraph(triples) && (format !== rdfXml || triples > maxInXml);

/** Bytes of a large graph in a format, where that is known before it is written: of all but JSON-LD it is the size of the resource. */
export const lengthOf = (format: RdfFormat, { size }: ResourceRecord): number | undefined =>
  format === jsonLd ? undefined : size;

/** One state of a large graph, to be written in one format. It has to be closed, or its stream destroyed. */
export class LargeGraph {
  private constructor(
    private readonly snapshot: StoreSnapshot,
    readonly record: ResourceRecord,
    private readonly format: RdfFormat,
  ) {}

  /** The state of now; `undefined` when it is no large graph any more. */
  static async open({ store }: Storage, iri: string, format: RdfFormat): Promise<LargeGraph | undefined> {
    const snapshot = new StoreSnapshot(store.level);
    const [record] = await snapshot.records([iri]);
    if (record?.kind === 'rdf' && hasLines(format, record)) return new LargeGraph(snapshot, record, format);
    await snapshot.close();
    return undefined;
  }

  /** The bytes as they are taken; the state is let go at the end, however it comes. */
  stream(): Readable {
    let timer: NodeJS.Timeout | undefined;
    const chunks = this.chunks();
    const watched = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        timer = setTimeout(() => body.destroy(new Error('The client takes nothing of the answer.')), idleMs);
        yield chunk;
        clearTimeout(timer);
      }
    };
    const body = Readable.from(watched(), { objectMode: false, highWaterMark: 256 << 10 });
    body.once('close', () => {
      clearTimeout(timer);
      void this.close();
    });
    return body;
  }

  /** The digest of the bytes. */
  async digest(algorithm: DigestAlgorithm): Promise<Buffer> {
    const hash = createHash(algorithm.replace('-', ''));
    for await (const chunk of this.chunks()) hash.update(chunk);
    return hash.digest();
  }

  close(): Promise<void> {
    return this.snapshot.close();
  }

  private async *chunks(): AsyncGenerator<Buffer> {
    const blocks = this.snapshot.keys(rangeOf(graphPrefix(this.record.iri)));
    if (this.format !== jsonLd) {
      const line = lineWriter();
      for await (const keys of blocks) yield Buffer.from(keys.map(line).join(''));
      return;
    }
    const node = jsonWriter();
    let before = '[\n';
    for await (const keys of blocks) {
      yield Buffer.from(before + keys.map(node).join(',\n'));
      before = ',\n';
    }
    yield Buffer.from('\n]\n');
  }
}
