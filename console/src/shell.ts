/** The frame around the pages: navigation, who is signed in, and the page that the fragment names. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { messageOf } from './api.js';
import { confirmed } from './confirm.js';
import { shortName } from './names.js';
import { Page, type Place, placeHref, placeNow } from './page.js';
import { browserIdentity, onSession, signOut, storageUri, who } from './session.js';

interface Entry {
  readonly title: string;
  /** Defines the element `page-<name>`, which has a property `parameters`. */
  readonly load: () => Promise<unknown>;
  /** Shown in the navigation to: everybody, or those who are signed in. */
  readonly for?: 'all' | 'subjects';
}

const pages: Readonly<Record<string, Entry>> = {
  browse: { title: 'Browse', for: 'all', load: () => import('./pages/browse.js') },
  resource: { title: 'Resource', load: () => import('./pages/resource.js') },
  search: { title: 'Search', for: 'all', load: () => import('./pages/search.js') },
  ask: { title: 'Ask', for: 'all', load: () => import('./pages/ask.js') },
  sharing: { title: 'Share', for: 'subjects', load: () => import('./pages/sharing.js') },
  requests: { title: 'Requests', for: 'subjects', load: () => import('./pages/requests.js') },
  upkeep: { title: 'Storage', for: 'subjects', load: () => import('./pages/upkeep.js') },
  owners: { title: 'Owners', for: 'subjects', load: () => import('./pages/owners.js') },
  signin: { title: 'Sign in', load: () => import('./pages/signin.js') },
};

@customElement('quad-shell')
export class Shell extends Page {
  @state() private place: Place = placeNow();
  @state() private failure = '';
  @state() private loaded = '';

  constructor() {
    super();
    addEventListener('hashchange', () => this.go());
    onSession(() => this.requestUpdate());
    this.go();
  }

  private async go(): Promise<void> {
    const place = placeNow();
    this.place = place;
    const { page } = place;
    try {
      await (pages[page] ?? pages['browse']!).load();
      // Somebody went on while it was loaded.
      if (this.place !== place) return;
      this.failure = '';
      this.loaded = page;
    } catch (error) {
      this.failure = `${messageOf(error)} Reload the page.`;
    }
    document.title = `${pages[page]?.title ?? 'Browse'} – ${new URL(storageUri).host} – Quadpod`;
  }

  protected override updated(): void {
    const element = this.querySelector('main')?.firstElementChild as
      | (Element & { parameters?: URLSearchParams })
      | null
      | undefined;
    if (element && element.parameters !== this.place.parameters) element.parameters = this.place.parameters;
  }

  protected override render(): TemplateResult {
    const session = who();
    const name = pages[this.loaded] ? this.loaded : 'browse';
    return html`
      <a class="skip" href="#main" @click=${this.skip}>Skip to the content</a>
      <header class="top">
        <a class="brand" href=${placeHref('browse')}>Quadpod</a>
        <nav aria-label="Pages">
          ${Object.entries(pages)
            .filter(([, entry]) => entry.for === 'all' || (entry.for === 'subjects' && session.kind === 'subject'))
            .map(
              ([page, { title }]) => html`<a
                href=${placeHref(page)}
                aria-current=${page === this.place.page ? 'page' : nothing}
                >${title}</a
              >`,
            )}
        </nav>
        <div class="who">
          ${
            session.kind === 'subject'
              ? html`<span title=${session.subject}>${session.isBrowser ? 'This browser' : shortName(session.subject)}</span>
                <button type="button" @click=${this.leave}>Sign out</button>`
              : html`<span>Nobody</span> <a class="button" href=${placeHref('signin')}>Sign in</a>`
          }
        </div>
      </header>
      <main id="main" tabindex="-1">
        ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : this.loaded ? element(name) : html`<p>Loading …</p>`}
      </main>
    `;
  }

  private skip(event: Event): void {
    // The fragment is the place within the console.
    event.preventDefault();
    this.querySelector<HTMLElement>('main')?.focus();
  }

  private async leave(): Promise<void> {
    // Its key cannot be had again.
    const text = 'The identity of this browser is forgotten with its key, and what it may do with it.';
    if ((await browserIdentity()) !== undefined && !(await confirmed({ title: 'Sign out', text, proceed: 'Sign out' })))
      return;
    await this.attempt(signOut);
    location.hash = placeHref('signin');
  }
}

const cache = new Map<string, HTMLElement>();
function element(page: string): HTMLElement {
  // A page keeps what was typed into it while another one is shown.
  const known = cache.get(page) ?? document.createElement(`page-${page}`);
  cache.set(page, known);
  return known;
}
onSession(() => cache.clear());
