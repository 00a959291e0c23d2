/** Page of a container: lists, creates, uploads and deletes members. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { createMember, type Kind, suggestedName } from '../browse/create.js';
import { ContainerListing } from '../browse/listing.js';
import type { MovingRow, RowKey, Selecting } from '../browse/rows.js';
import '../browse/rows.js';
import { dragType } from '../browse/move.js';
import type { MoveDialog } from '../browse/move-dialog.js';
import type { Removing } from '../browse/removal.js';
import { blank } from '../frame/blank.js';
import { notify } from '../frame/notice.js';
import { crumbs, headingOf, openHref, Page, placeHref, submitted } from '../frame/page.js';
import { onSession, storageUri, who } from '../session/session.js';
import { loadShapeActions } from '../shapes/offered.js';
import { Refusal } from '../storage/api.js';
import { type Rights, rightsOn } from '../storage/controller.js';
import { download } from '../storage/download.js';
import { isContainer, itemsText, shortName } from '../storage/names.js';
import { type Dropped, readDrop, readPicked, uploadsElsewhere, uploadsTo } from '../upload/queue.js';

/** First member of the container of the example (`../browse/example.ts`). */
const exampleMark = 'about-this-example.md';

@customElement('page-browse')
export class BrowsePage extends Page {
  @property({ attribute: false }) parameters = new URLSearchParams();
  @state() private listing: ContainerListing | undefined;
  @state() private selected: ReadonlySet<string> = new Set();
  @state() private isTarget = false;
  @state() private rights: Rights = {};
  /** True if the storage has shapes, and the module with their links is loaded. */
  @state() private hasShapes = false;
  /** True if the user is signed in, is not a controller, and is at the root. Absent while the permissions are read. */
  @state() private isGuest: boolean | undefined;
  @state() private removing: Removing | undefined;
  private searchTimer = 0;

  constructor() {
    super();
    onSession(() => this.reload());
    addEventListener('uploaded', () => this.reload());
    addEventListener('keydown', (event) => this.typed(event));
  }

  /** Moves the focus to the filter if a slash is typed outside of a field. */
  private typed(event: KeyboardEvent): void {
    const isField = (event.target as HTMLElement).closest?.(
      'input:not([type=checkbox]), textarea, select, dialog, [contenteditable]',
    );
    if (!this.isConnected || event.key !== '/' || event.ctrlKey || event.metaKey || isField) return;
    event.preventDefault();
    this.querySelector<HTMLInputElement>('.search input')?.focus();
  }

  private get at(): string {
    return this.parameters.get('at') ?? storageUri;
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (this.at.startsWith(storageUri) && !isContainer(this.at)) location.replace(openHref(this.at));
    else if (changed.has('parameters') || this.listing?.at !== this.at) this.reload();
    this.follow(this.listing);
  }

  /** @param selected IRIs of members that stay selected */
  private reload(selected: readonly string[] = []): void {
    this.listing?.close();
    const { order = undefined, at } = this.listing ?? {};
    this.listing = new ContainerListing(this.at, at === this.at ? order : undefined);
    this.selected = new Set(selected);
    this.isGuest = undefined;
    const filter = this.querySelector<HTMLInputElement>('.search input');
    if (filter) filter.value = '';
    clearTimeout(this.searchTimer);
    void this.readRights();
  }

  private async readRights(): Promise<void> {
    const { at } = this;
    // Loaded now, since the connection may be lost later.
    void import('../frame/access-denied.js');
    // If reading the permissions fails, the listing fails too and shows the error.
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
    // Guests see shared items instead of an error at the root.
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
    const { append, share } = this.rights;
    return html`<div class="row toolbar">
      ${
        append
          ? html`<button type="button" class="primary" @click=${() => this.dialog?.showModal()}>New …</button>
              <label class="button">Add files<input class="visually-hidden" type="file" multiple @change=${this.picked} /></label>`
          : nothing
      }
      ${share ? html`<a class="button only-wide" href=${placeHref('sharing', { at: this.at })}>Share</a>` : nothing}
      ${this.hasShapes || append || share ? this.menu() : nothing}
      <label class="inline search">
        <span class="visually-hidden">Filter by name</span>
        <input type="search" placeholder="Filter by name" @input=${this.look} />
      </label>
    </div>
    ${this.newDialog()}${this.mayChange ? html`<move-dialog .at=${this.at} .selected=${this.selected} @changed=${({ detail }: CustomEvent<readonly string[]>) => this.reload(detail)}></move-dialog>` : nothing}`;
  }

  /** Renders the menu of actions that are seldom needed. */
  private menu(): TemplateResult {
    const { append, share, write } = this.rights;
    const close = (event: Event): void => {
      const menu = event.currentTarget as HTMLDetailsElement;
      const { key } = event as KeyboardEvent;
      const to = (event as FocusEvent).relatedTarget as Node | null;
      if (event.type === 'keydown' ? key !== 'Escape' : menu.contains(to)) return;
      menu.open = false;
      if (key) menu.querySelector('summary')?.focus();
    };
    return html`<details class="menu" @keydown=${close} @focusout=${close}>
      <summary class="button" aria-label="More"><span class="only-wide">More</span><span class="only-small">⋯</span></summary>
      <div @click=${({ currentTarget }: Event) => (currentTarget as HTMLElement).closest('details')?.removeAttribute('open')} tabindex="-1">
        ${share ? html`<a class="button only-small" href=${placeHref('sharing', { at: this.at })}>Share</a>` : nothing}
        ${append ? html`<label class="button">Add a folder<input class="visually-hidden" type="file" webkitdirectory @change=${this.picked} /></label>` : nothing}
        ${this.hasShapes ? html`<shape-actions .iri=${this.at} .creates=${append ?? false} .links=${write ?? false}></shape-actions>` : nothing}
        ${share ? html`<a class="button" href=${placeHref('trash')}>Trash</a>` : nothing}
      </div>
    </details>`;
  }

  private content(): TemplateResult {
    const { listing } = this;
    if (!listing?.loaded) return html`<p class="soft">Loading …</p>`;
    // The trash is not counted, because it has a separate page.
    const isEmpty = listing.total === 0 || (listing.total === 1 && listing.row(0)?.iri === `${storageUri}.trash/`);
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
    const { share } = this.rights;
    if (share && this.at === storageUri) {
      void import('../browse/first-page.js');
      return html`<first-page @add-files=${() => this.querySelector<HTMLInputElement>('input[type=file]')?.click()}></first-page>`;
    }
    return blank({
      icon: 'folder',
      title: 'This folder is empty',
      text: this.rights.append
        ? 'Drop files or folders here, or choose “New …”. Turtle, JSON-LD and RDF/XML become graphs that you can query.'
        : share
          ? 'Nothing is in it.'
          : 'Or you are not allowed to see what is in it.',
    });
  }

  private members(listing: ContainerListing): TemplateResult {
    const count = listing.length.toLocaleString();
    return html`
      ${this.example(listing)}
      <div class="row between"><p role="status" class="soft">
        ${listing.isFiltered ? `${count} of ${listing.total.toLocaleString()} have that name` : itemsText(listing.total)}${
          listing.searched === undefined
            ? ''
            : `, ${listing.isFiltered ? 'looking on' : 'sorting'} (${listing.searched.toLocaleString()} so far)`
        }
      </p>${this.keys()}</div>
      ${this.removing ? this.renderRemoving(this.removing) : this.selected.size > 0 ? this.selection() : nothing}
      <div class="with-preview"><quad-rows .listing=${listing} .selected=${this.selected} ?isMovable=${this.mayChange} ?canShare=${this.rights.share ?? false} @select-members=${this.select} @move-members=${this.moved} @row-key=${this.pressed}></quad-rows>${this.preview()}</div>
    `;
  }

  /** Renders help with keyboard shortcuts. */
  private keys(): TemplateResult {
    return html`<details class="menu keys"><summary aria-label="Keys">?</summary>
      <p><kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Space</kbd> selects, <kbd>Enter</kbd> opens${this.mayChange ? html`, <kbd>F2</kbd> renames, <kbd>Delete</kbd> deletes` : nothing}, <kbd>/</kbd> filters</p></details>`;
  }

  /** In the folder of the example, renders a text with suggestions. */
  private example(listing: ContainerListing): TemplateResult | typeof nothing {
    const [, name] = /^(example\/)$/.exec(this.at.slice(storageUri.length)) ?? [];
    if (!name || !this.rights.write || listing.row(0)?.iri !== `${this.at}${exampleMark}`) return nothing;
    void import('../browse/first-page.js');
    return html`<example-data @remove-example=${async () => {
      if (await this.deleteAll([this.at], true)) location.hash = placeHref('browse');
    }}></example-data>`;
  }

  private readonly pressed = async ({ detail: { key, member, isAlone } }: CustomEvent<RowKey>): Promise<void> => {
    if (!this.mayChange || (this.selected.size === 0 && !member)) return;
    if (member && (key === 'F2' || isAlone || this.selected.size === 0)) this.selected = new Set([member.iri]);
    await this.updateComplete;
    if (key === 'F2') await this.openMove();
    else await this.removeSelected();
  };

  private selection(): TemplateResult {
    const files = [...this.selected].filter((iri) => !isContainer(iri));
    if (files.length < this.selected.size) void import('../browse/folder-size.js');
    return html`<div class="row" role="group" aria-label="Selected">
      <span>${this.selected.size.toLocaleString()} selected</span>
      ${files.length > 0 ? html`<button type="button" @click=${() => this.downloadAll(files)}>Download ${files.length === 1 ? '' : `${files.length} files`}</button>` : nothing}
      <folder-size .selected=${this.selected}></folder-size>
      ${this.mayChange ? html`<button type="button" @click=${this.openMove}>${this.selected.size === 1 ? 'Rename or move …' : 'Move …'}</button>` : nothing}
      ${this.mayChange ? html`<button type="button" class="danger" @click=${this.removeSelected}>Delete</button>` : nothing}
      <button type="button" @click=${() => {
        this.selected = new Set();
      }}>Clear selection</button>
    </div>`;
  }

  private renderRemoving({ deleted, ending }: Removing): TemplateResult {
    return html`<div class="row"><progress aria-label="Deleting"></progress><span role="status">Deleting: ${deleted.toLocaleString()} deleted</span>
      <button type="button" @click=${() => ending.abort()}>Stop</button></div>`;
  }

  /** Renders a preview of the selected data resource, if no other member is selected. */
  private preview(): TemplateResult | typeof nothing {
    const [iri = '/'] = this.selected;
    if (this.selected.size !== 1 || isContainer(iri)) return nothing;
    void import('../browse/preview.js');
    return html`<browse-preview .iri=${iri}></browse-preview>`;
  }

  private get mayChange(): boolean {
    return (this.rights.append || this.rights.write) ?? false;
  }

  private readonly moved = async ({ detail: { iris, place } }: CustomEvent<MovingRow>): Promise<void> => {
    await this.attempt(async () => (await this.moving())?.move(iris, place));
  };

  private newDialog(): TemplateResult {
    return html`<dialog class="new" aria-labelledby="new-title">
      <form method="dialog" @submit=${this.make}>
        <h2 id="new-title">New in ${shortName(this.at)}</h2>
        <label>What
          <select name="kind">
            <option value="container">Folder</option>
            <option value="form">Data, with a form</option>
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
    const kind = text('kind') as Kind | 'form';
    let made = '';
    if (kind === 'form') {
      this.dialog?.close();
      location.hash = placeHref('form', { at: this.at, name: text('name') });
      form.reset();
      return;
    }
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
      // Browsers drop simultaneous downloads, so they start 0.4 seconds apart.
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  }

  /** Returns the dialog for moves, which is loaded on the first use. */
  private async moving(): Promise<MoveDialog | null> {
    await import('../browse/move-dialog.js');
    return this.querySelector<MoveDialog>('move-dialog');
  }

  private readonly openMove = async (): Promise<void> => {
    await this.attempt(async () => (await this.moving())?.show());
  };

  private readonly removeSelected = (): Promise<boolean> => this.deleteAll([...this.selected]);

  /** Deletes members after a confirmation. @returns true if all are deleted */
  private async deleteAll(chosen: readonly string[], isSure = false): Promise<boolean> {
    let isDone: boolean | undefined;
    await this.attempt(async () => {
      const show = (removing: Removing | undefined): void => {
        this.removing = removing;
      };
      const { removeMembers } = await import('../browse/removal.js');
      isDone = await removeMembers(chosen, show, () => this.reload(), isSure);
    });
    if (isDone !== undefined) this.reload();
    return isDone ?? false;
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
