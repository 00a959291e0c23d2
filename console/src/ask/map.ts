/**
 * Map of the places of a result over the coasts of the world, with the table beside it. Loaded on demand. Fetches only tiles
 * that the operator has configured.
 */
import { html, nothing, type PropertyValues, svg, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { labelOf, labels } from '../storage/labels.js';
import { coordinatesIn } from './coordinates.js';
import {
  grid,
  namesInSight,
  namesOfPoints,
  roomOfScale,
  roomOfSteps,
  roomOfZoom,
  scaleBar,
  tilesInSight,
} from './map-frame.js';
import { counted, legend, Picture } from './picture.js';
import { type MapPlace, type MapPlaces, placesOf } from './places.js';
import type { TableAnswer } from './run.js';
import { termContent } from './table.js';
import { plainText } from './terms.js';
import type { MapShape, Position } from './wkt.js';

/** Land of Natural Earth as a path, in units of 1/20 degree (`build.mjs`). */
declare const landPath: string;
const landUnits = 20;

/** URL template and attribution of the map tiles (`lws.console.map-tiles`). */
const { tiles = '', attribution = '' } = document.documentElement.dataset;

/** Size of the data in units of the picture, at any distance, because browsers compute with single precision. */
const extent = 1000;
/** Width in degrees shown around a single point, and minimum width for several points. */
const [aroundOne, leastDegrees] = [20, 0.001];
const wrongText = 'not valid, out of range, or of an unsupported form or reference system';
/** Maximum number of places with their names on the map, and of characters of a name. */
const [maxNamed, longestName] = [30, 40];
/** Maximum distance of a click from a place, in pixels. */
const reach = 12;

/** Equirectangular projection that is true to shape in the middle of the data. */
interface Projection {
  readonly x: (longitude: number) => number;
  readonly y: (latitude: number) => number;
  /** Returns the SVG transformation of outlines. @param units units per degree */
  readonly outline: (units: number) => string;
  /** Units per degree of latitude. */
  readonly degree: number;
}

@customElement('ask-map')
export class AskMap extends Picture {
  @property({ attribute: false }) answer!: TableAnswer;
  @state() private selected = -1;
  @state() private countries: typeof import('./countries.js') | undefined;
  /** Size of the picture in pixels. */
  @state() private size: readonly [width: number, height: number] = [900, 550];
  private places: MapPlaces = { list: [], wrong: 0, isCut: false };
  private projection!: Projection;
  private paths: Readonly<Record<MapShape['form'], string>> = { points: '', lines: '', areas: '' };
  protected override widths: readonly [number, number] = [10, 1_000_000];

  protected override willUpdate(changed: PropertyValues): void {
    this.follow(labels);
    if (!changed.has('answer')) return;
    const found = coordinatesIn(this.answer);
    this.places = found ? placesOf(this.answer, found.coordinates) : { list: [], wrong: 0, isCut: false };
    this.selected = -1;
    if (this.places.list.length > 0) this.fit();
  }

  protected override async load(): Promise<void> {
    await this.attempt(async () => {
      if (tiles === '') this.countries = await import('./countries.js');
    });
  }

  protected override updated(): void {
    if (this.places.list.length === 0) return;
    const { width, height } = this.querySelector('svg')!.getBoundingClientRect();
    if (width > 0 && (width !== this.size[0] || height !== this.size[1])) this.size = [width, height];
  }

  protected fit(): void {
    const { list } = this.places;
    const [west, south, east, north] = boundsOf(list);
    const shrink = Math.max(0.1, Math.cos((((south + north) / 2) * Math.PI) / 180));
    const least = east > west || north > south ? leastDegrees : aroundOne;
    const [width, height] = [Math.max(least, east - west) * shrink, Math.max(least, north - south)];
    const scale = extent / Math.max(width, height);
    this.projection = projectionAt([(west + east) / 2, (south + north) / 2], shrink, scale);
    const drawn = (form: MapShape['form']): string =>
      list.map(({ shape }) => (shape.form === form ? pathOf(shape, this.projection) : '')).join('');
    this.paths = { points: drawn('points'), lines: drawn('lines'), areas: drawn('areas') };
    // Zoom range from a street to the whole world.
    this.widths = [(leastDegrees / 2) * scale, 400 * scale];
    // Space for the buttons at the edges, which take a larger part of a narrow map.
    const space = window.innerWidth < 720 ? 1.6 : 1.25;
    this.frame = { x: 0, y: 0, width: width * scale * space, height: height * scale * space };
  }

  protected override render(): TemplateResult {
    const isEmpty = this.places.list.length === 0;
    const { columns, rows, prefixes } = this.answer;
    const map = isEmpty ? undefined : this.map();
    return html`<p class="soft summary">${this.summary(map?.unnamed ?? 0)}</p>
      <div class="beside">
        ${
          map
            ? html`<div><div class="framed">${map.picture}${this.buttons()}${this.steps()}</div>
          <p role="status" class="place">${this.selection()}</p>${this.colours(map.hasCities)}</div>`
            : nothing
        }
        <ask-table .columns=${columns} .rows=${rows} .prefixes=${prefixes}></ask-table>
      </div>`;
  }

  private colours(hasCities: boolean): TemplateResult {
    return html`${legend([
      ['iri', 'places of the result'],
      ...(this.selected < 0 ? [] : ([['chosen', 'selected place']] as const)),
      ...(hasCities ? ([['city', 'cities and borders, for orientation']] as const) : []),
    ])}<p class="soft sources">${hasCities ? html`Cities: <a href="https://www.geonames.org/" target="_blank" rel="noreferrer noopener">GeoNames</a>, CC BY 4.0.` : attribution}
      ${this.isNear ? 'Borders are approximate.' : nothing}</p>`;
  }

  private steps(): TemplateResult {
    const button = (name: string, text: string, by: number): TemplateResult =>
      html`<button type="button" aria-label=${name} title=${name} @click=${() => this.step(by)}>${text}</button>`;
    return html`<div class="zoom steps">${button('Previous place', '‹', -1)}${button('Next place', '›', 1)}</div>`;
  }

  /** True if the zoom is too high for borders of a world map: a place near a border can appear on the wrong side. */
  private get isNear(): boolean {
    return tiles === '' && this.places.list.length > 0 && this.frame.width < 4 * this.projection.degree;
  }

  /** Returns the names of places as in the table, if there are few. */
  private named(): (readonly [name: string, longitude: number, latitude: number])[] {
    const { list } = this.places;
    if (list.length > maxNamed) return [];
    return list.map(({ name, shape }) => {
      const text =
        name === undefined ? '' : name.kind === 'iri' ? labelOf(name.value, this.answer.prefixes) : plainText(name);
      return [text.length > longestName ? '' : text, ...shape.paths[0]![0]!] as const;
    });
  }

  /** Returns a summary of what the map shows and omits. @param unnamed count of names without room */
  private summary(unnamed: number): string {
    const { list, wrong, isCut } = this.places;
    const { kind, rows } = this.answer;
    const isOfRows = kind === 'rows' && rows.length !== list.length;
    return [
      `${counted(list.length, 'place')}${isOfRows ? ` of ${counted(rows.length, 'row')}` : ''}.`,
      isCut ? 'There are more: the map shows the first ones, the table all.' : '',
      wrong > 0 ? `${counted(wrong, 'value')} without a place: ${wrongText}.` : '',
      unnamed > 0 ? `${counted(unnamed, 'name')} left out, for lack of room: select a place to read its name.` : '',
    ].join(' ');
  }

  private selection(): TemplateResult | string {
    const place = this.places.list[this.selected];
    if (!place) return 'Select a place on the map, or with the arrows.';
    const [longitude, latitude] = place.shape.paths[0]![0]!;
    return html`${place.name ? termContent(place.name, this.answer.prefixes) : `Place ${this.selected + 1}`}
      <span class="soft">${latitude.toFixed(4)}, ${longitude.toFixed(4)} (${this.selected + 1} of ${this.places.list.length})</span>`;
  }

  private map(): { readonly picture: TemplateResult; readonly unnamed: number; readonly hasCities: boolean } {
    const { points, lines, areas } = this.paths;
    const chosen = this.places.list[this.selected]?.shape;
    const [width, height] = this.size;
    // In one direction, the picture may show more than the frame.
    const pixel = Math.max(this.frame.width / width, this.frame.height / height);
    const view = { ...this.projection, pixel, frame: { ...this.frame, width: width * pixel, height: height * pixel } };
    const { outline } = this.projection;
    const own = namesOfPoints(this.named(), view, [roomOfScale(view), roomOfSteps(view), ...roomOfZoom(view)]);
    const unnamed = this.places.list.filter(({ name }) => name).length - own.names.length;
    const inSight = this.countries && namesInSight(this.countries, view, own.placed);
    const picture = html`<svg class="graph map" role="application" tabindex="0" viewBox=${this.viewBox}
        aria-label="Map of the places; the table lists them. Arrow keys move it, plus and minus zoom, 0 shows all, N and P select a place."
        @keydown=${this.onKey} @pointerdown=${this.hold} @pointermove=${this.onMove} @pointerup=${this.release} @pointercancel=${this.release}>
        ${tiles === '' ? svg`<path class="land" d=${landPath} transform=${outline(landUnits)}></path>` : svg`<g aria-hidden="true">${tilesInSight(tiles, view)}</g>`}
        <g aria-hidden="true">${grid(view)}${
          this.countries
            ? svg`<path class="borders" d=${this.countries.borders} transform=${outline(this.countries.borderUnits)}></path>${inSight?.picture}`
            : nothing
        }${scaleBar(view)}</g>
        <path class="areas" d=${areas}></path>
        <path class="lines" d=${lines}></path>
        <path class="points halo" d=${points}></path>
        <path class="points" d=${points}></path>
        <g class="names" aria-hidden="true">${own.names}</g>
        ${chosen ? svg`<path class=${`${chosen.form} chosen`} d=${pathOf(chosen, this.projection)}></path>` : nothing}
      </svg>`;
    return { picture, unnamed, hasCities: inSight?.hasCities ?? false };
  }

  private onKey(event: KeyboardEvent): void {
    const { frame } = this;
    const moves: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.drag(frame.width / 10, 0),
      ArrowRight: () => this.drag(-frame.width / 10, 0),
      ArrowUp: () => this.drag(0, frame.height / 10),
      ArrowDown: () => this.drag(0, -frame.height / 10),
      '+': () => this.zoom(0.8),
      '-': () => this.zoom(1.25),
      '0': () => this.fit(),
      n: () => this.step(1),
      p: () => this.step(-1),
    };
    if (!Object.hasOwn(moves, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[event.key]!();
  }

  /** Selects the next place, and shows it in the middle if it is out of sight. */
  private step(by: number): void {
    const { length } = this.places.list;
    this.selected = (Math.max(this.selected, by < 0 ? 0 : -1) + by + length) % length;
    const [longitude, latitude] = this.places.list[this.selected]!.shape.paths[0]![0]!;
    const [x, y] = [this.projection.x(longitude), this.projection.y(latitude)];
    const { frame } = this;
    if (Math.abs(x - frame.x) > frame.width / 2 || Math.abs(y - frame.y) > frame.height / 2)
      this.frame = { ...frame, x, y };
  }

  protected override clicked(x: number, y: number): void {
    const { x: toX, y: toY } = this.projection;
    let least = reach * this.unitsPerPixel;
    this.selected = this.places.list.reduce((nearest, { shape }, index) => {
      const paths = shape.paths.map((path) =>
        path.map(([longitude, latitude]) => [toX(longitude) - x, toY(latitude) - y] as const),
      );
      const distance = distanceTo(paths, shape.form);
      if (distance >= least) return nearest;
      least = distance;
      return index;
    }, -1);
  }
}

type Bounds = readonly [west: number, south: number, east: number, north: number];

function boundsOf(places: readonly MapPlace[]): Bounds {
  let [west, south, east, north] = [180, 90, -180, -90];
  for (const { shape } of places)
    for (const path of shape.paths)
      for (const [longitude, latitude] of path) {
        [west, east] = [Math.min(west, longitude), Math.max(east, longitude)];
        [south, north] = [Math.min(south, latitude), Math.max(north, latitude)];
      }
  return [west, south, east, north];
}

const projectionAt = ([longitude, latitude]: Position, shrink: number, scale: number): Projection => ({
  x: (at) => (at - longitude) * shrink * scale,
  y: (at) => (latitude - at) * scale,
  degree: scale,
  outline: (units) =>
    `translate(${-longitude * shrink * scale} ${latitude * scale}) scale(${(shrink * scale) / units} ${scale / units})`,
});

function pathOf({ form, paths }: MapShape, { x, y }: Projection): string {
  const at = ([longitude, latitude]: Position): string => `${+x(longitude).toFixed(4)} ${+y(latitude).toFixed(4)}`;
  // Draw a point as a line of length 0 with round caps.
  if (form === 'points')
    return paths
      .flat()
      .map((each) => `M${at(each)}h0`)
      .join('');
  return paths.map((path) => `M${path.map(at).join('L')}${form === 'areas' ? 'Z' : ''}`).join('');
}

type Relative = readonly (readonly [x: number, y: number])[];

/** Returns the distance of the origin from a shape, 0 inside of an area. */
function distanceTo(paths: readonly Relative[], form: MapShape['form']): number {
  let [least, isInside] = [Number.POSITIVE_INFINITY, false];
  for (const path of paths)
    path.forEach(([x, y], at) => {
      const [x0, y0] = form === 'points' || (at === 0 && form === 'lines') ? [x, y] : path.at(at - 1)!;
      least = Math.min(least, distanceToLine(x0, y0, x, y));
      if (y > 0 !== y0 > 0 && (x0 - x) * (-y / (y0 - y)) + x > 0) isInside = !isInside;
    });
  return form === 'areas' && isInside ? 0 : least;
}

function distanceToLine(x0: number, y0: number, x: number, y: number): number {
  const [dx, dy] = [x - x0, y - y0];
  const along = Math.min(1, Math.max(0, -(x0 * dx + y0 * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x0 + along * dx, y0 + along * dy);
}
