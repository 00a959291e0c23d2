/** Result of a query as table, chart, picture, map or text, and as a file. Fires `choose` with the view that the user chooses. */
import './table.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page, placeHref } from '../frame/page.js';
import { rowMenu } from '../frame/row-menu.js';
import { tabStrip } from '../frame/tabs.js';
import { saveAs } from '../storage/download.js';
import { planTable } from './plan.js';
import type { QueryAnswer, ResultView, TableAnswer } from './run.js';
import { plainText, type ResultRow } from './terms.js';
import { bestView, viewsOf } from './views.js';

const titles: Readonly<Record<ResultView, string>> = {
  table: 'Table',
  plan: 'Plan',
  chart: 'Chart',
  graph: 'Graph',
  map: 'Map',
  raw: 'Raw',
};

/** Maximum characters of raw text shown. The file contains everything. */
const maxRaw = 200_000;

/** Functions that load chart, picture and map on demand. */
const loads: Partial<Record<ResultView, () => Promise<unknown>>> = {
  chart: () => import('./chart.js'),
  graph: () => import('./graph.js'),
  map: () => import('./map.js'),
};

@customElement('ask-results')
export class AskResults extends Page {
  @property({ attribute: false }) answer!: QueryAnswer;
  /** View that the user chose for an earlier result of the query. */
  @property({ attribute: false }) chosen: ResultView | undefined;
  @state() private view: ResultView = 'table';
  private views: readonly ResultView[] = [];
  @state() private ready: ReadonlySet<ResultView> = new Set(['table', 'plan', 'raw']);

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('answer')) return;
    this.views = viewsOf(this.answer);
    const { answer, chosen } = this;
    const isKept = answer.kind !== 'plan' && chosen && this.views.includes(chosen);
    void this.show(isKept ? chosen : bestView(answer));
  }

  protected override render(): TemplateResult {
    return html`
      ${this.answer.hint ? html`<p class="problem" role="status">${this.answer.hint}</p>` : nothing}
      <div class="row between">
        ${tabStrip({
          label: 'Show the answer as',
          tabs: this.views.map((id) => ({ id, title: titles[id] })),
          current: this.view,
          choose: this.choose,
          panel: 'answer-panel',
        })}
        ${
          this.answer.kind === 'boolean' || this.answer.kind === 'plan'
            ? nothing
            : html`<span class="downloads">${rowMenu('Download', this.downloads(), 'Download')}</span>`
        }
      </div>
      <div role="tabpanel" id="answer-panel" aria-labelledby="tab-${this.view}">
        ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.content()}
      </div>`;
  }

  private downloads(): TemplateResult {
    const saveImage = (): void => this.querySelector<HTMLElement & { saveImage(): void }>('ask-chart')?.saveImage();
    return html`<button type="button" @click=${this.downloadCsv}>CSV</button>
      <button type="button" @click=${this.downloadRaw}>${this.answer.kind === 'graph' ? 'Turtle' : 'JSON'}</button>
      ${this.view === 'chart' ? html`<button type="button" @click=${saveImage}>Image</button>` : nothing}`;
  }

  private content(): TemplateResult {
    const { answer, view } = this;
    if (view === 'raw') return this.raw();
    if (answer.kind === 'plan') return planTable(answer.plan, answer.prefixes);
    if (answer.kind === 'boolean')
      return html`<p class="yes-no">${answer.value ? 'Yes, there is a match.' : 'No, nothing matches.'}</p>`;
    if (!this.ready.has(view)) return html`<p>Loading …</p>`;
    if (view === 'chart') return html`<ask-chart .answer=${answer}></ask-chart>`;
    if (view === 'map') return html`<ask-map .answer=${answer}></ask-map>`;
    if (view === 'graph') return html`<ask-graph .rows=${answer.rows} .prefixes=${answer.prefixes}></ask-graph>`;
    return this.table(answer);
  }

  private table({ kind, columns, rows, prefixes }: TableAnswer): TemplateResult {
    if (rows.length > 0 && columns.length > 0)
      return html`<ask-table .columns=${columns} .rows=${rows} .prefixes=${prefixes}></ask-table>`;
    return html`<p class="empty">${kind === 'graph' ? 'The graph is empty' : 'No rows'}: nothing that you may read matches.
      Facts come with files such as Turtle, which <a href=${placeHref('browse')}>Browse</a> shows.
      “Example of a graph” and “Example of a chart” need no data.</p>`;
  }

  private raw(): TemplateResult {
    const { text, mediaType } = this.answer;
    return html`
      <div class="row">
        <span class="soft grow">${mediaType}, ${text.length.toLocaleString()} characters${
          text.length > maxRaw ? `; the first ${maxRaw.toLocaleString()} are shown` : ''
        }</span>
        <button type="button" @click=${this.downloadRaw}>Download the answer</button>
      </div>
      <pre class="raw" tabindex="0" role="region" aria-label="The answer as it came">${text.slice(0, maxRaw)}</pre>`;
  }

  private readonly choose = (view: ResultView): void => {
    void this.show(view);
    if (this.answer.kind !== 'plan') this.dispatchEvent(new CustomEvent('choose', { detail: view }));
  };

  private async show(view: ResultView): Promise<void> {
    this.view = view;
    this.failure = '';
    if (this.ready.has(view)) return;
    await this.reading(async () => {
      await loads[view]!();
      this.ready = new Set([...this.ready, view]);
    }, 'Reload the page.');
  }

  private downloadCsv(): void {
    const { answer } = this;
    if ('rows' in answer)
      saveAs(new Blob([csvOf(answer.columns, answer.rows)], { type: 'text/csv;charset=utf-8' }), 'answer.csv');
  }

  private downloadRaw(): void {
    const { text, mediaType, kind } = this.answer;
    const name = kind === 'graph' ? 'answer.ttl' : kind === 'plan' ? 'plan.json' : 'answer.srj';
    saveAs(new Blob([text], { type: mediaType }), name);
  }
}

function csvOf(columns: readonly string[], rows: readonly ResultRow[]): string {
  const lines = [columns.map(field), ...rows.map((row) => row.map((term) => field(plainText(term))))];
  return `${lines.map((fields) => fields.join(',')).join('\r\n')}\r\n`;
}

const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
