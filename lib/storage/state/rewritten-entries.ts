/**
 * Entries and graphs of a storage whose IRIs are others: in keys, in texts, in JSON and in keys of quads within it. Pure; it must not
 * know which IRIs change.
 */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { decodeGraph } from '../graphs/quad-decoding.js';
import { encodeGraph, graphPrefix } from '../graphs/quad-keys.js';
import { entryKey, partsOfEntry } from './records.js';

const factory = new DataFactory<Quad>();
/** `GSPO` and U+0000. */
const quads = graphPrefix('').slice(0, 5);

/** Whether a key, or a string, is the key of a quad. */
export const isQuad = (key: string): boolean => key.startsWith(quads);

export class EntryRewriting {
  /** @param iri what an IRI becomes; texts that are no IRIs are asked about too */
  constructor(private readonly iri: (iri: string) => string) {}

  /** The keys of a graph, in their order. */
  graph(keys: readonly string[]): string[] {
    const decoded = decodeGraph(keys);
    const name = decoded[0]?.graph.value;
    return name === undefined
      ? []
      : encodeGraph(
          this.iri(name),
          decoded.map((quad) => this.quad(quad)),
        );
  }

  private quad({ subject, predicate, object }: Quad): Quad {
    const term = <T extends Term>(found: T): T =>
      found.termType === 'NamedNode' ? (factory.namedNode(this.iri(found.value)) as unknown as T) : found;
    return factory.quad(term(subject), term(predicate), term(object));
  }

  /** An entry of a feature. @throws SyntaxError for a value that begins as JSON does and is none */
  entry(key: string, value: string): [key: string, value: string] {
    const [space = '', ...parts] = partsOfEntry(key);
    return [entryKey(space, ...parts.map((part) => this.iri(part))), this.text(value)];
  }

  /** JSON, or a string that may be an IRI. */
  private text(value: string): string {
    if (!/^[[{"]/.test(value)) return this.iri(value);
    return JSON.stringify(this.value(JSON.parse(value)));
  }

  /** What JSON says, with other IRIs. */
  value(value: unknown): unknown {
    if (typeof value === 'string') return isQuad(value) ? this.graph([value])[0] : this.iri(value);
    if (Array.isArray(value)) return value.map((each) => this.value(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.value(each)]));
  }
}
