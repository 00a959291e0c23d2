/** Numbers of an answer as bars, lines or points. Loaded by those who look at it. */
import { html, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import type { TableAnswer } from './answer.js';
import { type Drawing, draw } from './draw.js';
import { dataOf, type Plot, type PlotKind, plotOf, scaleOf } from './plot.js';

const kinds: Readonly<Record<PlotKind, string>> = { bars: 'Bars', lines: 'Lines', points: 'Points' };

@customElement('ask-chart')
export class AskChart extends Page {
  @property({ attribute: false }) answer!: TableAnswer;
  @state() private plot: Plot | undefined;
  private drawing: Drawing | undefined;
  private readonly theme = matchMedia('(prefers-color-scheme: dark)');
  private drawnWidth = 0;
  private readonly sizes = new ResizeObserver(() => {
    // Drawing changes the height.
    if (this.clientWidth !== this.drawnWidth) this.redraw();
  });

  protected override willUpdate(changed: PropertyValues): void {
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
    this.drawing?.end();
  }

  protected override updated(): void {
    this.redraw();
  }

  /** Colours and width are those of now. */
  private readonly redraw = (): void => {
    const place = this.querySelector<HTMLElement>('.chart');
    if (!place || !this.plot) return;
    this.drawing?.end();
    this.drawnWidth = this.clientWidth;
    const names = this.plot.ys.map((y) => this.answer.columns[y]!);
    this.drawing = draw(place, dataOf(this.answer, this.plot), {
      kind: this.plot.kind,
      bottom: this.answer.columns[this.plot.x]!,
      names,
    });
  };

  protected override render(): TemplateResult {
    const { columns, rows } = this.answer;
    const plot = this.plot!;
    const numbers = columns.flatMap((_, index) => (scaleOf(this.answer, index) === 'number' ? [index] : []));
    const said = `${kinds[plot.kind]} of ${plot.ys.map((y) => columns[y]).join(', ')} by ${columns[plot.x]}, ${rows.length} rows. The table says the same.`;
    return html`
      <div class="row">
        <label class="inline">Draw
          <select @change=${this.onKind}>${Object.entries(kinds).map(
            ([kind, title]) => html`<option value=${kind} ?selected=${kind === plot.kind}>${title}</option>`,
          )}</select></label>
        <label class="inline">Along the bottom
          <select @change=${this.onBottom}>${columns.map(
            (name, index) => html`<option value=${index} ?selected=${index === plot.x}>${name}</option>`,
          )}</select></label>
        <fieldset class="bare"><legend class="visually-hidden">Upwards</legend>${numbers.map(
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
