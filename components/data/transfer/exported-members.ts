/** Yields the resources of a snapshot as members of an export: those readable by the caller, in the order of their IRIs. */
import type { Quad } from '@rdfjs/types';
import { type AclDocument, aclDocumentOf } from '../../../lib/authorization/acl.js';
import type { ReadScope } from '../../../lib/authorization/authorizer.js';
import {
  type AccessList,
  type ContainerMember,
  type GraphMember,
  type Member,
  stateSpaces,
} from '../../../lib/exchange/member.js';
import { clientLinks } from '../../../lib/resources/metadata.js';
import type { BlobLocation, Blobs } from '../../../lib/storage/blobs/blobs.js';
import { GraphCursor } from '../../../lib/storage/graphs/graph-cursor.js';
import {
  comparedBlocks,
  type ReturnedKeys,
  returnedKeys,
  withoutReturned,
} from '../../../lib/storage/graphs/graph-digests.js';
import {
  clipped,
  type IriRange,
  isInRanges,
  only,
  subtree,
  unionOfRanges,
} from '../../../lib/storage/keys/iri-ranges.js';
import { decodeGraph } from '../../../lib/storage/keys/quad-decoding.js';
import { graphRange } from '../../../lib/storage/keys/quad-keys.js';
import {
  blobFacts,
  entryRange,
  iriOfRecordKey,
  memberRange,
  type ResourceRecord,
  readRecord,
  recordKey,
} from '../../../lib/storage/keys/records.js';
import { entryBlocks, keyBlocks, type Level, type LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { ownedBy } from '../../../lib/storage/level/owned-entries.js';

export interface ExportedStore {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  readonly blobs: Blobs;
}

export interface ExportQuestion {
  /** The exported container. */
  readonly of: string;
  readonly scope: ReadScope;
  /** True if the caller controls the storage: owners and component state are then exported. */
  readonly isController: boolean;
  /** Keys of component state that refers only to exported resources. Absent: all state is exported. */
  readonly kept: ReadonlySet<string> | undefined;
}

/** The task of an export thread. */
export interface ExportTask extends ExportQuestion {
  readonly dataDir: string;
  readonly blobs: BlobLocation;
  /** The IRI of the storage. */
  readonly storage: string;
  readonly format: string;
  /** URLs of format modules. */
  readonly formats: readonly string[];
  readonly isGzip: boolean;
}

export type AskedMode = 'read' | 'control';

/** The state of a resource to export. */
export interface ExportedState {
  readonly iri: string;
  readonly revision: string;
}

export interface ExportQuestions {
  /** Returns, for each state, true if the caller has the mode on it. */
  decide(mode: AskedMode, states: readonly ExportedState[]): Promise<readonly boolean[]>;
  /** Reports deleted keys that LevelDB returned. They are not exported. */
  returned(keys: ReturnedKeys): Promise<void>;
}

/** Count of members of a container that are read together. */
const pageLength = 1000;
/** Maximum number of quads in a part of a graph. */
const quadsAtATime = 10_000;
/** Maximum number of an owner's resources for which the index of owners is used. */
const maxOwned = 100_000;

export class ExportedMembers {
  private readonly graphs: GraphCursor;

  constructor(
    private readonly state: ExportedStore,
    private readonly question: ExportQuestion & ExportQuestions,
  ) {
    this.graphs = new GraphCursor(state.level, state.snapshot);
  }

  /** Yields all members. Must be called once only. */
  async *all(): AsyncGenerator<Member> {
    const { of, isController } = this.question;
    try {
      for (const range of await this.ranges()) {
        const root = this.recordOf(of);
        const own = root && range.from <= of ? await this.readable([root]) : [];
        for (const record of own) yield* this.membersOf(record);
        yield* this.below(of, range);
      }
      if (isController) yield* this.keptState();
    } finally {
      await this.graphs.close();
    }
  }

  private recordOf(iri: string): ResourceRecord | undefined {
    const value = this.state.level.getSync(recordKey(iri), { snapshot: this.state.snapshot });
    return value === undefined ? undefined : readRecord(iri, value);
  }

  /** Returns the ranges of readable resources within the exported container. */
  private async ranges(): Promise<readonly IriRange[]> {
    const { of, scope } = this.question;
    const whole = subtree(of);
    if (scope === 'nothing') return [];
    if (typeof scope !== 'object') return [whole];
    const owned = scope.owner === undefined ? [] : await ownedBy(this.state, scope.owner, maxOwned);
    if (!owned) return [whole];
    return clipped(unionOfRanges([...scope.ranges, ...owned.map(only)]), whole);
  }

  /** Yields the resources below a container and in a range, a container before its members. */
  private async *below(container: string, { from, to }: IriRange): AsyncGenerator<Member> {
    let next = from > container && from.startsWith(container) ? childOf(container, from) : undefined;
    for (;;) {
      // Read page by page, because an iterator would stay open for each container on the path.
      const page = await this.members(container, next);
      const records = page.filter(({ iri }) => iri >= from && iri < to);
      const isReadable = await this.readable(records);
      for (const record of page) {
        if (record.iri >= to) return;
        if (isReadable.has(record)) yield* this.membersOf(record);
        if (record.kind === 'container') yield* this.below(record.iri, { from, to });
      }
      if (page.length < pageLength) return;
      next = `${page.at(-1)!.iri}\u0000`;
    }
  }

  private async members(container: string, from: string | undefined): Promise<ResourceRecord[]> {
    const { level, snapshot } = this.state;
    const range = memberRange(container);
    const gte = from === undefined ? range.gte : range.gte + from.slice(container.length);
    const found: ResourceRecord[] = [];
    for await (const entries of entryBlocks(level, { ...range, gte }, { snapshot, limit: pageLength }))
      for (const [key, value] of entries) found.push(readRecord(iriOfRecordKey(key), value));
    return found;
  }

  private async readable(records: readonly ResourceRecord[]): Promise<ReadonlySet<ResourceRecord>> {
    const { scope, decide } = this.question;
    if (scope === 'everything') return new Set(records);
    if (typeof scope === 'object')
      return new Set(
        records.filter(
          ({ iri, owner }) => (scope.owner !== undefined && owner === scope.owner) || isInRanges(scope.ranges, iri),
        ),
      );
    const allowed = records.length === 0 ? [] : await decide('read', records.map(stateOf));
    return new Set(records.filter((_, index) => allowed[index]));
  }

  /** Yields the members of a resource. A graph may have several parts. */
  private async *membersOf(record: ResourceRecord): AsyncGenerator<Member> {
    const { blobs } = this.state;
    const common = await this.facts(record);
    if (record.kind === 'container') yield { kind: 'container', ...common };
    else if (record.kind === 'rdf') yield* this.parts(record, common);
    else {
      const { mediaType, size, sha256 } = record;
      const open = async function* (): AsyncGenerator<Uint8Array> {
        yield* await blobs.read(blobFacts(record));
      };
      yield { kind: 'bytes', ...common, mediaType, size, sha256: sha256!, open };
    }
  }

  private async *parts(record: ResourceRecord, common: Common): AsyncGenerator<Member> {
    const { prefixes = {} } = record;
    let block: string[] = [];
    const { links, acl, ...others } = common;
    for await (const keys of this.keysOf(record)) {
      if (block.length >= quadsAtATime) {
        yield storedGraph(block, { ...others, prefixes, hasMore: true });
        block = [];
      }
      block.push(...keys);
    }
    // Links and access list are in the last part, which every graph has.
    const extras = { ...(links ? { links } : {}), ...(acl ? { acl } : {}) };
    yield storedGraph(block, { ...others, ...extras, prefixes });
  }

  /**
   * Yields the keys of a graph in blocks, compared with the digest in the record.
   * @throws DamagedGraphError, or LwsError `too-busy` for deleted keys in a graph of several parts. The export is then incomplete
   */
  private async *keysOf(record: ResourceRecord): AsyncGenerator<readonly string[]> {
    const { iri, triples = 0 } = record;
    const { level, snapshot } = this.state;
    if (triples > quadsAtATime) {
      let report: Promise<void> | undefined;
      try {
        yield* comparedBlocks(
          record,
          () => keyBlocks(level, graphRange(iri), { snapshot }),
          (found) => {
            report = this.question.returned(found);
          },
        );
      } finally {
        await report;
      }
      return;
    }
    const keys: string[] = [];
    for await (const block of this.graphs.keys(iri)) keys.push(...block);
    const returned = returnedKeys(record, keys);
    if (returned) await this.question.returned(returned);
    yield returned ? withoutReturned(keys, returned) : keys;
  }

  private async facts(record: ResourceRecord): Promise<Common> {
    const { question, state } = this;
    const { iri, created, owner, linked } = record;
    const seesAll = question.isController || question.scope === 'everything';
    // The date of a container also changes with members hidden from the caller, so it is exported only if the caller may read all of them.
    const modified = seesAll || record.kind !== 'container' ? record.modified : created;
    const entry = (key: string): string | undefined => state.level.getSync(key, { snapshot: state.snapshot });
    const path = iri.slice(question.of.length);
    const [seesList] = record.acl ? await question.decide('control', [stateOf(record)]) : [];
    return {
      ...{ path, source: iri, created, modified },
      ...(question.isController && owner !== undefined ? { owner } : {}),
      ...(linked === undefined ? {} : { links: clientLinks({ entry }, iri) }),
      ...(seesList === true ? { acl: aclOf(aclDocumentOf({ entry }, record)) } : {}),
    };
  }

  private async *keptState(): AsyncGenerator<Member> {
    const { level, snapshot } = this.state;
    for (const space of stateSpaces)
      for await (const entries of entryBlocks(level, entryRange(space), { snapshot }))
        for (const [key, value] of entries)
          if (this.question.kept?.has(key) ?? true) yield { kind: 'state', source: space, key, value };
  }
}

const stateOf = ({ iri, revision }: ResourceRecord): ExportedState => ({ iri, revision });

type Common = Omit<ContainerMember, 'kind'>;

/** Creates a graph member whose triples are decoded on demand. */
function storedGraph(keys: readonly string[], facts: Omit<GraphMember, 'kind' | 'keys' | 'quads'>): GraphMember {
  let quads: readonly Quad[] | undefined;
  return {
    ...facts,
    kind: 'rdf',
    keys,
    get quads() {
      quads ??= decodeGraph(keys);
      return quads;
    },
  };
}

function aclOf(document: AclDocument | undefined): AccessList {
  return { quads: decodeGraph(document?.keys ?? []), prefixes: document?.prefixes ?? {} };
}

/** Returns the direct member of a container that is or contains an IRI. */
function childOf(container: string, iri: string): string {
  const slash = iri.indexOf('/', container.length);
  return slash < 0 ? iri : iri.slice(0, slash + 1);
}
