/** Example data: the folder of a research group that measures three rivers. For pages that are shown or walked as a whole. */
import { expect } from 'chai';
import { request } from './http.js';

const prefixLines = `@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> .
@prefix gsp: <http://www.opengis.net/ont/geosparql#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <http://schema.org/> .
@prefix sosa: <http://www.w3.org/ns/sosa/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
`;

/** Returns a Turtle document with the prefixes that it uses. */
const turtleOf = (text: string): string =>
  `${prefixLines
    .split('\n')
    .filter((line) => line === '' || text.includes(line.split(' ')[1]!))
    .join('\n')}\n${text}\n`;

const stations = [
  ['bern', 'Aare at Bern', 46.94, 7.45, 16.2],
  ['basel', 'Rhine at Basel', 47.56, 7.6, 18.4],
  ['geneva', 'Rhône at Geneva', 46.2, 6.14, 17.1],
] as const;

/** Mean temperature of a month, colder in winter. */
const celsius = (summer: number, month: number): string =>
  (summer - 6 * (1 + Math.cos(((month - 0.5) / 6) * Math.PI))).toFixed(1);

const observations = stations.flatMap(([id, , , , summer]) =>
  Array.from({ length: 12 }, (_, at) => {
    const month = String(at + 1).padStart(2, '0');
    return `<#${id}-${month}> a sosa:Observation ; sosa:madeBySensor <stations.ttl#${id}> ;
  sosa:resultTime "2025-${month}-15"^^xsd:date ; sosa:hasSimpleResult ${celsius(summer, at + 1)} .`;
  }),
);

const people = [
  ['ada-okafor', 'Ada Okafor', 'Principal investigator', ['mei-tanaka', 'jonas-weber']],
  ['jonas-weber', 'Jonas Weber', 'Field technician', ['ada-okafor']],
  ['mei-tanaka', 'Mei Tanaka', 'Doctoral student', ['ada-okafor', 'sofia-rossi']],
  ['sofia-rossi', 'Sofia Rossi', 'Data steward', ['mei-tanaka']],
] as const;

const turtle = 'text/turtle';
/** Names, media types and contents. A container has no media type. */
const resources: readonly (readonly [name: string, mediaType?: string, content?: string])[] = [
  ['measurements/'],
  ['papers/'],
  ['people/'],
  ['queries/'],
  [
    'README.md',
    'text/markdown',
    `# River temperatures

We measure the temperature of three rivers in Switzerland since 2019.

- **measurements** has the stations and monthly means
- **papers** has drafts and the bibliography
- **people** describes the members of the group

Questions? Ask Sofia, our data steward.
`,
  ],
  [
    'measurements/monthly-means.ttl',
    turtle,
    turtleOf(`<> a schema:Dataset ; dct:title "Monthly mean temperatures, 2025"@en ; dct:creator <../people/mei-tanaka.ttl#me> .
${observations.join('\n')}`),
  ],
  [
    'measurements/stations.ttl',
    turtle,
    turtleOf(`<> a schema:Dataset ; dct:title "Stations"@en .
${stations
  .map(
    ([id, name, lat, long]) => `<#${id}> a sosa:Platform ; rdfs:label "${name}"@en ; geo:lat ${lat} ; geo:long ${long} ;
  gsp:asWKT "POINT(${long} ${lat})"^^gsp:wktLiteral .`,
  )
  .join('\n')}`),
  ],
  [
    'measurements/raw-2025-06.csv',
    'text/csv',
    `time,station,celsius\n${Array.from({ length: 30 }, (_, at) => `2025-06-${String(at + 1).padStart(2, '0')}T12:00:00Z,bern,${(14 + (at % 7) / 4).toFixed(2)}`).join('\n')}\n`,
  ],
  ['measurements/calibration.json', 'application/json', '{ "sensor": "T-104", "offset": -0.03, "valid": true }'],
  [
    'papers/warming-rivers.md',
    'text/markdown',
    '# Warming rivers\n\nDraft of March. The Rhine at Basel is **2 °C** warmer than in 1980.\n',
  ],
  [
    'papers/bibliography.ttl',
    turtle,
    turtleOf(
      `<#hari2006> a schema:ScholarlyArticle ; dct:title "Consequences of climatic change for water temperature"@en ; dct:date "2006" .`,
    ),
  ],
  [
    'papers/figure-1.svg',
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><path d="M10 150C90 40 230 40 310 150" fill="none" stroke="teal" stroke-width="6"/></svg>',
  ],
  ...people.map(
    ([id, name, role, known]) =>
      [
        `people/${id}.ttl`,
        turtle,
        turtleOf(`<#me> a foaf:Person ;
    foaf:name "${name}"@en ;
    schema:jobTitle "${role}"@en ;
    foaf:knows ${known.map((each) => `<${each}.ttl#me>`).join(', ')} .`),
      ] as const,
  ),
  [
    'queries/temperatures.rq',
    'application/sparql-query',
    `PREFIX sosa: <http://www.w3.org/ns/sosa/>
SELECT ?time ?celsius {
  ?observation sosa:resultTime ?time ;
    sosa:hasSimpleResult ?celsius ;
    sosa:madeBySensor ?station
  FILTER (STRENDS(STR(?station), "#basel"))
} ORDER BY ?time`,
  ],
];

/** Writes the example data into an empty storage. */
export async function fillResearchGroup(root: string, token: string): Promise<void> {
  for (const [name, mediaType, content] of resources) {
    const { status, text } = await request(root + name, {
      method: 'PUT',
      headers: {
        Authorization: `Bearer ${token}`,
        'If-None-Match': '*',
        ...(mediaType === undefined ? {} : { 'Content-Type': mediaType }),
      },
      ...(content === undefined ? {} : { body: content }),
    });
    expect(status, `${name}: ${text}`).to.equal(201);
  }
}
