/** SPARQL 1.1 Service Description of the endpoint. */
import { chooseRdfFormat } from '../../lib/http/negotiate.js';
import type { Reply } from '../../lib/http/reply.js';
import { type RdfFormat, rdfFormats, turtle } from '../../lib/rdf/formats.js';
import { resultFormats } from './protocol/protocol.js';
import { type SparqlEndpoint, sparqlUrl } from './service-endpoint.js';
import type { Statistics } from './statistics.js';

const sd = 'http://www.w3.org/ns/sparql-service-description#';

/** Format IRIs of the W3C. */
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

/** Rendered descriptions by format, shared by callers with the same read access. */
const rendered = new WeakMap<Statistics, Map<RdfFormat, Buffer>>();

/** Returns the description. @param counted statistics for the caller; undefined to omit them */
export async function serviceDescription(
  endpoint: SparqlEndpoint,
  accept: string | undefined,
  counted: Statistics | undefined,
): Promise<Reply> {
  const wanted = chooseRdfFormat(accept);
  const known = counted && rendered.get(counted);
  const body = known?.get(wanted) ?? (await render(endpoint, wanted, counted));
  if (counted) rendered.set(counted, (known ?? new Map<RdfFormat, Buffer>()).set(wanted, body));
  return {
    status: 200,
    fields: { 'Content-Type': wanted, Vary: 'Accept, Authorization', 'Cache-Control': 'private, no-store' },
    body,
  };
}

async function render(
  { platform, services, maxUpdateBytes }: SparqlEndpoint,
  wanted: RdfFormat,
  counted: Statistics | undefined,
): Promise<Buffer> {
  const endpoint = sparqlUrl(platform);
  const formats = [...resultFormats, ...rdfFormats].map(
    (type) => `<http://www.w3.org/ns/formats/${formatNames[type]}>`,
  );
  const text = Buffer.from(`@prefix sd: <${sd}> .
@prefix void: <http://rdfs.org/ns/void#> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
<${endpoint}> a sd:Service, dcat:DataService ; dct:title "SPARQL endpoint" ;
  sd:endpoint <${endpoint}> ;
  dcat:endpointURL <${endpoint}> ; dcat:endpointDescription <${endpoint}> ; dcat:servesDataset <${endpoint}#data> ;
  sd:supportedLanguage sd:SPARQL11Query${maxUpdateBytes === undefined ? '' : ', sd:SPARQL11Update'} ;
  sd:feature sd:UnionDefaultGraph${services.allowed.length > 0 ? ', sd:BasicFederatedQuery' : ''} ;
  sd:resultFormat ${formats.join(', ')} ;
  sd:defaultDataset <${endpoint}#data> .
<${endpoint}#data> a sd:Dataset, dcat:Dataset ; dct:title "Data of the SPARQL endpoint" ;
  dct:description "The RDF resources that the caller may read." ; sd:defaultGraph <${endpoint}#graph> .
<${endpoint}#graph> a sd:Graph, void:Dataset ; void:sparqlEndpoint <${endpoint}>${counted ? voidOf(counted) : ''} .
<${platform.rootIri}> dcat:service <${endpoint}> ; dcat:dataset <${endpoint}#data> .`);
  const { keys, prefixes } = await platform.documents.parse(text, turtle, endpoint);
  const bytes = (await platform.documents.render(keys, wanted, endpoint, prefixes)) ?? text;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function voidOf({ triples, properties, classes, byProperty, byClass }: Statistics): string {
  const sums = [`void:triples ${triples}`, `void:properties ${properties}`, `void:classes ${classes}`];
  const ofProperties = byProperty.map(
    ([iri, count]) => `void:propertyPartition [ void:property <${iri}> ; void:triples ${count} ]`,
  );
  const ofClasses = byClass.map(
    ([iri, count]) => `void:classPartition [ void:class <${iri}> ; void:entities ${count} ]`,
  );
  return [...sums, ...ofProperties, ...ofClasses].map((each) => ` ;\n  ${each}`).join('');
}
