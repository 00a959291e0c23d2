/** Example queries, as questions. Most also run on an empty storage. */
import { selectBriefly } from '../storage/brief-select.js';

/** View of the answer, for an icon. */
export type AnswerKind = 'table' | 'chart' | 'graph' | 'map';

export interface Example {
  readonly name: string;
  readonly what: string;
  readonly kind: AnswerKind;
  readonly query: string;
}

const examples: readonly Example[] = [
  {
    name: 'What kinds of things are here?',
    what: 'The kinds of records, and how many of each.',
    kind: 'chart',
    query: `SELECT ?class (COUNT(DISTINCT ?thing) AS ?things) {
  ?thing a ?class
}
GROUP BY ?class
ORDER BY DESC(?things)
LIMIT 100`,
  },
  {
    name: 'What is in here?',
    what: 'The first hundred facts that you may read.',
    kind: 'table',
    query: 'SELECT * { ?s ?p ?o } LIMIT 100',
  },
  {
    name: 'What is said about things?',
    what: 'The properties in use, and how often.',
    kind: 'chart',
    query: `SELECT ?predicate (COUNT(*) AS ?uses) {
  ?s ?predicate ?o
}
GROUP BY ?predicate
ORDER BY DESC(?uses)
LIMIT 100`,
  },
  {
    name: 'Which items say the most?',
    what: 'The files with the most facts.',
    kind: 'chart',
    query: `SELECT ?resource (COUNT(*) AS ?statements) {
  GRAPH ?resource { ?s ?p ?o }
}
GROUP BY ?resource
ORDER BY DESC(?statements)
LIMIT 100`,
  },
  {
    name: 'What is known about one of them?',
    what: 'All facts about one thing, as a graph.',
    kind: 'graph',
    query: `DESCRIBE ?thing {
  { SELECT ?thing { ?thing a ?class } LIMIT 1 }
}`,
  },
];

/** Queries that contain their data, as examples of a graph and a chart. */
export const demonstrations: readonly Example[] = [
  {
    name: 'Example of a graph',
    what: 'Made-up citations.',
    kind: 'graph',
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
    name: 'Example of a chart',
    what: 'Made-up rain and sun.',
    kind: 'chart',
    query: `SELECT ?month ?rain ?sun {
  VALUES (?month ?rain ?sun) {
    ("Jan" 64 48) ("Feb" 52 77) ("Mar" 56 118) ("Apr" 48 168) ("May" 66 206) ("Jun" 71 214)
    ("Jul" 78 226) ("Aug" 77 210) ("Sep" 63 159) ("Oct" 61 108) ("Nov" 66 58) ("Dec" 71 41)
  }
}`,
  },
];

const prefixes = `PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX geo: <http://www.w3.org/2003/01/geo/wgs84_pos#>
PREFIX schema: <http://schema.org/>`;

/** Questions that only some storages can answer, each with a pattern that tests if the data can answer it. */
const offered: readonly (Example & { readonly pattern: string })[] = [
  {
    name: 'Who is described here?',
    what: 'People, with their names.',
    kind: 'table',
    pattern: 'VALUES ?class { foaf:Person schema:Person } ?thing a ?class',
    query: `PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX schema: <http://schema.org/>
SELECT DISTINCT ?person ?name {
  VALUES ?class { foaf:Person schema:Person }
  ?person a ?class .
  OPTIONAL { ?person foaf:name|schema:name ?name }
}
ORDER BY ?name
LIMIT 100`,
  },
  {
    name: 'Where are the places?',
    what: 'Places with coordinates, on a map.',
    kind: 'map',
    pattern: 'VALUES ?latitude { geo:lat schema:latitude } ?thing ?latitude ?value',
    query: `PREFIX geo: <http://www.w3.org/2003/01/geo/wgs84_pos#>
PREFIX schema: <http://schema.org/>
SELECT ?place ?lat ?long {
  { ?place geo:lat ?lat ; geo:long ?long }
  UNION
  { ?place schema:geo [ schema:latitude ?lat ; schema:longitude ?long ] }
}
LIMIT 1000`,
  },
];

/** Returns the questions that the readable data can answer, or those for every storage if the server responds too late. */
export async function examplesOfData(): Promise<readonly Example[]> {
  const tests = offered.map(({ pattern }, at) => `(EXISTS { ${pattern} } AS ?has${at})`).join(' ');
  const [found = {}] = (await selectBriefly(`${prefixes}\nSELECT ${tests} {}`).catch(() => [])) ?? [];
  const own = offered.filter((_, at) => found[`has${at}`]?.value === 'true');
  return [...examples.slice(0, 1), ...own, ...examples.slice(1)];
}
