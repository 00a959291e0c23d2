/** RDF documents in. */
export { parseRdf } from '../rdf/parse.js';
