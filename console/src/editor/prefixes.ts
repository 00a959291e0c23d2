/** Prefixes for namespaces: well-known prefixes, and the prefixes declared in a document. */

export const wellKnown: Readonly<Record<string, string>> = {
  acl: 'http://www.w3.org/ns/auth/acl#',
  as: 'https://www.w3.org/ns/activitystreams#',
  dc: 'http://purl.org/dc/elements/1.1/',
  dcat: 'http://www.w3.org/ns/dcat#',
  dcterms: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  geo: 'http://www.opengis.net/ont/geosparql#',
  ldp: 'http://www.w3.org/ns/ldp#',
  lws: 'https://www.w3.org/ns/lws#',
  odrl: 'http://www.w3.org/ns/odrl/2/',
  org: 'http://www.w3.org/ns/org#',
  owl: 'http://www.w3.org/2002/07/owl#',
  prov: 'http://www.w3.org/ns/prov#',
  qb: 'http://purl.org/linked-data/cube#',
  qudt: 'http://qudt.org/schema/qudt/',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  schema: 'http://schema.org/',
  sh: 'http://www.w3.org/ns/shacl#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  sosa: 'http://www.w3.org/ns/sosa/',
  time: 'http://www.w3.org/2006/time#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  void: 'http://rdfs.org/ns/void#',
  wgs84: 'http://www.w3.org/2003/01/geo/wgs84_pos#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
};

/** Returns the namespaces by the prefixes declared in a Turtle document or a query. */
export function declaredPrefixes(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name = '', iri = ''] of text.matchAll(/(?:@prefix|\bprefix)\s+([\w.-]*):\s*<([^<>\s]*)>/gi))
    found[name] = iri;
  return found;
}

/** Returns a name such as `foaf:name`, or `undefined` if no prefix matches or the local part needs escapes. */
export function prefixedName(iri: string, prefixes: Readonly<Record<string, string>>): string | undefined {
  let best: string | undefined;
  let longest = 0;
  for (const [name, namespace] of Object.entries(prefixes)) {
    if (namespace.length <= longest || !iri.startsWith(namespace)) continue;
    const rest = iri.slice(namespace.length);
    if (!/^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_-])?$/u.test(rest)) continue;
    [best, longest] = [`${name}:${rest}`, namespace.length];
  }
  return best;
}
