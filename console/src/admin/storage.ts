/** Status of the storage: space, versions and settings. */
import { html, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { executable, Page, scrollTable } from '../frame/page.js';
import { refreshButton } from '../frame/refresh.js';
import { readStatus, type Status } from '../storage/controller.js';
import { featureList, featuresOf } from '../storage/features.js';
import { dateText, sizeText } from '../storage/names.js';

function indexText({ quads = 0, memory_bytes, changed_graphs, building, build_seconds }: Status['index']): string {
  const build = building ? `being built for ${durationText(build_seconds ?? 0)}` : 'built at the next query';
  if (quads === 0) return `none, ${build}`;
  const changes = `${changed_graphs} graphs changed since${building ? `, ${build}` : ''}`;
  return `${quads} quads, ${sizeText(memory_bytes ?? 0)} in memory, ${changes}`;
}

@customElement('admin-storage')
export class AdminStorage extends Page {
  @state() private status: Status | 'hidden' | undefined;
  @state() private all = false;

  protected override load(): Promise<void> {
    return this.reading(async () => {
      this.status = (await readStatus()) ?? 'hidden';
    });
  }

  protected override render(): TemplateResult {
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (!this.status) return html`<p>Loading …</p>`;
    if (this.status === 'hidden') return html`<p class="empty">You need control of this storage to see its status.</p>`;
    const { status } = this;
    return html`
      <h2 class="visually-hidden">Status</h2>
      ${status.lastBackup === undefined ? html`<p class="caution"><strong>No backup yet.</strong> Nothing protects this data. Run <code>${executable} backup DIR</code> on the server.</p>` : ''}
      <dl class="tiles">
        ${tile('Used', sizeText(status.bytes), status.quotaBytes > 0 ? html`of ${sizeText(status.quotaBytes)} <meter min="0" max=${status.quotaBytes} .value=${status.bytes} aria-label="Room used"></meter>` : 'no quota is set')}
        ${tile('Items', status.resources.toLocaleString(), 'including folders and the trash')}
        ${status.freeBytes === undefined ? '' : tile('Free on the disk', sizeText(status.freeBytes), 'shared with other programs')}
      </dl>
      <div class="row between figures"><details><summary>More figures</summary><dl class="facts">
        <dt>Triples</dt><dd>${status.triples.toLocaleString()}, including those of metadata</dd>
        ${status.lastBackup === undefined ? '' : html`<dt>Last backup</dt><dd>${dateText(status.lastBackup)}</dd>`}
        ${status.queries?.running === undefined ? '' : html`<dt>Queries</dt><dd>${status.queries.running} running, ${status.queries.waiting} waiting</dd>`}
        ${status.index.quads === undefined ? '' : html`<dt>Index for queries</dt><dd>${indexText(status.index)}</dd>`}
        ${status.deletedCanReturn ? html`<dt>LevelDB</dt><dd>has a defect that can bring deleted data back. Run <code>${executable} leveldb --compile</code> and restart the server.</dd>` : ''}
        <dt>Runs for</dt><dd>${durationText(status.uptimeSeconds)}</dd>
        <dt>Quadpod</dt><dd>${status.version}</dd>
        <dt>Node.js</dt><dd>${status.node}</dd>
      </dl></details>${refreshButton(() => this.load())}</div>
      ${featureList(featuresOf(status))}
      ${this.renderSettings(status)}`;
  }

  private renderSettings({ settings }: Status): TemplateResult {
    const shown = this.all ? settings : settings.filter(({ source }) => isSet(source));
    const count = settings.filter(({ source }) => isSet(source)).length;
    return html`<details class="card"><summary><h2>Settings in use (${count})</h2></summary>
      <label class="inline"><input type="checkbox" .checked=${this.all} @change=${(event: Event) => {
        this.all = (event.target as HTMLInputElement).checked;
      }}> Also those of the settings file and the defaults</label>
      ${
        shown.length === 0
          ? html`<p class="empty">No settings from the environment or flags. Select the box to see all settings.</p>`
          : scrollTable(
              'Settings',
              ['Setting', 'Value', 'From'],
              shown.map(
                ({ name, doc, value, source }) => html`<tr>
                  <th scope="row"><code>${name}</code><br><span class="soft note">${doc}</span></th>
                  <td>${value === undefined ? html`<em>kept secret</em>` : html`<code>${JSON.stringify(value)}</code>`}</td>
                  <td>${source}</td>
                </tr>`,
              ),
            )
      }</details>`;
  }
}

const tile = (name: string, value: string, note: unknown): TemplateResult =>
  html`<div class="card"><dt>${name}</dt><dd>${value}</dd><dd class="note">${note}</dd></div>`;

/** Returns true if a setting was set. The settings file does not count: it contains every setting, most with the default. */
const isSet = (source: string): boolean => /^(?:environment|flag) /.test(source);

function durationText(seconds: number): string {
  const whole = (unit: number): number => Math.floor(seconds / unit);
  const [days, hours, minutes] = [whole(86_400), whole(3600) % 24, whole(60) % 60];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min` : `${seconds} s`;
}
