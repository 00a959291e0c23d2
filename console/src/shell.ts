/** Shell around the pages: navigation, signed-in identity, and the page named by the fragment. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { blank } from './frame/blank.js';
import { clearNotices } from './frame/notice.js';
import { Page, type PagePlace, placeHref, placeNow, signInHref } from './frame/page.js';
import { styleSheet } from './frame/style-sheet.js';
import { homeUri, onSession, signOut, storageUri, subjectNow, who } from './session/session.js';
import { messageOf } from './storage/api.js';
import { identityName, isController } from './storage/controller.js';
import { shortName } from './storage/names.js';

interface Entry {
  readonly title: string;
  /** Loads the module that defines the element `page-<name>`, with the property `parameters`. */
  readonly load: () => Promise<unknown>;
  /** Visibility in the navigation: all users, signed-in users, or controllers of the storage. */
  readonly for?: 'all' | 'subjects' | 'controllers';
}

const pages: Readonly<Record<string, Entry>> = {
  browse: { title: 'Browse', for: 'all', load: () => import('./pages/browse.js') },
  resource: { title: 'Item', load: () => import('./pages/resource.js') },
  shapes: { title: 'Forms and rules', load: () => import('./pages/shapes.js') },
  form: { title: 'Form', load: () => import('./pages/form.js') },
  search: { title: 'Search', for: 'all', load: () => import('./pages/search.js') },
  ask: { title: 'Ask', for: 'all', load: () => import('./pages/ask.js') },
  sharing: { title: 'Share', for: 'controllers', load: () => import('./pages/sharing.js') },
  requests: { title: 'Requests', for: 'subjects', load: () => import('./pages/requests.js') },
  admin: { title: 'Storage', for: 'controllers', load: () => import('./pages/admin.js') },
  ...(homeUri === storageUri
    ? { storages: { title: 'Storages', for: 'all', load: () => import('./pages/storages.js') } }
    : {}),
  owners: { title: 'Owners', for: 'controllers', load: () => import('./pages/owners.js') },
  trash: { title: 'Trash', load: () => import('./pages/trash.js') },
  signin: { title: 'Sign in', load: () => import('./pages/signin.js') },
};

/** Pages that are opened from Browse. Browse is highlighted for them. */
const below = ['resource', 'shapes', 'form', 'trash'];

/** Count of entries of the navigation that a phone shows in one row, without `More`. The style sheet contains the same number. */
const phoneEntries = 4;

/** Minimum time between checks for access requests, in milliseconds. The check runs on page changes. */
const recountMs = 30_000;

@customElement('quad-shell')
export class Shell extends Page {
  @state() private place: PagePlace = placeNow();
  @state() private loaded = '';
  @state() private isController = false;
  @state() private isLost = false;
  /** True if a phone shows all entries of the navigation. Wide screens always do. */
  @state() private isUnfolded = false;
  /** Count of pending access requests. */
  @state() private pending = 0;
  private countedAt = 0;
  private timer = 0;

  constructor() {
    super();
    addEventListener('hashchange', () => {
      // After a navigation, dialogs are closed and errors of other pages removed.
      for (const dialog of document.querySelectorAll<HTMLDialogElement>('dialog[open]')) dialog.close();
      clearNotices();
      this.go();
    });
    addEventListener('unreachable', () => this.lose());
    addEventListener('online', () => void (this.isLost && this.reconnect()));
    onSession(() => void this.judge());
    void this.judge();
    this.go();
  }

  private async judge(): Promise<void> {
    this.isController = who().kind === 'subject' && (await isController().catch(() => false));
    this.requestUpdate();
    await this.count();
  }

  /** Counts pending requests. An error is not reported here, because the page with the requests shows it. */
  private readonly count = async (): Promise<void> => {
    this.countedAt = Date.now();
    const open = async (): Promise<number> =>
      (await (await import('./sharing/access.js')).openRequests(subjectNow())).length;
    this.pending = this.isController ? await open().catch(() => 0) : 0;
  };

  private lose(): void {
    this.isLost = true;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(this.reconnect, 3000);
  }

  /** When the server can be reached again, retries failed requests. Keeps text typed on other pages. */
  private readonly reconnect = async (): Promise<void> => {
    clearTimeout(this.timer);
    if (!(await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)))
      return this.lose();
    this.isLost = false;
    if (this.querySelector('main .problem:not(.lost)')) cache.delete(this.loaded);
    void this.judge();
    this.go();
  };

  private async go(): Promise<void> {
    const place = placeNow();
    this.place = place;
    if (Date.now() - this.countedAt > recountMs) void this.count();
    const { page, parameters } = place;
    const at = parameters.get('at');
    const title = Object.hasOwn(pages, page) ? pages[page]!.title : 'No such page';
    document.title = `${at ? shortName(at) : title} – ${new URL(storageUri).host} – Quadpod`;
    try {
      if (page !== 'browse') await styleSheet('rest');
      if (Object.hasOwn(pages, page)) await pages[page]!.load();
      // If another page was opened during the load, this page is not shown.
      if (this.place !== place) return;
      this.failure = '';
      this.loaded = page;
      void styleSheet('rest');
    } catch (error) {
      this.failure = `${messageOf(error)} Reload the page.`;
    }
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('place')) this.isUnfolded = false;
    const element = cache.get(this.loaded) as (HTMLElement & { parameters?: URLSearchParams }) | undefined;
    if (element && this.place.page === this.loaded && element.parameters !== this.place.parameters)
      element.parameters = this.place.parameters;
  }

  protected override render(): TemplateResult {
    const session = who();
    return html`
      <a class="skip" href="#main" @click=${this.skip}>Skip to the content</a>
      <header class="top">
        <a class="brand" href=${placeHref('browse')}>Quadpod</a>
        ${this.renderNavigation()}
        <div class="who">
          ${
            session.kind === 'subject'
              ? html`<b class="avatar" aria-hidden="true">${callerName(session).slice(0, 1)}</b><span title=${session.subject}>${callerName(session)}</span>
                <button type="button" class="quiet" @click=${this.leave}>Sign out</button>`
              : html`<span>Not signed in</span> <a class="button" href=${signInHref()}>Sign in</a>`
          }
        </div>
      </header>
      <main id="main" tabindex="-1" @answered=${this.count}>
        ${
          this.isLost
            ? html`<div class="problem lost row" role="alert"><span class="grow">No connection to the storage. Retrying automatically.</span>
                <button type="button" @click=${this.reconnect}>Try again</button></div>`
            : nothing
        }
        ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.content()}
      </main>
    `;
  }

  private renderNavigation(): TemplateResult {
    const { page: open } = this.place;
    const audience = ['all', who().kind === 'subject' ? 'subjects' : '', this.isController ? 'controllers' : ''];
    const shown = Object.entries(pages).filter(
      ([page, entry]) => entry.for && (audience.includes(entry.for) || page === open),
    );
    const others = homeUri && homeUri !== storageUri ? [html`<a href=${`${homeUri}app#/storages`}>Storages</a>`] : [];
    const isShort = shown.length + others.length <= phoneEntries;
    const isRequestsFolded = open !== 'requests' && shown.findIndex(([page]) => page === 'requests') >= phoneEntries;
    return html`<nav aria-label="Pages" class=${this.isUnfolded ? 'unfolded' : nothing}>
      ${shown.map(
        ([page, { title }]) => html`<a
          href=${placeHref(page)}
          aria-current=${page === open ? 'page' : page === 'browse' && below.includes(open) ? 'true' : nothing}
          >${title}${page === 'requests' && this.isController ? this.badge() : nothing}</a
        >`,
      )}
      ${others}
      ${
        isShort
          ? nothing
          : html`<button type="button" class="quiet only-small" aria-expanded=${this.isUnfolded} @click=${() => {
              this.isUnfolded = !this.isUnfolded;
            }}>${this.isUnfolded ? 'Less' : html`More<span class="visually-hidden"> pages</span>${isRequestsFolded ? this.badge() : nothing}`}</button>`
      }
    </nav>`;
  }

  /** Renders the count of pending requests, or an empty element of the same size. */
  private badge(): TemplateResult {
    if (this.pending === 0) return html`<span class="badge-place"></span>`;
    return html` <span class="badge-place"><span class="badge">${this.pending}<span class="visually-hidden"> to answer</span></span></span>`;
  }

  private content(): unknown {
    if (this.loaded === '') return html`<p>Loading …</p>`;
    if (Object.hasOwn(pages, this.loaded)) return element(this.loaded);
    return html`<h1 class="visually-hidden">No page “${this.loaded}”</h1>
      ${blank({ icon: 'nothing', title: `No page “${this.loaded}”`, text: 'The link may be cut off.', actions: html`<a class="button primary" href=${placeHref('browse')}>Open the files</a>` })}`;
  }

  private skip(event: Event): void {
    // The fragment contains the route, so the link must not change it.
    event.preventDefault();
    this.querySelector<HTMLElement>('main')?.focus();
  }

  private async leave(): Promise<void> {
    await this.attempt(signOut, 'You are signed out in all tabs of this browser.');
    location.hash = placeHref('signin');
  }
}

const callerName = ({ isBrowser, subject }: { readonly isBrowser: boolean; readonly subject: string }): string =>
  isBrowser ? 'This browser' : identityName(subject);

const cache = new Map<string, HTMLElement>();
function element(page: string): HTMLElement {
  // The element of a page is reused, so that its input is kept while another page is shown.
  const known = cache.get(page) ?? document.createElement(`page-${page}`);
  cache.set(page, known);
  return known;
}
onSession(() => cache.clear());
