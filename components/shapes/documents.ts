/** Shapes documents, in the state of a transaction or in the committed state. */
import { createHash } from 'node:crypto';
import type { Platform } from '../../lib/component/contract.js';
import { isLargeGraph, largeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { allOf, type GraphKeys, PackedKeys } from '../../lib/storage/keys/graph-keys.js';
import type { ResourceRecord } from '../../lib/storage/keys/records.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { getOrMake } from '../../lib/tools/collections.js';
import { LwsError } from '../../lib/tools/errors.js';
import type { Constraint } from './links.js';
import { type ShapesVersion, UnusableDocument } from './validator.js';

/** Thrown if the document was replaced before it was read. A transaction is then repeated. */
export class Outdated extends LwsError {
  constructor() {
    super('too-busy', 'The shapes were changed at the same time. Retry.', { fields: { 'Retry-After': '1' } });
  }
}

/** Maximum shapes documents linked to a resource, and characters of their IRIs, which are sent in header fields. */
const [maxDocuments, maxCharacters] = [8, 4096];

const digests = new WeakMap<object, string>();

/** Returns a digest of a graph. */
export const documentDigest = (keys: GraphKeys): string =>
  getOrMake(digests, keys, () => {
    const hash = createHash('sha256');
    if (keys instanceof PackedKeys) for (const { lengths, text } of keys.chunks) hash.update(lengths).update(text);
    else for (const key of keys) hash.update(key).update('\n');
    return hash.digest('base64url');
  });

export class ShapeDocuments {
  constructor(private readonly platform: Pick<Platform, 'store' | 'rootIri'>) {}

  /** Returns the versions of the documents in the committed state. @throws UnusableDocument */
  committed(constraint: Constraint): ShapesVersion[] {
    return this.versions(constraint, (iri) => this.platform.store.record(iri));
  }

  /** Returns the versions of the documents after a transaction. @throws UnusableDocument */
  staged(constraint: Constraint, tx: Transaction): ShapesVersion[] {
    return this.versions(
      constraint,
      (iri) => tx.record(iri),
      (iri) => tx.graphs.get(iri)?.keys,
    );
  }

  /** True if a document does not exist or is not RDF. */
  hasMissing(constraint: Constraint, tx: Transaction): boolean {
    return constraint.some((iri) => tx.record(iri)?.kind !== 'rdf');
  }

  private versions(
    constraint: Constraint,
    recordOf: (iri: string) => ResourceRecord | undefined,
    keysOf: (iri: string) => GraphKeys | undefined = () => undefined,
  ): ShapesVersion[] {
    if (constraint.length > maxDocuments || constraint.join('').length > maxCharacters)
      throw new UnusableDocument(
        constraint[0]!,
        `The limit is ${maxDocuments} documents with ${maxCharacters} characters in all IRIs.`,
      );
    return constraint.map((iri) => {
      const record = recordOf(iri);
      if (record?.kind !== 'rdf') throw new UnusableDocument(iri, 'It is not an RDF resource of this storage.');
      if (isLargeGraph(record.triples ?? 0)) throw new UnusableDocument(iri, `It has more than ${largeGraph} triples.`);
      const keys = keysOf(iri);
      const { prefixes = {} } = record;
      if (!keys) return { iri, version: `${iri} ${record.revision}`, load: () => this.load(record) };
      return { iri, version: `${iri} ${documentDigest(keys)}`, load: async () => ({ keys: allOf(keys), prefixes }) };
    });
  }

  private async load({ iri, revision }: ResourceRecord) {
    const graph = await this.platform.store.graph(iri);
    if (graph?.record.revision !== revision) throw new Outdated();
    return { keys: graph.keys, prefixes: graph.record.prefixes ?? {} };
  }
}
