/** Reads large graphs: streams lines from one snapshot of the store, in slices that yield to the event loop. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { jsonLd, type RdfFormat, rdfXml } from '../rdf/formats.js';
import { isLargeGraph, jsonWriter, lineWriter } from '../storage/graphs/graph-lines.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import type { OpenGraph } from '../storage/transactions/store.js';
import type { DigestAlgorithm } from '../tools/fields/digest.js';
import { ReadingTime } from '../tools/threads/reading-time.js';
import type { Storage } from './storage.js';

/** Maximum triples in RDF/XML, which is serialized in memory. Larger graphs are returned as Turtle. */
const maxInXml = 100_000;
/** Time after which the response is aborted if the client does not read (`ReadingTime`): the snapshot must be released. */
const idleMs = 60_000;

/** Returns true if a graph is streamed as lines in this format. */
export const hasLines = (format: RdfFormat, { triples = 0 }: ResourceRecord): boolean =>
  isLargeGraph(triples) && (format !== rdfXml || triples > maxInXml);

/**
 * Returns the size of a large graph in a format in bytes, or `undefined` if it is known only after serialization (JSON-LD). In
 * all other formats it is the size of the resource.
 */
export const lengthOf = (format: RdfFormat, { size }: ResourceRecord): number | undefined =>
  format === jsonLd ? undefined : size;

/** Snapshot of a large graph, to be serialized in one format. The caller must close it or destroy its stream. */
export class LargeGraph {
  private constructor(
    private readonly graph: OpenGraph,
    private readonly format: RdfFormat,
  ) {}

  /** Opens the current state. Returns `undefined` if the graph is not large any more, or cannot be expressed in the format. */
  static async open({ store }: Storage, iri: string, format: RdfFormat): Promise<LargeGraph | undefined> {
    const graph = await store.openGraph(iri);
    if (!graph) return undefined;
    const isWritable = hasLines(format, graph.record) && !(format === jsonLd && graph.record.rdfVersion === '1.2');
    if (isWritable) return new LargeGraph(graph, format);
    await graph.close();
    return undefined;
  }

  get record(): ResourceRecord {
    return this.graph.record;
  }

  /** Streams the serialized graph. The snapshot is released at the end, and on errors. */
  stream(): Readable {
    const time = new ReadingTime(idleMs, () =>
      body.destroy(new Error('The client does not read the response, or too slowly.')),
    );
    const chunks = this.chunks();
    const watched = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        time.wait();
        yield chunk;
        time.read(chunk.length);
      }
    };
    const body = Readable.from(watched(), { objectMode: false, highWaterMark: 256 << 10 });
    body.once('close', () => {
      time.stop();
      void this.close();
    });
    return body;
  }

  /** Returns the digest of the serialized graph. */
  async digest(algorithm: DigestAlgorithm): Promise<Buffer> {
    const hash = createHash(algorithm.replace('-', ''));
    for await (const chunk of this.chunks()) hash.update(chunk);
    return hash.digest();
  }

  close(): Promise<void> {
    return this.graph.close();
  }

  private async *chunks(): AsyncGenerator<Buffer> {
    const { format } = this;
    const blocks = this.graph.blocks();
    if (format !== jsonLd) {
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
