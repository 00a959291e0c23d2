/** Geometries in well-known text (OGC Simple Features, with the reference system of GeoSPARQL), in degrees. */

export type Position = readonly [longitude: number, latitude: number];

export interface MapShape {
  readonly form: 'points' | 'lines' | 'areas';
  /** Positions of each path. Rings of areas are drawn by the even-odd rule. */
  readonly paths: readonly (readonly Position[])[];
}

/** Maximum characters of a geometry. Longer texts are not drawn. */
const maxCharacters = 2_000_000;

const reference = /^(?:<([^<>]*)> ?|SRID=(\d{1,6}); ?)?/i;
const tag = /^(MULTI)?(POINT|LINESTRING|POLYGON) ?(?:ZM?|M)? ?\(/i;
const collection = /^GEOMETRYCOLLECTION ?(?:ZM?|M)? ?\((.+)\)$/i;
const forms = { POINT: 'points', LINESTRING: 'lines', POLYGON: 'areas' } as const;

/** Returns true if a reference system has the latitude first, or `undefined` if it has no degrees of WGS 84. */
function isLatitudeFirst(system: string): boolean | undefined {
  if (/^https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/[\d.]+\/CRS84$/.test(system)) return false;
  return /^https?:\/\/www\.opengis\.net\/def\/crs\/EPSG\/[\d.]+\/4326$/.test(system) ? true : undefined;
}

/** Returns a point, or `undefined` outside of the ranges of degrees. */
export const pointAt = (longitude: number, latitude: number): MapShape | undefined =>
  within('points', [[[longitude, latitude]]]);

/**
 * Returns the shapes of a geometry: several for a collection, none for text that is not valid, for other geometries and reference
 * systems, and without coordinates. EWKT (`SRID=4326;`) has the longitude first.
 */
export function parseWkt(literal: string): readonly MapShape[] {
  if (literal.length > maxCharacters) return [];
  const text = literal.replace(/\s+/g, ' ').trim();
  const [head, system, srid] = reference.exec(text)!;
  const isSwapped = system === undefined ? false : isLatitudeFirst(system);
  if (isSwapped === undefined || (srid !== undefined && srid !== '4326')) return [];
  const rest = text.slice(head.length);
  const members = membersOf(rest);
  const shapes = members.map((each) => shapeOf(each, isSwapped));
  return shapes.every((each) => each !== undefined) ? shapes : [];
}

/** Returns the geometries of a collection, separated by commas outside of parentheses, or the text if it is no collection. */
function membersOf(text: string): readonly string[] {
  const inner = collection.exec(text)?.[1];
  if (inner === undefined) return [text];
  const members: string[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at <= inner.length; at++) {
    if (inner[at] === '(') depth++;
    if (inner[at] === ')') depth--;
    if (at < inner.length && (inner[at] !== ',' || depth > 0)) continue;
    members.push(inner.slice(start, at).trim());
    start = at + 1;
  }
  return members;
}

function shapeOf(text: string, isSwapped: boolean): MapShape | undefined {
  const [head, multi, name] = tag.exec(text) ?? [];
  if (head === undefined) return undefined;
  const form = forms[name!.toUpperCase() as keyof typeof forms];
  const nested = nestedIn(text.slice(head.length - 1));
  if (!nested) return undefined;
  const paths = pathsOf(nested, form, multi !== undefined);
  if (!paths.every(isPath) || (form === 'points' && multi === undefined && paths[0]!.length > 1)) return undefined;
  return within(
    form,
    isSwapped ? paths.map((path) => path.map(([latitude, longitude]) => [longitude, latitude])) : paths,
  );
}

/** Converts parentheses to arrays, and coordinates to positions without height and measure. */
function nestedIn(text: string): unknown[] | undefined {
  const json = text
    .replace(/[^(),]+/g, positionText)
    .replaceAll('(', '[')
    .replaceAll(')', ']');
  try {
    return JSON.parse(json) as unknown[];
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function positionText(text: string): string {
  const numbers = text.trim().split(' ');
  if (numbers[0] === '') return '';
  const isOne = numbers.length >= 2 && numbers.length <= 4 && numbers.every((each) => Number.isFinite(Number(each)));
  return isOne ? `[${Number(numbers[0])},${Number(numbers[1])}]` : 'null';
}

function pathsOf(nested: unknown[], form: MapShape['form'], isMulti: boolean): unknown[] {
  if (form === 'areas') return isMulti ? nested.flat(1) : nested;
  if (form === 'lines') return isMulti ? nested : [nested];
  // The points of a MULTIPOINT may have parentheses.
  return [isMulti ? nested.map((each) => (isPath(each) ? each[0] : each)) : nested];
}

const isPosition = (value: unknown): value is Position =>
  Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === 'number');
const isPath = (value: unknown): value is readonly Position[] =>
  Array.isArray(value) && value.length > 0 && value.every(isPosition);

function within(form: MapShape['form'], paths: MapShape['paths']): MapShape | undefined {
  const isInRange = ([longitude, latitude]: Position): boolean =>
    Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90;
  return paths.length > 0 && paths.every((path) => path.every(isInRange)) ? { form, paths } : undefined;
}
