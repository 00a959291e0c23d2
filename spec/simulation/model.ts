/** Expected state of a simulated storage, and the state that it has. The model knows no disk. */
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { aclKey } from '../../lib/authorization/acl.js';
import { DamagedBlobError } from '../../lib/storage/keys/blob-integrity.js';
import { featuresKey, newTerms, readFeatures } from '../../lib/storage/keys/features.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { blobFacts, parentOf } from '../../lib/storage/keys/records.js';
import { LwsError } from '../../lib/tools/errors.js';
// Loaded here: loading it later would take a number of turns of the event loop that varies.
import '../../lib/storage/transactions/quad-reader.js';
import { quadsOf } from '../../lib/storage/transactions/quads.js';
import type { Store } from '../../lib/storage/transactions/store.js';

export const root = 'http://spec.example/';
export const containers = [root, ...['a', 'b', 'c'].map((name) => `${root}${name}/`)];
/** Names of resources. Some do not exist. */
export const iris = containers.flatMap((container) => Array.from({ length: 8 }, (_, at) => `${container}r${at}`));

/** Numbers below this are triples of a graph. */
export const numbers = 16;
const factory = new DataFactory<Quad>();
export const predicates = [0, 1, 2].map((at) => factory.namedNode(`urn:p${at}`));
const quadOf = (iri: string, number: number): Quad => {
  const subject = factory.namedNode(`${iri}#s${number % 5}`);
  const predicate = predicates[number % predicates.length]!;
  const literal = factory.literal(`${number}`);
  // The storage needs another feature of the format from the first such triple on.
  const object = number === numbers - 1 ? factory.quad(subject, predicate, literal) : literal;
  return factory.quad(subject, predicate, object, factory.namedNode(iri));
};
const termText = (term: Quad['object']): string =>
  term.termType === 'Quad' ? `${term.subject.value} ${term.predicate.value} ${term.object.value}` : term.value;
const keys = new Map(
  iris.map((iri) => [iri, Array.from({ length: numbers }, (_, at) => encodeGraph(iri, [quadOf(iri, at)])[0]!)]),
);
export const keysOf = (iri: string, triples: Iterable<number>): string[] =>
  [...triples].map((number) => keys.get(iri)![number]!).sort();

export interface Known {
  /** Numbers of triples, or the text of a blob. */
  readonly content: ReadonlySet<number> | string;
  readonly acl?: string | undefined;
}

/** Changes of an operation by IRI. */
export type Changes = ReadonlyMap<string, Known | undefined>;

const harmed = 'harmed content';

function textOf(iri: string, known: Known | undefined): string {
  if (!known) return 'nothing';
  const content = typeof known.content === 'string' ? known.content : keysOf(iri, known.content).join('\n');
  return `${content}\nwith the list ${known.acl ?? 'none'}`;
}

export class Model {
  readonly resources = new Map<string, Known>();

  /** @param isHarmed true for a blob that a misdirected write changed */
  constructor(private readonly isHarmed: (blob: string) => boolean) {}

  set(changes: Changes): void {
    for (const [iri, known] of changes)
      if (known) this.resources.set(iri, known);
      else this.resources.delete(iri);
  }

  /** Returns the state of a resource in the store. @throws Error for a damaged blob that no fault explains */
  private async found(store: Store, iri: string): Promise<string> {
    const record = store.record(iri);
    const acl = `with the list ${store.entry(aclKey(iri)) ?? 'none'}`;
    if (!record) return acl.endsWith(' none') ? 'nothing' : `nothing ${acl}`;
    if (record.kind === 'rdf') {
      const graph = await store.graph(iri).catch((error: unknown) => {
        if (error instanceof LwsError && error.code === 'damaged-content') return undefined;
        throw error;
      });
      // An error that clients see, and no wrong content.
      if (!graph) return `${harmed}\n${acl}`;
      const { keys: own } = graph;
      const needsVersion = own.includes(keys.get(iri)![numbers - 1]!);
      if (needsVersion && !(record.rdfVersion && readFeatures(store.entry(featuresKey)).has(newTerms)))
        return 'a graph that earlier versions cannot read, without saying so';
      return `${own.length === record.triples ? '' : `${record.triples} triples of `}${own.join('\n')}\n${acl}`;
    }
    try {
      return `${await store.blobs.bytes(blobFacts(record))}\n${acl}`;
    } catch (error) {
      if (error instanceof DamagedBlobError && this.isHarmed(record.blob!)) return `${harmed}\n${acl}`;
      throw error;
    }
  }

  private matches(iri: string, known: Known | undefined, found: string): boolean {
    const content = found.startsWith(harmed) && known ? harmed : known?.content;
    return found === textOf(iri, known && { ...known, content: content! });
  }

  /** @returns a sentence if the store differs */
  async resourceFault(store: Store, iri: string): Promise<string | undefined> {
    const [found, known] = [await this.found(store, iri), this.resources.get(iri)];
    return this.matches(iri, known, found) ? undefined : `${iri} is\n${found}\ninstead of\n${textOf(iri, known)}`;
  }

  /** Takes the state of an operation without an answer. @returns a sentence if it was done in part */
  async settle(store: Store, changes: Changes): Promise<string | undefined> {
    let [isBefore, isAfter, text] = [true, true, 'An operation was done in part:'];
    for (const [iri, after] of changes) {
      const [found, before] = [await this.found(store, iri), this.resources.get(iri)];
      isBefore &&= this.matches(iri, before, found);
      isAfter &&= this.matches(iri, after, found);
      text += `\n${iri} is ${found}\nbefore: ${textOf(iri, before)}\nafter: ${textOf(iri, after)}`;
    }
    if (isAfter) this.set(changes);
    return isAfter || isBefore ? undefined : text;
  }

  async listFault(store: Store, container: string): Promise<string | undefined> {
    const found: string[] = [];
    for await (const records of store.members(container)) for (const { iri } of records) found.push(iri);
    const known = [...this.resources.keys(), ...containers.slice(1)].filter((iri) => parentOf(iri) === container);
    const counted = store.record(container)?.members;
    if (counted === known.length && found.join() === known.sort().join()) return undefined;
    return `${container} lists ${found.join()} (${counted}) instead of ${known.sort().join()}`;
  }

  /** Compares the quads of all graphs, or those with a predicate. */
  async queryFault(store: Store, predicate?: (typeof predicates)[number]): Promise<string | undefined> {
    const found: string[] = [];
    const line = ({ graph, subject, object }: Quad): string => `${graph.value} ${subject.value} ${termText(object)}`;
    for await (const quad of quadsOf(store.level).match(null, predicate) as unknown as AsyncIterable<Quad>)
      found.push(line(quad));
    const quads = [...this.resources].flatMap(([iri, { content }]) =>
      typeof content === 'string' ? [] : [...content].map((number) => quadOf(iri, number)),
    );
    const known = quads.filter((quad) => predicate?.equals(quad.predicate) !== false).map(line);
    const [more, less] = [found.filter((each) => !known.includes(each)), known.filter((each) => !found.includes(each))];
    if (found.length === known.length && more.length + less.length === 0) return undefined;
    return `The query returns ${found.length} quads instead of ${known.length}: too many ${more.join()}, too few ${less.join()}`;
  }
}
