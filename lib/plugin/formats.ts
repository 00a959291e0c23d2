/** Plug-in API: exchange formats. Imports few modules, since worker threads load it with each format. */

export {
  bytesOfFile,
  type FileTree,
  objectOfFile,
  type RefusedFile,
  requiredFile,
  type TreeFile,
  type TreeSink,
  treeReader,
} from '../exchange/file-tree.js';
export type { Format, FormatTools, Links, WriteTools } from '../exchange/format.js';
export { rdfTypeOf } from '../exchange/media-types.js';
export {
  type AccessList,
  type Member,
  type MemberOf,
  type MemberOptions,
  type ReadStep,
  SyntaxFault,
  TransferError,
  type Writer,
} from '../exchange/member.js';
export { isAbsoluteIri } from '../rdf/iri.js';
export { parseMediaType } from '../tools/fields/media-type.js';
export { isObject } from '../tools/json/exact-json.js';
