/** Resources as operations see them: links, types, names, bulk writes, updates of several graphs. */
export { assertName } from '../resources/bulk-admission.js';
export type { BulkItem, BulkVerdict } from '../resources/bulk-items.js';
export {
  type ClientLinks,
  declaredTypes,
  linkedValues,
  readContextObject,
  registered,
  relationTargets,
  searchedRelation,
} from '../resources/linkset.js';
export { allLinks, linksetQuads, writeLinksetGraphs } from '../resources/linkset-graph.js';
export { changesLinks, clientLinks } from '../resources/metadata.js';
export { linksetOf } from '../resources/names.js';
export { seenItem } from '../resources/seen-state.js';
export { untilCurrent } from '../resources/turns.js';
export { contentKind, structuralType } from '../resources/types.js';
export type { UpdatedGraph } from '../resources/update-graphs.js';
export { variantOf } from '../resources/variants.js';
