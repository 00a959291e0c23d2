/** Resources as operations see them: links, types, names, bulk writes, updates of several graphs. */
export { assertName, type BulkItem, type BulkVerdict } from '../resources/bulk.js';
export {
  allLinks,
  type ClientLinks,
  declaredTypes,
  linkedValues,
  linksetQuads,
  readContextObject,
  registered,
  relationTargets,
  searchedRelation,
  writeLinksetGraphs,
} from '../resources/linkset.js';
export { changesLinks, clientLinks } from '../resources/metadata.js';
export { linksetOf } from '../resources/names.js';
export { seenItem } from '../resources/seen-state.js';
export { untilCurrent } from '../resources/turns.js';
export { contentKind, structuralType } from '../resources/types.js';
export type { UpdatedGraph } from '../resources/update-graphs.js';
export { variantOf } from '../resources/variants.js';
