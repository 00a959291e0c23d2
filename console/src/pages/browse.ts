/** Containers: list, create, upload, delete. */
import '../frame/access-denied.js';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { createMember, deleteMember, type Kind, suggestedName, trashMember } from '../browse/create.js';
import { ContainerListing } from '../browse/listing.js';
import type { MovingRow, Selecting } from '../browse/rows.js';
import '../browse/rows.js';
import { dragType, iriOfPath, moveMembers } from '../browse/move.js';
import { confirmed } from '../frame/confirm.js';
import { notify } from '../frame/notice.js';
import { crumbs, headingOf, openHref, Page, placeHref, submitted } from '../frame/page.js';
import { onSession, storageUri, who } from '../session/session.js';
import { loadShapeActions } from '../shapes/offered.js';
import { messageOf, Refusal } from '../storage/api.js';
import { type Rights, rightsOn } from '../storage/controller.js';
import { download } from '../storage/download.js';
import { decoded, isContainer, shortName } from '../storage/names.js';
import { trashDays } from '../storage/trash.js';
import { type Dropped, readDrop, readPicked, uploadsElsewhere, uploadsTo } from '../upload/queue.js';

@customElement('page-browse')
export class BrowsePage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private listing: ContainerListing | undefined;
  @state() private selected: ReadonlySet<string> = new Set();
  @state() private isTarget = false;
  @state() private rights: Rights = {};
  /** The storage has shapes, and their links are loaded. */
  @state() private hasShapes = false;
  /** The user is signed in, is not a controller, and is at the root. Absent while the permissions are read. */
  @state() private isGuest: boolean | undefined;
  @state() private deleting: { readonly deleted: number; readonly ending: AbortController } | undefined;
  private searchTimer = 0;

  constructor() {
    super();
    onSession(() => this.reload());
    addEventListener('uploaded', () => this.reload());
  }

  private get at(): string {
    return this.parameters.get('at') ?? storageUri;
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (this.at.startsWith(storageUri) && !isContainer(this.at)) location.replace(openHref(this.at));
    else if (changed.has('parameters') || this.listing?.at !== this.at) this.reload();
    this.follow(this.listing);
  }

  private reload(): void {
    this.listing?.close();
    const { order = undefined, at } = this.listing ?? {};
    this.listing = new ContainerListing(this.at, at === this.at ? order : undefined);
    this.selected = new Set();
    this.isGuest = undefined;
    const filter = this.querySelector<HTMLInputElement>('.search input');
    if (filter) filter.value = '';
    clearTimeout(this.searchTimer);
    void this.readRights();
  }

  private async readRights(): Promise<void> {
    const { at } = this;
    // If this fails, the listing fails too and shows the error.
    const rights = await rightsOn(at).catch(() => undefined);
    if (at !== this.at) return;
    this.rights = rights ?? {};
    this.isGuest = rights !== undefined && !rights.share && at === storageUri && who().kind === 'subject';
    if (this.isGuest) await this.attempt(() => import('../sharing/shared-with.js'));
    await this.attempt(async () => {
      this.hasShapes = await loadShapeActions();
    });
  }

  protected override render(): TemplateResult {
    const { at, listing, isGuest } = this;
    const { failure } = listing ?? {};
    // The start page of a guest is what is shared.
    const isRefused = failure instanceof Refusal && [403, 404].includes(failure.status);
    return html`
      ${crumbs(at)}
      <h1>${headingOf(at)}</h1>
      ${
        failure
          ? isRefused && isGuest !== false
            ? nothing
            : html`<quad-refused .iri=${at} .why=${failure}></quad-refused>`
          : html`${this.actions()}<quad-uploads .queue=${uploadsTo(at)}></quad-uploads>${uploadsElsewhere(at).map(
              (iri) => html`<p class="soft">Uploading files to <a href=${openHref(iri)}>${headingOf(iri)}</a>.</p>`,
            )}${this.content()}`
      }
      ${isGuest ? html`<shared-with-me ?isRefused=${isRefused}></shared-with-me>` : nothing}
    `;
  }

  private actions(): TemplateResult {
    const { append, share, write } = this.rights;
    return html`<div class="row">
      ${
        append
          ? html`<button type="button" @click=${() => this.dialog?.showModal()}>New …</button>
              <label class="button">Add files<input class="visually-hidden" type="file" multiple @change=${this.picked} /></label>
              <label class="button">Add a folder<input class="visually-hidden" type="file" webkitdirectory @change=${this.picked} /></label>`
          : nothing
      }
      ${share ? html`<a class="button" href=${placeHref('sharing', { at: this.at })}>Share</a>` : nothing}
      ${this.hasShapes ? html`<shape-actions .iri=${this.at} .creates=${append ?? false} .links=${write ?? false}></shape-actions>` : nothing}
      ${share && this.at === storageUri ? html`<a class="button" href=${placeHref('trash')}>Trash</a>` : nothing}
      <label class="inline search">
        <span class="visually-hidden">Filter by name</span>
        <input type="search" placeholder="Filter by name" @input=${this.look} />
      </label>
    </div>
    ${this.newDialog()}`;
  }

  private content(): TemplateResult {
    const { listing } = this;
    if (!listing?.loaded) return html`<p class="soft">Loading …</p>`;
    const isEmpty = listing.total === 0;
    return html`<div
      class=${this.isTarget ? 'drop over' : 'drop'}
      @dragover=${this.dragged}
      @dragleave=${() => {
        this.isTarget = false;
      }}
      @drop=${this.dropped}
    >
      ${isEmpty ? this.empty() : this.members(listing)}
    </div>`;
  }

  private empty(): TemplateResult {
    return html`<div class="empty">
      <p>This folder is empty, or you are not allowed to see its members.</p>
      ${this.rights.append ? html`<p>Drop files or folders here, or choose “New …”. Turtle, JSON-LD and RDF/XML become graphs that you can query.</p>` : nothing}
    </div>`;
  }

  private members(listing: ContainerListing): TemplateResult {
    const count = listing.length.toLocaleString();
    return html`
      <p role="status" class="soft">
        ${listing.isFiltered ? `${count} of ${listing.total.toLocaleString()} have that name` : `${count} ${listing.total === 1 ? 'member' : 'members'}`}${
          listing.searched === undefined
            ? ''
            : `, ${listing.isFiltered ? 'looking on' : 'sorting'} (${listing.searched.toLocaleString()} so far)`
        }
      </p>
      ${this.deleting ? this.renderDeleting(this.deleting) : this.selected.size > 0 ? this.selection() : nothing}
      <div class="with-preview"><quad-rows .listing=${listing} .selected=${this.selected} ?isMovable=${this.mayChange} @select-members=${this.select} @move-members=${this.moved}></quad-rows>${this.preview()}</div>
    `;
  }

  private selection(): TemplateResult {
    const files = [...this.selected].filter((iri) => !isContainer(iri));
    if (files.length < this.selected.size) void import('../browse/folder-size.js');
    return html`<div class="row" role="group" aria-label="Selected">
      <span>${this.selected.size.toLocaleString()} selected</span>
      ${files.length > 0 ? html`<button type="button" @click=${() => this.downloadAll(files)}>Download ${files.length === 1 ? '' : `${files.length} files`}</button>` : nothing}
      <folder-size .selected=${this.selected}></folder-size>
      ${this.mayChange ? html`<button type="button" @click=${() => this.querySelector<HTMLDialogElement>('.move')?.showModal()}>${this.selected.size === 1 ? 'Rename or move …' : 'Move …'}</button>` : nothing}
      ${this.mayChange ? html`<button type="button" class="danger" @click=${this.removeSelected}>Delete</button>` : nothing}
      <button type="button" @click=${() => {
        this.selected = new Set();
      }}>Clear selection</button>
    </div>${this.moveDialog()}`;
  }

  private renderDeleting({ deleted, ending }: NonNullable<BrowsePage['deleting']>): TemplateResult {
    return html`<div class="row"><progress aria-label="Deleting"></progress><span role="status">Deleting: ${deleted.toLocaleString()} deleted</span>
      <button type="button" @click=${() => ending.abort()}>Stop</button></div>`;
  }

  /** The selected data resource, if it is the only selected member. */
  private preview(): TemplateResult | typeof nothing {
    const [iri = '/'] = this.selected;
    if (this.selected.size !== 1 || isContainer(iri)) return nothing;
    void import('../browse/preview.js');
    return html`<browse-preview .iri=${iri}></browse-preview>`;
  }

  private get mayChange(): boolean {
    return (this.rights.append || this.rights.write) ?? false;
  }

  private moveDialog(): TemplateResult {
    const [only = ''] = this.selected;
    const isOne = this.selected.size === 1;
    const path = decoded((isOne ? only.replace(/\/$/, '') : this.at).slice(storageUri.length));
    return html`<dialog class="move" aria-labelledby="move-title">
      <form method="dialog" @submit=${this.moveSelected}>
        <h2 id="move-title">Move ${isOne ? shortName(only) : `${this.selected.size} members`}</h2>
        <label>New path <input name="path" required autocomplete="off" spellcheck="false" .value=${path} /></label>
        <p class="soft">${isOne ? 'The new name with its folders. ' : ''}A path that ends in a slash is a folder to move into.
          Links to the old name in other resources stay and lead nowhere.</p>
        <div class="row">
          <button class="primary">Move</button>
          <button type="button" @click=${() => this.querySelector<HTMLDialogElement>('.move')?.close()}>Cancel</button>
        </div>
      </form>
    </dialog>`;
  }

  private async moveSelected(event: SubmitEvent): Promise<void> {
    const path = submitted(event).text('path');
    const iris = [...this.selected];
    const close = (): void => this.querySelector<HTMLDialogElement>('.move')?.close();
    await this.attempt(async () => {
      const place = iriOfPath(storageUri, path);
      if (iris.length > 1 && !isContainer(place))
        throw new Error('To move several members, enter a folder: a path that ends in a slash.');
      // Some of several members may be moved before an error, so the listing is read again.
      if (iris.length > 1) {
        close();
        return this.move(iris, place);
      }
      await moveMembers(iris, place);
      close();
      this.finishMove(iris);
    });
  }

  private readonly moved = ({ detail: { iris, place } }: CustomEvent<MovingRow>): Promise<void> =>
    this.move(iris, place);

  private async move(iris: readonly string[], place: string): Promise<void> {
    const isDone = await this.attempt(() => moveMembers(iris, place));
    if (isDone) this.finishMove(iris);
    else this.reload();
  }

  private finishMove(iris: readonly string[]): void {
    notify(`${iris.length === 1 ? `“${shortName(iris[0]!)}”` : `${iris.length} members`} moved.`);
    this.reload();
  }

  private newDialog(): TemplateResult {
    return html`<dialog class="new" aria-labelledby="new-title">
      <form method="dialog" @submit=${this.make}>
        <h2 id="new-title">New in ${shortName(this.at)}</h2>
        <label>What
          <select name="kind">
            <option value="container">Folder (container)</option>
            <option value="turtle">RDF document (Turtle)</option>
            <option value="json">JSON document</option>
            <option value="text">Text</option>
          </select>
        </label>
        <label>Name <input name="name" required maxlength="200" autocomplete="off" /></label>
        <p class="soft">A name is part of the address. If you move it later, links to it lead nowhere.</p>
        <div class="row">
          <button class="primary" value="make">Create</button>
          <button type="button" @click=${() => this.dialog?.close()}>Cancel</button>
        </div>
      </form>
    </dialog>`;
  }

  private get dialog(): HTMLDialogElement | null {
    return this.querySelector('dialog.new');
  }

  private async make(event: SubmitEvent): Promise<void> {
    const { form, text } = submitted(event);
    const kind = text('kind') as Kind;
    let made = '';
    const succeeded = await this.attempt(async () => {
      made = await createMember(this.at, kind, suggestedName(kind, text('name')));
    });
    if (!succeeded) return;
    this.dialog?.close();
    form.reset();
    notify(`${shortName(made)} is created.`);
    location.hash = openHref(made);
  }

  private readonly select = (event: CustomEvent<Selecting>): void => {
    const { members, isOn } = event.detail;
    const selected = new Set(this.selected);
    for (const { iri } of members)
      if (isOn) selected.add(iri);
      else selected.delete(iri);
    this.selected = selected;
  };

  private async downloadAll(iris: readonly string[]): Promise<void> {
    for (const iri of iris) {
      if (!(await this.attempt(() => download(iri)))) return;
      // Browsers drop simultaneous downloads.
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  }

  private async removeSelected(): Promise<void> {
    const chosen = [...this.selected];
    const containers = chosen.filter(isContainer).length;
    const goes =
      containers > 0
        ? ' with everything in them, their metadata and their access rules'
        : ' with metadata and access rules';
    const what = chosen.length === 1 ? `“${shortName(chosen[0]!)}”` : `${chosen.length} members`;
    let days: number | undefined;
    const isKnown = await this.attempt(async () => {
      days = await trashDays();
    });
    if (!isKnown) return;
    const text =
      days === undefined
        ? `${what} will be deleted${goes}. This cannot be undone.`
        : `${what} will move to the trash${goes}. Owners can restore it for ${days} days.`;
    if (!(await confirmed({ title: 'Delete', text, proceed: `Delete ${what}` }))) return;
    const refusals: string[] = [];
    const ending = new AbortController();
    this.deleting = { deleted: 0, ending };
    const told = (count: number): void => {
      this.deleting = { ending, deleted: this.deleting!.deleted + count };
    };
    for (const iri of chosen)
      try {
        const work = { signal: ending.signal, told };
        const refusal = await (days === undefined ? deleteMember(iri, work) : trashMember(iri, work));
        if (refusal) refusals.push(`${shortName(iri)}: ${refusal.message}`);
      } catch (error) {
        if (ending.signal.aborted) break;
        refusals.push(`${shortName(iri)}: ${messageOf(error)}`);
      }
    this.deleting = undefined;
    if (ending.signal.aborted) notify('Stopped. Deleted resources stay deleted.');
    else if (refusals.length > 0) notify(refusals.slice(0, 5).join(' '), 'bad');
    else notify(`${what} deleted.`);
    this.reload();
  }

  private readonly look = (event: Event): void => {
    const text = (event.target as HTMLInputElement).value;
    clearTimeout(this.searchTimer);
    this.searchTimer = window.setTimeout(() => void this.listing?.search(text), 200);
  };

  private readonly picked = async (event: Event): Promise<void> => {
    const input = event.target as HTMLInputElement;
    if (input.files) await this.upload(readPicked(input.files));
    input.value = '';
  };

  private readonly dragged = (event: DragEvent): void => {
    if (!this.rights.append || event.dataTransfer?.types.includes(dragType)) return;
    event.preventDefault();
    this.isTarget = true;
  };

  private readonly dropped = (event: DragEvent): void => {
    event.preventDefault();
    this.isTarget = false;
    if (!event.dataTransfer || !this.rights.append) return;
    const found = readDrop(event.dataTransfer);
    void this.attempt(async () => this.upload(await found));
  };

  private async upload(dropped: Dropped): Promise<void> {
    await import('../upload/panel.js');
    uploadsTo(this.at).add(this.at, dropped);
  }
}
