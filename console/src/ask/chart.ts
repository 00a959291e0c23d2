/** Chart of numeric results: bars, lines or points. Loaded on demand. */

import { html, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import uPlot from 'uplot';
import { Page } from '../frame/page.js';
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
    // Drawing changes the height.
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

  /** Uses the current colours and width. */
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
        <fieldset class="bare"><legend class="visually-hidden">Columns of numbers</legend>${numbers.map(
          (index) => html`<label class="inline"><input type="checkbox" .checked=${plot.ys.includes(index)}
            @change=${(event: Event) => this.onColumn(index, (event.target as HTMLInputElement).checked)}>${columns[index]}</label>`,
        )}</fieldset>
      </div>
      ${plot.ys.length === 0 ? html`<p class="empty">Choose a column of numbers to draw.</p>` : ''}
      <div class="chart" role="img" aria-label=${said} ?hidden=${plot.ys.length === 0}></div>`;
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
/** Maximum number of horizontal bars. More stand upright. */
const mostAcross = 40;

function draw(place: HTMLElement, answer: TableAnswer, plot: Plot): uPlot {
  const { kind, x, ys } = plot;
  const data = dataOf(answer, plot);
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const seriesOf = (label: string, index: number): uPlot.Series => {
    const own = colour(`--plot-${(index % colourCount) + 1}`);
    const series: uPlot.Series = { label, stroke: own, width: 2 };
    if (kind === 'points') return { ...series, paths: () => null, points: { show: true, size: 7, fill: own } };
    if (kind === 'lines') return series;
    return { ...series, width: 0, fill: own, paths: barsOf(data, index, ys.length), points: { show: false } };
  };
  const isAcross = kind === 'bars' && scaleOf(answer, x) === 'names' && data.names.length <= mostAcross;
  place.classList.toggle('single', ys.length === 1);
  const axis: uPlot.Axis = {
    stroke: colour('--text'),
    grid: { stroke: colour('--grid'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: '13px system-ui, sans-serif',
  };
  const isWhole = data.ys.every((values) => values.every((value) => value === null || Number.isInteger(value)));
  const values = { ...axis, ...(isWhole ? { incrs: wholeSteps } : {}) };
  const width = Math.max(240, place.clientWidth);
  return new uPlot(
    {
      width,
      height: isAcross ? 70 + data.names.length * Math.max(28, 14 + 12 * ys.length) : width < 500 ? 280 : 380,
      scales: {
        // Half a step at both ends, for bars. A single value needs space too.
        x: {
          time: data.scale === 'time',
          ...(isAcross ? ({ ori: 1, dir: -1 } as const) : {}),
          ...(data.scale === 'names' ? { range: [-0.6, data.xs.length - 0.4] } : {}),
        },
        // The length of a bar shows its value.
        y: {
          ...(isAcross ? ({ ori: 0 } as const) : {}),
          ...(kind === 'bars' ? { range: (_chart, least, most) => fromZero(least, most) } : {}),
        },
      },
      axes: isAcross
        ? [
            { ...axis, ...leftOf(data, width) },
            { ...values, side: 2, size: 34, space: 60 },
          ]
        : [
            { ...axis, ...bottomOf(data, width) },
            { ...values, size: 64 },
          ],
      series: [
        { label: answer.columns[x]!, value: (_chart, value) => bottomText(data, value) },
        ...ys.map((y, index) => seriesOf(answer.columns[y]!, index)),
      ],
    },
    [data.xs, ...data.ys] as unknown as uPlot.AlignedData,
    place,
  );
}

function fromZero(least: number | null, most: number | null): uPlot.Range.MinMax {
  const [low, high] = [Math.min(0, least ?? 0), Math.max(0, most ?? 0)];
  return low === high ? [0, 1] : uPlot.rangeNum(low, high, 0.05, true);
}

/** Whole numbers: names and counts have nothing in between. */
const wholeSteps = Array.from({ length: 45 }, (_, at) => [1, 2, 5][at % 3]! * 10 ** Math.floor(at / 3));
/** About the width of a letter, in pixels. */
const letter = 7;

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Names beside horizontal bars, which use up to 45 % of the width. */
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

/** Bars of several series are drawn side by side. */
function barsOf({ xs }: PlotData, index: number, of: number): uPlot.Series.PathBuilder {
  const steps = xs.slice(1).map((x, i) => x - xs[i]!);
  const step = steps.reduce((least, each) => (each > 0 && each < least ? each : least), Number.POSITIVE_INFINITY);
  const width = ((Number.isFinite(step) ? step : 1) * 0.8) / of;
  const inScale = 1 as uPlot.Series.BarsPathBuilderFacetUnit.ScaleValue;
  const places = xs.map((x) => x + (index - of / 2) * width);
  return uPlot.paths.bars!({
    disp: { x0: { unit: inScale, values: () => places }, size: { unit: inScale, values: () => xs.map(() => width) } },
  });
}
