/** Facts about resources for components: the data that a caller gets in response fields of GET and in listings. */
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { turtle } from '../rdf/formats.js';
import { seenMembers } from '../resources/membership.js';
import { seenItem } from '../resources/seen-state.js';
import type { Storage } from '../resources/storage.js';
import { variantOf } from '../resources/variants.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { formatEntityTag } from '../tools/fields/etag.js';

/** Data from response fields of GET without Accept. Times are in milliseconds since the epoch. */
interface ResourceFacts extends Pick<ResourceRecord, 'iri' | 'mediaType' | 'size' | 'created' | 'modified'> {
  readonly isContainer: boolean;
  /** Entity tag. Absent for containers, whose tag depends on the caller. */
  readonly etag?: string;
}

export interface FactsForCaller {
  readonly resource: ResourceFacts;
  /** Returns the members that the caller may read, in blocks; none of a resource that is not a container. @throws LwsError `too-busy` */
  members(): Promise<AsyncIterable<readonly ResourceFacts[]>>;
}

/** Returns the opaque part of the entity tag of a data resource that is read without Accept (rule 8.1). */
export const tagOfData = ({ kind, revision }: Pick<ResourceRecord, 'kind' | 'revision'>): string =>
  kind === 'rdf' ? `${revision}.${variantOf(turtle)}` : revision;

/** Returns the facts about a resource. @throws LwsError as for GET */
export async function factsFor(storage: Storage, access: Access, iri: string): Promise<FactsForCaller> {
  const record = await requireAccess(storage, storage.store, access, 'read', iri);
  return {
    resource: factsOf(await seenItem(storage, access, record)),
    members: async () =>
      blocksOfFacts(record.kind === 'container' ? await seenMembers(storage, access, record) : none()),
  };
}

async function* none(): AsyncGenerator<readonly ResourceRecord[]> {}

async function* blocksOfFacts(blocks: AsyncIterable<readonly ResourceRecord[]>) {
  for await (const block of blocks) yield block.map(factsOf);
}

function factsOf(record: ResourceRecord): ResourceFacts {
  const { iri, mediaType, size, created, modified } = record;
  const isContainer = record.kind === 'container';
  const facts = { iri, mediaType, size, created, modified, isContainer };
  return isContainer ? facts : { ...facts, etag: formatEntityTag(tagOfData(record)) };
}
