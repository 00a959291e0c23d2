/** Plug-in API: exchange formats. Loads little, since threads load a format with it. */

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
