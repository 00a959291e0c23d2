/** Who asks, and what they may do. */
export { type Acl, aclKey, aclOfGraph, readAclDocument } from '../authorization/acl.js';
export type { AddedOwner, AddedOwners } from '../authorization/added-owners.js';
export { attribute } from '../authorization/audit.js';
export {
  type Authorizer,
  ancestorsOf,
  type BaseModel,
  type Decision,
  type PermissionSource,
  type Question,
  type ReadScope,
  type Standing,
  type View,
} from '../authorization/authorizer.js';
export { type Client, clientFor, rankOf } from '../authorization/client.js';
export { isIdentity, noIdentity } from '../authorization/did.js';
export { controls, notFound, requireAccess } from '../authorization/guard.js';
export type { Mode } from '../authorization/mode.js';
export type { Access } from '../authorization/principal.js';
