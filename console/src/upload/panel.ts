/** Upload panel: total progress, and a row for each upload that needs attention. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { sizeText } from '../storage/names.js';
import type { Upload, UploadQueue } from './queue.js';

/** Maximum count of rows. */
const maxShown = 50;
/** Labels of states, if they differ from the name of the state. */
const words: Partial<Record<Upload['state'], string>> = { conflict: 'exists already', kept: 'not replaced' };

@customElement('quad-uploads')
export class UploadPanel extends Page {
  @property({ attribute: false }) queue!: UploadQueue;

  // `follow` is called on each update, because the queue may be missing when the element is connected.
  protected override willUpdate(): void {
    this.follow(this.queue);
  }

  protected override render(): TemplateResult | typeof nothing {
    const { uploads } = this.queue;
    if (uploads.length === 0) return nothing;
    const count = (state: Upload['state']): number => uploads.filter((upload) => upload.state === state).length;
    const [done, failed, conflicts] = [count('done') + count('kept'), count('failed'), count('conflict')];
    const [left, cancelled] = [count('waiting') + count('sending'), count('cancelled')];
    // If all uploads were successful, only a short summary is shown.
    if (left + failed + conflicts + cancelled === 0)
      return html`<div class="uploads row" aria-label="Uploads">
        <span role="status">${done} of ${uploads.length} files done.</span>
        <button type="button" @click=${() => this.queue.clear()}>Close</button>
      </div>`;
    const bytes = uploads.reduce((sum, { file }) => sum + file.size, 0);
    const sent = uploads.reduce((sum, upload) => sum + (upload.state === 'kept' ? upload.file.size : upload.sent), 0);
    return html`
      <section class="card uploads" aria-label="Uploads">
        <h2>Uploads</h2>
        <p role="status">
          ${done} of ${uploads.length} files done${failed ? `, ${failed} failed` : ''}${conflicts ? `, ${conflicts} exist already` : ''}${cancelled ? `, ${cancelled} cancelled` : ''}.
          ${sizeText(sent)} of ${sizeText(bytes)}.
        </p>
        <progress aria-label="All uploads" max=${Math.max(1, bytes)} value=${sent}></progress>
        <div class="row">
          ${
            left > 0
              ? html`<button type="button" @click=${() => this.queue.pause(!this.queue.paused)}>${this.queue.paused ? 'Go on' : 'Pause'}</button>
                  <button type="button" @click=${() => this.queue.cancel()}>Cancel</button>`
              : nothing
          }
          ${failed + cancelled > 0 ? html`<button type="button" @click=${() => this.queue.retry()}>Try again</button>` : nothing}
          ${left === 0 ? html`<button type="button" @click=${() => this.queue.clear()}>Close the list</button>` : nothing}
        </div>
        ${conflicts > 0 && left === 0 ? this.question(conflicts) : nothing}
        ${this.list()}
      </section>
    `;
  }

  private question(count: number): TemplateResult {
    return html`<div class="question" role="alert">
      <p>${count === 1 ? 'One file exists already.' : `${count} files exist already.`} Everything else has arrived.</p>
      <div class="row">
        <button type="button" @click=${() => this.queue.settle(false)}>Keep what is there</button>
        <button type="button" class="danger" @click=${() => this.queue.settle(true)}>Replace ${count === 1 ? 'it' : 'all of them'}</button>
      </div>
    </div>`;
  }

  private list(): TemplateResult {
    const order: readonly Upload['state'][] = ['sending', 'failed', 'conflict', 'cancelled', 'waiting', 'kept', 'done'];
    const rank = new Map(order.map((state, index) => [state, index]));
    const sorted = [...this.queue.uploads].sort((a, b) => rank.get(a.state)! - rank.get(b.state)!);
    const more = sorted.length - maxShown;
    return html`<ul class="plain">
        ${sorted.slice(0, maxShown).map(
          (upload) => html`<li>
            <span class="grow">${upload.path}</span>
            ${
              upload.state === 'sending'
                ? html`<progress aria-label=${upload.path} max=${Math.max(1, upload.file.size)} value=${upload.sent}></progress>`
                : nothing
            }
            <span class=${upload.state === 'failed' ? 'failed' : 'soft'}>${words[upload.state] ?? upload.state}</span>
            ${upload.failure ? html`<span class="failed">${upload.failure}</span>` : nothing}
          </li>`,
        )}
      </ul>
      ${more > 0 ? html`<p class="soft">And ${more} more.</p>` : nothing}`;
  }
}
