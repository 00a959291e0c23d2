/** `<resource-delete>`: confirmation before a resource is deleted. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page } from '../frame/page.js';
import { messageOf, Refusal, succeed } from '../storage/api.js';
import { shortName } from '../storage/names.js';
import { isTooMuch, moveToTrash, trashDays } from '../storage/trash.js';

@customElement('resource-delete')
export class ResourceDelete extends Page {
  @property() iri = '';
  /** Entity tag of the version that the user saw. */
  @property() etag = '';
  @property({ type: Boolean }) hasAcl = false;
  @state() private isBusy = false;
  /** Days that the resource is kept in the trash. Absent: it is deleted permanently. */
  @state() private days: number | undefined;
  /** Entity tag of a newer version, after the dialog has warned of it. */
  @state() private newer: string | undefined;

  async ask(): Promise<void> {
    this.failure = '';
    this.newer = undefined;
    await this.reading(async () => {
      this.days = await trashDays();
    });
    this.querySelector('dialog')?.showModal();
  }

  protected override render(): TemplateResult {
    return html`<dialog aria-labelledby="delete-title">
      <h2 id="delete-title">Delete ${shortName(this.iri)}?</h2>
      ${
        this.days === undefined
          ? html`<p>These go with it, at once and for good:</p>`
          : html`<p>It moves to the trash, and owners can restore it for ${this.days} days. These go with it:</p>`
      }
      <ul>
        <li>its content,</li>
        <li>its metadata: the links and types declared for it${this.hasAcl ? ',' : '.'}</li>
        ${this.hasAcl ? html`<li>its own access rules. Rules of its folder stay.</li>` : nothing}
      </ul>
      <p>Links to it in other items stay and lead nowhere.</p>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : nothing}
      <div class="row">
        <button type="button" class="danger" ?disabled=${this.isBusy} @click=${this.carryOut}>${this.newer === undefined ? 'Delete' : 'Delete the changed version'}</button>
        <button type="button" autofocus @click=${this.close}>Keep it</button>
      </div>
    </dialog>`;
  }

  private readonly close = (): void => this.querySelector('dialog')?.close();

  private readonly carryOut = async (): Promise<void> => {
    this.isBusy = true;
    try {
      const etag = this.newer ?? this.etag;
      if (this.days !== undefined) await moveToTrash(this.iri, etag);
      else await succeed('DELETE', this.iri, { headers: { 'If-Match': etag } });
      this.close();
      this.dispatchEvent(new CustomEvent('deleted', { bubbles: true }));
    } catch (error) {
      await this.refused(error);
    } finally {
      this.isBusy = false;
    }
  };

  private async refused(error: unknown): Promise<void> {
    this.failure = messageOf(error);
    // Subtree too large for the trash: the dialog now asks for a permanent deletion.
    if (error instanceof Refusal && isTooMuch(error)) this.days = undefined;
    if (!(error instanceof Refusal) || error.status !== 412) return;
    try {
      const now = await succeed('HEAD', this.iri);
      this.newer = now.headers.get('ETag') ?? undefined;
      this.failure =
        'Another user changed this item since you opened it. Keep it and review the change, or delete it as it is now.';
    } catch (again) {
      this.failure = messageOf(again);
    }
  }
}
