/** Implementation of `FormatTools` for the formats of components. */
import { LwsError } from '../errors.js';
import { resolveIri } from '../rdf/resolve-iri.js';
import { writeTurtle } from '../rdf/turtle-writer.js';
import { declaredTypes, linkedValues, linksetQuads, readContextObject } from '../resources/linkset.js';
import { IriRewriting } from '../storage/keys/iri-rewriting.js';
import { FolderWriter, folderReader } from './folder.js';
import type { FormatTools, Links } from './format.js';
import { TransferError } from './member.js';
import { rdfParts } from './rdf-files.js';
import { TurtleFiles } from './text-files.js';

function readLinks(object: unknown, iri: string): Links {
  try {
    return readContextObject(object, iri);
  } catch (cause) {
    throw cause instanceof LwsError ? new TransferError(cause.message, { cause }) : cause;
  }
}

export const formatTools: FormatTools = {
  readFolder: (tree) => folderReader(tree),
  folderWriter: (sink, of) => new FolderWriter(sink, of),
  rdfParts,
  turtleFiles: (sink, of) => new TurtleFiles(sink, of),
  writeTurtle,
  rewriter: (rules) => new IriRewriting(rules).iri,
  resolveIri,
  links: { read: readLinks, types: declaredTypes, values: linkedValues, quads: linksetQuads },
};
