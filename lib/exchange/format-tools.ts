/** Implements `FormatTools` for the formats of components. */
import { LwsError } from '../errors.js';
import { resolveIri } from '../rdf/resolve-iri.js';
import { declaredTypes, linkedValues, linksetQuads, readContextObject } from '../resources/linkset.js';
import { IriRewriting } from '../storage/keys/iri-rewriting.js';
import { folderReader } from './folder.js';
import type { FormatTools, Links } from './format.js';
import { TransferError } from './member.js';
import { rdfParts } from './rdf-files.js';

function readLinks(object: unknown, iri: string): Links {
  try {
    return readContextObject(object, iri);
  } catch (cause) {
    throw cause instanceof LwsError ? new TransferError(cause.message, { cause }) : cause;
  }
}

export const formatTools: FormatTools = {
  readFolder: (tree) => folderReader(tree),
  rdfParts,
  rewriter: (rules) => new IriRewriting(rules).iri,
  resolveIri,
  links: { read: readLinks, types: declaredTypes, values: linkedValues, quads: linksetQuads },
};
