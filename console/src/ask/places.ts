/** Places of a result, for the map. */
import { type Coordinates, degreesOf, geometries, isWkt, latitudes, longitudes } from './coordinates.js';
import type { TableAnswer } from './run.js';
import type { Row, Term } from './terms.js';
import { parseWkt, pointAt, type Shape } from './wkt.js';

export interface Place {
  readonly name: Term | undefined;
  readonly shape: Shape;
}

export interface Places {
  readonly list: readonly Place[];
  /** Number of coordinates that are not valid, out of range, or of another form or reference system. */
  readonly wrong: number;
  /** True if there are more places. */
  readonly isCut: boolean;
}

/** Limits of what a map draws. */
const [maxPlaces, maxPositions] = [20_000, 200_000];

/** A place without a shape has wrong coordinates. */
type Candidate = Partial<Pick<Place, 'shape'>> & Pick<Place, 'name'>;

export function placesOf({ rows }: TableAnswer, coordinates: Coordinates): Places {
  const list: Place[] = [];
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

function* ofRows(rows: readonly Row[], coordinates: Exclude<Coordinates, { in: 'triples' }>): Generator<Candidate> {
  const own = coordinates.in === 'wkt' ? [coordinates.column] : [coordinates.longitude, coordinates.latitude];
  for (const row of rows) {
    const terms = own.map((at) => row[at]);
    if (terms.every((term) => term === undefined)) continue;
    const name = row.find((term, at) => term !== undefined && !own.includes(at));
    yield candidate(name, terms);
  }
}

/** @param terms WKT, or longitude and latitude */
function candidate(name: Term | undefined, terms: readonly (Term | undefined)[]): Candidate {
  const shape = terms.length === 1 ? (isWkt(terms[0]) ? parseWkt(terms[0].value) : undefined) : pointOf(terms);
  return shape ? { name, shape } : { name };
}

function pointOf(terms: readonly (Term | undefined)[]): Shape | undefined {
  const [longitude, latitude] = terms.map(degreesOf);
  return longitude === undefined || latitude === undefined ? undefined : pointAt(longitude, latitude);
}

const keyOf = ({ kind, value }: Term): string => `${kind} ${value}`;

function* ofTriples(rows: readonly Row[]): Generator<Candidate> {
  const features = new Map<string, Term>();
  const points = new Map<string, { subject: Term; longitude?: Term; latitude?: Term }>();
  for (const [subject, predicate, object] of rows) {
    if (!subject || !predicate || !object) continue;
    const point = points.get(keyOf(subject)) ?? { subject };
    if (geometries.has(predicate.value)) features.set(keyOf(object), subject);
    else if (latitudes.has(predicate.value)) points.set(keyOf(subject), { latitude: object, ...point });
    else if (longitudes.has(predicate.value)) points.set(keyOf(subject), { longitude: object, ...point });
  }
  const nameOf = (subject: Term): Term => features.get(keyOf(subject)) ?? subject;
  for (const [subject, , object] of rows) if (subject && isWkt(object)) yield candidate(nameOf(subject), [object]);
  for (const { subject, longitude, latitude } of points.values())
    yield candidate(nameOf(subject), [longitude, latitude]);
}
