/** Example data: six weather stations with a year of temperatures, and a stored query. Loaded on demand. */
import { queryType, sparqlQuery } from '../ask/saved.js';
import { Refusal, succeed } from '../storage/api.js';

const stations = [
  ['Berlin', 52.52, 13.41, 10, 10],
  ['Lisbon', 38.72, -9.14, 17, 6],
  ['Oslo', 59.91, 10.75, 7, 12],
  ['Paris', 48.86, 2.35, 12, 8],
  ['Rome', 41.9, 12.5, 16, 9],
  ['Warsaw', 52.23, 21.01, 9, 11],
] as const;

const prefixes = `@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sosa: <http://www.w3.org/ns/sosa/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
`;

const stationsTurtle = (): string =>
  prefixes +
  stations
    .map(
      ([name, lat, long]) =>
        `\n<#${name}> a sosa:Platform ;\n  rdfs:label "${name}" ;\n  geo:lat ${lat} ; geo:long ${long} .\n`,
    )
    .join('');

/** Returns a temperature from a sine around the mean of the year, so that the chart has a shape. */
const monthly = (mean: number, range: number, month: number): string =>
  (mean - range * Math.cos(((month - 0.5) * Math.PI) / 6)).toFixed(1);

const temperaturesTurtle = (): string =>
  prefixes +
  stations
    .flatMap(([name, , , mean, range]) =>
      Array.from({ length: 12 }, (_, at) => {
        const month = String(at + 1).padStart(2, '0');
        return `\n<#${name}-${month}> a sosa:Observation ;
  sosa:hasFeatureOfInterest <stations.ttl#${name}> ;
  sosa:resultTime "2025-${month}-15"^^xsd:date ;
  sosa:hasSimpleResult ${monthly(mean, range, at + 1)} .\n`;
      }),
    )
    .join('');

export const exampleQuery = `# Mean temperature of each station, with its place: see Map and Chart.
PREFIX geo: <http://www.w3.org/2003/01/geo/wgs84_pos#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX sosa: <http://www.w3.org/ns/sosa/>

SELECT ?station ?lat ?long (AVG(?degrees) AS ?mean) WHERE {
  ?place rdfs:label ?station ; geo:lat ?lat ; geo:long ?long .
  ?observation sosa:hasFeatureOfInterest ?place ; sosa:hasSimpleResult ?degrees .
}
GROUP BY ?station ?lat ?long
ORDER BY DESC(?mean)
`;

const about = `# Example data

Six weather stations, and their temperatures in 2025. The figures are made up.

- \`stations.ttl\` describes the stations. Open it, and choose **Table**.
- \`temperatures.ttl\` has 72 observations that link to the stations.
- \`mean-temperatures.rq\` is a query over both files. Open it, and choose **Run**.

To delete the example, select **Remove the example** in this folder.
`;

/** Name of the file that marks the container of the example, its first member. */
const exampleMark = 'about-this-example.md';

/** Creates the example. @returns the IRI of its container @throws Error if the container exists; Refusal */
export async function addExample(storage: string): Promise<string> {
  const at = `${storage}example/`;
  const put = (
    name: string,
    type: string,
    body: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    succeed('PUT', at + name, { headers: { 'If-None-Match': '*', 'Content-Type': type, ...more }, body });
  const link = '<https://www.w3.org/ns/lws#Container>; rel="type"';
  try {
    await succeed('PUT', at, { headers: { 'If-None-Match': '*', Link: link }, body: null });
  } catch (error) {
    if (error instanceof Refusal && [405, 409, 412].includes(error.status))
      throw new Error('A folder “example” exists already. Rename or delete it first.');
    throw error;
  }
  await put('stations.ttl', 'text/turtle', stationsTurtle());
  await put('temperatures.ttl', 'text/turtle', temperaturesTurtle());
  await put('mean-temperatures.rq', sparqlQuery, exampleQuery, {
    Prefer: 'set-linkset',
    Link: `<${queryType}>; rel="type"`,
  });
  await put(exampleMark, 'text/markdown', about);
  return at;
}
