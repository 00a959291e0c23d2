/** Changes of links to shapes: who may make them, and the conditions on shapes and existing resources (rules 23.2, 23.5). */
import { inTurn } from '../../lib/authorization/decision-turns.js';
import type { Access } from '../../lib/authorization/principal.js';
import { lruCache } from '../../lib/caches.js';
import type { Platform } from '../../lib/component/contract.js';
import { LwsError } from '../../lib/errors.js';
import type { ResourceRecord } from '../../lib/storage/keys/records.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { type Documents, Outdated } from './documents.js';
import type { Constraint, ShapesLinks } from './links.js';
import type { Members, Violating } from './members.js';
import { maxListed, resultJson, shapesLinks } from './report.js';
import { type ShapesVersion, tooComplex, UnusableDocument, type Validator } from './validator.js';

/** The links of a resource before and after a transaction. */
export interface LinkChange {
  readonly iri: string;
  readonly before: Constraint;
  readonly after: Constraint;
}

/** A change whose conditions were checked. */
interface Checked {
  readonly iri: string;
  /** A resource was changed since. */
  isOutdated: boolean;
}

/** Maximum number of resources that are validated when shapes are linked. */
const maxMembers = 10_000;
/** Maximum number of violating resources in a report. */
const maxViolating = 20;

export class LinkChanges {
  private readonly checked = lruCache<Checked>(100);

  constructor(
    private readonly platform: Platform,
    private readonly links: ShapesLinks,
    private readonly parts: { readonly documents: Documents; readonly validator: Validator; readonly members: Members },
  ) {
    platform.store.onStage(({ changes }) => {
      if (this.checked.size === 0) return;
      for (const { before, after } of changes)
        for (const check of this.checked.values())
          if ((after ?? before)!.iri.startsWith(check.iri)) check.isOutdated = true;
    });
  }

  /** Checks a change in its transaction. @returns the work to do before it runs again, if any @throws LwsError `forbidden`, `unusable-shapes` */
  async admit(
    tx: Transaction,
    access: Access | undefined,
    change: LinkChange,
  ): Promise<(() => Promise<void>) | undefined> {
    if (!access || tx.handling === 'restore') return undefined;
    await this.assertControl(tx, access, change.iri);
    if (change.after.length === 0) return undefined;
    const { iri, after } = change;
    await this.assertReadable(tx, access, after);
    let versions: ShapesVersion[];
    try {
      versions = this.parts.documents.staged(after, tx);
    } catch (error) {
      throw asRefusal(error);
    }
    const name = [tx.handling, iri, ...versions.map(({ version }) => version)].join(' ');
    const check = this.checked.get(name);
    this.checked.delete(name);
    if (check && !check.isOutdated) return undefined;
    // The shapes may be a part of this transaction: they are not committed, but the members are.
    return () => this.prepare(access, { ...change, name, versions, isLenient: tx.handling === 'lenient' });
  }

  /** Linking requires control of the resource, and of the container whose links it replaces. */
  private async assertControl(tx: Transaction, access: Access, iri: string): Promise<void> {
    const above = this.links.above(iri, tx)?.of;
    for (const each of above === undefined ? [iri] : [iri, above])
      if (!(await this.platform.authorizer.allows({ view: tx, access, mode: 'control', iri: each })))
        throw new LwsError('forbidden', 'You are not allowed to change which shapes apply to this resource.', {
          reason: `no control of ${each}`,
        });
  }

  private async assertReadable(tx: Transaction, access: Access, shapes: Constraint): Promise<void> {
    for (const iri of shapes) {
      const record = tx.record(iri);
      const mayRead =
        record && (await this.platform.authorizer.allows({ view: tx, access, mode: 'read', iri, record }));
      // The same for absent and hidden documents.
      if (!mayRead)
        throw asRefusal(new UnusableDocument(iri, 'It is not an RDF resource of this storage that you may read.'));
    }
  }

  private async prepare(
    access: Access,
    {
      iri,
      after,
      name,
      versions,
      isLenient,
    }: LinkChange & {
      readonly name: string;
      readonly versions: readonly ShapesVersion[];
      readonly isLenient: boolean;
    },
  ): Promise<void> {
    const check: Checked = { iri, isOutdated: false };
    this.checked.set(name, check);
    // Waits for the commits of earlier transactions. Later ones make the check outdated.
    await this.platform.store.transact(() => {});
    try {
      await this.parts.validator.validate(access, versions, []);
      const violating = isLenient ? [] : await inTurn(this.platform, access, () => this.violating(access, iri, after));
      if (violating.length > 0) throw this.conflict(iri, after, violating);
    } catch (error) {
      this.checked.delete(name);
      if (!(error instanceof Outdated)) throw asRefusal(error);
    }
  }

  /** Returns existing resources that the shapes reject. @throws LwsError `too-complex` */
  private async violating(access: Access, iri: string, shapes: Constraint): Promise<Violating[]> {
    const found: Violating[] = [];
    let count = 0;
    for await (const records of this.parts.members.resources(iri)) {
      const own: ResourceRecord[] = [];
      for (const each of records)
        if (!shapes.includes(each.iri) && !this.isUnderOther(each.iri, iri) && (await this.mayRead(access, each)))
          own.push(each);
      count += own.length;
      if (count > maxMembers)
        throw tooComplex(
          `${iri} has more than ${maxMembers} resources. Link the shapes with "Prefer: handling=lenient", then list the violations.`,
        );
      if (own.length > 0) found.push(...(await this.parts.members.violating(access, shapes, own)));
      if (found.length >= maxViolating) break;
    }
    return found;
  }

  /** Resources that the caller may not read are not validated here: the response would reveal them. */
  private mayRead(access: Access, record: ResourceRecord): boolean | Promise<boolean> {
    const { authorizer, store: view } = this.platform;
    return authorizer.allows({ view, access, mode: 'read', iri: record.iri, record });
  }

  /** True if a resource has nearer links than those of a container. */
  private isUnderOther(iri: string, container: string): boolean {
    const of = this.links.inForce(iri)?.of;
    return of !== undefined && of.length > container.length;
  }

  private conflict(iri: string, shapes: Constraint, violating: readonly Violating[]): LwsError {
    const [first] = violating;
    const sentence = first!.results?.[0]?.sentence ?? 'The graph is too large to be validated here.';
    const lead = `Resources of ${iri} violate the shapes, such as <${first!.iri}>: ${sentence}.`;
    return new LwsError('conflict', `${lead} Nothing was changed. Repair them, or send "Prefer: handling=lenient".`, {
      fields: { Link: shapesLinks(this.platform.rootIri, shapes) },
      members: {
        resources: violating.slice(0, maxViolating).map(({ iri: id, results = [] }) => ({
          id,
          violations: results.slice(0, maxListed / maxViolating).map((result) => resultJson(result, true)),
        })),
      },
    });
  }
}

const asRefusal = (error: unknown): unknown =>
  error instanceof UnusableDocument ? new LwsError('unusable-shapes', error.message, { cause: error }) : error;
