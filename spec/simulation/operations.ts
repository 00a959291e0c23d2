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

const some = (world: World): ReadonlySet<number> =>
  new Set(Array.from({ length: world.random(numbers) }, () => world.random(numbers)));

/** Operation with one transaction. */
const inOne = (
  changes: readonly (readonly [string, Known | undefined])[],
  work: (tx: Transaction) => Promise<void> | void,
  frees = false,
): Operation => ({ changes: new Map(changes), run: (store) => store.transact(work, { frees }) });

function stage(tx: Transaction, iri: string, own: Partial<ResourceRecord>): void {
  const before = tx.record(iri);
  const now = Date.now();
  const made = { iri, kind: 'rdf', mediaType: 'text/plain', size: 0, created: before?.created ?? now } as const;
  const after = { ...made, modified: now, revision: newRevision(), ...(before?.acl && { acl: before.acl }), ...own };
  tx.putRecord(after);
  tx.changed(before ? { before, after } : { after });
  if (!before && iri !== containers[0]) countMember(tx, parentOf(iri), 1);
}

function countMember(tx: Transaction, container: string, more: number): void {
  const record = tx.record(container)!;
  tx.putRecord({ ...record, members: record.members! + more, revision: newRevision() });
}

const sizes = (triples: number): Partial<ResourceRecord> => ({ triples, size: triples * 10 });

async function stageGraph(tx: Transaction, iri: string, after: readonly string[]): Promise<void> {
  const before = tx.record(iri);
  tx.putGraph(iri, before?.kind === 'rdf' ? await tx.before.graph(before) : [], after);
  stage(tx, iri, sizes(after.length));
}

async function stageRemoval(tx: Transaction, iri: string, isDropped: boolean): Promise<void> {
  const before = tx.record(iri)!;
  // A dropped graph is removed after the commit.
  if (before.kind === 'rdf' && isDropped) tx.dropGraph(iri, before.triples!);
  else if (before.kind === 'rdf') tx.deleteGraph(iri, await tx.before.graph(before));
  tx.deleteRecord(before);
  tx.deleteEntry(aclKey(iri));
  tx.changed({ before });
  countMember(tx, parentOf(iri), -1);
}

const putGraph: Maker = (world, { iri, known }) => {
  const content = some(world);
  return inOne([[iri, { content, acl: known?.acl }]], (tx) => stageGraph(tx, iri, keysOf(iri, content)));
};

const patch: Maker = (world, { iri, known }) => {
  if (!known || typeof known.content === 'string') return undefined;
  const before = known.content;
  const added = [...some(world)].filter((each) => !before.has(each));
  const removed = [...before].filter(() => world.oneIn(3));
  const content = new Set([...before, ...added].filter((each) => !removed.includes(each)));
  return inOne([[iri, { ...known, content }]], (tx) => {
    tx.changeGraph(iri, { added: keysOf(iri, added), removed: keysOf(iri, removed) }, before.size);
    stage(tx, iri, sizes(content.size));
  });
};

const putBlob: Maker = (world, { iri, known }) => {
  const content = `blob ${'x'.repeat(world.random(400))} ${world.random(1_000_000)}`;
  const bytes = Buffer.from(content);
  const sha256 = createHash('sha256').update(bytes).digest('base64');
  return {
    changes: new Map([[iri, { content, acl: known?.acl }]]),
    async run(store) {
      const writer = await store.blobs.create();
      try {
        for (const part of [bytes.subarray(0, 100), bytes.subarray(100)]) await writer.write(part);
        await writer.finish();
        await store.transact(async (tx) => {
          const before = tx.record(iri);
          if (before?.kind === 'rdf') tx.deleteGraph(iri, await tx.before.graph(before));
          stage(tx, iri, { kind: 'binary', blob: writer.blob, size: bytes.length, sha256 });
        });
      } catch (error) {
        if (!(error instanceof CommitInDoubtError)) await writer.abort();
        throw error;
      }
    },
  };
};

const remove: Maker = (world, { iri, known }) => {
  const isDropped = world.oneIn(3);
  return known && inOne([[iri, undefined]], (tx) => stageRemoval(tx, iri, isDropped), true);
};

const setAcl: Maker = (world, { iri, known }) => {
  const acl = world.oneIn(3) ? undefined : `list ${world.random(1_000_000)}`;
  if (!known) return undefined;
  return inOne([[iri, { ...known, acl }]], (tx) => {
    if (acl === undefined) tx.deleteEntry(aclKey(iri));
    else tx.putEntry(aclKey(iri), acl);
    const { acl: _, ...record } = tx.record(iri)!;
    tx.putRecord({ ...record, revision: newRevision(), ...(acl === undefined ? {} : { acl: true }) });
  });
};

const move: Maker = (_world, { iri: from, known }, { iri: to, known: other }) => {
  if (!known || other) return undefined;
  const { content } = known;
  const moved = [
    [from, undefined],
    [to, { content }],
  ] as const;
  return inOne(moved, async (tx) => {
    const { blob, sha256, size, kind } = tx.record(from)!;
    await stageRemoval(tx, from, false);
    if (typeof content !== 'string') await stageGraph(tx, to, keysOf(to, content));
    else stage(tx, to, { kind, blob: blob!, sha256: sha256!, size });
  });
};

/** Writes a graph before the transaction that publishes it, or drops it. */
const publish: Maker = (world, { iri, known }) => {
  const [content, isPublished] = [some(world), !world.oneIn(3)];
  if (known) return undefined;
  return {
    changes: new Map([[iri, isPublished ? { content } : undefined]]),
    async run(store) {
      const own = keysOf(iri, content);
      await store.nameFree(iri);
      await store.loadGraphs(new Map([[iri, own]]));
      if (!isPublished) return store.dropLoaded(iri, own);
      try {
        await store.transact((tx) => {
          if (!tx.isLoaded(iri, own)) throw new Error('The graph is not loaded.');
          tx.publishGraph(iri, own);
          stage(tx, iri, sizes(own.length));
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
  const withdrawn = new Error('withdrawn');
  const { changes, run } = inOne([[iri, known]], async (tx) => {
    await stageGraph(tx, iri, keysOf(iri, triples));
    throw withdrawn;
  });
  const ignore = (error: unknown): unknown => (error === withdrawn ? undefined : Promise.reject(error));
  return { changes, run: (store) => run(store).catch(ignore) as Promise<void> };
};

export const makers: readonly Maker[] = [
  ...[putGraph, putGraph, patch, patch, putBlob, putBlob],
  ...[remove, remove, setAcl, move, publish, withdraw],
];

/** Creates the containers, as at the first start. */
export async function makeContainers(store: Store): Promise<void> {
  if (store.record(containers.at(-1)!)) return;
  await store.transact((tx) => {
    for (const iri of containers) stage(tx, iri, { kind: 'container', mediaType: 'application/lws+json', members: 0 });
  });
}
