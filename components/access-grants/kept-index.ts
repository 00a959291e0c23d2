/** In-memory index of stored documents: listings and limits do not read the documents. Every commit updates the index. */

import { inAllStorages, type Tally } from '../../lib/authentication/tally.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { ForeignState, Platform } from '../../lib/component/contract.js';
import { lwsJson } from '../../lib/http/negotiate.js';
import { foaf } from '../../lib/rdf/vocabulary.js';
import type { ListedMember } from '../../lib/resources/listing-documents.js';
import { entryKey } from '../../lib/storage/keys/records.js';
import { FollowedEntries } from '../../lib/storage/transactions/followed-entries.js';
import { LwsError } from '../../lib/tools/errors.js';
import { isTime } from '../../lib/tools/fields/date.js';
import { isObject } from '../../lib/tools/json/exact-json.js';
import {
  type AccessDocument,
  acceptDocument,
  type DocumentType,
  policiesOf,
  requestFulfils,
} from './access-documents.js';

/** Maximum counts of access requests that no controller has read: per subject, per client address, and in total. */
export interface DocumentLimits {
  readonly perSubject: number;
  readonly perAddress: number;
  readonly inAll: number;
}

interface Entry {
  readonly creator: string;
  readonly from: string | undefined;
  readonly isNew: boolean;
  /** Entry of the document in listings. */
  readonly item: ListedMember;
  readonly isParty: (access: Access) => boolean;
}

export class KeptIndex {
  private entries!: FollowedEntries<Entry>;
  private order: readonly string[] | undefined;
  private readonly waiting: Tally;

  private constructor(
    private readonly platform: Platform,
    private readonly space: Space,
  ) {
    this.waiting = platform.tally(space);
  }

  static async open(platform: Platform, space: Space): Promise<KeptIndex> {
    const index = new KeptIndex(platform, space);
    index.entries = await FollowedEntries.open(platform.store, {
      space,
      read: (value) => index.entryOf(readKept(value)),
      changed: (_name, before, after) => {
        if (!before || !after) index.order = undefined;
        for (const [each, count] of [
          [before, -1],
          [after, 1],
        ] as const)
          if (each?.isNew && each.from !== undefined) index.waiting.add(each.from, count);
      },
      followsStaged: true,
    });
    return index;
  }

  /** Returns the entries that the caller can see, ordered by name. */
  seenBy(access: Access, isController: boolean): readonly ListedMember[] {
    this.order ??= [...this.entries.names()].sort();
    return this.order.flatMap((name) => {
      const { item, isParty } = this.entries.get(name)!;
      return isController || isParty(access) ? [item] : [];
    });
  }

  /** Asserts that another request may be stored. @throws LwsError `too-many-requests` */
  assertRoom({ creator, from }: Pick<KeptDocument, 'creator' | 'from'>, limits: DocumentLimits): void {
    let [ofSubject, ofAddress, all] = [0, this.waiting.elsewhere(from), 0];
    for (const entry of this.entries.current()) {
      if (!entry.isNew) continue;
      all++;
      if (entry.creator === creator) ofSubject++;
      if (entry.from === from) ofAddress++;
    }
    const refuse = (whose: string, setting: string): never => {
      throw new LwsError(
        'too-many-requests',
        `${whose} reached the limit of unread access requests (lws.access-requests.${setting}). Retry after a controller has read them.`,
        { fields: { 'Retry-After': '3600' } },
      );
    };
    if (ofSubject >= limits.perSubject) refuse('You have', 'max-per-subject');
    if (ofAddress >= limits.perAddress) refuse('Your address has', 'max-per-address');
    if (all >= limits.inAll || all + this.waiting.elsewhere() >= limits.inAll * inAllStorages)
      refuse('The storage has', 'max-waiting');
  }

  private entryOf(kept: KeptDocument): Entry {
    const { document, creator, created, from, isSeen } = kept;
    const type = this.space === 'access-grants' ? 'AccessGrant' : 'AccessRequest';
    return {
      creator,
      from,
      isNew: !isSeen,
      item: {
        iri: document.id,
        kind: 'json',
        types: [type],
        mediaType: lwsJson,
        size: bytesOfKept(kept).length,
        modified: created,
      },
      isParty: partyOf(kept, this.space, this.platform.rootIri),
    };
  }
}

/** Returns a function that is true for callers that can see a document: the creator, and assignees with the assigned client. */
export function partyOf(
  { document, creator }: KeptDocument,
  space: Space,
  storage: string,
): (access: Access) => boolean {
  const parties = space === 'access-grants' ? policiesOf(document, storage) : [];
  return (access) => {
    const { subject } = access.principal!;
    return (
      creator === subject ||
      parties.some(
        ({ assignees, constraints }) =>
          (assignees.includes(subject) || assignees.includes(foaf.Agent)) &&
          constraints
            .filter(({ leftOperand }) => leftOperand === 'client')
            .every((bound) => requestFulfils(bound, access, 0)),
      )
    );
  };
}

export interface KeptDocument {
  readonly document: AccessDocument;
  readonly creator: string;
  /** Creation time, in milliseconds since the epoch. */
  readonly created: number;
  /** Digest of the creator's client address. Absent in entries of earlier versions. */
  readonly from?: string;
  /** True after a controller has read the request or has answered it with a grant. */
  readonly isSeen?: true;
}

export type Space = 'access-requests' | 'access-grants';

export const keyOf = (space: Space, name: string): string => entryKey(space, name);
export const readKept = (value: string): KeptDocument => JSON.parse(value) as KeptDocument;

export const bytesOfKept = ({ document }: KeptDocument): Buffer => Buffer.from(JSON.stringify(document));

/**
 * Converts an imported document. Returns `undefined` if it is not valid.
 * @param id IRI of the document after the import
 * @param storage IRI of this storage
 */
export function foreignDocument(
  value: unknown,
  type: DocumentType,
  { id, storage }: { readonly id: string; readonly storage: string },
): ForeignState | undefined {
  const { document: given, created } = isObject(value) ? value : {};
  if (!isObject(given) || !isTime(created)) return undefined;
  try {
    const document = acceptDocument({ ...given, storage }, type, id, storage);
    const policies = policiesOf(document, storage);
    return {
      targets: policies.flatMap(({ targets }) => targets),
      gives: policies.flatMap(({ assignees, actions }) =>
        assignees.map((assignee) => `${assignee}: ${type} of ${actions.join(', ')}.`),
      ),
      // The documents count as read, because a controller imports them.
      keptBy: (creator): KeptDocument => ({ document, creator, created, isSeen: true }),
    };
  } catch (error) {
    if (error instanceof LwsError) return undefined;
    throw error;
  }
}
