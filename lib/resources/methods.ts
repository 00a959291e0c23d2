/** Which methods and patch types a resource supports: the values of Allow, Accept-Patch and Accept-Post. */
import { rdfFormats } from '../rdf/formats.js';
import { isContainerIri, type ResourceRecord } from '../storage/keys/records.js';
import { isReserved } from './names.js';
import type { Storage } from './storage.js';

export const sparqlUpdate = 'application/sparql-update';
export const mergePatch = 'application/merge-patch+json';
export const jsonPatch = 'application/json-patch+json';
export const linksetJson = 'application/linkset+json';

/** The patch types of RDF: N3 Patch under a profile alone (rule 20.5). */
export const rdfPatches = ({ profile }: Pick<Storage, 'profile'>): readonly string[] => [
  sparqlUpdate,
  ...(profile?.patches ?? []),
];

/** The patch types that a resource takes (rule 6.14); none for binaries and containers. */
export function acceptedPatches({ kind }: ResourceRecord, storage: Pick<Storage, 'profile'>): readonly string[] {
  if (kind === 'rdf') return rdfPatches(storage);
  return kind === 'json' ? [jsonPatch, mergePatch] : [];
}

/** What a container takes in a POST: RDF, JSON, and any other type as bytes. */
export const acceptPost = [...rdfFormats, 'application/json', '*/*'].join(', ');

/** The methods that a resource supports now, whoever asks. */
export function allowedMethods(
  { kind, iri }: ResourceRecord,
  { rootIri: storage, queries }: Pick<Storage, 'rootIri' | 'queries'>,
): readonly string[] {
  const reading = ['GET', 'HEAD', 'OPTIONS', ...(queries ? ['QUERY'] : [])];
  if (kind === 'container') return [...reading, 'POST', ...(iri === storage ? [] : ['DELETE'])];
  return [...reading, 'PUT', ...(kind === 'binary' ? [] : ['PATCH']), 'DELETE'];
}

/** The methods of an IRI with nothing at it, or nothing that the caller may see: PUT and PATCH might create (rules 6.6, 6.18). */
export function methodsOfAbsent(iri: string, storage: Pick<Storage, 'rootIri' | 'queries' | 'systemPrefix'>): string[] {
  const isContainer = isContainerIri(iri);
  const reading = ['GET', 'HEAD', 'OPTIONS', ...(storage.queries && !isContainer ? ['QUERY'] : [])];
  if (isReserved(iri, storage.rootIri, storage.systemPrefix)) return reading;
  return [...reading, 'PUT', ...(isContainer ? [] : ['PATCH'])];
}
