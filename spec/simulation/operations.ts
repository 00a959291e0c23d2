/** Operations of a simulation on a store, each with the changes that it makes. */
import { createHash } from 'node:crypto';
import { aclKey } from '../../lib/authorization/acl.js';
import { newRevision, parentOf, type ResourceRecord } from '../../lib/storage/keys/records.js';
import { CommitInDoubtError } from '../../lib/storage/level/commit-in-doubt.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { type Changes, containers, type Known, keysOf, numbers } from './model.js';
import type { World } from './world.js';

export interface Operation {
  readonly changes: Changes;
  /** @throws LwsError if the disk is full */
  run(store: Store): Promise<void>;
}

export interface Place {
  readonly iri: string;
  readonly known: Known | undefined;
}

/** Makes an operation on one or two resources from their states. Undefined: it is not possible for these. */
type Maker = (world: World, one: Place, other: Place) => Operation | undefined;

class Withdrawn extends Error {}

const some = (world: World): ReadonlySet<number> =>
  new Set(Array.from({ length: world.random(numbers) }, () => world.random(numbers)));

function recordOf(tx: Transaction, iri: string, own: Partial<ResourceRecord>): ResourceRecord {
  const before = tx.record(iri);
  const now = Date.now();
  return {
    ...{ iri, kind: 'rdf', mediaType: 'text/plain', revision: newRevision(), size: 0 },
    ...{ created: before?.created ?? now, modified: now, ...(before?.acl && { acl: before.acl }) },
    ...own,
  };
}

function stageRecord(tx: Transaction, after: ResourceRecord): void {
  const before = tx.record(after.iri);
  tx.putRecord(after);
  tx.changed(before ? { before, after } : { after });
  if (!before) countMember(tx, parentOf(after.iri), 1);
}

function countMember(tx: Transaction, container: string, more: number): void {
  const record = tx.record(container)!;
  tx.putRecord({ ...record, members: record.members! + more, revision: newRevision() });
}

async function stageGraph(tx: Transaction, iri: string, after: readonly string[]): Promise<void> {
  const before = tx.record(iri);
  tx.putGraph(iri, before?.kind === 'rdf' ? await tx.before.graph(before) : [], after);
  stageRecord(tx, recordOf(tx, iri, { triples: after.length, size: after.length * 10 }));
}

async function stageRemoval(tx: Transaction, iri: string, isDropped: boolean): Promise<void> {
  const before = tx.record(iri)!;
  // A staged graph is removed after the commit.
  if (before.kind === 'rdf' && isDropped) tx.dropGraph(iri, before.triples!);
  else if (before.kind === 'rdf') tx.deleteGraph(iri, await tx.before.graph(before));
  tx.deleteRecord(before);
  tx.deleteEntry(aclKey(iri));
  tx.changed({ before });
  countMember(tx, parentOf(iri), -1);
}

const putGraph: Maker = (world, { iri, known }) => {
  const triples = some(world);
  return {
    changes: new Map([[iri, { content: triples, acl: known?.acl }]]),
    run: (store) => store.transact((tx) => stageGraph(tx, iri, keysOf(iri, triples))),
  };
};

const patch: Maker = (world, { iri, known }) => {
  if (!known || typeof known.content === 'string') return undefined;
  const { content: before } = known;
  const [added, removed] = [
    [...some(world)].filter((each) => !before.has(each)),
    [...before].filter(() => world.oneIn(3)),
  ];
  const after = new Set([...before, ...added].filter((each) => !removed.includes(each)));
  return {
    changes: new Map([[iri, { ...known, content: after }]]),
    run: (store) =>
      store.transact((tx) => {
        tx.changeGraph(iri, { added: keysOf(iri, added), removed: keysOf(iri, removed) }, before.size);
        stageRecord(tx, recordOf(tx, iri, { triples: after.size, size: after.size * 10 }));
      }),
  };
};

const putBlob: Maker = (world, { iri, known }) => {
  const content = `blob ${'x'.repeat(world.random(400))} ${world.random(1_000_000)}`;
  return {
    changes: new Map([[iri, { content, acl: known?.acl }]]),
    async run(store) {
      const writer = await store.blobs.create();
      try {
        const bytes = Buffer.from(content);
        for (const part of [bytes.subarray(0, 100), bytes.subarray(100)]) await writer.write(part);
        await writer.finish();
        const sha256 = createHash('sha256').update(bytes).digest('base64');
        await store.transact(async (tx) => {
          const before = tx.record(iri);
          if (before?.kind === 'rdf') tx.deleteGraph(iri, await tx.before.graph(before));
          stageRecord(tx, recordOf(tx, iri, { kind: 'binary', blob: writer.blob, size: bytes.length, sha256 }));
        });
      } catch (error) {
        if (!(error instanceof CommitInDoubtError)) await writer.abort();
        throw error;
      }
    },
  };
};

const remove: Maker = (world, { iri, known }) => {
  if (!known) return undefined;
  const isDropped = world.oneIn(3);
  return {
    changes: new Map([[iri, undefined]]),
    run: (store) => store.transact((tx) => stageRemoval(tx, iri, isDropped), { frees: true }),
  };
};

const setAcl: Maker = (world, { iri, known }) => {
  if (!known) return undefined;
  const acl = world.oneIn(3) ? undefined : `list ${world.random(1_000_000)}`;
  return {
    changes: new Map([[iri, { ...known, acl }]]),
    run: (store) =>
      store.transact((tx) => {
        if (acl === undefined) tx.deleteEntry(aclKey(iri));
        else tx.putEntry(aclKey(iri), acl);
        const { acl: _, ...record } = tx.record(iri)!;
        tx.putRecord({ ...record, revision: newRevision(), ...(acl === undefined ? {} : { acl: true }) });
      }),
  };
};

const move: Maker = (_world, { iri: from, known }, { iri: to, known: other }) => {
  if (!known || other) return undefined;
  const { content } = known;
  return {
    changes: new Map([
      [from, undefined],
      [to, { content }],
    ]),
    run: (store) =>
      store.transact(async (tx) => {
        const { blob, sha256, size, kind } = tx.record(from)!;
        await stageRemoval(tx, from, false);
        if (typeof content !== 'string') await stageGraph(tx, to, keysOf(to, content));
        else stageRecord(tx, recordOf(tx, to, { kind, blob: blob!, sha256: sha256!, size }));
      }),
  };
};

/** Writes a graph before the transaction that publishes it, or drops it. */
const publish: Maker = (world, { iri, known }) => {
  if (known) return undefined;
  const [triples, isPublished] = [some(world), !world.oneIn(3)];
  return {
    changes: new Map([[iri, isPublished ? { content: triples } : undefined]]),
    async run(store) {
      const own = keysOf(iri, triples);
      await store.nameFree(iri);
      const loaded = await store.loadGraphs(new Map([[iri, own]]));
      if (!isPublished) return store.dropLoaded(iri, own);
      try {
        await store.transact((tx) => {
          if (!loaded.has(iri) || !tx.isLoaded(iri, own)) throw new Error('The graph is not loaded.');
          tx.publishGraph(iri, own);
          stageRecord(tx, recordOf(tx, iri, { triples: own.length, size: own.length * 10 }));
        });
      } catch (error) {
        store.dropLoaded(iri, own);
        throw error;
      }
    },
  };
};

/** A transaction that throws changes nothing. */
const withdraw: Maker = (world, { iri, known }) => {
  const triples = some(world);
  return {
    changes: new Map([[iri, known]]),
    run: (store) =>
      store
        .transact(async (tx) => {
          await stageGraph(tx, iri, keysOf(iri, triples));
          tx.putEntry(aclKey(iri), 'withdrawn');
          throw new Withdrawn();
        })
        .catch((error: unknown) => {
          if (!(error instanceof Withdrawn)) throw error;
        }),
  };
};

export const makers: readonly Maker[] = [
  putGraph,
  putGraph,
  patch,
  patch,
  putBlob,
  putBlob,
  remove,
  remove,
  setAcl,
  move,
  publish,
  withdraw,
];

/** Creates the containers, as at the first start. */
export async function makeContainers(store: Store): Promise<void> {
  const missing = containers.filter((iri) => !store.record(iri));
  if (missing.length === 0) return;
  await store.transact((tx) => {
    for (const iri of missing) {
      const record = recordOf(tx, iri, { kind: 'container', mediaType: 'application/lws+json', members: 0 });
      tx.putRecord(record);
      tx.changed({ after: record });
      if (iri !== containers[0]) countMember(tx, parentOf(iri), 1);
    }
  });
}
