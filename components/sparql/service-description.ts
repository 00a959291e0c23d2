/** The SPARQL 1.1 Service Description of the endpoint. It must not know queries. */
import { chooseRdfFormat } from '../../lib/http/negotiate.js';
import type { Reply } from '../../lib/http/reply.js';
import { rdfFormats, turtle } from '../../lib/rdf/formats.js';
import { endpointUrl, type SparqlEndpoint } from './endpoint.js';
import { resultFormats } from './protocol.js';

const sd = 'http://www.w3.org/ns/sparql-service-description#';

/** IRIs of formats, as the W3C names them. */
const formatNames: Readonly<Record<string, string>> = {
  'application/sparql-results+json': 'SPARQL_Results_JSON',
  'application/sparql-results+xml': 'SPARQL_Results_XML',
  'text/csv': 'SPARQL_Results_CSV',
  'text/tab-separated-values': 'SPARQL_Results_TSV',
  'text/turtle': 'Turtle',
  'application/n-triples': 'N-Triples',
  'application/ld+json': 'JSON-LD',
  'application/trig': 'TriG',
  'application/n-quads': 'N-Quads',
  'application/rdf+xml': 'RDF_XML',
};

export async function serviceDescription(
  { house, services, mostUpdateBytes }: SparqlEndpoint,
  accept: string | undefined,
): Promise<Reply> {
  const endpoint = endpointUrl(house);
  const formats = [...resultFormats, ...rdfFormats].map(
    (type) => `<http://www.w3.org/ns/formats/${formatNames[type]}>`,
  );
  const text = `@prefix sd: <${sd}> .
<${endpoint}> a sd:Service ;
  sd:endpoint <${endpoint}> ;
  sd:supportedLanguage sd:SPARQL11Query${mostUpdateBytes === undefined ? '' : ', sd:SPARQL11Update'} ;
  sd:feature sd:UnionDefaultGraph${services.allowed.length > 0 ? ', sd:BasicFederatedQuery' : ''} ;
  sd:resultFormat ${formats.join(', ')} ;
  sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ] ] .`;
  const { keys, prefixes } = await house.documents.parse(Buffer.from(text), turtle, endpoint);
  const wanted = chooseRdfFormat(accept);
  const bytes = (await house.documents.render(keys, wanted, endpoint, prefixes)) ?? Buffer.from(text);
  return {
    status: 200,
    fields: { 'Content-Type': wanted, Vary: 'Accept, Authorization', 'Cache-Control': 'private, no-store' },
    body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  };
}
