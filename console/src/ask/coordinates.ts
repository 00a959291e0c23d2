/** Finds the coordinates of a result: columns named as latitude and longitude, a column with WKT, or triples with either. */
import type { TableAnswer } from './run.js';
import type { ResultTerm } from './terms.js';

const geosparql = 'http://www.opengis.net/ont/geosparql#';
const namespaces = ['http://www.w3.org/2003/01/geo/wgs84_pos#', 'http://schema.org/', 'https://schema.org/'];
const names = (...all: readonly string[]) =>
  new Set(namespaces.flatMap((namespace) => all.map((name) => namespace + name)));

export const latitudes: ReadonlySet<string> = names('lat', 'latitude');
export const longitudes: ReadonlySet<string> = names('long', 'longitude');
/** Predicates from a resource to its geometry. */
export const geometries: ReadonlySet<string> = new Set(
  ['hasGeometry', 'hasDefaultGeometry', 'defaultGeometry', 'hasCentroid'].map((name) => geosparql + name),
);

export const isWkt = (term: ResultTerm | undefined): term is ResultTerm => term?.datatype === `${geosparql}wktLiteral`;

/** Returns the number in a literal, which may be a string, because data often has no datatypes. */
export function degreesOf(term: ResultTerm | undefined): number | undefined {
  if (term?.kind !== 'literal' || term.value.trim() === '') return undefined;
  const value = Number(term.value);
  return Number.isFinite(value) ? value : undefined;
}

export type Coordinates =
  | { readonly in: 'columns'; readonly latitude: number; readonly longitude: number }
  | { readonly in: 'wkt'; readonly column: number }
  | { readonly in: 'triples' };

interface Found {
  readonly coordinates: Coordinates;
  /** True if most rows, or several triples, have coordinates. */
  readonly areMany: boolean;
}

/** Maximum count of rows that are tested for coordinates, because results can be long. */
const looked = 1000;

export function coordinatesIn({ kind, columns, rows }: TableAnswer): Found | undefined {
  if (kind === 'graph') {
    const count = rows.filter(([, predicate, object]) => isWkt(object) || latitudes.has(predicate?.value ?? '')).length;
    return count === 0 ? undefined : { coordinates: { in: 'triples' }, areMany: count > 1 };
  }
  const some = rows.slice(0, looked);
  const found = (coordinates: Coordinates, has: (row: TableAnswer['rows'][number]) => boolean): Found | undefined => {
    const count = some.filter(has).length;
    return count === 0 ? undefined : { coordinates, areMany: count * 2 >= some.length };
  };
  const latitude = columns.findIndex((name) => /^lat(?:itude)?$/i.test(name));
  const longitude = columns.findIndex((name) => /^(?:lon|lng|long|longitude)$/i.test(name));
  const column = columns.findIndex((_, at) => some.some((row) => isWkt(row[at])));
  return (
    (latitude >= 0 && longitude >= 0
      ? found({ in: 'columns', latitude, longitude }, (row) =>
          [latitude, longitude].every((at) => degreesOf(row[at]) !== undefined),
        )
      : undefined) ?? (column < 0 ? undefined : found({ in: 'wkt', column }, (row) => isWkt(row[column])))
  );
}
