/**
 * Queries of a vocabulary maintainer on a storage with a dozen vocabularies, one per resource. Relative IRIs resolve against the
 * container of the vocabularies. Results are fully determined except for their order. Must not depend on the server.
 */

export interface VocabularyQuery {
  readonly name: string;
  readonly query: string;
  /** True if ORDER BY determines the order completely. */
  readonly isOrdered?: true;
  /** Columns with lists in any order (GROUP_CONCAT), separated by `|`. */
  readonly lists?: readonly string[];
  /** Further parameters of the request, with names of vocabularies: `default-graph-uri`, `named-graph-uri`. */
  readonly parameters?: readonly (readonly ['default-graph-uri' | 'named-graph-uri', string])[];
  /** Vocabularies of the FROM clauses, if they share triples. */
  readonly merged?: readonly string[];
  /** True if the result is empty at present. */
  readonly mayBeEmpty?: true;
}

/** Catalogue with typical use of the vocabularies: deprecated terms, undeclared terms and translations. Turtle, relative to its own IRI. */
export const catalogue = `
PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX dct: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX schema: <http://schema.org/>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX time: <http://www.w3.org/2006/time#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
<#catalog> a dcat:Catalog ; dct:title "Katalog"@de, "Catalogue"@fr, "Catalog"@en-GB, "カタログ"@ja ;
  dcat:dataset <#rain>, <#wind>, <#tide> ; foaf:maker <#office> ; dct:issued "2024-02-29"^^xsd:date .
<#rain> a dcat:Dataset, schema:Dataset ; dct:title "Rain", "Regen"@de ; dcat:size 10 ; dct:issued "2024-03-01T12:00:00Z"^^xsd:dateTime ;
  prov:wasGeneratedBy [ a prov:Activity ; prov:startedAtTime "2024-02-28T23:59:60Z"^^xsd:dateTime ] ; dct:invented "yes" .
<#wind> a dcat:Dataset ; dct:title "Wind"@de, "Wind"@en, "Wind" ; dcat:size 2.50 ; prov:wasDerivedFrom <#rain> .
<#tide> a dcat:Dataset ; dcat:size 1e2 ; prov:wasDerivedFrom <#wind> ; time:intervalIn <#rain> ; schema:emails "tide@e.example" .
<#office> a foaf:Organization, time:Year, schema:Cemetry ; foaf:name "Office \\"of\\"\\tthe\\nsea, & <more>" ; foaf:holdsAccount [ a foaf:OnlineAccount ] ;
  foaf:mbox_sha1sum "x" ; foaf:aimChatID "sea" ; schema:supersededBy schema:Organization .
<#scheme> a skos:ConceptScheme ; skos:hasTopConcept <#water> .
<#water> a skos:Concept ; skos:prefLabel "Water"@en, "Wasser"@de ; skos:topConceptOf <#scheme> ; skos:related <#air> .
<#sea> a skos:Concept ; skos:prefLabel "Sea"@en, "Meer"@de ; skos:broader <#water> ; skos:altLabel "Ocean"@en .
<#bay> a skos:Concept ; skos:prefLabel "Bay"@en ; skos:broader <#sea> ; skos:inScheme <#scheme> .
<#air> a skos:Concept ; skos:prefLabel "Air"@en, "Air"@fr ; skos:broader <#bay> . <#bay> skos:broader <#air> .
`;

export const prefixes = `
PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX dct: <http://purl.org/dc/terms/>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX schema: <http://schema.org/>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX time: <http://www.w3.org/2006/time#>
PREFIX vs: <http://www.w3.org/2003/06/sw-vocab-status/ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
`;

export const queries: readonly VocabularyQuery[] = [
  {
    name: 'classes without a label',
    query: `SELECT DISTINCT ?class { { ?class a owl:Class } UNION { ?class a rdfs:Class }
      FILTER(isIRI(?class)) FILTER NOT EXISTS { ?class rdfs:label ?label } }`,
  },
  {
    name: 'properties with a domain of another vocabulary',
    query: `SELECT DISTINCT ?g ?property ?domain ?h {
      GRAPH ?g { ?property rdfs:domain ?domain } GRAPH ?h { ?domain a ?kind } FILTER(?g != ?h && isIRI(?domain)) }`,
  },
  {
    name: 'properties with an undeclared range',
    query: `SELECT DISTINCT ?property ?range { ?property rdfs:range ?range FILTER(isIRI(?range))
      MINUS { ?range a ?kind } FILTER(!STRSTARTS(STR(?range), STR(xsd:))) }`,
  },
  {
    name: 'deprecated terms in use',
    query: `SELECT DISTINCT ?term ?how ?by ?g {
      { ?term vs:term_status ?how FILTER(?how IN ("archaic", "unstable")) }
      UNION { ?term schema:supersededBy ?how } UNION { ?term owl:deprecated true BIND("deprecated" AS ?how) }
      GRAPH ?g { { ?by a ?term } UNION { ?by ?term ?value } } FILTER(isIRI(?by)) }`,
  },
  {
    name: 'deprecated terms without a successor',
    query: `SELECT ?term { ?term owl:deprecated ?flag FILTER(?flag)
      OPTIONAL { ?term dct:isReplacedBy|schema:supersededBy|owl:equivalentClass ?next } FILTER(!BOUND(?next)) FILTER(isIRI(?term)) }`,
    mayBeEmpty: true,
  },
  {
    name: 'undeclared properties in use',
    query: `SELECT ?p (COUNT(*) AS ?uses) { ?s ?p ?o FILTER NOT EXISTS { ?p a ?type } } GROUP BY ?p ORDER BY DESC(?uses) ?p`,
    isOrdered: true,
  },
  {
    name: 'terms with labels in several languages',
    query: `SELECT ?term (COUNT(DISTINCT LANG(?label)) AS ?n) { ?term rdfs:label|skos:prefLabel|dct:title ?label
      FILTER(LANG(?label) != "") } GROUP BY ?term HAVING(COUNT(DISTINCT LANG(?label)) > 1)`,
  },
  {
    name: 'languages by vocabulary',
    query: `SELECT ?g (GROUP_CONCAT(DISTINCT ?language; SEPARATOR = "|") AS ?languages) {
      GRAPH ?g { ?s ?p ?text } BIND(LANG(?text) AS ?language) FILTER(?language != "") } GROUP BY ?g`,
    lists: ['languages'],
  },
  {
    name: 'definitions without a German translation',
    query: `SELECT ?term { ?term skos:definition ?english FILTER(LANGMATCHES(LANG(?english), "en"))
      FILTER NOT EXISTS { ?term skos:definition ?german FILTER(LANGMATCHES(LANG(?german), "de")) } }`,
  },
  {
    name: 'language coverage of labels, by language',
    query: `SELECT ?language (COUNT(DISTINCT ?term) AS ?terms) (COUNT(*) AS ?labels) {
      ?term rdfs:label ?label BIND(LCASE(LANG(?label)) AS ?language) } GROUP BY ?language ORDER BY DESC(?terms) ?language`,
    isOrdered: true,
  },
  {
    name: 'properties without a comment or a definition',
    query: `SELECT DISTINCT ?property { VALUES ?kind { rdf:Property owl:ObjectProperty owl:DatatypeProperty owl:AnnotationProperty }
      ?property a ?kind FILTER(NOT EXISTS { ?property rdfs:comment ?c } && NOT EXISTS { ?property skos:definition ?d }) }`,
  },
  {
    name: 'the same label in two vocabularies',
    query: `SELECT DISTINCT ?label ?a ?b { VALUES (?g ?h) { (<foaf> <prov>) (<foaf> <dcat>) (<skos> <dcat>) }
      GRAPH ?g { ?a rdfs:label ?x } GRAPH ?h { ?b rdfs:label ?y } FILTER(?a != ?b)
      BIND(LCASE(STR(?x)) AS ?label) FILTER(?label = LCASE(STR(?y))) }`,
  },
  {
    name: 'the same label in lower case, by grouping',
    query: `SELECT ?label (COUNT(DISTINCT ?term) AS ?terms) (MIN(?term) AS ?first) { ?term rdfs:label ?text FILTER(isIRI(?term))
      BIND(LCASE(STR(?text)) AS ?label) } GROUP BY ?label HAVING(COUNT(DISTINCT ?term) > 3) ORDER BY ?label`,
    isOrdered: true,
  },
  {
    name: 'all subclasses of a class',
    query: `SELECT ?class { ?class rdfs:subClassOf+ schema:CreativeWork }`,
  },
  {
    name: 'classes with more than six superclasses',
    query: `SELECT ?class (COUNT(DISTINCT ?above) AS ?n) { ?class rdfs:subClassOf+ ?above FILTER(isIRI(?above) && isIRI(?class)) }
      GROUP BY ?class HAVING(COUNT(DISTINCT ?above) > 6)`,
  },
  {
    name: 'datasets by class and superclass, with paths of length zero',
    query: `SELECT ?item ?type { ?item a/rdfs:subClassOf* ?type . ?item dcat:size ?size FILTER(isIRI(?type)) }`,
  },
  {
    name: 'number of pairs in the subclass closure',
    query: `SELECT (COUNT(*) AS ?pairs) { ?a rdfs:subClassOf+ ?b FILTER(isIRI(?a) && isIRI(?b)) }`,
  },
  {
    name: 'cycles among broader concepts',
    query: `SELECT ?a ?b { ?a skos:broader+ ?a . ?a skos:broader ?b }`,
  },
  {
    name: 'provenance of a dataset in both directions',
    query: `SELECT ?a ?b { VALUES ?a { <catalogue#tide> <catalogue#rain> } ?a (prov:wasDerivedFrom|^prov:wasDerivedFrom)* ?b }`,
  },
  {
    name: 'a negated property set',
    query: `SELECT ?p ?o { <catalogue#wind> ?p ?o . <catalogue#wind> !(rdf:type|dct:title) ?o }`,
  },
  {
    name: 'the members of unionOf lists',
    query: `SELECT DISTINCT ?property ?member { ?property rdfs:domain|rdfs:range ?class . ?class owl:unionOf/rdf:rest*/rdf:first ?member
      FILTER(isIRI(?member)) }`,
  },
  {
    name: 'property chains',
    query: `SELECT ?property (COUNT(?step) AS ?steps) { ?property owl:propertyChainAxiom ?list . ?list rdf:rest*/rdf:first ?step FILTER(isIRI(?property)) }
      GROUP BY ?property`,
  },
  {
    name: 'inverse properties declared in one direction only',
    query: `SELECT ?a ?b { ?a owl:inverseOf ?b FILTER(isIRI(?a) && isIRI(?b)) FILTER NOT EXISTS { ?b owl:inverseOf ?a } }`,
  },
  {
    name: 'the longest definitions',
    query: `SELECT ?term (STRLEN(?text) AS ?length) { ?term skos:definition|rdfs:comment ?text FILTER(isIRI(?term)) }
      ORDER BY DESC(STRLEN(?text)) ?term ?text LIMIT 25`,
    isOrdered: true,
  },
  {
    name: 'triples per vocabulary',
    query: `SELECT ?g (COUNT(*) AS ?triples) (COUNT(DISTINCT ?s) AS ?subjects) (COUNT(DISTINCT ?p) AS ?predicates) {
      GRAPH ?g { ?s ?p ?o } } GROUP BY ?g ORDER BY ?g`,
    isOrdered: true,
  },
  {
    name: 'distinct triples of all graphs',
    query: `SELECT (COUNT(*) AS ?triples) (COUNT(DISTINCT ?s) AS ?subjects) (COUNT(DISTINCT ?p) AS ?predicates) { ?s ?p ?o }`,
  },
  {
    name: 'triples in two graphs',
    query: `SELECT (COUNT(*) AS ?n) (MIN(STR(?s)) AS ?least) { GRAPH ?g { ?s ?p ?o } GRAPH ?h { ?s ?p ?o } FILTER(STR(?g) < STR(?h)) }`,
  },
  {
    name: 'unused classes',
    query: `SELECT ?class { ?class a owl:Class FILTER(isIRI(?class))
      MINUS { ?x a ?class } MINUS { ?x rdfs:subClassOf ?class } MINUS { ?x rdfs:domain|rdfs:range ?class } }`,
  },
  {
    name: 'preferred name of a term',
    query: `SELECT ?term ?name { ?term a owl:Class FILTER(isIRI(?term))
      OPTIONAL { ?term skos:prefLabel ?p FILTER(LANG(?p) = "en") }
      OPTIONAL { ?term rdfs:label ?l FILTER(LANG(?l) IN ("en", "")) }
      BIND(COALESCE(?p, ?l, STRLANG(REPLACE(STR(?term), "^.*[/#]", ""), "en")) AS ?name) }`,
  },
  {
    name: 'kinds of terms, by VALUES of two columns',
    query: `SELECT ?label (COUNT(DISTINCT ?term) AS ?n) { VALUES (?kind ?label) { (owl:Class "class") (rdfs:Class "class")
      (owl:ObjectProperty "object") (owl:DatatypeProperty "data") (UNDEF "anything") } ?term a ?kind } GROUP BY ?label`,
  },
  {
    name: 'namespaces, by BIND and REPLACE',
    query: `SELECT ?namespace (COUNT(*) AS ?n) { ?s a ?type FILTER(isIRI(?s)) BIND(REPLACE(STR(?s), "[^/#]+$", "") AS ?namespace) }
      GROUP BY ?namespace HAVING(COUNT(*) > 20)`,
  },
  {
    name: 'vocabularies with more classes than the average',
    query: `SELECT ?g ?n { { SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?c a owl:Class } } GROUP BY ?g }
      { SELECT (AVG(?m) AS ?mean) { { SELECT ?h (COUNT(*) AS ?m) { GRAPH ?h { ?d a owl:Class } } GROUP BY ?h } } } FILTER(?n > ?mean) }`,
  },
  {
    name: 'superproperties of the terms with most of them, by a subquery with LIMIT',
    query: `SELECT ?property ?above { { SELECT ?property (COUNT(?x) AS ?n) { ?property rdfs:subPropertyOf ?x } GROUP BY ?property
      ORDER BY DESC(?n) ?property LIMIT 5 } ?property rdfs:subPropertyOf ?above }`,
  },
  {
    name: 'a page of an index of terms',
    query: `SELECT ?label ?term { ?term rdfs:label ?label FILTER(isIRI(?term)) } ORDER BY LCASE(STR(?label)) ?term ?label OFFSET 300 LIMIT 60`,
    isOrdered: true,
  },
  {
    name: 'definitions that match a pattern',
    query: `SELECT DISTINCT ?term ?text { ?term ?p ?text FILTER(isIRI(?term) && isLITERAL(?text))
      FILTER(REGEX(STR(?text), "\\\\b(deprecat|obsolet|superseded)\\\\w*\\\\b", "i")) }`,
  },
  {
    name: 'comments of one sentence with parentheses',
    query: `SELECT ?term { ?term rdfs:comment ?text FILTER(REGEX(?text, "^[^.]*\\\\([^).]+\\\\)[^.]*\\\\.$")) FILTER(isIRI(?term)) }`,
  },
  {
    name: 'texts with markup or line breaks',
    query: `SELECT DISTINCT ?p ?text { ?s ?p ?text FILTER(isLITERAL(?text))
      FILTER(CONTAINS(STR(?text), "\\n") || CONTAINS(STR(?text), "\\t") || CONTAINS(STR(?text), "</")) }`,
  },
  {
    name: 'datatypes and their uses',
    query: `SELECT ?datatype (COUNT(*) AS ?n) { ?s ?p ?o FILTER(isLITERAL(?o)) } GROUP BY (DATATYPE(?o) AS ?datatype)
      HAVING(!STRENDS(STR(?datatype), "nteger") && !STRENDS(STR(?datatype), "nt"))`,
  },
  {
    name: 'dates before a date',
    query: `SELECT ?term ?issued (YEAR(?issued) AS ?year) { ?term dct:issued|dct:modified ?issued FILTER(isIRI(?term))
      FILTER(DATATYPE(?issued) = xsd:date && ?issued < "2008-01-15"^^xsd:date) }`,
    mayBeEmpty: true,
  },
  {
    name: 'sizes, of three numeric types',
    query: `SELECT ?item ?size (?size * 2 AS ?double) { ?item dcat:size ?size FILTER(?size > 2) } ORDER BY ?size`,
    isOrdered: true,
  },
  {
    name: 'sums and averages of cardinalities',
    query: `SELECT ?g (SUM(xsd:integer(STR(?n))) AS ?sum) (MAX(xsd:integer(STR(?n))) AS ?max) (COUNT(?n) AS ?count) {
      GRAPH ?g { ?restriction owl:cardinality|owl:maxCardinality|owl:minCardinality ?n } } GROUP BY ?g`,
  },
  {
    name: 'terms of schema.org by part, with a sum of non-numeric literals',
    query: `SELECT ?part (COUNT(*) AS ?n) (SUM(?label) AS ?none) { ?term schema:isPartOf ?part ; rdfs:label ?label } GROUP BY ?part`,
  },
  {
    name: 'properties between two classes by domainIncludes and rangeIncludes',
    query: `SELECT ?property ?range { ?property schema:domainIncludes schema:Person ; schema:rangeIncludes ?range .
      ?range rdfs:subClassOf* schema:Organization }`,
  },
  {
    name: 'subproperties with a wider domain, over a join of three',
    query: `SELECT ?sub ?super ?c ?d { ?sub rdfs:subPropertyOf ?super ; rdfs:domain ?c . ?super rdfs:domain ?d
      FILTER(isIRI(?c) && isIRI(?d) && ?c != ?d) FILTER NOT EXISTS { ?c rdfs:subClassOf* ?d } }`,
  },
  {
    name: 'nested OPTIONAL and a filter on unbound variables',
    query: `SELECT ?p ?inverse ?comment { ?p a owl:ObjectProperty FILTER(isIRI(?p))
      OPTIONAL { ?p owl:inverseOf ?inverse OPTIONAL { ?inverse rdfs:comment ?comment FILTER(STRLEN(?comment) < 80) } }
      FILTER(!isBLANK(?inverse) || !BOUND(?inverse)) }`,
  },
  {
    name: 'an IF over EXISTS',
    query: `SELECT ?state (COUNT(*) AS ?n) { ?c a owl:Class BIND(IF(EXISTS { ?c rdfs:comment ?t }, "told", "not told") AS ?state) } GROUP BY ?state`,
  },
  {
    name: 'a SKOS scheme of a class tree, constructed',
    query: `CONSTRUCT { <urn:scheme> a skos:ConceptScheme ; skos:hasTopConcept schema:Event .
        ?class a skos:Concept ; skos:inScheme <urn:scheme> ; skos:prefLabel ?label ; skos:broader ?above }
      WHERE { ?class rdfs:subClassOf* schema:Event . OPTIONAL { ?class rdfs:label ?label } OPTIONAL { ?class rdfs:subClassOf ?above } }`,
  },
  {
    name: 'a vocabulary, constructed with its blank nodes',
    query: `CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <prov> { ?s ?p ?o } }`,
  },
  {
    name: 'CONSTRUCT with a blank node for each solution',
    query: `CONSTRUCT { ?p schema:note [ rdf:value ?comment ; dct:language ?language ] } WHERE { ?p a owl:ObjectProperty ; rdfs:comment ?comment
      FILTER(isIRI(?p)) FILTER(STRLEN(?comment) < 60) BIND(LANG(?comment) AS ?language) }`,
  },
  {
    name: 'CONSTRUCT WHERE',
    query: `CONSTRUCT WHERE { ?a skos:broader ?b . ?b skos:prefLabel ?label }`,
  },
  { name: 'DESCRIBE of a term', query: 'DESCRIBE foaf:Person' },
  { name: 'DESCRIBE of the matches of a pattern', query: 'DESCRIBE ?c { ?c a skos:Concept }' },
  { name: 'ASK for a term', query: 'ASK { foaf:Person rdfs:subClassOf+ foaf:Agent }' },
  { name: 'ASK for an absent triple', query: 'ASK { foaf:Person rdfs:subClassOf+ foaf:Document }' },
  {
    name: 'FROM two vocabularies',
    query: `SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?subjects) FROM <foaf> FROM <dcat> { ?s ?p ?o }`,
    merged: ['foaf', 'dcat'],
  },
  {
    name: 'FROM one and FROM NAMED others',
    query: `SELECT ?term ?g (COUNT(?p) AS ?uses) FROM <skos> FROM NAMED <catalogue> FROM NAMED <time> FROM NAMED <sh> {
      ?term a ?kind GRAPH ?g { { ?x ?p ?y FILTER(?p = ?term) } UNION { ?x a ?term BIND(rdf:type AS ?p) } } } GROUP BY ?term ?g`,
  },
  {
    name: 'FROM a nonexistent graph',
    query: `ASK FROM <no-such> { ?s ?p ?o }`,
  },
  {
    name: 'default-graph-uri and named-graph-uri, which override FROM',
    query: `SELECT ?class ?g FROM <schema> { ?class a owl:Class ; rdfs:isDefinedBy ?ontology GRAPH ?g { ?other rdfs:subClassOf ?class } }`,
    parameters: [
      ['default-graph-uri', 'foaf'],
      ['default-graph-uri', 'prov'],
      ['named-graph-uri', 'catalogue'],
      ['named-graph-uri', 'foaf'],
      ['named-graph-uri', 'dcat'],
    ],
  },
  {
    name: 'terms of named graphs that are not in the default graph of the request',
    query: `SELECT ?g (COUNT(DISTINCT ?s) AS ?n) { GRAPH ?g { ?s rdfs:label ?l } FILTER NOT EXISTS { ?s rdfs:label ?l } } GROUP BY ?g`,
    parameters: [
      ['default-graph-uri', 'skos'],
      ['named-graph-uri', 'skos-copy'],
      ['named-graph-uri', 'time'],
    ],
  },
  { name: 'names of the vocabularies', query: 'SELECT ?g { GRAPH ?g { } }' },
  {
    name: 'vocabularies with and without shapes',
    query: 'SELECT ?g ?shape { GRAPH ?g { OPTIONAL { ?shape a sh:NodeShape } } }',
  },
  { name: 'ASK for an existing graph', query: 'ASK { GRAPH <prov> { } }' },
  { name: 'ASK for a nonexistent graph', query: 'ASK { GRAPH <no-such> { } }' },
  { name: 'ASK for a graph that the reader cannot read', query: 'ASK { GRAPH <qudt> { } }' },
];
