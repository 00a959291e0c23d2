/** Grid, scale bar, and names of countries and cities, which show the location of a map. */
import { svg, type TemplateResult } from 'lit';
import type { CityName, CountryName } from './countries.js';
import type { Frame } from './picture.js';

export interface MapView {
  readonly frame: Frame;
  /** Units of the picture per pixel. */
  readonly pixel: number;
  readonly x: (longitude: number) => number;
  readonly y: (latitude: number) => number;
  /** Units per degree of latitude. */
  readonly degree: number;
}

const kilometresPerDegree = 111.32;
const steps = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005];
const letterPixels = 6.6;

/** Returns a text of constant size on the screen. Fonts scale with the picture. */
const textAt = (x: number, y: number, pixel: number, text: string, anchor = 'start'): TemplateResult =>
  svg`<text transform=${`translate(${x} ${y}) scale(${pixel})`} text-anchor=${anchor}>${text}</text>`;

const lessThan = (value: number, parts: readonly number[]): number =>
  parts.findLast((each) => each <= value) ?? parts[0]!;

/** Returns the largest length up to a maximum that is 1, 2 or 5 times a power of ten. */
function roundLength(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  return lessThan(most / power, [1, 2, 5]) * power;
}

/** Maximum length of the scale bar, and its distance from the edges, in pixels. */
const [longestBar, barMargin] = [110, 14];

/** Returns the area of the scale bar, which no name may cover. */
export const roomOfScale = ({ frame, pixel }: MapView): Placed => ({
  name: '',
  x: frame.x + frame.width / 2 - (barMargin + longestBar / 2) * pixel,
  y: frame.y + frame.height / 2 - 1.5 * barMargin * pixel,
  half: (longestBar / 2) * pixel,
});

/** Returns the area of the buttons at the other end, which no name may cover. */
export const roomOfSteps = ({ frame, pixel }: MapView): Placed => ({
  name: '',
  x: frame.x - frame.width / 2 + 40 * pixel,
  y: frame.y + frame.height / 2 - 22 * pixel,
  half: 32 * pixel,
});

/** Returns the areas of the buttons that zoom, one below the other, which no name may cover. */
export const roomOfZoom = ({ frame, pixel }: MapView): readonly Placed[] =>
  [26, 58, 90].map((down) => ({
    name: '',
    x: frame.x + frame.width / 2 - 28 * pixel,
    y: frame.y - frame.height / 2 + down * pixel,
    half: 20 * pixel,
  }));

/** Returns the scale bar, which is at the right, because degrees of latitude are at the left. */
export function scaleBar({ frame, pixel, degree }: MapView): TemplateResult {
  const perKilometre = degree / kilometresPerDegree;
  const length = roundLength((longestBar * pixel) / perKilometre);
  const y = frame.y + frame.height / 2 - barMargin * pixel;
  const left = frame.x + frame.width / 2 - barMargin * pixel - length * perKilometre;
  const text = length >= 1 ? `${length.toLocaleString()} km` : `${Math.round(length * 1000)} m`;
  const tick = 5 * pixel;
  return svg`<g class="scale"><path d=${`M${left} ${y - tick}v${tick}h${length * perKilometre}v${-tick}`}></path>
    ${textAt(left + (length * perKilometre) / 2, y - 7 * pixel, pixel, text, 'middle')}</g>`;
}

/** Returns meridians and parallels, with their degrees at the edges. */
export function grid({ frame, pixel, x, y, degree }: MapView): TemplateResult {
  const step = steps.findLast((each) => frame.height / degree / each <= 6) ?? 30;
  const [left, right] = [frame.x - frame.width / 2, frame.x + frame.width / 2];
  const [top, bottom] = [frame.y - frame.height / 2, frame.y + frame.height / 2];
  const [origin, lonUnit] = [x(0), x(1) - x(0)];
  const inside = (from: number, to: number, most: number): number[] => {
    const first = Math.max(-most, Math.ceil(from / step) * step);
    const count = Math.floor((Math.min(most, to) - first) / step) + 1;
    return Array.from({ length: Math.max(0, Math.min(60, count)) }, (_, at) => first + at * step);
  };
  const longitudes = inside((left - origin) / lonUnit, (right - origin) / lonUnit, 180);
  const latitudes = inside((y(0) - bottom) / degree, (y(0) - top) / degree, 90);
  const text = (value: number, positive: string, negative: string): string =>
    `${+Math.abs(value).toFixed(4)}°${value > 0 ? ` ${positive}` : value < 0 ? ` ${negative}` : ''}`;
  const edge = { x: frame.x - frame.width / 2 + 4 * pixel, y: frame.y - frame.height / 2 + 12 * pixel };
  return svg`<g class="grid">
    <path d=${[...longitudes.map((at) => `M${x(at)} ${top}V${bottom}`), ...latitudes.map((at) => `M${left} ${y(at)}H${right}`)].join('')}></path>
    ${longitudes.map((at) => textAt(x(at) + 3 * pixel, edge.y, pixel, text(at, 'E', 'W')))}
    ${latitudes.map((at) => textAt(edge.x, y(at) - 3 * pixel, pixel, text(at, 'N', 'S')))}</g>`;
}

const [tilePixels, deepestZoom] = [256, 19];
/** Returns the latitude of the upper edge of a row of tiles (Web Mercator). @param count count of rows */
const edgeOf = (row: number, count: number): number =>
  (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / count))) * 180) / Math.PI;
const rowOf = (latitude: number, count: number): number => {
  const [most, angle] = [85.05, (latitude * Math.PI) / 180];
  if (Math.abs(latitude) >= most) return latitude > 0 ? 0 : count - 1;
  return Math.floor(((1 - Math.asinh(Math.tan(angle)) / Math.PI) / 2) * count);
};

/** Returns the visible tiles, stretched between their edges: within a tile, Mercator differs little from this map. */
export function tilesInSight(template: string, { frame, pixel, x, y, degree }: MapView): TemplateResult[] {
  const lonUnit = x(1) - x(0);
  const zoom = Math.max(0, Math.min(deepestZoom, Math.round(Math.log2((360 / tilePixels) * (lonUnit / pixel)))));
  const count = 2 ** zoom;
  const columnAt = (at: number): number => Math.floor((((at - x(0)) / lonUnit + 180) / 360) * count);
  const within = (number: number): number => Math.max(0, Math.min(count - 1, number));
  const [left, right] = [frame.x - frame.width / 2, frame.x + frame.width / 2].map((at) => within(columnAt(at)));
  const [top, bottom] = [frame.y - frame.height / 2, frame.y + frame.height / 2].map((at) =>
    rowOf((y(0) - at) / degree, count),
  );
  const tiles: TemplateResult[] = [];
  for (let row = top!; row <= bottom!; row++)
    for (let column = left!; column <= right!; column++) {
      const [west, north, south] = [(column / count) * 360 - 180, edgeOf(row, count), edgeOf(row + 1, count)];
      const url = template.replace('{z}', `${zoom}`).replace('{x}', `${column}`).replace('{y}', `${row}`);
      // Enlarge tiles slightly, to prevent gaps from rounding.
      tiles.push(svg`<image href=${url} x=${x(west)} y=${y(north)} preserveAspectRatio="none"
        width=${(360 / count) * lonUnit + pixel / 2} height=${(north - south) * degree + pixel / 2}></image>`);
    }
  return tiles;
}

/** Area of a name: its centre, and half of its width. */
interface Placed {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly half: number;
}

const halfOf = (name: string, pixel: number): number => (name.length * letterPixels * pixel) / 2;
const isFree = (one: Placed, placed: readonly Placed[], pixel: number): boolean =>
  placed.every((other) => Math.abs(other.y - one.y) > 16 * pixel || Math.abs(other.x - one.x) > other.half + one.half);

/**
 * Returns the names to the right of the points of a result, or to the left, if they cover no other name. @param others occupied
 * areas @returns also the areas that points and names occupy
 */
export function namesOfPoints(
  points: readonly (readonly [name: string, longitude: number, latitude: number])[],
  { frame, pixel, x, y }: MapView,
  others: readonly Placed[],
): { readonly names: readonly TemplateResult[]; readonly placed: readonly Placed[] } {
  const gap = 10 * pixel;
  const placed: Placed[] = points.map(([, longitude, latitude]) => ({
    name: '',
    x: x(longitude),
    y: y(latitude),
    half: gap,
  }));
  placed.push(...others);
  const names = points.flatMap(([name, longitude, latitude]) => {
    const [middle, half] = [y(latitude), halfOf(name, pixel)];
    const occupied = placed.filter((other) => other.x !== x(longitude) || other.y !== middle);
    const at = (side: 1 | -1): Placed => ({ name, x: x(longitude) + side * (gap + half), y: middle, half });
    const isIn = (one: Placed): boolean => Math.abs(one.x - frame.x) + half <= frame.width / 2;
    const free = ([1, -1] as const).filter((side) => isFree(at(side), occupied, pixel));
    const side = free.find((each) => isIn(at(each))) ?? free[0];
    if (name === '' || side === undefined) return [];
    placed.push(at(side));
    return [textAt(x(longitude) + side * gap, middle + 4 * pixel, pixel, name, side < 0 ? 'end' : 'start')];
  });
  return { names, placed };
}

/** Maximum width of a map with cities, in degrees. Wider maps have only names of countries. */
const mostWithCities = 60;

/**
 * Returns the visible names that fit: first of countries, the largest first, then of cities, the most populous first. @param
 * others occupied areas
 */
export function namesInSight(
  { countries, cities }: { readonly countries: readonly CountryName[]; readonly cities: readonly CityName[] },
  view: MapView,
  others: readonly Placed[],
): { readonly picture: TemplateResult; readonly hasCities: boolean } {
  const { frame, pixel, x, y } = view;
  const placed = [...others];
  const place = (one: Placed): boolean => {
    const isIn =
      Math.abs(one.x - frame.x) + one.half < frame.width / 2 &&
      Math.abs(one.y - frame.y) < frame.height / 2 - 20 * pixel &&
      isFree(one, placed, pixel);
    if (isIn) placed.push(one);
    return isIn;
  };
  const names: TemplateResult[] = [];
  for (const [name, longitude, latitude, width] of countries.toSorted((a, b) => b[3] - a[3])) {
    const one = { name, x: x(longitude), y: y(latitude), half: halfOf(name, pixel) };
    if ((x(width) - x(0)) * 1.1 > 2 * one.half && place(one)) names.push(textAt(one.x, one.y, pixel, name, 'middle'));
  }
  const towns: TemplateResult[] = [];
  const gap = 5 * pixel;
  if (frame.width < x(mostWithCities) - x(0))
    for (const [name, longitude, latitude] of cities) {
      // The result already shows this name.
      if (others.some((other) => other.name === name)) continue;
      const [left, middle, half] = [x(longitude), y(latitude), halfOf(name, pixel) + gap];
      if (place({ name, x: left + half - gap, y: middle, half }))
        towns.push(
          svg`<circle cx=${left} cy=${middle} r=${2 * pixel}></circle>${textAt(left + gap, middle + 4 * pixel, pixel, name)}`,
        );
    }
  const picture = svg`<g class="countries">${names}</g><g class="cities">${towns}</g>`;
  return { picture, hasCities: towns.length > 0 };
}
