/** Structural types of resources, and the interaction models that a request can ask for (rule 1.1). */

import { isRdfFormat } from '../rdf/formats.js';
import { resolveIri } from '../rdf/resolve-iri.js';
import { ldp, lws } from '../rdf/vocabulary.js';
import type { ResourceKind } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import type { Link } from '../tools/fields/link.js';

/** Interaction model. `data`: any data resource; the media type determines its kind. */
export type InteractionModel = 'container' | 'data' | 'rdf' | 'non-rdf';

const models: ReadonlyMap<string, InteractionModel> = new Map([
  [lws.Container, 'container'],
  [ldp.Container, 'container'],
  [ldp.BasicContainer, 'container'],
  [lws.DataResource, 'data'],
  [ldp.RDFSource, 'rdf'],
  [ldp.NonRDFSource, 'non-rdf'],
]);

/**
 * Returns the interaction model of `Link: rel="type"` fields.
 * @param target base IRI of their references
 * @throws LwsError `interaction-model-conflict` if they ask for a container and another model
 */
export function requestedModel(links: readonly Link[], target: string): InteractionModel | undefined {
  const asked = new Set(
    links
      .filter(({ relations }) => relations.includes('type'))
      .map((link) => models.get(resolveIri(link.target, target))),
  );
  asked.delete(undefined);
  // Every LDP container is an RDF source, and clients send both types.
  if (asked.has('container') && asked.has('rdf')) asked.delete('rdf');
  if (asked.has('rdf') || asked.has('non-rdf')) asked.delete('data');
  if (asked.size > 1)
    throw new LwsError('interaction-model-conflict', 'The Link types ask for two different interaction models.');
  return [...asked][0];
}

/** Returns the kind of a new data resource, from its model and media type (rule 1.5). */
export function contentKind(
  model: InteractionModel | undefined,
  mediaType: string,
): Exclude<ResourceKind, 'container'> {
  if (model === 'rdf') return 'rdf';
  if (model === 'non-rdf') return 'binary';
  if (isRdfFormat(mediaType)) return 'rdf';
  return isJson(mediaType) ? 'json' : 'binary';
}

const isJson = (mediaType: string): boolean => mediaType === 'application/json' || mediaType.endsWith('+json');

/** Values of `Link: rel="type"` for each kind of resource (rule 7.6). */
export const typeLinks: Readonly<Record<ResourceKind, readonly string[]>> = {
  container: [ldp.Resource, ldp.BasicContainer, lws.Container],
  rdf: [ldp.Resource, ldp.RDFSource, lws.DataResource],
  json: [ldp.Resource, ldp.NonRDFSource, lws.DataResource],
  binary: [ldp.Resource, ldp.NonRDFSource, lws.DataResource],
};

export const structuralType = (kind: ResourceKind): string => (kind === 'container' ? lws.Container : lws.DataResource);
