/** Chart of numeric results: bars, lines or points. Loaded on demand. */

import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import uPlot from 'uplot';
import { Page } from '../frame/page.js';
import { saveAs } from '../storage/download.js';
import { labels } from '../storage/labels.js';
import { dataOf, type Plot, type PlotData, type PlotKind, plotOf, scaleOf } from './plot.js';
import type { TableAnswer } from './run.js';

const kinds: Readonly<Record<PlotKind, string>> = { bars: 'Bars', lines: 'Lines', points: 'Points' };

@customElement('ask-chart')
export class AskChart extends Page {
  @property({ attribute: false }) answer!: TableAnswer;
  @state() private plot: Plot | undefined;
  private drawing: uPlot | undefined;
  private readonly theme = matchMedia('(prefers-color-scheme: dark)');
  private drawnWidth = 0;
  private readonly sizes = new ResizeObserver(() => {
    // Compare only the width, because drawing changes the height.
    if (this.clientWidth !== this.drawnWidth) this.redraw();
  });

  protected override willUpdate(changed: PropertyValues): void {
    this.follow(labels);
    if (changed.has('answer')) this.plot = plotOf(this.answer);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.theme.addEventListener('change', this.redraw);
    this.sizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.theme.removeEventListener('change', this.redraw);
    this.sizes.disconnect();
    this.drawing?.destroy();
  }

  protected override updated(): void {
    this.redraw();
  }

  /** Draws the chart again, with the current colours and width. */
  private readonly redraw = (): void => {
    const place = this.querySelector<HTMLElement>('.chart');
    if (!place || !this.plot) return;
    this.drawing?.destroy();
    this.drawnWidth = this.clientWidth;
    this.drawing = draw(place, this.answer, this.plot);
  };

  protected override render(): TemplateResult {
    const { columns, rows } = this.answer;
    const plot = this.plot!;
    const numbers = columns.flatMap((_, index) => (scaleOf(this.answer, index) === 'number' ? [index] : []));
    const said = `${kinds[plot.kind]} of ${plot.ys.map((y) => columns[y]).join(', ')} by ${columns[plot.x]}, ${rows.length} rows. The table shows the same data.`;
    return html`
      <div class="row">
        <label class="inline">Draw
          <select @change=${this.onKind}>${Object.entries(kinds).map(
            ([kind, title]) => html`<option value=${kind} ?selected=${kind === plot.kind}>${title}</option>`,
          )}</select></label>
        <label class="inline">By
          <select @change=${this.onBottom}>${columns.map(
            (name, index) => html`<option value=${index} ?selected=${index === plot.x}>${name}</option>`,
          )}</select></label>
        ${
          numbers.length > 1
            ? html`<fieldset class="bare"><legend class="visually-hidden">Columns of numbers</legend>${numbers.map((index) => this.choice(index))}</fieldset>`
            : nothing
        }
      </div>
      ${plot.ys.length === 0 ? html`<p class="empty">Choose a column of numbers to draw.</p>` : ''}
      <div class="plot" ?hidden=${plot.ys.length === 0}><div class="chart" role="img" aria-label=${said}></div></div>`;
  }

  /** Returns the checkbox of a column that can be drawn, with the colour of the column. */
  private choice(index: number): TemplateResult {
    const at = this.plot!.ys.indexOf(index);
    return html`<label class="inline"><input type="checkbox" .checked=${at >= 0}
      @change=${(event: Event) => this.onColumn(index, (event.target as HTMLInputElement).checked)}>${
        at < 0 ? nothing : html`<i class="dot type-${(at % colourCount) + 1}"></i>`
      }${this.answer.columns[index]}</label>`;
  }

  /** Saves the chart as an image, with the background colour of the page. */
  saveImage(): void {
    const drawn = this.drawing?.ctx.canvas;
    if (!drawn) return;
    const copy = document.createElement('canvas');
    [copy.width, copy.height] = [drawn.width, drawn.height];
    const context = copy.getContext('2d')!;
    context.fillStyle = getComputedStyle(this).getPropertyValue('--ground');
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(drawn, 0, 0);
    copy.toBlob((blob) => blob && saveAs(blob, 'chart.png'));
  }

  private onKind(event: Event): void {
    this.plot = { ...this.plot!, kind: (event.target as HTMLSelectElement).value as PlotKind };
  }

  private onBottom(event: Event): void {
    this.plot = { ...this.plot!, x: Number((event.target as HTMLSelectElement).value) };
  }

  private onColumn(index: number, isChosen: boolean): void {
    const others = this.plot!.ys.filter((each) => each !== index);
    this.plot = { ...this.plot!, ys: isChosen ? [...others, index].sort((a, b) => a - b) : others };
  }
}

const colourCount = 6;
/** Maximum count of horizontal bars. More bars are vertical. */
const mostAcross = 40;
/** Maximum thickness of a bar, and radius of its corners, in pixels. */
const [thickest, corner] = [24, 3];

/** Returns true if all names are short, such as months: their order matters, and they fit below vertical bars. */
const areShort = (names: readonly string[]): boolean => names.length >= 4 && names.every((name) => name.length <= 4);

function draw(place: HTMLElement, answer: TableAnswer, plot: Plot): uPlot {
  const { kind, x, ys } = plot;
  const data = dataOf(answer, plot);
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const isAcross =
    kind === 'bars' && scaleOf(answer, x) === 'names' && data.names.length <= mostAcross && !areShort(data.names);
  const width = Math.max(240, place.clientWidth);
  const height = isAcross
    ? 70 + data.names.length * Math.max(34, 14 + (thickest - 4) * ys.length)
    : width < 500
      ? 280
      : 380;
  const pixels = isAcross ? height - 70 : width - 90;
  const seriesOf = (label: string, index: number): uPlot.Series => {
    const own = colour(`--plot-${(index % colourCount) + 1}`);
    const series: uPlot.Series = { label, stroke: own, width: 2 };
    if (kind === 'points') return { ...series, paths: () => null, points: { show: true, size: 7, fill: own } };
    if (kind === 'lines') return series;
    const paths = barsOf(data, { index, of: ys.length, pixels });
    return { ...series, width: 0, fill: own, paths, points: { show: false } };
  };
  place.classList.toggle('single', ys.length === 1);
  const axis: uPlot.Axis = {
    stroke: colour('--text'),
    grid: { stroke: colour('--grid'), width: 1 },
    ticks: { show: false },
    font: '13px system-ui, sans-serif',
    labelFont: '13px system-ui, sans-serif',
    labelSize: 24,
  };
  const isWhole = data.ys.every((values) => values.every((value) => value === null || Number.isInteger(value)));
  const title = ys.length === 1 ? { label: answer.columns[ys[0]!]! } : {};
  const values: uPlot.Axis = { ...axis, ...title, stroke: colour('--soft'), ...(isWhole ? { incrs: wholeSteps } : {}) };
  return new uPlot(
    {
      width,
      height,
      scales: {
        // Add half a step at both ends for bars, and some space for a single value.
        x: {
          time: data.scale === 'time',
          ...(isAcross ? ({ ori: 1, dir: -1 } as const) : {}),
          ...(data.scale === 'names' ? { range: [-0.6, data.xs.length - 0.4] } : {}),
        },
        // The axis of bars starts at 0, because the length of a bar shows its value.
        y: {
          ...(isAcross ? ({ ori: 0 } as const) : {}),
          ...(kind === 'bars' ? { range: (_chart, least, most) => fromZero(least, most) } : {}),
        },
      },
      axes: isAcross
        ? [
            { ...axis, ...leftOf(data, width) },
            // Values are written at the ends of the bars, so lines are not needed.
            { ...values, side: 2, size: 34, space: Math.max(60, width / 7), grid: { show: false } },
          ]
        : [
            { ...axis, ...bottomOf(data, width) },
            { ...values, size: 64, space: 60 },
          ],
      series: [
        { label: answer.columns[x]!, value: (_chart, value) => bottomText(data, value) },
        ...ys.map((y, index) => seriesOf(answer.columns[y]!, index)),
      ],
      hooks: isAcross ? { draw: [(chart) => writeValues(chart, data, { pixels, colour: colour('--text') })] } : {},
    },
    [data.xs, ...data.ys] as unknown as uPlot.AlignedData,
    place,
  );
}

interface BarSize {
  /** Index of the series, and count of all series. */
  readonly index: number;
  readonly of: number;
  /** Length of the base axis of the bars, in pixels. */
  readonly pixels: number;
}

/** Returns the thickness of a bar in units of its axis. */
function thicknessOf({ xs, scale }: PlotData, { of, pixels }: Omit<BarSize, 'index'>): number {
  const steps = xs.slice(1).map((x, i) => x - xs[i]!);
  const step = steps.reduce((least, each) => (each > 0 && each < least ? each : least), Number.POSITIVE_INFINITY);
  const span = scale === 'names' ? xs.length + 0.2 : (xs.at(-1) ?? 0) - (xs[0] ?? 0);
  const most = span > 0 ? (thickest * span) / pixels : Number.POSITIVE_INFINITY;
  return Math.min(((Number.isFinite(step) ? step : 1) * 0.8) / of, most);
}

/** Writes the values at the ends of horizontal bars. */
function writeValues(
  { ctx, valToPos, bbox }: uPlot,
  data: PlotData,
  { pixels, colour }: { readonly pixels: number; readonly colour: string },
): void {
  const ratio = devicePixelRatio;
  const thickness = thicknessOf(data, { of: data.ys.length, pixels });
  ctx.save();
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.fillStyle = colour;
  ctx.textBaseline = 'middle';
  data.ys.forEach((values, index) => {
    values.forEach((value, at) => {
      if (value === null) return;
      const text = value.toLocaleString(undefined, { maximumFractionDigits: 2 });
      const y = valToPos(data.xs[at]! + (index - (data.ys.length - 1) / 2) * thickness, 'x', true);
      const width = ctx.measureText(text).width;
      const end = valToPos(value, 'y', true);
      // Values of negative bars are at the left.
      const left = value < 0 ? end - width - 6 * ratio : end + 6 * ratio;
      ctx.textAlign = 'left';
      ctx.fillText(text, Math.max(bbox.left, left), y);
    });
  });
  ctx.restore();
}

function fromZero(least: number | null, most: number | null): uPlot.Range.MinMax {
  const [low, high] = [Math.min(0, least ?? 0), Math.max(0, most ?? 0)];
  // Extend the range, for the value at the end of the longest bar.
  return low === high ? [0, 1] : uPlot.rangeNum(low, high, 0.08, true);
}

/** Distances between axis labels, for names and integers: 1, 2, 5, 10, 20, … */
const wholeSteps = Array.from({ length: 45 }, (_, at) => [1, 2, 5][at % 3]! * 10 ** Math.floor(at / 3));
/** Approximate width of a letter, in pixels. */
const letter = 7;

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Returns the axis with the names beside horizontal bars, which use up to 45 % of the width. */
function leftOf(data: PlotData, width: number): Partial<uPlot.Axis> {
  const longest = Math.max(0, ...data.names.map((name) => name.length));
  const size = Math.min(0.45 * width, 24 + longest * letter);
  const most = Math.floor((size - 24) / letter);
  return {
    side: 3,
    size,
    incrs: [1],
    values: (_chart, splits) => splits.map((at) => cut(data.names[at] ?? '', most)),
    grid: { show: false },
    space: 1,
  };
}

function bottomOf(data: PlotData, width: number): Partial<uPlot.Axis> {
  if (data.scale !== 'names') return {};
  const names = data.names.map((name) => cut(name, 18));
  const longest = Math.max(0, ...names.map((name) => name.length));
  const isCrowded = longest * 8 * names.length > width - 80;
  return {
    incrs: wholeSteps,
    values: (_chart, splits) => splits.map((at) => (Number.isInteger(at) ? (names[at] ?? '') : '')),
    grid: { show: false },
    space: isCrowded ? 18 : 30,
    ...(isCrowded ? { rotate: -60, size: Math.min(150, 24 + longest * 7) } : {}),
  };
}

function bottomText({ scale, names }: PlotData, value: number | null): string {
  if (value === null || value === undefined) return '';
  if (scale === 'names') return names[value] ?? '';
  return scale === 'time' ? new Date(value * 1000).toLocaleString() : value.toLocaleString();
}

/** Returns a function that draws the bars of one series. Bars of several series are side by side. */
function barsOf(data: PlotData, size: BarSize): uPlot.Series.PathBuilder {
  const { xs } = data;
  const width = thicknessOf(data, size);
  const inScale = 1 as uPlot.Series.BarsPathBuilderFacetUnit.ScaleValue;
  const places = xs.map((x) => x + (size.index - size.of / 2) * width);
  return uPlot.paths.bars!({
    radius: corner / thickest,
    disp: { x0: { unit: inScale, values: () => places }, size: { unit: inScale, values: () => xs.map(() => width) } },
  });
}
