/** Methods and patch types that a resource supports: the values of Allow, Accept-Patch and Accept-Post. */
import { rdfFormats } from '../rdf/formats.js';
import { isContainerIri, type ResourceRecord } from '../storage/keys/records.js';
import { isReserved } from './names.js';
import type { Storage } from './storage.js';

export const sparqlUpdate = 'application/sparql-update';
export const mergePatch = 'application/merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const linksetJson = 'application/linkset+json';

/** Returns the patch types of RDF. N3 Patch is supported under a profile only (rule 20.5). */
export const rdfPatches = ({ profile }: Pick<Storage, 'profile'>): readonly string[] => [
  sparqlUpdate,
  ...(profile?.patches ?? []),
];

/** Returns the patch types of a linkset. Under a profile, linksets of containers also accept RDF patches (rule 20.12). */
export const linksetPatches = (described: string, storage: Pick<Storage, 'profile'>): readonly string[] => [
  jsonPatch,
  mergePatch,
  ...(hasDescription(described, storage) ? rdfPatches(storage) : []),
];

/** Returns true if the linkset of a resource is also its description in RDF (rule 20.12). */
export const hasDescription = (described: string, { profile }: Pick<Storage, 'profile'>): boolean =>
  profile !== undefined && isContainerIri(described);

/** Returns the patch types that a resource supports (rule 6.14), none for binaries and containers. */
export function acceptedPatches({ kind }: ResourceRecord, storage: Pick<Storage, 'profile'>): readonly string[] {
  if (kind === 'rdf') return rdfPatches(storage);
  return kind === 'json' ? [jsonPatch, mergePatch] : [];
}

/** Media types that POST accepts: RDF, JSON, and any other type as binary. */
export const acceptPost = [...rdfFormats, 'application/json', '*/*'].join(', ');

/** Returns the methods that a resource currently supports, for any caller. */
export function allowedMethods(
  { kind, iri }: ResourceRecord,
  { rootIri: storage, queries, addedMethods = [] }: Pick<Storage, 'rootIri' | 'queries' | 'addedMethods'>,
): readonly string[] {
  const reading = ['GET', 'HEAD', 'OPTIONS', ...(queries ? ['QUERY'] : [])];
  if (kind === 'container')
    return [...reading, 'POST', ...(iri === storage ? [] : ['DELETE', 'MOVE', 'COPY']), ...addedMethods];
  return [...reading, 'PUT', ...(kind === 'binary' ? [] : ['PATCH']), 'DELETE', 'MOVE', 'COPY', ...addedMethods];
}

/** Returns the methods of a nonexistent or hidden resource, and PUT and PATCH, which might create it (rules 6.6, 6.18). */
export function methodsOfAbsent(iri: string, storage: Pick<Storage, 'rootIri' | 'queries' | 'systemPrefix'>): string[] {
  const isContainer = isContainerIri(iri);
  const reading = ['GET', 'HEAD', 'OPTIONS', ...(storage.queries && !isContainer ? ['QUERY'] : [])];
  if (isReserved(iri, storage.rootIri, storage.systemPrefix)) return reading;
  return [...reading, 'PUT', ...(isContainer ? [] : ['PATCH'])];
}
