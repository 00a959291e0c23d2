/** `<move-dialog>`: moves and renames members, with Undo. Fires `changed` with the members that stay selected. */
import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { live } from 'lit/directives/live.js';
import { notify } from '../frame/notice.js';
import { Page, submitted } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { decoded, isContainer, itemsText, memberNames, shortName } from '../storage/names.js';
import { iriOfPath, moveMembers } from './move.js';

@customElement('move-dialog')
export class MoveDialog extends Page {
  /** Container of the members. */
  @property() at = storageUri;
  @property({ attribute: false }) selected: ReadonlySet<string> = new Set();
  @state() private path = '';

  private get dialog(): HTMLDialogElement | null {
    return this.querySelector('dialog');
  }

  async show(): Promise<void> {
    void import('./folder-picker.js');
    this.path = this.pathIn(this.at);
    await this.updateComplete;
    this.dialog?.showModal();
  }

  /** Returns the path of the only selected member in a folder, or of the folder for several members. */
  private pathIn(folder: string): string {
    const [only = ''] = this.selected;
    const name = this.selected.size === 1 ? /[^/]*\/?$/.exec(only)![0].replace(/\/$/, '') : '';
    return decoded((folder + name).slice(storageUri.length));
  }

  protected override render(): TemplateResult {
    const [only = ''] = this.selected;
    const isOne = this.selected.size === 1;
    return html`<dialog class="move" aria-labelledby="move-title">
      <form method="dialog" @submit=${this.submit}>
        <h2 id="move-title">Move ${isOne ? shortName(only) : itemsText(this.selected.size)}</h2>
        <label>New path <input class="wide" name="path" required autocomplete="off" spellcheck="false" .value=${live(this.path)}
          @input=${(event: Event) => {
            this.path = (event.target as HTMLInputElement).value;
          }} /></label>
        <folder-picker legend="Or choose a folder:" .at=${this.at} @pick=${({ detail }: CustomEvent<string>) => {
          this.path = this.pathIn(detail);
        }}></folder-picker>
        <p class="soft">${isOne ? 'The new name with its folders. ' : ''}A path that ends in a slash is a folder to move into.
          Links to the old name in other items stay and lead nowhere.</p>
        <div class="row">
          <button class="primary">Move</button>
          <button type="button" @click=${() => this.dialog?.close()}>Cancel</button>
        </div>
      </form>
    </dialog>`;
  }

  private async submit(event: SubmitEvent): Promise<void> {
    const path = submitted(event).text('path');
    const iris = [...this.selected];
    await this.attempt(async () => {
      const place = iriOfPath(storageUri, path);
      if (iris.length > 1 && !isContainer(place))
        throw new Error('To move several items, enter a folder: a path that ends in a slash.');
      await this.move(iris, place);
    });
  }

  /** Moves members. After a refusal, members that were not moved stay selected, and the dialog stays open. @throws Refusal */
  async move(iris: readonly string[], place: string): Promise<void> {
    const moved = new Map<string, string>();
    try {
      await moveMembers(iris, place, (from, to) => moved.set(to, from));
    } catch (error) {
      if (moved.size > 0) this.announce(iris.slice(moved.size));
      throw error;
    }
    this.dialog?.close();
    this.announce([]);
    notify(`${memberNames(iris)} moved.`, 'good', { label: 'Undo', run: () => this.undo(moved) });
  }

  private async undo(moved: ReadonlyMap<string, string>): Promise<void> {
    const back = async (): Promise<void> => {
      for (const [to, from] of [...moved].reverse()) await moveMembers([to], from.replace(/\/$/, ''));
    };
    await this.attempt(back, 'Moved back.');
    this.announce([]);
  }

  private announce(detail: readonly string[]): void {
    this.dispatchEvent(new CustomEvent('changed', { detail }));
  }
}
