/** Example queries that also run on an empty storage. */

export const examples = [
  {
    name: 'Everything',
    what: 'The first hundred triples that you may read.',
    query: 'SELECT * { ?s ?p ?o } LIMIT 100',
  },
  {
    name: 'By item',
    what: 'Number of triples per item. Each item is a named graph.',
    query: `SELECT ?resource (COUNT(*) AS ?statements) {
  GRAPH ?resource { ?s ?p ?o }
}
GROUP BY ?resource
ORDER BY DESC(?statements)
LIMIT 100`,
  },
  {
    name: 'Classes',
    what: 'Classes by number of uses.',
    query: `SELECT ?class (COUNT(DISTINCT ?thing) AS ?things) {
  ?thing a ?class
}
GROUP BY ?class
ORDER BY DESC(?things)
LIMIT 100`,
  },
  {
    name: 'Predicates',
    what: 'Predicates by number of uses.',
    query: `SELECT ?predicate (COUNT(*) AS ?uses) {
  ?s ?predicate ?o
}
GROUP BY ?predicate
ORDER BY DESC(?uses)
LIMIT 100`,
  },
  {
    name: 'One thing',
    what: 'All triples about one instance of a class. The Graph tab draws them.',
    query: `DESCRIBE ?thing {
  { SELECT ?thing { ?thing a ?class } LIMIT 1 }
}`,
  },
  {
    name: 'A picture',
    what: 'A made-up graph, for the Graph tab. Needs no data.',
    query: `PREFIX ex: <http://example.org/>
CONSTRUCT {
  ?from ex:cites ?to .
} WHERE {
  VALUES (?from ?to) {
    (ex:paper1 ex:paper2) (ex:paper1 ex:paper3) (ex:paper2 ex:paper4)
    (ex:paper3 ex:paper4) (ex:paper5 ex:paper1) (ex:paper5 ex:paper3)
  }
}`,
  },
  {
    name: 'A chart',
    what: 'Made-up numbers, for the Chart tab. Needs no data.',
    query: `SELECT ?month ?rain ?sun {
  VALUES (?month ?rain ?sun) {
    ("Jan" 64 48) ("Feb" 52 77) ("Mar" 56 118) ("Apr" 48 168) ("May" 66 206) ("Jun" 71 214)
    ("Jul" 78 226) ("Aug" 77 210) ("Sep" 63 159) ("Oct" 61 108) ("Nov" 66 58) ("Dec" 71 41)
  }
}`,
  },
];
