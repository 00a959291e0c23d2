/**
 * Transaction listener that admits only graphs that conform to their shapes, from all writers. Inside the transaction, it only
 * checks if the new graphs were validated against the current shapes. If not, they are validated outside of the transaction,
 * and the transaction is repeated.
 */
import { callerOf } from '../../lib/authorization/audit.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import type { GraphKeys } from '../../lib/storage/keys/graph-keys.js';
import { Again } from '../../lib/storage/transactions/again.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { lruCache } from '../../lib/tools/caches.js';
import { LwsError } from '../../lib/tools/errors.js';
import { documentDigest, Outdated, type ShapeDocuments } from './documents.js';
import type { LinkChange, LinkChanges } from './link-changes.js';
import type { InForce, ShapesLinks } from './links.js';
import type { Result } from './model.js';
import { violationError, violationsOf } from './report.js';
import { maxTriples, type ShapesVersion, tooComplex, UnusableDocument, type Validator } from './validator.js';

/** Resource whose graph changes, and the links to shapes that apply to it. */
interface Target {
  readonly iri: string;
  readonly existed: boolean;
  readonly inForce: InForce;
}

/** Changed resource with its new graph, and the shapes to which the graph must conform. */
interface Written extends Target {
  readonly keys: GraphKeys;
  readonly versions: readonly ShapesVersion[];
}

/** Maximum cached validations of graphs that conform. */
const maxAccepted = 20_000;
/** Maximum graphs, and maximum triples, of one validation task. */
const [graphsAtATime, triplesAtATime] = [500, 20_000];

const nameOf = ({ keys, versions }: Written): string =>
  [documentDigest(keys), ...versions.map(({ version }) => version)].join(' ');

export class Admission {
  private readonly accepted = lruCache<true>(maxAccepted);

  constructor(
    private readonly platform: Platform,
    private readonly links: ShapesLinks,
    private readonly parts: {
      readonly documents: ShapeDocuments;
      readonly validator: Validator;
      readonly linkChanges: LinkChanges;
    },
  ) {}

  /** Checks the changes of a transaction. Returns without a promise if no link applies. @throws Again, LwsError */
  listen(tx: Transaction): void | Promise<void> {
    const relinked: LinkChange[] = [];
    const written: Target[] = [];
    for (const { before, after } of tx.changes) {
      if (!after) continue;
      const { iri } = after;
      const change = tx.entries.size === 0 ? undefined : this.links.changed(iri, tx);
      if (change) relinked.push({ ...change, iri });
      if (after.kind !== 'rdf' || !tx.graphs.has(iri)) continue;
      const inForce = this.links.inForce(iri, tx);
      // Shapes documents are exempt from the constraint that names them, so that they can be repaired (rule 23.7).
      if (inForce && !inForce.shapes.includes(iri)) written.push({ iri, existed: before !== undefined, inForce });
    }
    const hold = relinked.length === 0 ? this.holdOf(tx) : undefined;
    if (hold) throw new Again(() => hold);
    if (relinked.length + written.length > 0) return this.admit(tx, relinked, written);
  }

  private holdOf({ changes }: Transaction): Promise<void> | undefined {
    for (const { after } of changes) {
      const hold = after?.kind === 'rdf' ? this.parts.linkChanges.holdOf(after.iri) : undefined;
      if (hold) return hold;
    }
    return undefined;
  }

  private async admit(tx: Transaction, relinked: readonly LinkChange[], written: readonly Target[]): Promise<void> {
    const access = callerOf(tx);
    const { linkChanges } = this.parts;
    const works: (() => Promise<void>)[] = [];
    for (const change of relinked) {
      const work = await linkChanges.admit(tx, access, change);
      if (work) works.push(work);
    }
    const fresh: Written[] = [];
    for (const target of written) {
      const each = await this.writtenIn(tx, access, target);
      if (each && !this.accepted.has(nameOf(each))) fresh.push(each);
    }
    if (fresh.length > 0) works.push(() => this.validate(access, fresh));
    if (works.length > 0)
      throw new Again(async () => {
        for (const work of works) await work();
      });
  }

  /** Returns the new graph of a resource, or `undefined` if nothing must be validated. @throws Again, LwsError */
  private async writtenIn(tx: Transaction, access: Access | undefined, target: Target): Promise<Written | undefined> {
    const { documents } = this.parts;
    const { iri, inForce } = target;
    const graph = tx.graphs.get(iri)!;
    // During a restore, the shapes documents may follow the resources.
    if (tx.handling === 'restore' && documents.hasMissing(inForce.shapes, tx)) return undefined;
    if (graph.isPartners) throw new Again(() => tx.completeGraphs!());
    if (graph.isPart)
      throw tooComplex('A part of a large graph cannot be changed where shapes apply. Replace it with PUT.');
    const { keys } = graph;
    if (!keys) return undefined;
    if (keys.length > maxTriples)
      throw tooComplex(`The graph has ${keys.length} triples. Shapes are applied to at most ${maxTriples}.`);
    try {
      return { ...target, keys, versions: documents.staged(inForce.shapes, tx) };
    } catch (error) {
      throw await this.refusalOf(error, access, inForce);
    }
  }

  /** Validates graphs, and caches which graphs conform. @throws LwsError `shape-violation` for the first that does not */
  private async validate(access: Access | undefined, all: readonly Written[]): Promise<void> {
    const groups = new Map<string, Written[]>();
    for (const written of all) {
      const name = written.versions.map(({ version }) => version).join(' ');
      groups.set(name, [...(groups.get(name) ?? []), written]);
    }
    let refused: { readonly written: Written; readonly results: readonly Result[] } | undefined;
    for (const group of groups.values())
      for (const part of slices(group)) {
        const all = await this.resultsOf(access, part);
        // The shapes have changed: the repeated transaction uses their new state.
        if (!all) return;
        for (const [index, results] of all.entries())
          if (violationsOf(results).length === 0) this.accepted.set(nameOf(part[index]!), true);
          else refused ??= { written: part[index]!, results };
      }
    if (!refused) return;
    const { results, written } = refused;
    const shapes = await this.mayReadAll(access, written.inForce.shapes);
    const data = !written.existed || (await this.mayReadAll(access, [written.iri]));
    const place = { root: this.platform.rootIri, constraint: written.inForce.shapes };
    throw violationError(results, { shapes, data }, place);
  }

  private async resultsOf(
    access: Access | undefined,
    part: readonly Written[],
  ): Promise<readonly (readonly Result[])[] | undefined> {
    const [{ versions, inForce }] = part as [Written];
    try {
      const graphs = part.map(({ keys }) => keys);
      return await this.parts.validator.validate(access, versions, graphs);
    } catch (error) {
      if (!(error instanceof Outdated)) throw await this.refusalOf(error, access, inForce);
      // Wait for the commit of the transaction that changed the shapes.
      await this.platform.store.transact(() => {});
      return undefined;
    }
  }

  /** Returns true if the caller can read all of the resources. */
  async mayReadAll(access: Access | undefined, iris: readonly string[]): Promise<boolean> {
    const { authorizer, store: view } = this.platform;
    if (!access) return false;
    for (const iri of iris) {
      const record = view.record(iri);
      if (record && !(await authorizer.allows({ view, access, mode: 'read', iri, record }))) return false;
    }
    return true;
  }

  /** Returns the error for shapes that cannot be applied. Only controllers and readers of the shapes see the reason. */
  async refusalOf(error: unknown, access: Access | undefined, { shapes, of }: InForce): Promise<unknown> {
    if (!(error instanceof UnusableDocument)) return error;
    const { authorizer, store: view } = this.platform;
    const isTold =
      access !== undefined &&
      ((await authorizer.allows({ view, access, mode: 'control', iri: of })) ||
        (view.record(error.iri) !== undefined && (await this.mayReadAll(access, shapes))));
    const message = isTold
      ? `${error.message} Nothing was changed. ${of} is linked to them.`
      : 'The shapes that apply here cannot be used. Nothing was changed. Ask a controller of the container.';
    return new LwsError('unusable-shapes', message, { cause: error, reason: error.message });
  }
}

/** Splits a list of graphs, so that each validation stays within its timeout. */
function* slices(all: readonly Written[]): Generator<readonly Written[]> {
  for (let at = 0; at < all.length; ) {
    let [end, triples] = [at, 0];
    do triples += all[end++]!.keys.length;
    while (end < all.length && end - at < graphsAtATime && triples + all[end]!.keys.length <= triplesAtATime);
    yield all.slice(at, end);
    at = end;
  }
}
