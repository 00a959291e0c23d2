/** Changes of links to shapes: required permissions, and conditions on shapes and existing resources (rules 23.2, 23.5). */
import { clientFor, connectionOf } from '../../lib/authorization/client.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import { Slots } from '../../lib/component/slots.js';
import { isContainerIri, type ResourceRecord } from '../../lib/storage/keys/records.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { lruCache } from '../../lib/tools/caches.js';
import { LwsError } from '../../lib/tools/errors.js';
import { Outdated, type ShapeDocuments } from './documents.js';
import type { Constraint, ShapesLinks } from './links.js';
import type { ShapeMembers, Violating } from './members.js';
import { maxListed, resultJson, sentenceOf, shapesLinks } from './report.js';
import { type ShapesVersion, tooComplex, UnusableDocument, type Validator } from './validator.js';

/** Links of a resource to shapes, before and after a transaction. */
export interface LinkChange {
  readonly iri: string;
  readonly before: Constraint;
  readonly after: Constraint;
}

/** Change whose conditions were checked. */
interface Checked {
  readonly iri: string;
  /** Resources that were written after the check. */
  readonly changed: Set<string>;
}

/** Change, and the shapes documents that apply after it. */
interface CheckedChange extends LinkChange {
  readonly shapes: Constraint;
  /** True if the caller can read the shapes documents, so that errors may describe them. */
  readonly isTold: boolean;
}

/** Maximum resources that are validated when shapes are linked. */
const maxMembers = 10_000;
/** Maximum violating resources in an error. */
const maxViolating = 20;
/** Maximum time for which writes wait for a change of links, in milliseconds. */
const longestHoldMs = 3_000;

/** Limits concurrent checks. `inTurn` cannot do this, because a MOVE of a container already runs in the caller's turn. */
const slots = new Slots(
  { controller: 4, known: 2, stranger: 1 },
  'Too many resources are being validated against new shapes. Retry in a minute.',
  { controller: 1, known: 1, stranger: 1 },
);

/** True if a resource is `of`, or a descendant of the container `of`. */
const isWithin = (iri: string, of: string): boolean => iri === of || (isContainerIri(of) && iri.startsWith(of));

export class LinkChanges {
  private readonly checked = lruCache<Checked>(100);
  /** Resources whose links are about to change, with the promise for which writes to them and their descendants wait. */
  private readonly holds = new Map<string, { readonly ended: Promise<void>; readonly end: () => void }>();

  constructor(
    private readonly platform: Platform,
    private readonly links: ShapesLinks,
    private readonly parts: {
      readonly documents: ShapeDocuments;
      readonly validator: Validator;
      readonly members: ShapeMembers;
    },
  ) {
    platform.store.onStage(({ changes }) => {
      if (this.checked.size === 0) return;
      for (const { before, after } of changes)
        for (const { iri, changed } of this.checked.values())
          if (isWithin((after ?? before)!.iri, iri)) changed.add((after ?? before)!.iri);
    });
  }

  /** Returns the promise that a write of a resource must wait for, if there is one. */
  holdOf(resource: string): Promise<void> | undefined {
    for (const [iri, { ended }] of this.holds) if (isWithin(resource, iri)) return ended;
    return undefined;
  }

  /**
   * Makes writes to a resource and its descendants wait: otherwise they could outdate the check of a change again and again.
   * The change requires control of the resource, so that its caller can delay only writes to this resource.
   */
  private hold(iri: string): void {
    if (this.holds.has(iri)) return;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      const timer = setTimeout(() => end(), longestHoldMs).unref();
      end = () => {
        clearTimeout(timer);
        this.holds.delete(iri);
        resolve();
      };
    });
    this.holds.set(iri, { ended, end });
  }

  private end(name: string, iri: string): void {
    this.checked.delete(name);
    this.holds.get(iri)?.end();
  }

  /**
   * Checks a change inside its transaction. @returns work to do before the transaction is repeated, if any @throws
   * LwsError `forbidden`, `unusable-shapes`
   */
  async admit(
    tx: Transaction,
    access: Access | undefined,
    change: LinkChange,
  ): Promise<(() => Promise<void>) | undefined> {
    if (!access || tx.handling === 'restore') return undefined;
    await this.assertControl(tx, access, change.iri);
    const { iri, after } = change;
    // If the resource has no own links, the links of the nearest container apply.
    const shapes = after.length > 0 ? after : (this.links.above(iri, tx)?.shapes ?? []);
    if (shapes.length === 0) return undefined;
    if (after.length > 0) await this.assertReadable(tx, access, after);
    const isTold = after.length > 0 || (await this.readsAll(tx, access, shapes));
    let versions: ShapesVersion[];
    try {
      versions = this.parts.documents.staged(shapes, tx);
    } catch (error) {
      throw asRefusal(error);
    }
    const isLenient = tx.handling === 'lenient';
    const name = [isLenient, iri, ...versions.map(({ version }) => version)].join(' ');
    const known = this.checked.get(name);
    if (!known || (known.changed.size > 0 && !isLenient))
      return () => this.check(access, { name, versions, isLenient }, { ...change, shapes, isTold });
    this.end(name, iri);
    return undefined;
  }

  /** Checks existing resources before a change. Other writes wait while a repeated check covers resources written since. */
  private async check(
    access: Access,
    {
      name,
      versions,
      isLenient,
    }: { readonly name: string; readonly versions: ShapesVersion[]; readonly isLenient: boolean },
    change: CheckedChange,
  ): Promise<void> {
    const { iri } = change;
    const known = this.checked.get(name);
    if (known) this.hold(iri);
    else this.checked.set(name, { iri, changed: new Set() });
    try {
      // Wait for the commits of earlier transactions. Resources of later transactions are recorded as changed.
      await this.platform.store.transact(() => {});
      if (known) this.checked.set(name, { iri, changed: new Set() });
      await this.parts.validator.validate(access, versions, []);
      if (!isLenient) await this.assertConforming(access, change, known?.changed);
    } catch (error) {
      this.end(name, iri);
      if (!(error instanceof Outdated)) throw asRefusal(error);
    }
  }

  /** Requires control of the resource, and of the container whose links the change overrides. */
  private async assertControl(tx: Transaction, access: Access, iri: string): Promise<void> {
    const above = this.links.above(iri, tx)?.of;
    // Check also the state before the transaction: a caller that replaces a resource may become its owner.
    for (const each of above === undefined ? [iri] : [iri, above])
      for (const view of tx.before.record(each) ? [tx.before, tx] : [tx])
        if (!(await this.platform.authorizer.allows({ view, access, mode: 'control', iri: each })))
          throw new LwsError('forbidden', 'You are not allowed to change which shapes apply to this resource.', {
            reason: `no control of ${each}`,
          });
  }

  private async assertReadable(tx: Transaction, access: Access, shapes: Constraint): Promise<void> {
    // The error is the same for nonexistent and unreadable documents.
    for (const iri of shapes)
      if (!(await this.readsAll(tx, access, [iri])))
        throw asRefusal(new UnusableDocument(iri, 'It is not an RDF resource of this storage that you may read.'));
  }

  private async readsAll(tx: Transaction, access: Access, shapes: Constraint): Promise<boolean> {
    for (const iri of shapes) {
      const record = tx.record(iri);
      if (!record || !(await this.platform.authorizer.allows({ view: tx, access, mode: 'read', iri, record })))
        return false;
    }
    return true;
  }

  /**
   * Validates existing resources. @param only resources to validate; default: all @throws LwsError `conflict` if they violate
   * the shapes, `too-complex`
   */
  private async assertConforming(access: Access, change: CheckedChange, only?: ReadonlySet<string>): Promise<void> {
    const client = await clientFor(this.platform, access, connectionOf(access)?.address ?? '');
    const release = slots.take(client);
    const violating = await this.violating(access, change, only).finally(release);
    if (violating.length > 0) throw this.conflict(change, violating);
  }

  private async violating(
    access: Access,
    { iri, shapes }: CheckedChange,
    only: ReadonlySet<string> | undefined,
  ): Promise<Violating[]> {
    const found: Violating[] = [];
    let count = 0;
    const { store } = this.platform;
    for await (const records of only
      ? [[...only].flatMap((each) => store.record(each) ?? [])]
      : this.parts.members.resources(iri)) {
      const own: ResourceRecord[] = [];
      for (const each of records)
        if (this.isSubject(each, { iri, shapes }) && (await this.mayRead(access, each))) own.push(each);
      count += own.length;
      if (count > maxMembers)
        throw tooComplex(
          `${iri} has more than ${maxMembers} resources. Link the shapes with "Prefer: handling=lenient", then list the violations.`,
        );
      found.push(...(await this.parts.members.violating(access, shapes, own)));
      if (found.length >= maxViolating) break;
    }
    return found;
  }

  /** Resources that the caller cannot read are not validated, because the response would reveal them. */
  private mayRead(access: Access, record: ResourceRecord): boolean | Promise<boolean> {
    const { authorizer, store: view } = this.platform;
    return authorizer.allows({ view, access, mode: 'read', iri: record.iri, record });
  }

  /** True if the links of `link` apply to an RDF resource: it has no nearer links, and is not exempt. */
  private isSubject(
    { iri, kind }: ResourceRecord,
    link: { readonly iri: string; readonly shapes: Constraint },
  ): boolean {
    const { of = '' } = this.links.inForce(iri) ?? {};
    return kind === 'rdf' && of.length <= link.iri.length && !link.shapes.includes(iri);
  }

  private conflict({ iri, shapes, isTold }: CheckedChange, violating: readonly Violating[]): LwsError {
    const [first] = violating;
    const [result] = first!.results ?? [];
    const sentence = result ? sentenceOf(result, isTold) : 'The graph is too large to be validated here.';
    const lead = `Resources of ${iri} violate the shapes, such as <${first!.iri}>: ${sentence}.`;
    return new LwsError('conflict', `${lead} Nothing was changed. Repair them, or send "Prefer: handling=lenient".`, {
      fields: isTold ? { Link: shapesLinks(this.platform.rootIri, shapes) } : {},
      members: {
        resources: violating.slice(0, maxViolating).map(({ iri: id, results = [] }) => ({
          id,
          violations: results.slice(0, maxListed / maxViolating).map((result) => resultJson(result, isTold)),
        })),
      },
    });
  }
}

const asRefusal = (error: unknown): unknown =>
  error instanceof UnusableDocument ? new LwsError('unusable-shapes', error.message, { cause: error }) : error;
