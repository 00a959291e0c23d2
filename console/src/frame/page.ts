/** Base class of pages. A page renders into the document, so that one style sheet and focus order apply. */
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { state } from 'lit/decorators.js';
import { storageUri } from '../session/session.js';
import { messageOf } from '../storage/api.js';
import { ancestors, isContainer, shortName } from '../storage/names.js';
import { type Confirmation, confirmed } from './confirm.js';
import { notify } from './notice.js';

export class Page extends LitElement {
  /** Error that prevented reading the content, as text. */
  @state() protected failure = '';
  private followed: EventTarget | undefined;
  private readonly followedChanged = (): void => this.requestUpdate();

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
    void this.load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.follow(undefined);
  }

  /** Loads the content when the page is added to the document. */
  protected async load(): Promise<void> {}

  /** Runs work that reads content, and sets `failure` if it fails. @param advice additional sentence */
  protected async reading(work: () => Promise<unknown>, advice = ''): Promise<void> {
    try {
      await work();
      this.failure = '';
    } catch (error) {
      this.failure = `${messageOf(error)} ${advice}`.trim();
    }
  }

  /**
   * Renders the page again on each `change` event of a source, while the page is in the document. Replaces the previous source.
   * @returns true if the source changed
   */
  protected follow(target: EventTarget | undefined): boolean {
    // An update may run after the page was removed.
    const wanted = this.isConnected ? target : undefined;
    if (this.followed === wanted) return false;
    this.followed?.removeEventListener('change', this.followedChanged);
    this.followed = wanted;
    wanted?.addEventListener('change', this.followedChanged);
    return true;
  }

  /** Runs the action of a button and shows its error. @returns true on success */
  protected async attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
    try {
      await work();
      if (done) notify(done);
      return true;
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'AbortError')) notify(messageOf(error), 'bad');
      return false;
    }
  }

  /** Runs the action of a button after a confirmation, and shows its error. @returns true on success */
  protected async attemptAfter(question: Confirmation, work: () => Promise<unknown>, done: string): Promise<boolean> {
    return (await confirmed(question)) && this.attempt(work, done);
  }

  /** Moves the focus to the first heading if the focused element was removed, for example a deleted row. */
  protected async keepFocus(): Promise<void> {
    await this.updateComplete;
    if (document.activeElement !== document.body) return;
    const heading = this.querySelector<HTMLElement>('h1, h2');
    heading?.setAttribute('tabindex', '-1');
    heading?.focus();
  }
}

/** Returns the form of a submission, and `text`, which returns a trimmed field. */
export function submitted(event: SubmitEvent) {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const data = new FormData(form);
  return { form, data, text: (name: string): string => String(data.get(name) ?? '').trim() };
}

/** Name of the server's command, as operators type it. */
export const executable = document.documentElement.dataset['command'] ?? 'quadpod';

/** Renders a table that scrolls separately from the page, also with the keyboard. */
export const scrollTable = (label: string, heads: readonly unknown[], rows: unknown): TemplateResult => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`;

/** Page and parameters of a route: `#/<page>?<parameters>`. */
export interface PagePlace {
  readonly page: string;
  readonly parameters: URLSearchParams;
}

export function placeNow(hash: string = location.hash): PagePlace {
  const [, page = 'browse', query = ''] = /^#\/([^?]*)(?:\?(.*))?$/.exec(hash) ?? [];
  return { page: page || 'browse', parameters: new URLSearchParams(query) };
}

/** Returns the link to a page of the console. */
export const placeHref = (page: string, parameters: Readonly<Record<string, string>> = {}): string =>
  `#/${page}${Object.keys(parameters).length > 0 ? `?${new URLSearchParams(parameters)}` : ''}`;

/** Returns the route of a resource or a container. */
export const openHref = (iri: string): string => placeHref(isContainer(iri) ? 'browse' : 'resource', { at: iri });

/** Returns the address of a resource or a container in the console, to send to other people. */
export const linkTo = (iri: string): string => `${storageUri}app${openHref(iri)}`;

/** Copies the address of a resource in the console. The address gives no access. @throws DOMException if the browser refuses */
export const copyLink = (iri: string): Promise<void> => navigator.clipboard.writeText(linkTo(iri));
export const linkIsCopied = 'The link is copied. It opens for people who have access.';

/** Returns the link to the sign-in page, which then returns to the current route. */
export function signInHref(): string {
  const to = placeNow().page === 'signin' ? placeNow().parameters.get('to') : location.hash;
  return placeHref('signin', to ? { to } : {});
}

/** Returns the route after signing in. Anyone can create a link with `to`, so only routes of this console are accepted. */
export const placeAfter = (to: string | null): string =>
  to?.startsWith('#/') && placeNow(to).page !== 'signin' ? to : placeHref('browse');

/** Title of the storage from `lws.catalog.title`. Default: `All files`, because the page of the root lists all files. */
const storageTitle = document.documentElement.dataset['title'] || 'All files';

/** Returns the title of a resource in a heading. */
export const headingOf = (iri: string): string => (iri === storageUri ? storageTitle : shortName(iri));

/** Returns the title of a resource in a sentence: `the folder people/`. */
export function nameInText(iri: string): string {
  if (iri === storageUri) return 'the whole storage';
  return isContainer(iri) ? `the folder ${shortName(iri)}` : shortName(iri);
}

/** Returns links to the containers above a resource. @param page page that the links open */
export const crumbs = (at: string, page = 'browse'): TemplateResult | typeof nothing =>
  at === storageUri
    ? nothing
    : html`<nav aria-label="Where you are">
  <ol class="crumbs">
    ${ancestors(at, storageUri)
      .filter((iri) => iri !== at)
      .map((iri) => html`<li><a href=${placeHref(page, { at: iri })}>${headingOf(iri)}</a></li>`)}
    <li aria-current="page">${headingOf(at)}</li>
  </ol>
</nav>`;
