/** Owner mode and open mode (rules 2.7, 2.10): owners have full access, and creators have full access to their resources. */

import type { AddedOwners } from './added-owners.js';
import type { BaseModel, Decision } from './authorizer.js';
import type { Access } from './principal.js';

export interface OwnerModeOptions {
  readonly owners: readonly string[];
  /** Owners that were added at run time. */
  readonly added?: Pick<AddedOwners, 'has'>;
  readonly publicRead: boolean;
  /** Returns true if an identity owns a resource. Absent: ownership is unknown. */
  readonly owns?: (subject: string) => Promise<boolean>;
  /** Open mode: all callers can read and write, and no caller has control. Only allowed without owners. */
  readonly open: boolean;
}

const decision = (allowed: boolean, rule: string): Decision => ({ allowed, rule });
const openMode = decision(true, 'open mode (lws.dev.open)');
const noControl = decision(false, 'open mode: no caller has control');
const publicReading = decision(true, 'lws.public-read');
const isOwner = decision(true, 'an owner (lws.owners)');
const isAddedOwner = decision(true, 'an owner added by another owner');
const isCreator = decision(true, 'created it');
const anonymous = decision(false, 'anonymous');
const neither = decision(false, 'neither an owner nor the creator');

export function ownerModel({ owners, added, publicRead, owns, open }: OwnerModeOptions): BaseModel {
  const known = new Set(owners);
  const everybody = open && known.size === 0;
  const readsEverything = ({ principal }: Access): boolean =>
    everybody ||
    publicRead ||
    (principal !== undefined && (known.has(principal.subject) || added?.has(principal.subject) === true));
  return {
    decide({ view, access: { principal }, mode, iri, gone, record = view.record(iri) }) {
      if (everybody) return mode === 'control' ? noControl : openMode;
      if (mode === 'read' && publicRead) return publicReading;
      if (!principal) return anonymous;
      if (known.has(principal.subject)) return isOwner;
      if (added?.has(principal.subject)) return isAddedOwner;
      return (gone ?? record)?.owner === principal.subject ? isCreator : neither;
    },
    knows: ({ principal }) => everybody || (principal !== undefined && (owns?.(principal.subject) ?? false)),
    readsAllMembers: (_view, access) => readsEverything(access),
    readScope(access) {
      if (readsEverything(access)) return 'everything';
      return access.principal ? { owner: access.principal.subject, ranges: [] } : 'nothing';
    },
  };
}
