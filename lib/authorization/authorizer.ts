/**
 * May they? One authorizer decides for every operation; it is asked before a body is read and again inside the
 * transaction. It must not know HTTP; it never says why to a client, only to the log.
 */
import type { ResourceRecord } from '../storage/records.js';
import type { Mode } from './mode.js';
import type { Access } from './principal.js';

/**
 * How those who enumerate may know what a caller may read without asking for each resource: everything, nothing, exactly
 * what an identity owns; or each has to be decided.
 */
export type ReadScope = 'everything' | 'nothing' | { readonly owner: string } | 'decide';

export interface Authorizer {
  /** Whether the caller has the mode on the resource. An absent resource has no record. */
  allows(access: Access, mode: Mode, iri: string, record: ResourceRecord | undefined): boolean | Promise<boolean>;
  /** True when the caller may read all there is, so that nothing needs to be filtered. May be false to be safe. */
  readsEverything(access: Access): boolean;
  /** What the caller may read, as one set. */
  readScope(access: Access): ReadScope;
  /** The identity to record as the owner of something that the caller creates in a container. */
  ownerOfNew(access: Access, parent: ResourceRecord): string | undefined;
}

export interface OwnerModeOptions {
  readonly owners: readonly string[];
  readonly publicRead: boolean;
  /** Everybody may read and write, nobody has control. Only when there are no owners. */
  readonly open: boolean;
}

/** Owner mode and open mode (open-points 1.2). */
export function ownerAuthorizer({ owners, publicRead, open }: OwnerModeOptions): Authorizer {
  const known = new Set(owners);
  const everybody = open && known.size === 0;
  const readsEverything = ({ principal }: Access): boolean =>
    everybody || publicRead || (principal !== undefined && known.has(principal.subject));
  return {
    allows({ principal }, mode, _iri, record) {
      if (everybody) return mode !== 'control';
      if (mode === 'read' && publicRead) return true;
      if (!principal) return false;
      return known.has(principal.subject) || (record?.owner !== undefined && record.owner === principal.subject);
    },
    readsEverything,
    readScope(access) {
      if (readsEverything(access)) return 'everything';
      return access.principal ? { owner: access.principal.subject } : 'nothing';
    },
    // An anonymous creation takes the parent's recorded owner.
    ownerOfNew: ({ principal }, parent) => principal?.subject ?? parent.owner,
  };
}
