/** SPARQL page: queries in tabs stored in this browser, with their results. */
import '../ask/results.js';
import '../ask/save-form.js';
import '../ask/stored.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { keyed } from 'lit/directives/keyed.js';
import { demonstrations, type Example, examplesOfData } from '../ask/examples.js';
import { record } from '../ask/history.js';
import { kindIcon } from '../ask/kind-icon.js';
import { outcomeOf, QueryRun, queryEndpoint, type ResultView } from '../ask/run.js';
import { linkOf, readSaved, type Saved } from '../ask/saved.js';
import { styles } from '../ask/styles.js';
import { isUntouched, Keeper } from '../ask/tabs.js';
import { notify } from '../frame/notice.js';
import { Page, placeHref, submitted } from '../frame/page.js';
import { rowMenu } from '../frame/row-menu.js';
import { tabStrip } from '../frame/tabs.js';
import { vocabulary } from '../search/vocabulary.js';
import { storageUri } from '../session/session.js';
import { shortName } from '../storage/names.js';
import { keepsVersions } from '../storage/versions.js';

await styles;

const switchedOff = 'This storage does not offer queries (lws.sparql.endpoint.enabled is off).';

@customElement('page-ask')
export class AskPage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  /** Tab that is being renamed. */
  @state() private renamed: string | undefined;
  @state() private isSaving = false;
  @state() private isEditorThere = false;
  @state() private isOn = true;
  @state() private hasVersions = false;
  @state() private examples: readonly Example[] | undefined;
  /** True if the field for a date is shown. */
  @state() private isDated = false;
  /** True if all questions are shown, not only the first ones. */
  @state() private hasAllQuestions = false;
  /** True while a saved query is being read. */
  @state() private isOpening = false;
  private readonly runs = new Map<string, QueryRun>();
  private readonly tabs = new Keeper(this);
  /** IDs of tabs whose query was edited. Tabs with an unedited query show the example questions until the query is run. */
  private readonly edited = new Set<string>();

  protected override load(): Promise<void> {
    return this.reading(async () => {
      const [endpoint] = await Promise.all([queryEndpoint(), import('../editor/quad-editor.js')]);
      this.isOn = endpoint !== undefined;
      this.hasVersions = await keepsVersions();
      this.isEditorThere = true;
    }, 'Reload the page.');
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has('parameters')) return;
    const [query, from] = [this.parameters.get('query'), this.parameters.get('from')];
    if (query !== null) this.openQuery(query);
    else if (from !== null) void this.openSaved(from);
  }

  private async openSaved(iri: string): Promise<void> {
    this.isOpening = true;
    await this.attempt(() => readSaved(iri).then((saved) => this.openQuery(saved.query, saved)));
    this.isOpening = false;
  }

  /** Opens a query in a tab without running it: a link must not run a query. */
  private openQuery(query: string, saved?: Saved): void {
    this.tabs.show(query, saved);
    history.replaceState(null, '', placeHref('ask'));
  }

  private get run(): QueryRun {
    const { id } = this.tabs.tab;
    const run = this.runs.get(id) ?? new QueryRun(() => this.requestUpdate());
    this.runs.set(id, run);
    return run;
  }

  protected override render(): TemplateResult {
    if (this.failure) return html`<h1>Ask about your data</h1><p class="problem" role="alert">${this.failure}</p>`;
    if (!this.isOn)
      return html`<h1>Ask about your data</h1><p class="empty">${switchedOff} The operator of the server can switch it on.</p>`;
    const isFew = this.tabs.list.length === 1;
    return html`
      <h1>Ask about your data</h1>
      ${
        this.isFresh
          ? html`<p class="soft">Choose a question, or write a query over all data that you may read.</p>`
          : nothing
      }
      ${isFew ? nothing : this.tabList()}
      ${
        this.tabs.closed
          ? html`<p class="row" role="status">“${this.tabs.closed.tab.name}” is closed. <button type="button" @click=${this.undo}>Undo</button></p>`
          : nothing
      }
      ${this.renamed === this.tabs.tab.id ? this.renameForm() : nothing}
      <div id="query-panel" tabindex="-1" role=${isFew ? nothing : 'tabpanel'} aria-labelledby=${isFew ? nothing : `tab-${this.tabs.tab.id}`}>
        ${this.isFresh ? this.exampleList() : nothing}
        <div class="card query">${this.isFresh ? html`<h2>Write your own query <small class="soft">SPARQL</small></h2>` : nothing}
        <div class="ask-editor ${this.run.state.is === 'answered' ? 'ran' : ''}">${
          this.isEditorThere
            ? keyed(
                this.tabs.tab.id,
                html`<quad-editor language="sparql" label="Query" .completions=${vocabulary} .value=${this.tabs.tab.query}
                  @change=${this.onEdit} @submit=${() => this.start()}></quad-editor>`,
              )
            : html`<p class="row">Loading …</p>`
        }</div>
        ${this.controls()}
        <div class="shelves">
          ${this.isFresh ? nothing : this.exampleList()}
          <ask-history @choose=${this.onPast}></ask-history>
          <ask-stored @choose=${this.onStored}></ask-stored>
        </div></div>
        ${this.outcome()}
      </div>`;
  }

  private tabList(): TemplateResult {
    return html`
      <div class="row between queries">
        ${tabStrip({
          label: 'Queries',
          tabs: this.tabs.list.map(({ id, name }) => ({ id, title: name })),
          current: this.tabs.tab.id,
          choose: (id) => this.tabs.choose({ id }),
          panel: 'query-panel',
          remove: () => {
            this.close();
            this.focusTab();
          },
        })}
        <button type="button" class="quiet" title="New query" aria-label="New query" @click=${() => this.tabs.open('')}>+</button>
      </div>`;
  }

  /** Renders the menu of actions that are seldom needed. */
  private menu(): TemplateResult {
    return rowMenu(
      'More for this query',
      html`<button type="button" @click=${() => this.tabs.open('')}>New query</button>
        <button type="button" @click=${this.share}>Copy link</button>
        <button type="button" @click=${() => this.start(true)}>Explain</button>
        <button type="button" @click=${this.beginRenaming}>Rename</button>
        <button type="button" @click=${() => this.close()}>Close</button>`,
    );
  }

  private renameForm(): TemplateResult {
    return html`<form class="row" @submit=${this.rename}>
      <label class="inline">Name <input name="name" required maxlength="60" .value=${this.tabs.tab.name}></label>
      <button class="primary">Rename</button>
      <button type="button" @click=${() => this.endRenaming()}>Cancel</button>
    </form>`;
  }

  /** True until the query of the tab is edited or run. If the user empties the query, the page keeps its layout. */
  private get isFresh(): boolean {
    const { id, query } = this.tabs.tab;
    return isUntouched(query) && !this.edited.has(id) && this.run.state.is === 'idle' && !this.isOpening;
  }

  private onEdit({ detail }: CustomEvent<string>): void {
    if (!isUntouched(detail)) this.edited.add(this.tabs.tab.id);
    this.tabs.change({ query: detail });
  }

  private exampleList(): TemplateResult {
    const open = ({ name, query }: Example) => this.openExample(name, query);
    const item = (each: Example): TemplateResult =>
      html`<li><button type="button" @click=${() => open(each)}>${kindIcon(each.kind)}<span>${each.name}
        <span class="soft">${each.what}</span></span></button></li>`;
    const link = (each: Example): TemplateResult =>
      html`<button type="button" class="quiet" @click=${() => open(each)}>${each.name}</button>`;
    return html`<details class="shelf examples ${this.hasAllQuestions ? 'all' : ''}" ?open=${this.isFresh} @toggle=${this.onExamples}><summary>Questions</summary>
      ${
        this.examples
          ? html`<ul>${this.examples.map(item)}</ul>`
          : html`<p class="visually-hidden">Loading …</p><ul class="waiting" aria-hidden="true">${Array.from({ length: 6 }, () => html`<li></li>`)}</ul>`
      }
      <p class="soft demonstrations"><button type="button" class="quiet more" @click=${this.showAllQuestions}>More questions</button>
        ${demonstrations.map(link)}</p></details>`;
  }

  private showAllQuestions(): void {
    this.hasAllQuestions = true;
    this.querySelector<HTMLElement>('.examples li:nth-child(5) button')?.focus();
  }

  /** Reads example questions for the data when the user opens them, since opening a link must not run a query. */
  private async onExamples({ currentTarget }: Event): Promise<void> {
    if (!(currentTarget as HTMLDetailsElement).open || this.examples) return;
    this.examples = await examplesOfData();
  }

  private controls(): TemplateResult {
    const { state } = this.run;
    return html`<div class="row">
      ${
        state.is === 'running'
          ? html`<button type="button" class="danger" @click=${() => this.run.end()}>End</button>
            <span>Running for ${((performance.now() - state.since) / 1000).toFixed(1)} s …</span>`
          : html`<button type="button" class="primary" @click=${() => this.start()}>Run</button>
            ${this.hasVersions ? this.dateField() : nothing}`
      }
      <span class="soft grow" role="status">${this.summary()}</span>
      <button type="button" class="quiet" aria-expanded=${this.isSaving ? 'true' : 'false'} @click=${this.toggleSaving}>Save</button>
      ${this.menu()}
    </div>
    ${
      this.isSaving
        ? html`<ask-save-form .tab=${this.tabs.tab} @saved=${this.onSaved} @cancelled=${this.toggleSaving}></ask-save-form>`
        : nothing
    }`;
  }

  private dateField(): TemplateResult {
    const choose = ({ target }: Event): void => {
      this.run.asOf = (target as HTMLInputElement).value;
    };
    if (!this.isDated && this.run.asOf === '')
      return html`<button type="button" class="quiet" aria-expanded="false" @click=${this.chooseDate}>As of now</button>`;
    return html`<label class="inline">As of <input type="datetime-local" step="1" title="Empty: now"
      .value=${this.run.asOf} @change=${choose}></label>`;
  }

  private chooseDate(): void {
    this.isDated = true;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('input[type="datetime-local"]')?.focus());
  }

  /** Returns a summary of the result, which screen readers announce when the query ends. */
  private summary(): string {
    const { state } = this.run;
    if (state.is === 'idle') return matchMedia('(hover: none)').matches ? '' : 'Ctrl+Enter also runs it.';
    return state.is === 'refused' && this.isOld ? '' : outcomeOf(state);
  }

  /** True if the result is of a query that was edited since. */
  private get isOld(): boolean {
    return 'query' in this.run.state && this.run.state.query !== this.tabs.tab.query;
  }

  private outcome(): TemplateResult | typeof nothing {
    const { state } = this.run;
    if (state.is === 'refused' && !this.isOld)
      return html`<p class="problem" role="alert">${state.status === 404 ? switchedOff : state.message}</p>`;
    if (state.is !== 'answered') return nothing;
    // Each tab remembers the selected view of its result.
    return html`${keyed(
      this.tabs.tab.id,
      html`<ask-results .answer=${state.answer} .chosen=${this.run.view}
        @choose=${this.onView}></ask-results>`,
    )}`;
  }

  private onView({ detail }: CustomEvent<ResultView>): void {
    this.run.view = detail;
  }

  /** @param isExplained true to show the plan instead of the result */
  private start(isExplained = false): void {
    const { query } = this.tabs.tab;
    if (query.trim() === '') notify('Write a query, or open an example.', 'bad');
    else void this.runOf(this.run, query, isExplained);
  }

  private async runOf(run: QueryRun, query: string, isExplained: boolean): Promise<void> {
    await run.start(query, isExplained);
    const { state } = run;
    // If the run was replaced by a later one, its outcome is not recorded.
    if (state.is !== 'running' && (!('query' in state) || state.query === query)) record(query, outcomeOf(state));
  }

  private openExample(name: string, query: string): void {
    if (isUntouched(this.tabs.tab.query) && this.run.state.is === 'idle') this.tabs.change({ query, name });
    else this.tabs.open(query, name);
    this.querySelector<HTMLDetailsElement>('details.examples')!.open = false;
    this.start();
    // The panel gets the focus: the editor would unfold and push the result out of sight.
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('#query-panel')?.focus());
  }

  private onPast({ detail }: CustomEvent<string>): void {
    this.openQuery(detail);
    this.focusEditor();
  }

  private async onStored({ detail }: CustomEvent<string>): Promise<void> {
    await this.openSaved(detail);
    this.focusEditor();
  }

  private focusEditor(): void {
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('quad-editor')?.focus());
  }

  private focusTab(): void {
    void this.updateComplete.then(() =>
      this.querySelector<HTMLElement>(`#tab-${this.tabs.tab.id}, #query-panel .opens`)?.focus(),
    );
  }

  private close(): void {
    this.run.end();
    this.tabs.close();
  }

  private undo(): void {
    this.tabs.undo();
    this.focusTab();
  }

  private beginRenaming(): void {
    this.renamed = this.tabs.tab.id;
    void this.updateComplete.then(() => this.querySelector<HTMLInputElement>('input[name="name"]')?.select());
  }

  private endRenaming(): void {
    this.renamed = undefined;
    this.focusTab();
  }

  private rename(event: SubmitEvent): void {
    const name = submitted(event).text('name');
    if (name !== '') this.tabs.change({ name });
    this.endRenaming();
  }

  private toggleSaving(): void {
    this.isSaving = !this.isSaving;
  }

  private onSaved({ detail }: CustomEvent<Saved>): void {
    this.tabs.change({ saved: detail, name: shortName(detail.iri) });
    this.isSaving = false;
    notify(`The query is saved. ${detail.iri}?run runs it.`);
  }

  private share(): Promise<boolean> {
    const link = `${storageUri}app${placeHref('ask', linkOf(this.tabs.tab))}`;
    return this.attempt(
      () => navigator.clipboard.writeText(link),
      'The link is copied. It opens the query without running it.',
    );
  }
}
