/** Exchange formats: what they are, what travels, and how files of RDF are read and written. */
export { type ByteSource, type FilePiece, type FileSource, textOf, withStart } from '../exchange/byte-source.js';
export { DocumentFactory, documentKey } from '../exchange/document-factory.js';
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
export { FolderWriter, folderReader } from '../exchange/folder.js';
export type { Document, Format, FormatModule, ParseDocument, WriteOptions } from '../exchange/format.js';
export { GraphRun, LeftOuts, lengthOfRun } from '../exchange/graph-runs.js';
export { type Known, KnownQuads, KnownText } from '../exchange/known-part.js';
export { isPage, mediaTypeOf, rdfTypeOf, typeWithout } from '../exchange/media-types.js';
export {
  type AccessList,
  type BytesMember,
  type ContainerMember,
  type GraphMember,
  type LeftOut,
  type Member,
  type MemberOptions,
  type MemberReader,
  type ReadStep,
  type ResourceMember,
  SyntaxFault,
  stateSpaces,
  TransferError,
  type Writer,
} from '../exchange/member.js';
export { nquadsBlocks } from '../exchange/nquads-blocks.js';
export { type RdfPart, rdfParts } from '../exchange/rdf-files.js';
export { streamedQuads } from '../exchange/streamed-quads.js';
export { quadLine, quadLines, readQuadLines, TextOutput, TurtleFiles } from '../exchange/text-files.js';
