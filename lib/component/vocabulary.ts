/** Terms and media types of RDF. */
export { contextLoader, lwsContext } from '../rdf/contexts.js';
export { type RdfFormat, rdfFormats, turtle } from '../rdf/formats.js';
export { isAbsoluteIri } from '../rdf/iri.js';
export { acl, foaf, ldp, lws, rdf, xsd } from '../rdf/vocabulary.js';
