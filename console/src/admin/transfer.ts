/** Import of a file or ZIP with progress and report, and export of a container. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../browse/folder-field.js';
import { notify } from '../frame/notice.js';
import { executable, Page, scrollTable, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { json, succeed, systemUrl } from '../storage/api.js';
import { isController } from '../storage/controller.js';
import { saveAs } from '../storage/download.js';
import { dateText, sizeText } from '../storage/names.js';

interface Line {
  readonly source: string;
  readonly why: string;
}

/** An import as reported by the server. */
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
  /** Agents named in access control lists and grants, imported or not. */
  readonly access?: readonly Line[];
}

const importFormats: Readonly<Record<string, string>> = {
  '': 'Detect from the file name',
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
  fail: 'Stop and tell me',
  skip: 'Keep the existing item',
  replace: 'Replace the existing item',
};

const pollMs = 700;

@customElement('admin-transfer')
export class AdminTransfer extends Page {
  @state() private imports: readonly Import[] | undefined;
  @state() private shown: Import | undefined;
  @state() private busy: '' | 'sending' | 'exporting' = '';
  @state() private controller: boolean | undefined;
  /** Bytes of an export received so far. */
  @state() private arrived = 0;
  private ending = new AbortController();
  private timer: number | undefined;

  protected override async load(): Promise<void> {
    await this.attempt(async () => {
      this.controller = await isController();
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
          : html`<p class="empty">You need control of this storage to import.</p>`
    }`;
  }

  private renderExport(): TemplateResult {
    return html`
      <form class="card" @submit=${this.export}>
        <h2>Export</h2>
        <p class="soft">Download a folder as one file, to keep it, move it to another server, or publish it.</p>
        <folder-field field="of" label="Folder"></folder-field>
        <label>As <select name="format">${options(exportFormats)}</select></label>
        <p class="note soft">The export contains what you can read. For exports that are too large for a browser, use <code>${executable} export</code>.</p>
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
      <form class="card" @submit=${this.import}>
        <h2>Import</h2>
        <p class="soft">Add the content of a file. RDF becomes items that you can query.</p>
        <label>File or ZIP: choose it, or drop it here <input class="drop-file" name="file" type="file" required></label>
        <folder-field field="into" label="Into the folder"></folder-field>
        <label>If an item exists already <select name="conflict">${options(conflicts)}</select></label>
        <details class="pick"><summary>More options</summary>
        <label>Format <select name="format">${options(importFormats)}</select></label>
        <label>Replace the beginning of IRIs (optional, OLD=NEW) <input name="rewrite" spellcheck="false" placeholder="https://old.example/=${storageUri}"></label>
        <p class="options"><label class="inline"><input type="checkbox" name="acls"> Import access control lists (gives access to the people they name)</label>
        <label class="inline"><input type="checkbox" name="grants"> Import grants, requests and subscriptions for items in the folder</label>
        <label class="inline"><input type="checkbox" name="dry"> Dry run: report only</label></p></details>
        <button class="primary" ?disabled=${this.busy !== ''}>${this.busy === 'sending' ? 'Sending …' : 'Import'}</button>
      </form>`;
  }

  private renderImports(): TemplateResult {
    const { imports = [] } = this;
    if (imports.length === 0) return html`<p class="soft">No imports yet.</p>`;
    return html`
      <h2>Imports</h2>
      ${scrollTable(
        'Imports',
        ['File', 'Started', 'Progress', 'Result', 'Actions'],
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
            ? 'Done, with items left out'
            : words[status]
      }</td>
      <td>${created} created, ${replaced + merged} changed, ${skipped} kept, ${leftOut} left out; ${quads} triples</td>
      <td><div class="row">
        <button type="button" @click=${() => this.attempt(() => this.show(id))}>Report</button>
        ${status === 'running' ? html`<button type="button" @click=${change('DELETE', 'The import was stopped. Stored items remain.')}>Stop</button>` : nothing}
        ${status === 'failed' || status === 'interrupted' ? html`<button type="button" @click=${change('POST', 'The import continues.')}>Continue</button>` : nothing}
        ${status === 'running' ? nothing : html`<button type="button" @click=${change('DELETE', 'The import was removed from the list.')}>Remove</button>`}
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
    ${leftOut === 0 && status === 'done' ? html`<p>Everything was imported.</p>` : nothing}
    ${lines('Left out', report, leftOut)}
    ${lines(access.length < 500 ? 'Agents named in its lists and grants' : 'The first agents named in its lists and grants', access)}
  </div>`;
}
