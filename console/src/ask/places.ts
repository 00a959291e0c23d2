/** Places of a result, for the map. */
import { type Coordinates, degreesOf, geometries, isWkt, latitudes, longitudes } from './coordinates.js';
import type { TableAnswer } from './run.js';
import type { ResultRow, ResultTerm } from './terms.js';
import { type MapShape, parseWkt, pointAt } from './wkt.js';

export interface MapPlace {
  readonly name: ResultTerm | undefined;
  readonly shape: MapShape;
}

export interface MapPlaces {
  readonly list: readonly MapPlace[];
  /** Count of coordinates that are not valid, out of range, or of another format or reference system. */
  readonly wrong: number;
  /** True if the result has more places. */
  readonly isCut: boolean;
}

/** Maximum counts of places and positions that a map draws. */
const [maxPlaces, maxPositions] = [20_000, 200_000];

/** Place, or wrong coordinates, which have no shape. */
type Candidate = Partial<Pick<MapPlace, 'shape'>> & Pick<MapPlace, 'name'>;

export function placesOf({ rows }: TableAnswer, coordinates: Coordinates): MapPlaces {
  const list: MapPlace[] = [];
  let [wrong, positions] = [0, 0];
  for (const { name, shape } of coordinates.in === 'triples' ? ofTriples(rows) : ofRows(rows, coordinates)) {
    if (list.length === maxPlaces || positions > maxPositions) return { list, wrong, isCut: true };
    if (!shape) wrong++;
    else {
      list.push({ name, shape });
      positions += shape.paths.reduce((sum, { length }) => sum + length, 0);
    }
  }
  return { list, wrong, isCut: false };
}

function* ofRows(
  rows: readonly ResultRow[],
  coordinates: Exclude<Coordinates, { in: 'triples' }>,
): Generator<Candidate> {
  const own = coordinates.in === 'wkt' ? [coordinates.column] : [coordinates.longitude, coordinates.latitude];
  for (const row of rows) {
    const terms = own.map((at) => row[at]);
    if (terms.every((term) => term === undefined)) continue;
    const name = row.find((term, at) => term !== undefined && !own.includes(at));
    yield* candidates(name, terms);
  }
}

/** Returns the places for a name. @param terms WKT, which may have several shapes, or longitude and latitude */
function candidates(name: ResultTerm | undefined, terms: readonly (ResultTerm | undefined)[]): readonly Candidate[] {
  const point = terms.length === 1 ? undefined : pointOf(terms);
  const shapes = isWkt(terms[0]) && terms.length === 1 ? parseWkt(terms[0].value) : point ? [point] : [];
  return shapes.length > 0 ? shapes.map((shape) => ({ name, shape })) : [{ name }];
}

function pointOf(terms: readonly (ResultTerm | undefined)[]): MapShape | undefined {
  const [longitude, latitude] = terms.map(degreesOf);
  return longitude === undefined || latitude === undefined ? undefined : pointAt(longitude, latitude);
}

const keyOf = ({ kind, value }: ResultTerm): string => `${kind} ${value}`;

function* ofTriples(rows: readonly ResultRow[]): Generator<Candidate> {
  const features = new Map<string, ResultTerm>();
  const points = new Map<string, { subject: ResultTerm; longitude?: ResultTerm; latitude?: ResultTerm }>();
  for (const [subject, predicate, object] of rows) {
    if (!subject || !predicate || !object) continue;
    const point = points.get(keyOf(subject)) ?? { subject };
    if (geometries.has(predicate.value)) features.set(keyOf(object), subject);
    else if (latitudes.has(predicate.value)) points.set(keyOf(subject), { latitude: object, ...point });
    else if (longitudes.has(predicate.value)) points.set(keyOf(subject), { longitude: object, ...point });
  }
  const nameOf = (subject: ResultTerm): ResultTerm => features.get(keyOf(subject)) ?? subject;
  for (const [subject, , object] of rows) if (subject && isWkt(object)) yield* candidates(nameOf(subject), [object]);
  for (const { subject, longitude, latitude } of points.values())
    yield* candidates(nameOf(subject), [longitude, latitude]);
}
