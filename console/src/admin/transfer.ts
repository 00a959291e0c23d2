/** In and out: a file or ZIP is imported, with its progress and its report, and a container is exported. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { notify } from '../frame/notice.js';
import { Page, scrollTable, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { json, succeed, systemUrl } from '../storage/api.js';
import { controls } from '../storage/controller.js';
import { saveAs } from '../storage/download.js';
import { dateText, sizeText } from '../storage/names.js';

interface Line {
  readonly source: string;
  readonly why: string;
}

/** An import, as the server tells it. */
interface Import {
  readonly id: string;
  readonly name: string;
  readonly into: string;
  readonly began: string;
  readonly status: 'running' | 'done' | 'failed' | 'interrupted';
  readonly bytes: number;
  readonly total?: number;
  readonly quads: number;
  readonly created: number;
  readonly replaced: number;
  readonly merged: number;
  readonly skipped: number;
  readonly leftOut: number;
  readonly failure?: string;
  readonly report?: readonly Line[];
  /** Whom it names in lists of access and grants, taken or not. */
  readonly access?: readonly Line[];
}

const importFormats: Readonly<Record<string, string>> = {
  '': 'Find out from the name',
  nquads: 'N-Quads',
  trig: 'TriG',
  file: 'One RDF file',
  zip: 'ZIP of files',
  css: 'Data folder of Community Solid Server (ZIP)',
  bagit: 'BagIt (ZIP)',
  'ro-crate': 'RO-Crate (ZIP)',
  archive: 'Archive of Quadpod',
};
const exportFormats: Readonly<Record<string, string>> = {
  zip: 'ZIP of files, Turtle for RDF',
  nquads: 'N-Quads',
  trig: 'TriG',
  archive: 'Archive of Quadpod, with everything',
  css: 'Data folder of Community Solid Server (ZIP)',
  bagit: 'BagIt (ZIP)',
  'ro-crate': 'RO-Crate (ZIP)',
};
const conflicts: Readonly<Record<string, string>> = {
  fail: 'end there',
  skip: 'keep what is there',
  replace: 'replace what is there',
};

const pollMs = 700;

@customElement('admin-transfer')
export class AdminTransfer extends Page {
  @state() private imports: readonly Import[] | undefined;
  @state() private shown: Import | undefined;
  @state() private busy: '' | 'sending' | 'exporting' = '';
  @state() private controller: boolean | undefined;
  /** Of an export: what has arrived, in bytes. */
  @state() private arrived = 0;
  private ending = new AbortController();
  private timer: number | undefined;

  protected override async load(): Promise<void> {
    await this.attempt(async () => {
      this.controller = await controls();
      if (this.controller) await this.readImports();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  private async readImports(): Promise<void> {
    clearTimeout(this.timer);
    this.imports = (await json<{ imports: Import[] }>(await systemUrl('imports'))).imports;
    if (this.shown) this.shown = await json<Import>(await systemUrl(`imports/${this.shown.id}`));
    const runs = this.imports.some(({ status }) => status === 'running');
    if (runs && this.isConnected)
      this.timer = window.setTimeout(() => void this.attempt(() => this.readImports()), pollMs);
  }

  protected override render(): TemplateResult {
    return html`${this.renderExport()}${
      this.controller === undefined
        ? nothing
        : this.controller
          ? html`${this.renderForm()}${this.renderImports()}`
          : html`<p class="empty">Only who controls the storage imports into it.</p>`
    }`;
  }

  private renderExport(): TemplateResult {
    return html`
      <h2>Take it home</h2>
      <form class="card" @submit=${this.export}>
        <label>Container <input name="of" type="url" required .value=${storageUri} spellcheck="false"></label>
        <label>As <select name="format">${options(exportFormats)}</select></label>
        <p class="note soft">What you may read of it. “quadpod export” does the same for what is too large for a browser.</p>
        <button class="primary" ?disabled=${this.busy !== ''}>${this.busy === 'exporting' ? 'Exporting …' : 'Export'}</button>
        ${
          this.busy === 'exporting'
            ? html`<div class="row"><progress aria-label="Exporting"></progress><span>${sizeText(this.arrived)}</span>
          <button type="button" @click=${() => this.ending.abort()}>Stop</button></div>`
            : nothing
        }
      </form>`;
  }

  private renderForm(): TemplateResult {
    return html`
      <h2>Load data</h2>
      <form class="card" @submit=${this.import}>
        <label>File or ZIP <input name="file" type="file" required></label>
        <label>Into the container <input name="into" type="url" required .value=${storageUri} spellcheck="false"></label>
        <label>Format <select name="format">${options(importFormats)}</select></label>
        <label>Where a resource is there already <select name="conflict">${options(conflicts)}</select></label>
        <label>Replace the beginning of IRIs (OLD=NEW; may be empty) <input name="rewrite" spellcheck="false" placeholder="https://old.example/=${storageUri}"></label>
        <label class="inline"><input type="checkbox" name="acls"> Take its access control lists, which let in whom they name</label>
        <label class="inline"><input type="checkbox" name="grants"> Take its grants, requests and subscriptions for what lies below the container</label>
        <label class="inline"><input type="checkbox" name="dry"> Only say what would happen</label>
        <button class="primary" ?disabled=${this.busy !== ''}>${this.busy === 'sending' ? 'Sending …' : 'Import'}</button>
      </form>`;
  }

  private renderImports(): TemplateResult {
    const { imports = [] } = this;
    if (imports.length === 0) return html`<p class="empty">Nothing has been imported yet.</p>`;
    return html`
      <h2>Imports</h2>
      ${scrollTable(
        'Imports',
        ['File', 'Begun', 'How far', 'What came of it', html`<span class="hidden">Actions</span>`],
        imports.map((each) => this.renderImport(each)),
      )}
      <div role="status">${this.shown ? renderReport(this.shown) : nothing}</div>`;
  }

  private renderImport(each: Import): TemplateResult {
    const { id, name, into, began, status, bytes, total, created, replaced, merged, skipped, leftOut, quads } = each;
    const change = (method: 'POST' | 'DELETE', done: string) => () =>
      this.attempt(async () => {
        await succeed(method, await systemUrl(`imports/${id}`));
        if (method === 'DELETE' && this.shown?.id === id) this.shown = undefined;
        await this.readImports();
      }, done);
    return html`<tr>
      <th scope="row">${name}<br><span class="soft note iri">${into}</span></th>
      <td>${dateText(began)}</td>
      <td>${
        status === 'running'
          ? html`<progress aria-label=${name} max=${total ?? 1} value=${total === undefined ? 0 : bytes}></progress><br>${sizeText(bytes)}${total === undefined ? '' : ` of ${sizeText(total)}`}${timeLeft(each)}`
          : status === 'done' && leftOut > 0
            ? 'Done, but for what was left out'
            : words[status]
      }</td>
      <td>${created} created, ${replaced + merged} changed, ${skipped} kept, ${leftOut} left out; ${quads} triples</td>
      <td><div class="row">
        <button type="button" @click=${() => this.attempt(() => this.show(id))}>Report</button>
        ${status === 'running' ? html`<button type="button" @click=${change('DELETE', 'The import was stopped. What was stored stays.')}>Stop</button>` : nothing}
        ${status === 'failed' || status === 'interrupted' ? html`<button type="button" @click=${change('POST', 'The import goes on.')}>Go on</button>` : nothing}
        ${status === 'running' ? nothing : html`<button type="button" @click=${change('DELETE', 'The import was taken off the list.')}>Forget</button>`}
      </div></td>
    </tr>`;
  }

  private async show(id: string): Promise<void> {
    this.shown = await json<Import>(await systemUrl(`imports/${id}`));
  }

  private async import(event: SubmitEvent): Promise<void> {
    const { data, text } = submitted(event);
    const file = data.get('file') as File;
    const query = new URLSearchParams({ name: file.name, into: text('into'), 'on-conflict': text('conflict') });
    if (text('format')) query.set('format', text('format'));
    if (text('rewrite')) query.set('rewrite', text('rewrite'));
    for (const name of ['acls', 'grants']) if (data.has(name)) query.set(name, 'yes');
    if (data.has('dry')) query.set('dry-run', '');
    this.busy = 'sending';
    await this.attempt(async () => {
      const headers = { 'Content-Type': 'application/octet-stream' };
      const begun = await succeed('POST', await systemUrl(`import?${query}`), { headers, body: file });
      this.shown = (await begun.json()) as Import;
      await this.readImports();
    });
    this.busy = '';
  }

  private async export(event: SubmitEvent): Promise<void> {
    const { text } = submitted(event);
    const query = new URLSearchParams({ of: text('of'), format: text('format') });
    this.busy = 'exporting';
    this.arrived = 0;
    this.ending = new AbortController();
    const { signal } = this.ending;
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, to) => {
        this.arrived += chunk.length;
        to.enqueue(chunk);
      },
    });
    await this.attempt(async () => {
      const answer = await succeed('GET', await systemUrl(`export?${query}`), { signal });
      const name = /filename="([^"]*)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] ?? 'export';
      const type = answer.headers.get('Content-Type') ?? '';
      saveAs(new Blob([await new Response(answer.body!.pipeThrough(counting)).blob()], { type }), name);
    }, 'The export is saved.');
    if (signal.aborted) notify('The export was stopped.');
    this.busy = '';
  }
}

const words = { done: 'Done', failed: 'Failed', interrupted: 'Interrupted' } as const;

const options = (of: Readonly<Record<string, string>>): TemplateResult[] =>
  Object.entries(of).map(([value, text]) => html`<option value=${value}>${text}</option>`);

function timeLeft({ began, bytes, total }: Import): string {
  if (total === undefined || bytes === 0 || bytes >= total) return '';
  const seconds = Math.ceil((((Date.now() - Date.parse(began)) / bytes) * (total - bytes)) / 1000);
  return seconds < 90 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
}

const lines = (what: string, shown: readonly Line[], count = shown.length): TemplateResult | typeof nothing =>
  shown.length === 0
    ? nothing
    : html`<p>${what}${count > shown.length ? html` (the first ${shown.length} of ${count})` : nothing}:</p>
        <dl class="facts">${shown.map(({ source, why }) => html`<dt>${source}</dt><dd>${why}</dd>`)}</dl>`;

function renderReport(shown: Import): TemplateResult {
  const { name, status, failure, leftOut, report = [], access = [] } = shown;
  return html`<div class="card">
    <h3>${name}</h3>
    ${failure ? html`<p class="problem">${failure}</p>` : nothing}
    ${leftOut === 0 && status === 'done' ? html`<p>Everything was taken over.</p>` : nothing}
    ${lines('Left out', report, leftOut)}
    ${lines(access.length < 500 ? 'Whom its lists and grants name' : 'The first whom its lists and grants name', access)}
  </div>`;
}
