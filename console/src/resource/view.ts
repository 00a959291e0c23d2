/** `<resource-view>`: a resource with its tabs. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { notify } from '../frame/notice.js';
import { copyLink, linkIsCopied, Page, placeHref } from '../frame/page.js';
import { dateText, formatName, parentIri, shortName, sizeText } from '../storage/names.js';
import '../frame/access-denied.js';
import './text.js';
import './table.js';
import './metadata.js';
import './preview.js';
import './serialisations.js';
import './delete-dialog.js';
import './history.js';
import { rowMenu } from '../frame/row-menu.js';
import { keepTab, type Tab, tabStrip } from '../frame/tabs.js';
import { loadShapeActions } from '../shapes/offered.js';
import { download } from '../storage/download.js';
import type { ResourceDelete } from './delete-dialog.js';
import { Draft, type Theirs } from './draft.js';
import type { ResourceMetadata } from './metadata.js';
import { type Opened, readResource, turtleType } from './read.js';
import { isRendered } from './rendered.js';
import { serialisations } from './serialisations.js';
import type { ResourceTable } from './table.js';
import { forgetView, type Keepable } from './views.js';

type TabId = 'text' | 'table' | 'preview' | 'metadata' | 'history';

const emptyTurtle =
  'No triples yet. Type “<#it> a ” to choose a class, then a prefix such as “dcterms:”, which is declared for you.';

const isQuery = ({ mediaType }: Opened): boolean => mediaType.startsWith('application/sparql-query');

/** Reads the version of another user, for comparison. */
async function theirVersion(iri: string): Promise<Theirs> {
  const { text, etag, mediaType, reason } = await readResource(iri);
  if (text !== undefined) return { text, etag };
  return { other: `It was replaced by content that cannot be compared here (${mediaType}). ${reason ?? ''}` };
}

@customElement('resource-view')
export class ResourceView extends Page implements Keepable {
  /** IRI of the resource, without a fragment. */
  @property() iri = '';
  /** Tab from the address, or empty. */
  @property() wanted = '';
  /** Subject inside the document to scroll to. */
  @property() subject = '';
  @state() private opened: Opened | undefined;
  @state() private draft: Draft | undefined;
  /** Error that prevented reading. */
  @state() private why: unknown;
  /** True if the storage has shapes, and the module with their links is loaded. */
  @state() private hasShapes = false;
  @state() private tab: TabId = 'text';
  @state() private form = turtleType;
  /** Tabs that were shown. They stay in the document and keep their state. */
  private readonly seen = new Set<TabId>();

  get hasChanges(): boolean {
    return (
      (this.draft?.isDirty ?? false) || (this.querySelector<ResourceMetadata>('resource-metadata')?.hasChanges ?? false)
    );
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('iri')) void this.read();
    else if (changed.has('subject') && this.subject) this.goTo(this.subject);
    else if (changed.has('wanted') && this.opened)
      this.tab = this.tabs(this.opened).find(({ id }) => id === this.wanted)?.id ?? this.tab;
    this.follow(this.draft);
  }

  private async read(): Promise<void> {
    const { iri } = this;
    const isAgain = this.opened?.iri === iri;
    this.why = undefined;
    try {
      const opened = await readResource(iri);
      this.opened = opened;
      const { text, mediaType, etag, kind } = opened;
      if (text !== undefined) {
        const source = { iri, mediaType: kind === 'rdf' ? turtleType : mediaType, reread: () => theirVersion(iri) };
        this.draft = new Draft(source, { text, etag });
      }
      const named = this.tabs(opened).find(({ id }) => id === this.wanted)?.id;
      // For an empty graph, the editor is shown instead of an empty table.
      const isEmpty = kind === 'rdf' && text?.trim() === '' && !this.subject;
      const first = named ?? (isEmpty ? 'text' : this.tabs(opened)[0]!.id);
      this.tab = isAgain ? this.tab : first;
    } catch (error) {
      this.why = error;
      return;
    }
    if (this.opened.kind === 'rdf')
      await this.attempt(async () => {
        this.hasShapes = await loadShapeActions();
      });
  }

  private goTo(subject: string): void {
    if (this.opened?.kind !== 'rdf') return;
    this.tab = 'table';
    void this.updateComplete.then(() => this.querySelector<ResourceTable>('resource-table')?.jump(subject));
  }

  private tabs(opened: Opened): readonly Tab<TabId>[] {
    const { kind, text, linkset, versions, isWritable } = opened;
    return [
      ...(kind === 'rdf' ? [{ id: 'table', title: 'Data' } as const] : []),
      ...(text === undefined || isRendered(opened) ? [{ id: 'preview', title: 'Preview' } as const] : []),
      ...(text === undefined
        ? []
        : [{ id: 'text', title: kind === 'rdf' ? 'Source' : isWritable ? 'Edit' : 'Text' } as const]),
      ...(linkset ? [{ id: 'metadata', title: 'Metadata' } as const] : []),
      ...(versions ? [{ id: 'history', title: 'History' } as const] : []),
    ];
  }

  protected override render(): TemplateResult {
    const { opened } = this;
    const name = shortName(this.iri);
    if (this.why) return html`<h1>${name}</h1><quad-refused .iri=${this.iri} .why=${this.why}></quad-refused>`;
    if (!opened) return html`<h1>${name}</h1><p class="soft" role="status">Reading …</p>`;
    const tabs = this.tabs(opened);
    this.seen.add(this.tab);
    const hasForm = opened.kind === 'rdf' && opened.isWritable && this.draft !== undefined;
    return html`<div class="title"><div><h1>${name}</h1><span class="soft">${this.about(opened)}</span></div>
      <div class="row about">
        ${isQuery(opened) ? html`<a class="button" href=${placeHref('ask', { from: this.iri })}>Open in Ask</a>` : nothing}
        ${hasForm ? html`<a class="button primary" href=${placeHref('form', { at: this.iri })}>Edit with a form</a>` : nothing}
        ${this.actions(opened)}
      </div></div>
      ${tabStrip({ label: 'What to show', tabs, current: this.tab, choose: (id) => this.choose(id) })}
      ${tabs.map(
        ({ id }) => html`<div role="tabpanel"
          id=${`panel-${id}`} aria-labelledby=${`tab-${id}`} ?hidden=${id !== this.tab}>
        ${this.seen.has(id) ? this.panel(id, opened) : nothing}
      </div>`,
      )}
      <resource-delete .iri=${this.iri} .etag=${this.draft?.etag ?? opened.etag} ?hasAcl=${opened.acl !== undefined} @deleted=${this.gone}></resource-delete>`;
  }

  /** Renders buttons for the resource. Rarely used actions are in a menu. On a phone, all actions are in the menu. */
  private actions({ kind, canShare, isWritable }: Opened): TemplateResult {
    const isPhone = matchMedia('(max-width: 45rem)').matches;
    const usual = html`<button type="button" @click=${this.take}>Download</button>
      ${canShare ? html`<a class="button" href=${placeHref('sharing', { at: this.iri })}>Share</a>` : html`<button type="button" @click=${this.copy}>Copy link</button>`}`;
    const hasForms = this.hasShapes && kind === 'rdf';
    const forms = html`<shape-actions .iri=${this.iri} .creates=${isWritable} .links=${isWritable}></shape-actions>`;
    const remove = html`<button type="button" class="danger" @click=${this.ask}>Delete …</button>`;
    if (!isWritable) return html`${usual}${hasForms ? forms : nothing}`;
    const others = html`${isPhone && kind === 'rdf' ? usual : nothing}${hasForms ? forms : nothing}${remove}`;
    return html`${isPhone && kind === 'rdf' ? nothing : usual}${rowMenu('More', others, 'More')}`;
  }

  private about({ mediaType, size, modified, etag }: Opened): string {
    const format = formatName(mediaType);
    if (this.draft && this.draft.etag !== etag) return `${format} · changed since it was opened`;
    return [format, size === undefined ? '' : sizeText(size), modified ? `changed ${dateText(modified)}` : '']
      .filter(Boolean)
      .join(' · ');
  }

  private panel(id: TabId, opened: Opened): TemplateResult {
    const { draft } = this;
    if (id === 'metadata')
      return html`<resource-metadata .iri=${opened.linkset ?? ''} .readonly=${!opened.isWritable} @draft=${() => this.requestUpdate()}></resource-metadata>`;
    if (id === 'history')
      return html`<resource-history .iri=${this.iri} .versions=${opened.versions ?? ''} .etag=${draft?.etag ?? opened.etag}
        .isRdf=${opened.kind === 'rdf'} .writable=${opened.isWritable && !draft?.isDirty} @changed=${this.read}></resource-history>`;
    if (id === 'table')
      return html`${draft?.isDirty ? html`<p class="soft">Last saved version, without your changes. Save or undo them to change statements here.</p>` : nothing}
        <resource-table .text=${draft?.saved} .base=${this.iri} .etag=${draft?.etag ?? opened.etag} .editable=${opened.isWritable && !draft?.isDirty} .target=${this.subject} @changed=${this.read}></resource-table>`;
    if (id === 'preview' && draft)
      return html`<div class="rendered"><h2 class="visually-hidden">Preview</h2><rendered-text .opened=${opened} .text=${draft.text}></rendered-text></div>`;
    if (!draft) return html`<resource-preview .opened=${opened}></resource-preview>`;
    return this.text(opened, draft);
  }

  private text(opened: Opened, draft: Draft): TemplateResult {
    const other = serialisations.find(({ mediaType }) => mediaType === this.form);
    const editor = html`<div ?hidden=${other !== undefined}><resource-text
      .draft=${draft}
      .language=${opened.kind === 'rdf' ? 'turtle' : opened.kind === 'json' ? 'json' : isQuery(opened) ? 'sparql' : 'text'}
      .label=${`Content of ${shortName(this.iri)}`}
      .readonly=${!opened.isWritable}
      .hint=${opened.kind === 'rdf' ? emptyTurtle : 'It is empty. Type its text here.'}
    ></resource-text></div>`;
    if (opened.kind !== 'rdf') return editor;
    const hasComment = draft.isDirty && /^\s*#/m.test(draft.text);
    return html`${hasComment ? html`<p class="soft">Triples and prefixes are saved. Comments and layout are not.</p>` : nothing}
      <label class="inline shown-as">Shown as
        <select @change=${this.chooseForm}>
          <option value=${turtleType} ?selected=${!other}>Turtle</option>
          ${serialisations.map(({ mediaType, title }) => html`<option value=${mediaType} ?selected=${mediaType === this.form}>${title}</option>`)}
        </select></label>
      ${editor}
      ${other ? html`<resource-serialisation .iri=${this.iri} .serialisation=${other} .etag=${draft.etag}></resource-serialisation>` : nothing}`;
  }

  private choose(id: TabId): void {
    this.tab = this.wanted = id;
    keepTab(id);
  }

  private readonly chooseForm = (event: Event): void => {
    this.form = (event.target as HTMLSelectElement).value;
  };

  private readonly take = (): Promise<boolean> => this.attempt(() => download(this.iri));

  private readonly copy = (): Promise<boolean> => this.attempt(() => copyLink(this.iri), linkIsCopied);

  private readonly ask = (): void => void this.querySelector<ResourceDelete>('resource-delete')?.ask();

  private readonly gone = (): void => {
    forgetView(this.iri);
    notify(`${shortName(this.iri)} is deleted.`);
    location.hash = placeHref('browse', { at: parentIri(this.iri) });
  };
}
