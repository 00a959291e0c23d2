/** Implements `FormatTools` for the formats of components. */

import type { FormatTools, Links } from '../../../lib/exchange/format.js';
import { TransferError } from '../../../lib/exchange/member.js';
import { resolveIri } from '../../../lib/rdf/resolve-iri.js';
import { declaredTypes, linkedValues, linksetQuads, readContextObject } from '../../../lib/resources/linkset.js';
import { IriRewriting } from '../../../lib/storage/keys/iri-rewriting.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { folderReader } from './folder.js';
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
