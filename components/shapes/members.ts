/** Validates stored resources: when shapes are linked, and to list violations. */
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import { isLargeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { subtree } from '../../lib/storage/keys/iri-ranges.js';
import {
  iriOfRecordKey,
  isContainerIri,
  type KeyRange,
  type ResourceRecord,
  readRecord,
  recordKey,
  recordsIn,
} from '../../lib/storage/keys/records.js';
import { slices } from '../../lib/tools/collections.js';
import type { ShapeDocuments } from './documents.js';
import type { Constraint } from './links.js';
import type { Result } from './model.js';
import { violationsOf } from './report.js';
import type { Validator } from './validator.js';

/** A stored resource that violates its shapes. */
export interface Violating {
  readonly iri: string;
  /** Results of the validation. Absent for a large graph, which is not validated here. */
  readonly results: readonly Result[] | undefined;
}

const graphsAtATime = 100;

/** Returns the record keys of all descendants of a container, in order. @param after last IRI of the previous page */
function membersBelow(container: string, after: string | undefined): KeyRange {
  const [range] = recordsIn(subtree(container)) as [KeyRange];
  return after === undefined ? range : { ...range, gte: `${recordKey(after)}\u0000` };
}

export class ShapeMembers {
  constructor(
    private readonly platform: Pick<Platform, 'store'>,
    private readonly documents: ShapeDocuments,
    private readonly validator: Validator,
  ) {}

  /** Yields records in blocks: of all descendants if the IRI is a container, otherwise of the resource itself. */
  async *resources(iri: string, after?: string): AsyncGenerator<ResourceRecord[]> {
    const { store } = this.platform;
    if (!isContainerIri(iri)) {
      const record = after === undefined ? store.record(iri) : undefined;
      if (record) yield [record];
      return;
    }
    for await (const entries of store.entries(membersBelow(iri, after)))
      for (const some of slices(entries, graphsAtATime))
        yield some.map(([key, value]) => readRecord(iriOfRecordKey(key), value));
  }

  /** Returns the RDF resources that violate a constraint. @throws UnusableDocument, LwsError */
  async violating(
    access: Access | undefined,
    constraint: Constraint,
    records: readonly ResourceRecord[],
  ): Promise<Violating[]> {
    const versions = this.documents.committed(constraint);
    const found: { readonly iri: string; readonly keys: readonly string[] }[] = [];
    const violating: Violating[] = [];
    for (const { iri, kind, triples = 0 } of records)
      if (kind === 'rdf' && isLargeGraph(triples)) violating.push({ iri, results: undefined });
      else if (kind === 'rdf') found.push({ iri, keys: (await this.platform.store.graph(iri))?.keys ?? [] });
    if (found.length === 0) return violating;
    const graphs = found.map(({ keys }) => keys);
    const all = await this.validator.validate(access, versions, graphs);
    for (const [index, results] of all.entries())
      if (violationsOf(results).length > 0) violating.push({ iri: found[index]!.iri, results });
    return violating;
  }
}
